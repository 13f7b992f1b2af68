"""The official dypnsapi clients, unmodified, against real daemons: other endpoint, nothing else."""

import datetime
import json
import os
import pathlib
import random
import re

import libfaketime
import pytest

import dypnsapi
from bus import Bus, NoAnswer, Refused
from dypnsapi import FLAVOURS, Client, Recorder
from house import BINARIES, Child, until
from play import BUNDLE, Phone, Run, fresh_number, other_code
from web import start_gateway

# The first generation is older than fusion authentication; it sends its actions by their names.
ALL = list(FLAVOURS)
TEA = ["2.0.0", "2.0.0-v2", "1.2.2"]
PACKAGE, SIGN = "com.example.app", "0123456789abcdef0123456789abcdef"
WORDS = {
    "SignName": "速通互联验证码", "TemplateCode": "100001",
    "TemplateParam": json.dumps({"code": "##code##", "min": "5"}),
}


def national(number):
    return number.removeprefix("+86")


@pytest.fixture(scope="module")
def gateway(own):
    return start_gateway(own, "dyp")


@pytest.fixture(scope="module")
def other_gateway(own):
    """Another instance, with the documented answer to a failed check."""
    return start_gateway(own, "dyp2", "--set", "gateway.failedCheckIsError=false")


@pytest.fixture
def bus(own):
    with Bus(own.ipc) as client:
        yield client


@pytest.fixture(scope="module")
def owner(own):
    return own.run("scheme", "show", own.scheme)["owner"]


@pytest.fixture(scope="module")
def key(own, owner):
    return own.run("key", "create", owner, "--default-scheme", own.scheme)


@pytest.fixture(scope="module")
def scheme(own, owner):
    """One with an app on each platform."""
    return own.run(
        "scheme", "create", "shop", "--owner", owner, "--bundle-id", BUNDLE,
        "--package-name", PACKAGE, "--package-sign", SIGN,
    )["schemeCode"]


@pytest.fixture(params=ALL)
def client(request, gateway, key):
    return Client(request.param, gateway, key)


@pytest.fixture
def current(gateway, key):
    return Client("2.0.0", gateway, key)


def token_of(scheme, **changes):
    return {
        "SchemeCode": scheme, "Platform": "iOS", "BundleId": BUNDLE, "DurationSeconds": 900,
        **changes,
    }


def is_refused(outcome, client, code, status, kind="ClientException"):
    """As each family raises it."""
    assert outcome["code"] == code, outcome
    if client.flavour == "core":
        kind = "ServerException"
    # Cores before 0.4 have one exception for all.
    if client.flavour == "1.2.2":
        kind = "TeaException"
    assert outcome["raised"] == kind, outcome
    assert int(outcome["status"] or status) == status, outcome
    return outcome


# What works


def test_tokens_for_both_platforms(client, bus, scheme):
    ios, android = client.calls(
        ("GetFusionAuthToken", token_of(scheme)),
        ("GetFusionAuthToken", {
            "SchemeCode": scheme, "Platform": "Android", "PackageName": PACKAGE,
            "PackageSign": SIGN, "DurationSeconds": 43200,
        }),
    )
    for outcome, platform in [(ios, "ios"), (android, "android")]:
        body = outcome["body"]
        assert (body["Code"], body["Success"]) == ("OK", True)
        assert re.fullmatch(r"[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}", body["RequestId"])
        state = bus.call("token.introspect", {"authToken": body["Model"]})
        assert state["active"] and state["platform"] == platform


