"""The client API over HTTP, with real daemons: scenes walked, events, and what strangers get."""

import json
import os
import pathlib

import hypothesis
import libfaketime
import pytest
import schemathesis
from openapi_spec_validator import validate as validate_document
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks

from bus import Bus, NoAnswer, Refused
from house import BINARIES, Child, until
from play import Phone, fresh_number
from web import BASE, DOCUMENT, Failed, Web, WebRun, issue, read_events, start_gateway, validate

ORIGIN = "https://app.example"
# Of `scene`, in the default configuration.
STARTS_PER_HOUR = 300


@pytest.fixture(scope="module")
def address(own):
    return start_gateway(
        own, "edge", "--set", 'gateway.trustedProxies=["127.0.0.1"]',
        "--set", f'gateway.webOrigins=["{ORIGIN}"]',
    )


@pytest.fixture
def web(address):
    with Web(address) as client:
        yield client


@pytest.fixture
def bus(own):
    with Bus(own.ipc) as client:
        yield client


@pytest.fixture
def run(web, bus, own):
    return lambda template="100001", **more: WebRun(web, bus, own.scheme, template, **more)


# Scenes


def one_click(walk):
    assert walk.view["node"]["kind"] == 2000001
    sim = walk.bus.call("sandbox.sim", {"numbers": [walk.phone.number], "carrier": "unicom"})
    token = walk.bus.call("sandbox.carrier_token", {"simId": sim["simId"]})["carrierToken"]
    walk.submit(carrierToken=token)
    assert walk.pass_step()["phoneNumber"] == walk.phone.number
    return walk.move("continue", isSuccess=True)


def test_sign_in_by_one_click(run):
    end = one_click(run("100001"))
    assert (end["state"], end["endCode"]) == ("passed", 110005)
    assert "node" not in end


def test_change_of_number_goes_half_way_first(run):
    old = fresh_number()
    walk = run("100002", number=old, bound=old)
    assert walk.view["node"]["halfway"]
    walk.send()
    walk.type()
    walk.pass_step()
    walk.move("halfway", isSuccess=False)
    walk.move("halfway", isSuccess=True)
    walk.phone = Phone(walk.bus)
    walk.send()
    walk.type()
    assert walk.pass_step()["phoneNumber"] == walk.phone.number
    assert walk.move("continue", isSuccess=True)["state"] == "passed"


@pytest.mark.parametrize("template", ["100003", "100004"])
def test_reset_and_binding_by_code(run, template):
    number = fresh_number()
    walk = run(template, number=number, bound=number if template == "100003" else None)
    walk.send()
    walk.type()
    walk.pass_step()
    assert walk.move("continue", isSuccess=True)["state"] == "passed"


def test_a_bound_number_is_verified_by_an_upgoing_text(run, bus):
    number = fresh_number()
    walk = run("100005", number=number, bound=number)
    while not walk.view["node"].get("upgoing"):
        walk.move("continue", isSuccess=False)
    upgoing = walk.view["node"]["upgoing"]
    walk.submit(sent=True)
    assert walk.verify()["reason"] == "not_received"
    bus.call("sandbox.send_mo", {
        "sender": number, "receiver": upgoing["receivingNumber"], "text": upgoing["text"],
    })
    until(lambda: walk.verify()["result"] == "PASS", "the text")
    assert walk.move("continue", isSuccess=True)["state"] == "passed"


def test_continue_needs_a_pass_and_stop_ends(run):
    walk = run("100004")
    with pytest.raises(Failed) as refused:
        walk.move("continue", isSuccess=True)
    assert (refused.value.status, refused.value.code) == (409, "pass_not_on_record")
    before = walk.step
    walk.view = {**walk.view, "step": before + 7}
    assert walk.move("continue", isSuccess=False)["applied"] is False
    assert walk.view["step"] == before
    assert walk.move("stop")["state"] == "stopped"
    bare = walk.web.ask("POST", f"/scenes/{walk.id}/stop", token=walk.token, key=walk.key)
    assert bare.json()["state"] == "stopped"


def test_a_resend_within_the_cooldown_tells_when_F047(run):
    walk = run("100004")
    first = walk.send()
    again = walk.send()
    assert 500009 in again["resultCodes"] and again["reason"]
    assert again["node"]["resendAtMilliseconds"] == first["node"]["resendAtMilliseconds"]
    walk.type()
    walk.pass_step()


