"""The operator's tool reaches every method; tokens verify offline; roles are kept apart."""

import base64
import hashlib
import hmac
import json
import time

import jwt
import pytest

from bus import Bus, Refused, fresh_key
from house import ROOT
from play import BUNDLE, Phone, Run, fresh_number, other_code

# What must never come from a call that is well-formed.
FAULTS = {"internal_fault", "unavailable", "deadline_passed", "worker_lost", "overloaded", None}


class Tool:
    """Calls through `fusionctl call`, and remembers which methods answered."""

    def __init__(self, house):
        self.house = house
        self.reached = {}

    def __call__(self, method, params=None, **options):
        result = self.house.call(method, params, **options)
        self.reached[method] = "answered"
        return result

    def refused(self, method, params, reason):
        done = self.house.tool("call", method, json.dumps(params), "--json")
        assert done.returncode == 1, done.stdout
        error = json.loads(done.stdout)["error"]
        assert error["reason"] == reason, error
        assert error["reason"] not in FAULTS
        assert error["message"]
        self.reached.setdefault(method, reason)


def tokens_and_schemes(call, scheme):
    issue = {
        "schemeCode": scheme, "platform": "ios", "bundleId": BUNDLE, "durationSeconds": 900,
    }
    token = call("token.issue", issue)
    state = call("token.introspect", {"authToken": token["authToken"]})
    assert state["active"] and state["schemeCode"] == scheme
    assert call("token.revoke", {"tokenId": token["tokenId"]}) == {"changed": True}
    state = call("token.introspect", {"authToken": token["authToken"]})
    assert not state["active"] and state["reason"]
    assert call("token.keys")["keys"]
    kid = call("token.rotate")["kid"]
    assert kid in {key["kid"] for key in call("token.keys")["keys"]}
    call.refused("token.issue", {**issue, "bundleId": "com.other"}, "app_mismatch")
    call.refused("token.issue", {**issue, "schemeCode": "FA0"}, "scheme_not_found")
    call.refused("token.issue", {**issue, "durationSeconds": 1}, "invalid_parameters")

    made = call("scheme.create", {"name": "second", "app": {"iosBundleId": "com.second"}})
    code = made["schemeCode"]
    assert call("scheme.get", {"schemeCode": code})["version"] == 1
    assert code in {row["schemeCode"] for row in call("scheme.list")["schemes"]}
    updated = call("scheme.update", {"schemeCode": code, "name": "renamed"})
    assert updated["version"] == 2 and updated["name"] == "renamed"
    assert call("scheme.get", {"schemeCode": code, "version": 1})["name"]
    assert call("scheme.disable", {"schemeCode": code, "disabled": True})["disabled"]
    issue = {**issue, "schemeCode": code, "bundleId": "com.second"}
    call.refused("token.issue", issue, "scheme_disabled")


def access_keys(call, scheme):
    key = call("key.create", {"owner": "owner", "schemeCodes": [scheme]})
    listed = call("key.list", {"owner": "owner"})["keys"]
    assert key["accessKeyId"] in {row["accessKeyId"] for row in listed}
    temporary = call(
        "key.create_temporary", {"accessKeyId": key["accessKeyId"], "durationSeconds": 900}
    )
    assert temporary["securityToken"]
    text = "ACS3-HMAC-SHA256\n" + fresh_key()
    secret = key["accessKeySecret"].encode()
    signed = {
        "accessKeyId": key["accessKeyId"], "algorithm": "ACS3-HMAC-SHA256",
        "stringToSign": text, "nonce": fresh_key(), "action": "GetFusionAuthToken",
        "timestampMilliseconds": int(time.time() * 1000),
        "signature": hmac.new(secret, text.encode(), hashlib.sha256).hexdigest(),
    }
    assert call("key.internal.authenticate", signed)["owner"] == "owner"
    call.refused("key.internal.authenticate", signed, "nonce_used")
    wrong = {**signed, "nonce": fresh_key(), "signature": "0" * 64}
    call.refused("key.internal.authenticate", wrong, "signature_mismatch")
    until = int(time.time() * 1000) + 60_000
    once = {"issuer": "test", "tokenId": fresh_key(), "untilMilliseconds": until}
    assert call("key.internal.consume", once) == {"fresh": True}
    assert call("key.internal.consume", once) == {"fresh": False}
    assert call("key.revoke", {"accessKeyId": key["accessKeyId"]}) == {"changed": True}
    call.refused(
        "key.internal.authenticate", {**signed, "nonce": fresh_key()}, "key_inactive"
    )