def test_a_code_is_sent_and_checked(client, bus):
    phone = Phone(bus)
    number = national(phone.number)
    sent = client.call("SendSmsVerifyCode", {
        **WORDS, "PhoneNumber": number, "SchemeName": "测试 方案+", "OutId": "o-1",
        "CodeLength": 6, "ReturnVerifyCode": True, "AutoRetry": 1,
    })
    assert sent["Code"] == "OK" and sent["Success"] is True
    assert re.fullmatch(r"\d+\^\d", sent["Model"]["BizId"])
    assert sent["Model"]["OutId"] == "o-1"
    [message] = phone.messages()
    assert message["text"].startswith("[速通互联验证码] ")
    code = re.search(r"\d{6}", message["text"]).group()
    assert sent["Model"]["VerifyCode"] == code
    check = {"PhoneNumber": number, "SchemeName": "测试 方案+", "OutId": "o-2"}
    wrong, right, again = client.calls(
        ("CheckSmsVerifyCode", {**check, "VerifyCode": other_code(code)}),
        ("CheckSmsVerifyCode", {**check, "VerifyCode": code}),
        ("CheckSmsVerifyCode", {**check, "VerifyCode": code}),
    )
    for failed in (wrong, again):
        assert "验证失败" in is_refused(failed, client, "isv.ValidateFail", 400)["message"]
    assert right["body"]["Model"] == {"OutId": "o-2", "VerifyResult": "PASS"}


def test_details_are_found_by_biz_id(client, bus):
    phone = Phone(bus)
    number = national(phone.number)
    sent = client.call("SendSmsVerifyCode", {**WORDS, "PhoneNumber": number, "OutId": "a"})
    china = datetime.timezone(datetime.timedelta(hours=8))
    query = {
        "PhoneNumber": number, "SendDate": f"{datetime.datetime.now(china):%Y%m%d}",
        "PageSize": 10, "CurrentPage": 1,
    }
    found = client.call("QuerySendDetails", {**query, "BizId": sent["Model"]["BizId"]})
    assert found["TotalCount"] == 1
    models = found["Model"]
    assert models[0]["OutId"] == "a" and models[0]["PhoneNum"] == number
    assert models[0]["TemplateCode"] == "100001" and models[0]["SendStatus"] in (1, 3)
    assert not re.search(r"\d{4}", models[0]["Content"]), "a code is shown as dots"
    assert client.call("QuerySendDetails", {**query, "BizId": "112231421412414124123^4"})[
        "TotalCount"
    ] == 0


def test_a_mask_token_of_a_scene_is_verified(client, bus, own):
    good = Run(bus, own.scheme).leave_carrier()
    good.send()
    good.type()
    bad = Run(bus, own.scheme).leave_carrier()
    bad.send()
    bad.type(wrong=True)
    outcomes = client.calls(*[
        ("VerifyWithFusionAuthToken", {"VerifyToken": token})
        for token in (good.mask, good.mask, bad.mask, "no such token +/=~ 中文&x")
    ])
    passed, again, wrong, none = [outcome["body"]["Model"] for outcome in outcomes]
    assert passed["VerifyResult"] == "PASS"
    assert passed["PhoneNumber"] == national(good.phone.number)
    assert passed.get("PhoneScore") is None
    for refused in (again, wrong, none):
        assert refused["VerifyResult"] == "UNKNOWN" and "PhoneNumber" not in refused


def carrier_token(bus, number):
    sim = bus.call("sandbox.sim", {"numbers": [number], "carrier": "unicom"})
    return bus.call("sandbox.carrier_token", {"simId": sim["simId"]})["carrierToken"]


def test_numbers_behind_tokens_of_the_carrier(client, bus):
    number = fresh_number()
    tokens = [carrier_token(bus, number) for _ in range(4)]
    wrong = national(fresh_number())
    mobile, used, match, other = client.calls(
        ("GetMobile", {"AccessToken": tokens[0]}),
        ("GetMobile", {"AccessToken": tokens[0]}),
        ("VerifyMobile", {"AccessCode": tokens[1], "PhoneNumber": national(number)}),
        ("VerifyMobile", {"AccessCode": tokens[2], "PhoneNumber": wrong}),
    )
    assert mobile["body"]["GetMobileResultDTO"]["Mobile"] == national(number)
    # A business failure: no exception, and no number.
    assert used["body"]["Code"] == "isv.TOKEN_INVALID"
    assert match["body"]["GateVerifyResultDTO"]["VerifyResult"] == "PASS"
    assert other["body"]["GateVerifyResultDTO"]["VerifyResult"] == "REJECT"


