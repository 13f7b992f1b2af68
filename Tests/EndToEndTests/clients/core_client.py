"""The same for `aliyun-python-sdk-dypnsapi`."""

import importlib
import json
import sys

from aliyunsdkcore.acs_exception.exceptions import ClientException, ServerException
from aliyunsdkcore.auth.credentials import StsTokenCredential
from aliyunsdkcore.client import AcsClient


def request(call, endpoint):
    module = importlib.import_module(
        f"aliyunsdkdypnsapi.request.v20170525.{call['action']}Request"
    )
    made = getattr(module, call["action"] + "Request")()
    for name, value in call["parameters"].items():
        getattr(made, "set_" + name)(value)
    made.set_endpoint(endpoint)
    # Two actions would else insist on TLS.
    made.set_protocol_type("http")
    if call.get("method"):
        made.set_method(call["method"])
    return made


def outcome(client, call, endpoint):
    try:
        return {"body": json.loads(client.do_action_with_exception(request(call, endpoint)))}
    except ServerException as error:
        return {
            "raised": "ServerException", "code": error.get_error_code(),
            "message": error.get_error_msg(), "status": error.get_http_status(),
            "requestId": error.get_request_id(),
        }
    except ClientException as error:
        return {"raised": "ClientException", "code": error.get_error_code(),
                "message": error.get_error_msg()}


def main():
    order = json.load(sys.stdin)
    if order.get("securityToken"):
        credential = StsTokenCredential(order["id"], order["secret"], order["securityToken"])
        client = AcsClient(region_id="cn-hangzhou", credential=credential)
    else:
        client = AcsClient(order["id"], order["secret"], "cn-hangzhou")
    json.dump([outcome(client, call, order["endpoint"]) for call in order["calls"]], sys.stdout)


main()