def test_a_provider_that_refuses_is_told_and_the_next_node_is_free_F109(run, bus):
    number = fresh_number()
    walk = run("100005", number=number, bound=number)
    while walk.view["node"]["kind"] != 2000005:
        walk.move("continue", isSuccess=False)
    bus.call("sandbox.fault", {"number": number, "fault": "refused"})
    view = walk.send()
    assert 500008 in view["resultCodes"] and view["reason"]
    assert walk.phone.messages(wait=300) == []
    after = walk.move("continue", isSuccess=False)
    assert after["step"] > view["step"]


def test_known_and_unknown_numbers_get_the_same_answers_F119_F121(run):
    known = fresh_number()
    one_click(run("100001", number=known))
    told = []
    for number in (known, fresh_number()):
        walk = run("100001", number=number)
        walk.leave_carrier()
        sent = walk.send()
        walk.type(wrong=True)
        verified = walk.verify()
        told.append((
            sent["resultCodes"], set(sent), set(sent["node"]), sent["node"]["codeLength"],
            walk.view["resultCodes"], set(walk.view), verified["result"], verified["reason"],
        ))
    assert told[0] == told[1]


# Session and tokens


def test_a_session_tells_the_token_and_the_templates_and_no_number(web, bus, own):
    number = fresh_number()
    token = issue(bus, own.scheme, boundNumber=number)
    answer = web.ask("GET", "/session", token=token)
    session = answer.json()
    assert session["schemeCode"] == own.scheme and session["platform"] == "ios"
    assert session["expiresAtMilliseconds"] - session["issuedAtMilliseconds"] == 900_000
    assert abs(session["serverTimeMilliseconds"] - session["issuedAtMilliseconds"]) < 60_000
    assert {"100001", "100005"} <= {one["templateId"] for one in session["templates"]}
    # Also for a gateway of the account that has every role.
    assert number[1:] not in answer.text and "boundNumber" not in answer.text
    assert answer.headers["cache-control"] == "no-store"


def test_a_revoked_token_ends_at_once(web, bus, own, run):
    walk = run("100004")
    with walk.events() as stream:
        events = read_events(stream)
        assert next(events)["id"] == "1"
        bus.call("token.revoke", {"authToken": walk.token})
        assert [one for one in events if one["event"] == "end"] == []
    for method, path in [
        ("GET", "/session"), ("GET", f"/scenes/{walk.id}"), ("GET", f"/scenes/{walk.id}/events"),
    ]:
        answer = web.ask(method, path, token=walk.token, key=walk.key)
        assert answer.status_code == 401 and answer.json()["code"] == "token_revoked"
        assert 'error="invalid_token"' in answer.headers["www-authenticate"]