def test_pages(current, bus, own, owner, gateway):
    scheme = own.run(
        "scheme", "create", "page", "--owner", owner, "--origin", "https://app.example"
    )["schemeCode"]
    key = own.run("key", "create", owner, "--default-scheme", scheme)
    client = Client("2.0.0", gateway, key)
    number = fresh_number()
    first, phone, match, wrong = client.calls(
        ("GetAuthToken", {"Url": "https://app.example/in", "Origin": "https://app.example"}),
        ("GetPhoneWithToken", {"SpToken": carrier_token(bus, number)}),
        ("VerifyPhoneWithToken", {
            "SpToken": carrier_token(bus, number), "PhoneNumber": national(number),
        }),
        ("GetAuthToken", {"Url": "https://b.example/", "Origin": "https://b.example"}),
    )
    token = first["body"]["TokenInfo"]["JwtToken"]
    state = bus.call("token.introspect", {"authToken": token})
    assert state["active"] and state["platform"] == "web" and state["schemeCode"] == scheme
    assert phone["body"]["Data"]["Mobile"] == national(number)
    assert match["body"]["GateVerify"]["VerifyResult"] == "PASS"
    assert wrong["body"]["Code"] == "isv.INVALID_APP"


def test_schemes_come_and_go(current):
    made = current.call("CreateSchemeConfig", {
        "SchemeName": "new", "Platform": "Android", "AndroidPackageName": PACKAGE,
        "AndroidPackageSign": SIGN,
    })
    code = made["Model"]["SchemeCode"]
    gate = current.call("CreateVerifyScheme", {
        "SchemeName": "gate", "AppName": "Gate", "OsType": "iOS", "BundleId": "com.example.gate",
    })
    assert gate["GateVerifySchemeDTO"]["SchemeCode"].startswith("FA") and gate["Success"]
    found, gone, lost, token = current.calls(
        ("DescribeVerifyScheme", {"SchemeCode": code}),
        ("DeleteVerifyScheme", {"SchemeCode": code}),
        ("DescribeVerifyScheme", {"SchemeCode": code}),
        ("GetFusionAuthToken", token_of(code)),
    )
    assert found["body"]["SchemeQueryResultDTO"]["AppEncryptInfo"] == code
    assert gone["body"]["Result"] is True
    is_refused(lost, current, "SceneQueryFail", 400)
    is_refused(token, current, "SchemeNotPassed", 400)


def test_the_asynchronous_client(current, scheme):
    assert current.call("GetFusionAuthToken", token_of(scheme), asynchronous=True)["Model"]


def test_an_endpoint_that_names_its_protocol_is_told_how_to_write_it(gateway, key, scheme):
    client = Client("2.0.0", gateway, key)
    client.endpoint = gateway
    outcome = client.refused("GetFusionAuthToken", token_of(scheme))
    assert outcome["status"] == 400 and "HOST:PORT" in outcome["data"]["Recommend"]


def test_get_instead_of_post(gateway, key, bus, own):
    client = Client("core", gateway, key)
    assert client.call("GetFusionAuthToken", token_of(own.scheme), method="GET")["Code"] == "OK"


# What is refused


def test_a_wrong_secret(client, key, scheme):
    client.key = {**key, "accessKeySecret": "nobody's secret"}
    outcome = client.refused("GetFusionAuthToken", token_of(scheme))
    if client.flavour == "core":
        # It compared the string to sign in our message with its own.
        assert outcome["code"] == "InvalidAccessKeySecret"
        assert outcome["status"] == 400
    else:
        is_refused(outcome, client, "SignatureDoesNotMatch", 400)
        assert "server string to sign is:" in outcome["message"]