def codes(call, bus, scheme):
    phone = Phone(bus)
    send = {"schemeCode": scheme, "purpose": "login", "number": phone.number}
    sent = call("smscode.send", send)
    call.refused("smscode.send", send, "cooldown")
    code = phone.code()
    challenge = {"challengeId": sent["challengeId"]}
    wrong = call("smscode.check", {**challenge, "code": other_code(code)})
    assert wrong["result"] == "rejected" and wrong["attemptsLeft"] == 4
    assert call("smscode.check", {**challenge, "code": code})["result"] == "accepted"
    assert call("smscode.status", challenge)["state"] == "accepted"
    call.refused("smscode.status", {"challengeId": "chl_" + "0" * 26}, "challenge_not_found")
    day = time.strftime("%Y%m%d", time.gmtime())
    details = call("smscode.details", {
        "schemeCode": scheme, "messageId": sent["messageId"], "number": phone.number, "day": day,
        "page": 1, "pageSize": 10,
    })
    assert code not in json.dumps(details) and details["total"] == 1
    span = {"schemeCode": scheme, "fromDay": day, "toDay": day}
    assert call("smscode.statistics", span)["days"]

    other = {**send, "number": fresh_number()}
    sent = call("smscode.send", other)
    assert call("smscode.cancel", {"challengeId": sent["challengeId"]}) == {"count": 1}

    opened = call("upgoing.open", other)
    assert call("upgoing.check", {"upgoingId": opened["upgoingId"]})["result"] != "received"
    inbound = {
        "messageId": fresh_key(), "sender": other["number"],
        "receiver": opened["receivingNumber"], "text": opened["text"],
    }
    assert call("smscode.internal.inbound", inbound) == {"matched": True, "repeated": False}
    assert call("smscode.internal.inbound", inbound)["repeated"]
    assert call("upgoing.check", {"upgoingId": opened["upgoingId"]})["result"] == "received"
    call("smscode.internal.receipt", {"reference": fresh_key(), "delivered": True})
    call(
        "smscode.internal.notify",
        {"schemeCode": scheme, "number": other["number"], "kind": "number_changed"},
    )


def scenes(call, bus, scheme):
    assert len(call("scene.templates")["templates"]) == 5
    run = Run(bus, scheme)
    view = call("scene.get", {"runId": run.id})
    assert view["state"] == "waiting"
    run.leave_carrier()
    place = {**run.where(), "step": run.step}
    run.view = call("scene.submit", {**place, "input": {"send": True, "number": run.phone.number}})
    assert run.view["node"]["codeLength"] == 6
    run.type()
    verified = call("verification.verify", {"maskToken": run.mask})
    assert verified["result"] == "PASS" and verified["phoneNumber"] == run.phone.number
    status = call("verification.status", {"verificationId": verified["verificationId"]})
    assert status["state"] == "passed"
    run_step = {"runId": run.id, "step": run.step}
    assert call("verification.internal.run_status", run_step)["passed"]
    place = {**run.where(), "step": run.step, "isSuccess": True}
    call.refused("scene.halfway", place, "input_not_expected")
    assert call("scene.continue", place)["state"] == "passed"

    halfway = Run(bus, scheme, "100002", bound=(bound := fresh_number()), number=bound)
    halfway.send()
    halfway.type()
    assert halfway.verify()["result"] == "PASS"
    place = {**halfway.where(), "step": halfway.step, "isSuccess": True}
    assert call("scene.halfway", place)["state"] == "waiting"
    assert call("scene.stop", halfway.where())["state"] == "stopped"

    assert call("scene.start", {
        "authToken": run.token, "templateId": "100004", "deviceId": "d",
    })["state"] == "waiting"
    call.refused("scene.start", {"authToken": "x", "templateId": "100001"}, "token_invalid")

    # The two steps inside a submit, by hand.
    third = Run(bus, scheme)
    third.leave_carrier()
    third.send()
    sent = call("smscode.send", {
        "schemeCode": scheme, "purpose": "scene:100001", "number": fresh_number(),
        "origin": {"runId": third.id, "templateId": "100001"},
    })
    guess = call("smscode.internal.attach", {
        "challengeId": sent["challengeId"], "runId": third.id, "code": "000000",
    })
    call("verification.internal.open", {
        "schemeCode": scheme, "templateId": "100001", "runId": third.id, "step": third.step,
        "nodeId": third.view["node"]["nodeId"], "purpose": "scene:100001",
        "evidence": {"kind": "sms_code", "guessId": guess["guessId"]},
        "expiresAtMilliseconds": int(time.time() * 1000) + 60_000,
    })
    redeemed = call("smscode.internal.redeem", {"guessId": guess["guessId"]})
    assert redeemed["result"] == "rejected"