def late_instance(own):
    """A token service whose clock is 16 minutes late; its tokens of 15 minutes have expired."""
    library = pathlib.Path(libfaketime.__file__).parent / "vendor/libfaketime/src/libfaketime.so.1"
    environment = {
        **os.environ, "LD_PRELOAD": str(library), "FAKETIME": "-16m",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
    return Child(
        [BINARIES / "fusion-token", "--home", own.home, "--instance", "late",
         "--die-with-parent"],
        env=environment,
    )


def test_an_expired_token_is_told_apart(web, bus, own):
    late = late_instance(own)
    try:
        until(lambda: own.pid_file("token", "late") == (late.pid, "ready"), "the late instance")
        token = until(
            lambda: attempt(lambda: issue(bus, own.scheme, service="token@late")), "a token"
        )
    finally:
        late.end()
    for method, path, body in [
        ("GET", "/session", None), ("POST", "/scenes", {"templateId": "100001"}),
    ]:
        answer = web.ask(method, path, token=token, body=body)
        assert answer.status_code == 401 and answer.json()["code"] == "token_expired"


def attempt(body):
    try:
        return body()
    except (NoAnswer, Refused):
        return None


@pytest.mark.parametrize("header", [None, "", "Basic YTpi", "Bearer", "Bearer x y", "Bearer x"])
def test_what_is_no_token_is_401(web, header):
    headers = {} if header is None else {"Authorization": header}
    answer = web.ask("GET", "/session", headers=headers)
    assert answer.status_code == 401 and answer.json()["code"] == "token_invalid"
    assert ("invalid_token" in answer.headers["www-authenticate"]) == (header is not None)


def test_a_token_in_the_url_is_not_looked_at(web, bus, own):
    token = issue(bus, own.scheme)
    assert web.ask("GET", f"/session?access_token={token}").status_code == 401


# Whose run


def test_a_run_id_alone_gives_nothing(web, bus, own, run):
    walk = run("100004")
    stranger = issue(bus, own.scheme)
    expected = web.ask("GET", "/scenes/run_00000000000000000000000000", token=stranger, key="k")
    assert expected.status_code == 404
    seen = []
    for path, body in [
        ("", None), ("/events", None), ("/stop", {}),
        ("/input", {"step": walk.step, "input": {"send": True, "number": fresh_number()}}),
        ("/continue", {"step": walk.step, "isSuccess": False}),
        ("/halfway", {"step": walk.step, "isSuccess": False}),
    ]:
        method = "GET" if body is None else "POST"
        for token in (walk.token, stranger):
            for key in ("wrong", walk.key[:-1], walk.key + "A"):
                seen.append(
                    web.ask(method, f"/scenes/{walk.id}{path}", token=token, key=key, body=body)
                )
        bare = web.ask(method, f"/scenes/{walk.id}{path}", token=stranger, body=body)
        assert bare.status_code == 400 and bare.json()["field"] == "X-Run-Key"
    same = {key: value for key, value in expected.json().items() if key != "requestId"}
    for answer in seen:
        assert answer.status_code == 404
        assert {k: v for k, v in answer.json().items() if k != "requestId"} == same
    assert walk.get()["state"] == "waiting"


def test_a_token_of_another_scheme_gives_nothing_of_a_run(web, bus, own, run):
    walk = run("100004")
    scheme = bus.call("scheme.create", {
        "name": "Other", "owner": "other", "app": {"iosBundleId": "com.example.other"},
        "policy": {},
    })["schemeCode"]
    other = bus.call("token.issue", {
        "schemeCode": scheme, "platform": "ios", "bundleId": "com.example.other",
        "durationSeconds": 900,
    })["authToken"]
    for path in ("", "/events"):
        answer = web.ask("GET", f"/scenes/{walk.id}{path}", token=other, key=walk.key)
        assert answer.status_code == 404 and answer.json()["code"] == "run_not_found"


# Repeating


def test_a_repeated_call_with_its_key_gets_its_answer_F026(web, bus, own):
    token = issue(bus, own.scheme)
    body = {"templateId": "100004", "deviceId": "dev-1"}
    headers = {"Idempotency-Key": "start-1"}
    first, second = (
        web.ask("POST", "/scenes", token=token, body=body, headers=headers) for _ in range(2)
    )
    assert first.status_code == second.status_code == 201
    assert first.json() == second.json()
    assert first.headers["location"] == f"{BASE}/scenes/{first.json()['runId']}"
    assert first.headers["x-request-id"] != second.headers["x-request-id"]
    other = web.ask(
        "POST", "/scenes", token=token, body={**body, "deviceId": "dev-2"}, headers=headers
    )
    assert other.status_code == 409 and other.json()["code"] == "conflict"
    fresh = web.ask("POST", "/scenes", token=token, body=body)
    assert fresh.json()["runId"] != first.json()["runId"]


def test_a_repeated_send_sends_one_text(run):
    walk = run("100004")
    step = walk.step
    walk.move("submit", key="send-1", input={"send": True, "number": walk.phone.number})
    code = walk.phone.code()
    walk.view = {**walk.view, "step": step}
    walk.move("submit", key="send-1", input={"send": True, "number": walk.phone.number})
    assert walk.phone.messages(wait=300) == []
    mask = walk.move("submit", key="code-1", input={"code": code})["maskToken"]
    walk.view = {**walk.view, "step": step}
    assert walk.move("submit", key="code-1", input={"code": code})["maskToken"] == mask


# Events


def test_events_come_live_and_resume(run):
    walk = run("100004")
    seen = []
    with walk.events() as stream:
        assert stream.status_code == 200
        assert stream.headers["content-type"] == "text/event-stream"
        events = read_events(stream)
        seen.append(next(events))
        walk.send()
        walk.type()
        walk.pass_step()
        walk.move("continue", isSuccess=True)
        seen += list(events)
    *told, end = seen
    schemas = {"$ref": "#/components/schemas/SceneEvent"}
    for number, one in enumerate(told, 1):
        event = json.loads(one["data"])
        validate(event, schemas)
        assert one["id"] == str(number) == str(event["sequence"])
        assert one["event"] == event["name"]
    assert end["event"] == "end" and "id" not in end
    last = json.loads(end["data"])
    validate(last, {"$ref": "#/components/schemas/SceneView"})
    assert last["state"] == "passed" and "maskToken" not in last and "runKey" not in last
    text = json.dumps(seen)
    assert walk.phone.number[1:] not in text and walk.mask not in text

    with walk.events(after=len(told) - 1) as stream:
        rest = list(read_events(stream))
    assert rest == [told[-1], end]
    with walk.events(after=len(told)) as stream:
        assert list(read_events(stream)) == [end]


def test_a_run_has_four_streams_and_a_closed_one_makes_room(web, run):
    walk = run("100004")
    streams = [walk.events() for _ in range(4)]
    opened = [stream.__enter__() for stream in streams]
    try:
        assert [one.status_code for one in opened] == [200] * 4
        fifth = web.ask("GET", f"/scenes/{walk.id}/events", token=walk.token, key=walk.key)
        assert fifth.status_code == 429 and fifth.headers["retry-after"] == "5"
        streams.pop().__exit__(None, None, None)

        def opens():
            with walk.events() as stream:
                return stream.status_code == 200

        until(opens, "room for a stream", interval=0.2)
    finally:
        for stream in streams:
            stream.__exit__(None, None, None)


# Addresses


def test_starts_are_counted_by_address_behind_the_proxy_F106_F107_F127(web, bus, own):
    token = issue(bus, own.scheme)
    body = {"templateId": "100004", "deviceId": "dev-1"}

    def start(forwarded):
        headers = {"X-Forwarded-For": forwarded} if forwarded else {}
        return web.ask("POST", "/scenes", token=token, body=body, headers=headers)

    for number in range(STARTS_PER_HOUR):
        # What stands on the left is the client's own word.
        answer = start(f"9.9.{number % 250}.9, 203.0.113.7")
        assert answer.status_code == 201, answer.text
    full = start("203.0.113.7")
    assert full.status_code == 429 and full.json()["code"] == "address_limit"
    wait = full.json()["retryAfterMilliseconds"]
    assert 0 < wait <= 3_600_000
    assert full.headers["retry-after"] == str(-(-wait // 1000))
    assert start("203.0.113.8").status_code == 201
    # An IPv6 customer has a /64.
    assert start("2001:db8::1").status_code == 201
    # This machine itself is never counted.
    assert start(None).status_code == 201


# Bad input


@pytest.mark.parametrize(
    "raw, field",
    [
        (b"", "body"), (b"{", "body"), (b"[]", "body"), (b"\xff", "body"), (b"{}", "step"),
        (b'{"step":"1","input":{}}', "step"), (b'{"step":1,"input":{},"x":1}', "x"),
        (b'{"step":1,"input":{"code":12345}}', "input.code"),
        (b'{"step":1,"input":{"code":null}}', "input.code"),
        (b'{"step":1,"input":{"code":["1"]}}', "input.code"),
        (b'{"step":1,"input":{"code":"1","code":"2"}}', "input.code"),
        (b'{"step":1,"input":{"y":{}}}', "input.y"),
        (b'{"step":1,"input":' + b"[" * 9000, "body"),
    ],
)
def test_bad_bodies_are_named_F084_F087(run, raw, field):
    walk = run("100004")
    answer = walk.web.ask(
        "POST", f"/scenes/{walk.id}/input", token=walk.token, key=walk.key, raw=raw
    )
    assert answer.status_code == 400 and answer.json()["field"] == field, answer.text
    assert walk.get()["step"] == walk.step


@pytest.mark.parametrize("code", ["", "+12345", "1e5", "-00001", "0x1234", "1234567", "12345"])
def test_odd_codes_are_no_fault_of_ours_F087(run, code):
    walk = run("100004")
    walk.send()
    right = walk.phone.code()
    try:
        view = walk.submit(code=code)
        # A code that cannot be one costs no attempt, and wins no mask token.
        assert view["reason"] if walk.mask is None else walk.verify()["result"] == "UNKNOWN"
    except Failed as refused:
        assert refused.status == 400
    walk.submit(code=right)
    walk.pass_step()


def test_codes_of_other_scripts_pass_F082(run):
    walk = run("100004")
    walk.send()
    code = walk.phone.code()
    walk.submit(code="".join(chr(0x0660 + int(digit)) for digit in code))
    walk.pass_step()


@pytest.mark.parametrize(
    "number", ["+99999", "+88012345", "+1415555267", "", "+" + "1" * 60, "\u0000", "x" * 65]
)
def test_numbers_that_are_none_are_400_F092(run, number):
    walk = run("100004")
    with pytest.raises(Failed) as refused:
        walk.submit(send=True, number=number)
    assert refused.value.status == 400
    assert refused.value.answer.json()["field"] == "input.number"


def test_large_bodies_and_other_types_are_refused(web, bus, own):
    token = issue(bus, own.scheme)
    large = web.ask("POST", "/scenes", token=token, body={"templateId": "1" * 40_000})
    assert large.status_code == 413 and large.json()["code"] == "body_too_large"
    typed = web.ask(
        "POST", "/scenes", token=token, raw=b"templateId=100001",
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    )
    assert typed.status_code == 415


def test_other_methods_are_405_F049(web):
    for method, path, allowed in [
        ("GET", "/scenes", {"OPTIONS", "POST"}),
        ("DELETE", "/scenes/run_1", {"GET", "HEAD", "OPTIONS"}),
        ("GET", "/scenes/run_1/input", {"OPTIONS", "POST"}),
    ]:
        answer = web.ask(method, path)
        assert answer.status_code == 405
        assert set(answer.headers["allow"].split(", ")) == allowed
        assert answer.headers["content-type"] == "application/problem+json"


# Browsers


def test_a_listed_origin_may_read_and_others_may_not(web):
    asked = {"Access-Control-Request-Method": "POST"}
    allowed = web.ask("OPTIONS", "/scenes", headers={"Origin": ORIGIN, **asked})
    assert allowed.status_code == 204 and allowed.content == b""
    assert allowed.headers["access-control-allow-origin"] == ORIGIN
    refused = web.ask("GET", "/session", headers={"Origin": ORIGIN})
    assert refused.headers["access-control-allow-origin"] == ORIGIN
    for origin in ("https://other.example", "null"):
        for method, path in (("OPTIONS", "/scenes"), ("GET", "/session")):
            answer = web.ask(method, path, headers={"Origin": origin, **asked})
            assert not [name for name in answer.headers if name.startswith("access-control")]
            assert answer.headers["vary"] == "Origin"


# The document


def test_the_document_is_served_and_valid(web):
    answer = web.ask("GET", "/openapi.json")
    assert answer.json() == DOCUMENT
    validate_document(answer.json())


def test_whatever_a_tool_makes_up_is_answered_as_documented(web, address, run):
    """Requests that schemathesis draws from the document, right and wrong ones."""
    schema = schemathesis.openapi.from_dict(DOCUMENT).exclude(path_regex="/events$")
    walk = run("100004")
    known = {"Authorization": f"Bearer {walk.token}", "X-Run-Key": walk.key}
    wanted = [
        not_a_server_error, checks.status_code_conformance, checks.content_type_conformance,
        checks.response_schema_conformance, checks.response_headers_conformance,
    ]
    count = 0
    for result in schema.get_all_operations():
        operation = result.ok()

        @hypothesis.given(
            case=operation.as_strategy(
                generation_mode=schemathesis.GenerationMode.NEGATIVE
            ) | operation.as_strategy()
        )
        @hypothesis.settings(
            max_examples=30, deadline=None, database=None, derandomize=True,
            suppress_health_check=list(hypothesis.HealthCheck),
        )
        def hold(case):
            nonlocal count
            if "runId" in (case.path_parameters or {}):
                case.path_parameters["runId"] = walk.id
            response = case.call(base_url=address, headers=known, timeout=30)
            case.validate_response(response, checks=wanted)
            assert response.status_code < 500, response.text
            count += 1

        hold()
    assert count > 100
    assert web.ask("GET", f"/scenes/{walk.id}", token=walk.token, key=walk.key).status_code == 200


# Secrets


def test_no_log_of_a_gateway_holds_a_secret_or_a_number(own, run, web):
    walk = run("100004")
    walk.send()
    walk.type()
    web.ask("GET", f"/scenes/{walk.id}?number={walk.phone.number}", token=walk.token, key="wrong")
    for log in (own.home / "log").glob("fusion-gateway-*.jsonl"):
        text = log.read_text()
        assert "client.scenes.input" in text or "edge" not in log.name
        for secret in (walk.token, walk.key, walk.mask, walk.phone.number[1:], walk.id):
            assert secret not in text