def test_a_key_that_is_not_there_or_was_revoked(client, own, owner, scheme):
    revoked = own.run("key", "create", owner)
    own.run("key", "revoke", revoked["accessKeyId"])
    client.key = revoked
    is_refused(
        client.refused("GetFusionAuthToken", token_of(scheme)), client,
        "InvalidAccessKeyId.Inactive", 400,
    )
    client.key = {**revoked, "accessKeyId": "LTAI5tNobody"}
    is_refused(
        client.refused("GetFusionAuthToken", token_of(scheme)), client,
        "InvalidAccessKeyId.NotFound", 404,
    )


@pytest.mark.parametrize("flavour", [name for name in ALL if name != "1.0.0"])
def test_a_nonce_is_good_once_at_all_gateways(flavour, gateway, other_gateway, key, scheme):
    client = Client(flavour, gateway, key)
    with Recorder(gateway) as recorder:
        through = client.at(recorder.endpoint)
        assert through.call("GetFusionAuthToken", token_of(scheme))["Code"] == "OK"
        first = recorder.requests[0]
        recorder.replayed = first
        outcome = through.refused("GetFusionAuthToken", token_of(scheme))
    is_refused(outcome, client, "SignatureNonceUsed", 400)
    for address in (gateway, other_gateway):
        status, body = dypnsapi.status_and_body(
            dypnsapi.exchange(dypnsapi.address(address), first)
        )
        assert (status, body["Code"]) == (400, "SignatureNonceUsed")
        assert set(body) == {"RequestId", "HostId", "Code", "Message", "Recommend"}


@pytest.mark.parametrize("flavour", ALL)
def test_a_changed_request_is_not_signed(flavour, gateway, key, scheme):
    client = Client(flavour, gateway, key)
    with Recorder(gateway) as recorder:
        client.at(recorder.endpoint).call("GetFusionAuthToken", token_of(scheme))
        sent = recorder.requests[0]
    assert b"DurationSeconds=900" in sent
    changed = sent.replace(b"DurationSeconds=900", b"DurationSeconds=901")
    status, body = dypnsapi.status_and_body(
        dypnsapi.exchange(dypnsapi.address(gateway), changed)
    )
    assert (status, body["Code"]) == (400, "SignatureDoesNotMatch")
    assert body["Message"].count(":") == 1


def test_an_action_that_is_not_served(client):
    outcome = client.refused("GetSmsAuthTokens", {
        "SceneCode": "FC1", "OsType": "iOS", "Expire": 900, "SmsTemplateCode": "1",
    })
    is_refused(outcome, client, "InvalidApi.NotFound", 404)


@pytest.mark.parametrize("flavour", ALL)
def test_calls_per_second(flavour, gateway, own, owner, scheme):
    key = own.run("key", "create", owner, "--calls-per-second", "1")
    client = Client(flavour, gateway, key)
    outcomes = client.calls(*[("GetFusionAuthToken", token_of(scheme))] * 6)
    throttled = [outcome for outcome in outcomes if "raised" in outcome]
    assert throttled and len(throttled) < 6
    for outcome in throttled:
        is_refused(
            outcome, client, "Throttling.User", 400,
            "ClientException" if client.flavour == "1.2.2" else "ThrottlingException",
        )
        if client.flavour in ("2.0.0", "2.0.0-v2", "1.0.0"):
            assert 0 < outcome["retryAfter"] <= 1000


def test_a_key_that_is_held_to_a_scheme(client, own, owner, scheme, bus):
    client.key = own.run("key", "create", owner, "--schemes", scheme)
    run = Run(bus, own.scheme).leave_carrier()
    run.send()
    run.type()
    inside, outside, other = client.calls(
        ("GetFusionAuthToken", token_of(scheme)),
        ("GetFusionAuthToken", token_of(own.scheme)),
        ("VerifyWithFusionAuthToken", {"VerifyToken": run.mask}),
    )
    assert inside["body"]["Code"] == "OK"
    is_refused(outside, client, "Forbidden.RAM", 403)
    assert other["body"]["Model"]["VerifyResult"] == "UNKNOWN"
    # It was not used up by the key that may not see it.
    assert run.verify()["result"] == "PASS"