def carriers(call, scheme):
    number = fresh_number()
    sim = call("sandbox.sim", {"numbers": [number], "carrier": "unicom"})
    token = call("sandbox.carrier_token", {"simId": sim["simId"]})
    exchange = {"carrierToken": token["carrierToken"], "reference": fresh_key()}
    assert call("sandbox.exchange", exchange)["number"] == number
    token = call("sandbox.carrier_token", {"number": number})
    got = call("verification.get_number", {
        "schemeCode": scheme, "carrierToken": token["carrierToken"],
    })
    assert got["number"] == number
    token = call("sandbox.carrier_token", {"number": number})
    match = {"schemeCode": scheme, "carrierToken": token["carrierToken"], "number": number}
    assert call("verification.match_number", match)["result"] == "PASS"
    day = time.strftime("%Y%m%d", time.gmtime())
    span = {"schemeCode": scheme, "fromDay": day, "toDay": day}
    assert call("verification.statistics", span)["days"]

    text = {"reference": fresh_key(), "number": number, "text": "hello"}
    assert call("sandbox.submit_sms", text)["accepted"]
    assert call("sandbox.submit_sms", text)["repeated"]
    assert len(call("sandbox.inbox", {"number": number})["messages"]) == 1
    proof = "human-" + fresh_key()
    assert call("sandbox.check_proof", {"proof": proof}) == {"accepted": True}
    assert call("sandbox.check_proof", {"proof": proof}) == {"accepted": False}
    call("sandbox.fault", {"number": number, "fault": "refused"})
    assert not call("sandbox.submit_sms", {**text, "reference": fresh_key()})["accepted"]
    call("sandbox.fault", {"number": number, "fault": "none"})
    call("sandbox.send_mo", {"sender": number, "receiver": "10690000", "text": "nothing"})
    minted = call("sandbox.access_token", {
        "owner": "owner", "schemeCode": scheme, "scope": "number-verification:verify", "number": number,
    })
    key_id = jwt.get_unverified_header(minted["accessToken"])["kid"]
    assert key_id in [key["kid"] for key in call("sandbox.access_keys", {})["keys"]]


def test_the_tool_reaches_every_method_of_the_schema(shared, bus):
    call = Tool(shared)
    scheme = shared.scheme
    assert call("echo.echo", {"text": "hi"}) == {"text": "hi"}
    tokens_and_schemes(call, scheme)
    access_keys(call, scheme)
    codes(call, bus, scheme)
    carriers(call, scheme)
    scenes(call, bus, scheme)
    schema = shared.run("schema")
    missing = set(schema["operations"]) - set(call.reached)
    introspection = {name for name in missing if name.rsplit(".", 1)[1] in ("ping", "info", "stats")}
    assert not missing - introspection
    assert set(call.reached) <= set(schema["operations"])


@pytest.mark.parametrize(
    "service",
    [
        "token", "scheme", "key", "key.internal", "verification", "verification.internal",
        "smscode", "upgoing", "smscode.internal", "scene", "sandbox", "echo",
    ],
)
def test_every_service_answers_ping_info_and_stats(shared, service):
    ping = shared.run("ping", service)
    assert ping["id"] == "1" and ping["name"].startswith("fusion-")
    assert shared.run("ping", service, "--instance", "1") == ping
    info = shared.run("info", service)
    assert [row for row in info["endpoints"] if row["name"].startswith(service + ".")]
    stats = shared.run("stats", service)
    assert stats["startedAtMilliseconds"] > 1_000_000_000_000


def test_ping_without_a_name_asks_every_service(shared):
    services = shared.run("ping")["services"]
    assert all(row["answered"] for row in services) and len(services) >= 12


def test_the_schema_is_an_asyncapi_document_equal_to_the_golden_one(shared):
    schema = shared.run("schema")
    assert schema["asyncapi"].startswith("3.")
    golden = ROOT / "Tests/Golden/asyncapi.json"
    if golden.exists():
        assert schema == json.loads(golden.read_text())


