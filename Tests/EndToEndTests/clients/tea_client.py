"""Calls through `alibabacloud-dypnsapi20170525`, as an app server would: reads one order as JSON from
standard input, prints one outcome per call. It runs in a virtual environment of its own."""

import asyncio
import json
import re
import sys

from alibabacloud_dypnsapi20170525 import models
from alibabacloud_dypnsapi20170525.client import Client
from alibabacloud_tea_openapi import models as open_api_models
from alibabacloud_tea_util import models as util_models


def snake(name):
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def request(call):
    made = getattr(models, call["action"] + "Request")()
    return made.from_map(call["parameters"])


def by_form(client, call, runtime):
    """How the first client of the family sends every action, also those it does not know yet."""
    return client.do_rpcrequest(
        call["action"], "2017-05-25", "HTTPS", "POST", "AK", "json",
        open_api_models.OpenApiRequest(body=call["parameters"]), runtime,
    )


def perform(client, call):
    runtime = util_models.RuntimeOptions(autoretry=False)
    if call.get("form"):
        return by_form(client, call, runtime)["body"]
    method = snake(call["action"]) + "_with_options"
    if call.get("asynchronous"):
        method = getattr(client, method + "_async")
        return asyncio.run(method(request(call), runtime)).body.to_map()
    return getattr(client, method)(request(call), runtime).body.to_map()


def outcome(client, call):
    try:
        return {"body": perform(client, call)}
    except Exception as error:  # Whatever it raises is what the test is about.
        data = getattr(error, "data", None) or {}
        return {
            "raised": type(error).__name__,
            "code": getattr(error, "code", None),
            "message": str(getattr(error, "message", error)),
            "status": getattr(error, "status_code", None) or getattr(error, "statusCode", None)
            or data.get("statusCode"),
            "retryAfter": getattr(error, "retry_after", None),
            "data": {name: value for name, value in data.items() if isinstance(value, str)},
        }


def main():
    order = json.load(sys.stdin)
    config = open_api_models.Config(
        access_key_id=order["id"], access_key_secret=order["secret"],
        security_token=order.get("securityToken"), endpoint=order["endpoint"], protocol="http",
    )
    if order.get("algorithm"):
        config.signature_algorithm = order["algorithm"]
    client = Client(config)
    json.dump([outcome(client, call) for call in order["calls"]], sys.stdout)


main()