def test_a_key_that_is_held_to_an_action(client, own, owner, scheme):
    client.key = own.run("key", "create", owner, "--actions", "CheckSmsVerifyCode")
    is_refused(
        client.refused("GetFusionAuthToken", token_of(scheme)), client, "Forbidden.RAM", 403
    )


def test_a_scheme_of_another_owner(client, own):
    scheme = own.run(
        "scheme", "create", "theirs", "--owner", "somebody-else", "--bundle-id", BUNDLE
    )["schemeCode"]
    is_refused(
        client.refused("GetFusionAuthToken", token_of(scheme)), client,
        "VerifySchemeNotExist", 400,
    )


def test_parameters_that_are_missing_or_wrong(client, scheme):
    missing, short, platform = client.calls(
        ("GetFusionAuthToken", {"Platform": "iOS", "DurationSeconds": 900}),
        ("GetFusionAuthToken", token_of(scheme, DurationSeconds=899)),
        ("GetFusionAuthToken", token_of(scheme, Platform="Symbian")),
    )
    is_refused(missing, client, "MissingSchemeCode", 400)
    is_refused(short, client, "InvalidParameter.DurationSeconds", 400)
    is_refused(platform, client, "InvalidParameter.Platform", 400)


def test_temporary_keys(client, own, owner, key, scheme):
    client.key = own.run("key", "temporary", key["accessKeyId"], "--seconds", "900")
    assert client.call("GetFusionAuthToken", token_of(scheme))["Code"] == "OK"
    client.key = {**client.key, "securityToken": "of another triple/+=="}
    is_refused(
        client.refused("GetFusionAuthToken", token_of(scheme)), client,
        "InvalidSecurityToken.MismatchWithAccessKey", 400,
    )
    client.key = {**client.key, "securityToken": None}
    is_refused(
        client.refused("GetFusionAuthToken", token_of(scheme)), client,
        "MissingSecurityToken", 400,
    )


@pytest.fixture(scope="module")
def ended_key(own, key):
    """A triple of 15 minutes, made by a token service whose clock is 16 minutes late."""
    library = pathlib.Path(libfaketime.__file__).parent / "vendor/libfaketime/src/libfaketime.so.1"
    late = Child(
        [BINARIES / "fusion-token", "--home", own.home, "--instance", "dyplate",
         "--die-with-parent"],
        env={
            **os.environ, "LD_PRELOAD": str(library), "FAKETIME": "-16m",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        },
    )

    def made():
        try:
            with Bus(own.ipc) as bus:
                return bus.ask(
                    "key.create_temporary",
                    {"accessKeyId": key["accessKeyId"], "durationSeconds": 900},
                    service="key@dyplate",
                )
        except (Refused, NoAnswer):
            return None

    try:
        return until(made, "a temporary key")
    finally:
        late.end()


def test_a_temporary_key_that_has_ended(client, ended_key, scheme):
    client.key = ended_key
    is_refused(
        client.refused("GetFusionAuthToken", token_of(scheme)), client,
        "InvalidSecurityToken.Expired", 400,
    )


# Codes: what users of the original ran into


def test_F047_F106_a_send_too_early_tells_the_wait_and_the_code_lives(client, bus):
    phone = Phone(bus)
    send = ("SendSmsVerifyCode", {**WORDS, "PhoneNumber": national(phone.number)})
    first, second = client.calls(send, send)
    assert first["body"]["Code"] == "OK"
    # A business failure, no exception and no 500.
    assert second["body"]["Code"] == "biz.FREQUENCY" and second["body"]["Success"] is False
    seconds = int(re.search(r"(\d+) s$", second["body"]["Message"]).group(1))
    assert 30 < seconds <= 60
    checked = client.call(
        "CheckSmsVerifyCode",
        {"PhoneNumber": national(phone.number), "VerifyCode": phone.code()},
    )
    assert checked["Model"]["VerifyResult"] == "PASS"