def test_scene_lint_takes_the_standard_scenes_and_finds_a_dead_end(shared):
    for template in ("100001", "100002", "100003", "100004", "100005"):
        shown = shared.tool("scene", "show", template)
        path = shared.home / f"{template}.json"
        path.write_text(shown.stdout)
        assert shared.run("scene", "lint", path)["ok"]
    graph = json.loads(path.read_text())
    graph["nodes"][0]["success"] = ["300000000000000"]
    path.write_text(json.dumps(graph))
    done = shared.tool("scene", "lint", path, "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["problems"]


def test_the_command_line_refuses_what_it_does_not_know(shared):
    for words in (["nothing"], ["call"], ["call", "token.keys", "[1]"], ["up", "--nothing"]):
        done = shared.tool(*words)
        assert done.returncode == 2, words
        assert "fusionctl" in done.stderr and not done.stdout.strip()
    done = shared.tool("call", "token.nothing", "--json")
    assert json.loads(done.stdout)["error"]["reason"] == "method_not_found"


# Auth tokens, as any backend verifies them


def verified(bus, token):
    keys = bus.call("token.keys")["keys"]
    header = jwt.get_unverified_header(token)
    (key,) = [key for key in keys if key["kid"] == header["kid"]]
    return jwt.decode(token, jwt.PyJWK(key).key, algorithms=["EdDSA"])


def test_pyjwt_verifies_tokens_before_and_after_a_rotation(shared, bus):
    issue = {
        "schemeCode": shared.scheme, "platform": "android", "packageName": BUNDLE,
        "packageSign": "0123456789abcdef0123456789abcdef", "durationSeconds": 1800,
    }
    old = bus.call("token.issue", issue)
    claims = verified(bus, old["authToken"])
    assert claims["sub"] == shared.scheme and claims["platform"] == "android"
    assert set(claims) == {"iss", "sub", "jti", "iat", "exp", "platform", "app"}
    assert claims["exp"] - claims["iat"] == 1800
    assert claims["exp"] * 1000 == old["expiresAtMilliseconds"]

    kid = bus.call("token.rotate")["kid"]
    new = bus.call("token.issue", issue)
    assert jwt.get_unverified_header(new["authToken"])["kid"] == kid
    assert verified(bus, new["authToken"])["jti"] != claims["jti"]
    assert verified(bus, old["authToken"]) == claims
    for token in (old, new):
        assert bus.call("token.introspect", {"authToken": token["authToken"]})["active"]


def test_a_changed_token_is_refused(shared, bus):
    issue = {
        "schemeCode": shared.scheme, "platform": "ios", "bundleId": BUNDLE,
        "durationSeconds": 900,
    }
    token = bus.call("token.issue", issue)["authToken"]
    head, body, signature = token.split(".")
    claims = json.loads(base64.urlsafe_b64decode(body + "=="))
    claims["exp"] += 1000
    forged = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    none = base64.urlsafe_b64encode(b'{"alg":"none"}').decode().rstrip("=")
    for bad in (
        f"{head}.{forged}.{signature}", f"{none}.{body}.", f"{head}.{body}.{signature[:-4]}AAAA",
        f"{head}.{body}", "", "a.b.c", token + ".x",
    ):
        try:
            state = bus.call("token.introspect", {"authToken": bad})
            assert not state["active"], bad
        except Refused as refusal:
            assert refusal.reason == "invalid_parameters"
        with pytest.raises(Refused) as refused:
            bus.call("scene.start", {"authToken": bad, "templateId": "100001", "deviceId": "d"})
        assert refused.value.reason in ("token_invalid", "invalid_parameters")


# Same request, same answer


def test_a_request_key_gives_one_answer(shared, bus):
    number = fresh_number()
    send = {"schemeCode": shared.scheme, "purpose": "login", "number": number}
    key = fresh_key()
    first = bus.ask("smscode.send", send, key)
    again = bus.ask("smscode.send", send, key)
    assert again == first
    with pytest.raises(Refused) as refused:
        bus.ask("smscode.send", {**send, "purpose": "other"}, key)
    assert refused.value.reason == "conflict"
    assert len(bus.call("sandbox.inbox", {"number": number})["messages"]) == 1


# Another uid has no place here: the socket's folder is the owner's alone.


def test_the_homes_secrets_are_the_owners_alone(shared):
    for folder in ("keys", "run", "data"):
        assert (shared.home / folder).stat().st_mode & 0o077 == 0
    for path in (shared.home / "keys").iterdir():
        assert path.stat().st_mode & 0o077 == 0, path