def test_F107_the_limit_of_the_hour_is_named(current, bus):
    parameters = {**WORDS, "PhoneNumber": national(fresh_number()), "Interval": 1}

    def sent():
        """One answer that is not about the second between two sends."""
        def body():
            body = current.call("SendSmsVerifyCode", parameters)
            return None if body["Code"] == "biz.FREQUENCY" else body

        return until(body, "an answer")

    bodies = [sent() for _ in range(6)]
    assert [body["Code"] for body in bodies[:5]] == ["OK"] * 5
    last = bodies[5]
    assert last["Code"] == "isv.BUSINESS_LIMIT_CONTROL"
    assert last["Message"].startswith("触发小时级流控Permits:5")


@pytest.mark.parametrize("number", ["+99999", "+88012345", "+1415555267", "130", "abc"])
def test_F092_a_number_that_cannot_be(current, number):
    body = current.call("SendSmsVerifyCode", {**WORDS, "PhoneNumber": number})
    assert body["Code"] == "isv.MOBILE_NUMBER_ILLEGAL"


@pytest.mark.parametrize("written", [
    "{0}", "86{0}", "+86{0}", "0086{0}", "+86 {0}",
])
def test_a_number_in_any_spelling_is_one(current, bus, written):
    phone = Phone(bus)
    spelled = written.format(national(phone.number))
    assert current.call("SendSmsVerifyCode", {**WORDS, "PhoneNumber": spelled})["Code"] == "OK"
    checked = current.call(
        "CheckSmsVerifyCode",
        {"PhoneNumber": national(phone.number), "VerifyCode": phone.code()},
    )
    assert checked["Model"]["VerifyResult"] == "PASS"


def digits(count):
    return "".join(random.choices("0123456789", k=count))


def in_arabic(text):
    return text.translate({ord("0") + value: 0x0660 + value for value in range(10)})


@pytest.mark.parametrize("country, written, whole", [
    ("49", "+49176{0}", "+49176{0}"), ("49", "0049176{0}", "+49176{0}"),
    ("49", "176 {0}", "+49176{0}"), ("49", "0176 {0}", "+49176{0}"),
    ("86", "+49176{0}", "+49176{0}"), ("44", in_arabic("7400") + "{1}", "+447400{2}"),
])
def test_F074_F076_F081_numbers_of_other_countries(current, bus, country, written, whole):
    german, british = digits(8), digits(6)
    phone = Phone(bus, whole.format(german, None, british))
    spelled = written.format(german, in_arabic(british))
    body = current.call(
        "SendSmsVerifyCode", {**WORDS, "PhoneNumber": spelled, "CountryCode": country}
    )
    assert body["Code"] == "OK"
    body = current.call("CheckSmsVerifyCode", {
        "PhoneNumber": spelled, "CountryCode": country, "VerifyCode": phone.code(),
    })
    assert body["Model"]["VerifyResult"] == "PASS"


def test_F082_F084_F086_F087_codes_as_people_type_them(current, bus):
    phone = Phone(bus)
    number = national(phone.number)
    sent = current.call("SendSmsVerifyCode", {
        **WORDS, "PhoneNumber": number, "CodeLength": 6, "ReturnVerifyCode": True,
    })
    code = sent["Model"]["VerifyCode"]
    wide = "".join(chr(ord(digit) + 0xFEE0) for digit in code)
    spaced = f"{code[:3]} {code[3:]}"
    for typed in ["+12345", "1e5!", "-00001", "0x12.34"]:
        outcome = current.refused(
            "CheckSmsVerifyCode", {"PhoneNumber": number, "VerifyCode": typed}
        )
        assert outcome["code"] == "isv.ValidateFail"
    for typed in [code[1:], "0" + code]:
        outcome = current.refused(
            "CheckSmsVerifyCode", {"PhoneNumber": number, "VerifyCode": typed}
        )
        assert outcome["code"] == "isv.ValidateFail"
    assert current.call(
        "CheckSmsVerifyCode", {"PhoneNumber": number, "VerifyCode": wide}
    )["Model"]["VerifyResult"] == "PASS"
    again = current.call("SendSmsVerifyCode", {
        **WORDS, "PhoneNumber": number, "SchemeName": "other", "Interval": 1,
        "CodeLength": 6, "ReturnVerifyCode": True,
    })
    code = again["Model"]["VerifyCode"]
    spaced = f"{code[:3]} {code[3:]}"
    assert current.call("CheckSmsVerifyCode", {
        "PhoneNumber": number, "SchemeName": "other", "VerifyCode": spaced,
    })["Model"]["VerifyResult"] == "PASS"


def test_F119_F121_a_number_without_a_code_answers_like_one_with(current, bus):
    known, unknown = national(Phone(bus).number), national(fresh_number())
    sent = current.call("SendSmsVerifyCode", {
        **WORDS, "PhoneNumber": known, "ReturnVerifyCode": True,
    })
    wrong = other_code(sent["Model"]["VerifyCode"])
    answers = {
        number: [
            (outcome["raised"], outcome["code"], outcome["data"].get("Message"),
             outcome["data"].get("Reason"))
            for outcome in current.calls(*[
                ("CheckSmsVerifyCode", {"PhoneNumber": number, "VerifyCode": wrong})
            ] * 7)
        ]
        for number in (known, unknown)
    }
    assert answers[known] == answers[unknown]


def test_a_failed_check_as_documented(other_gateway, key, bus):
    client = Client("2.0.0", other_gateway, key)
    body = client.call(
        "CheckSmsVerifyCode", {"PhoneNumber": national(fresh_number()), "VerifyCode": "1234"}
    )
    assert body["Code"] == "OK" and body["Model"]["VerifyResult"] == "UNKNOWN"


def test_F109_a_provider_that_refuses_is_told(current, bus):
    number = fresh_number()
    bus.call("sandbox.fault", {"number": number, "fault": "refused"})
    try:
        body = current.call("SendSmsVerifyCode", {**WORDS, "PhoneNumber": national(number)})
        assert body["Code"] == "isv.OUT_OF_SERVICE"
        assert "Model" not in body or not body["Model"]
    finally:
        bus.call("sandbox.fault", {"number": number, "fault": "none"})


def test_a_service_that_is_away_is_503_and_nothing_of_the_inside(empty):
    empty.initialise()
    for daemon in ("broker", "token"):
        empty.start(daemon)
    address = start_gateway(empty, "1")
    scheme = empty.run("scheme", "create", "app", "--owner", "alice", "--bundle-id", BUNDLE)
    key = empty.run("key", "create", "alice", "--default-scheme", scheme["schemeCode"])
    for flavour, kind in [("2.0.0", "ServerException"), ("1.2.2", None), ("core", None)]:
        client = Client(flavour, address, key)
        outcome = client.refused("SendSmsVerifyCode", {**WORDS, "PhoneNumber": "13700000000"})
        is_refused(outcome, client, "ServiceUnavailable", 503, kind)
        assert "smscode" not in json.dumps(outcome)


def test_no_secret_lies_in_any_log(own, key):
    texts = [path.read_text(errors="replace") for path in (own.home / "log").glob("*gateway*")]
    assert texts
    for text in texts:
        assert key["accessKeySecret"] not in text
        assert not re.search(r"(?<![0-9a-f])1[37]\d{9}(?![0-9a-f])", text), "a full number"
