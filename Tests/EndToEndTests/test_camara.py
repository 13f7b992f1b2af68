"""The CAMARA APIs over HTTP, with real daemons: every scenario of both projects' feature files that a
server can be tried by, under its own name; then tokens of other issuers, and what strangers get."""

import hashlib
import json
import os
import pathlib
import signal
import threading
import time

import hypothesis
import jwt
import libfaketime
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from hypothesis import strategies

from bus import Bus, Refused
from camara import (
    NOT_BY_NETWORK, OTP, SEND, SHARE, VALIDATE, VERIFY, Client, Operator, refused,
)
from house import BINARIES, Child, until
from play import Phone, fresh_number, other_code
from web import start_gateway

MESSAGE = "{{code}} is your short code to authenticate with Cool App via SMS"
LANDLINE = "+493012345678"
# Of the default policy and configuration.
MAX_SEND = 5
MAX_TRY = 5


@pytest.fixture(scope="module")
def operator():
    operator = Operator("https://idp.operator.example")
    operator.add("rsa", "RS256", rsa.generate_private_key(65537, 2048))
    operator.add("pss", "PS256", rsa.generate_private_key(65537, 3072))
    operator.add("ec", "ES256", ec.generate_private_key(ec.SECP256R1()))
    operator.add("ed", "EdDSA", ed25519.Ed25519PrivateKey.generate())
    return operator


@pytest.fixture(scope="module")
def addresses(own, operator):
    """Two gateways of one home that believe the sandbox and one more issuer."""
    (own.home / "etc/operator.jwks").write_text(json.dumps(operator.jwks()))
    with Bus(own.ipc) as bus:
        owner = bus.call("scheme.get", {"schemeCode": own.scheme})["owner"]
    issuer = {
        "issuer": operator.name, "jwksFile": "etc/operator.jwks", "audience": "gateway",
        "owner": owner, "schemeCode": own.scheme, "numberClaim": "phone_number",
    }
    text = ", ".join(f"{name} = {json.dumps(value)}" for name, value in issuer.items())
    return [
        start_gateway(own, name, "--set", f"gateway.camaraIssuers=[{{ {text} }}]")
        for name in ("camara-a", "camara-b")
    ]


@pytest.fixture(scope="module")
def client(addresses):
    client = Client(addresses[0])
    yield client
    client.close()


@pytest.fixture
def bus(own):
    with Bus(own.ipc) as client:
        yield client


@pytest.fixture(scope="module")
def mint(own):
    def mint(scope, *words):
        return own.run("sandbox", "token", "--scope", scope, *words)["accessToken"]

    return mint


@pytest.fixture(scope="module")
def token(mint):
    """For one-time passwords; such a token may be used again."""
    return mint("send-validate", "--seconds", "3600")


class Desk:
    """What a scenario works with."""

    def __init__(self, client, bus, own, token, mint):
        self.client, self.bus, self.own, self.token, self.mint = client, bus, own, token, mint

    def phone(self, number=None):
        return Phone(self.bus, number)

    def sent(self, phone):
        """Sends a code; gives the authenticationId and what arrived."""
        answer = self.client.send(self.token, phone.number, MESSAGE)
        assert answer.status_code == 200, answer.text
        return answer.json()["authenticationId"], phone.code()

    def fault(self, number, fault):
        self.bus.call("sandbox.fault", {"number": number, "fault": fault})

    def raw(self, path, body=None, token=None):
        """A body of the scenario's own, with the default token of the operation."""
        return self.client.ask("POST", path, token or self.token, raw=body)


@pytest.fixture
def desk(client, bus, own, token, mint):
    return Desk(client, bus, own, token, mint)


SCENARIOS = {}


def scenario(*names):
    def note(body):
        for name in names:
            assert name not in SCENARIOS, name
            SCENARIOS[name] = body
        return body

    return note


# one-time-password-sms-sendCode.feature


@scenario("OTPvalidationAPI_01_send_code_success_scenario")
def send_code(desk):
    phone = desk.phone()
    answer = desk.client.send(desk.token, phone.number, MESSAGE)
    assert answer.status_code == 200
    text = phone.messages()[0]["text"]
    assert MESSAGE.replace("{{code}}", "") in text and "{{" not in text


@scenario("OTPvalidationAPI_02_send_code_success_scenario_without_x-correlator")
def send_code_without_correlator(desk):
    answer = desk.client.send(desk.token, fresh_number(), MESSAGE, correlator=None)
    assert answer.status_code == 200


def invalid(path, body):
    return lambda desk: refused(desk.raw(path, body), 400, "INVALID_ARGUMENT")


def invalid_send(**changes):
    body = {"phoneNumber": "+8613700000000", "message": MESSAGE, **changes}
    return invalid(SEND, json.dumps({k: v for k, v in body.items() if v is not Ellipsis}))


scenario("OTPvalidationAPI_400.1_send_code_no_request_body")(invalid(SEND, None))
scenario("OTPvalidationAPI_400.2_send_code_empty_request_body")(invalid(SEND, "{}"))
scenario("OTPvalidationAPI_400.4_send_code_incorrect_phone_number_request_body")(
    invalid_send(phoneNumber="3301"))
scenario("OTPvalidationAPI_400.5_send_code_missing_message")(invalid_send(message=...))
scenario("OTPvalidationAPI_400.5_send_code_missing_message null")(invalid_send(message=None))
scenario("OTPvalidationAPI_400.5_send_code_missing_message empty")(invalid_send(message=""))
scenario("OTPvalidationAPI_400.6_send_code_missing_code_request_body")(
    invalid_send(message="message without code"))
scenario("OTPvalidationAPI_400.7_send_code_message_too_long")(
    invalid_send(message="{{code}}" + "x" * 153))


def unauthenticated(ask):
    def body(desk):
        good = desk.mint("send-validate,verify,read", "--number", fresh_number())
        for token in [
            desk.mint("send-validate,verify,read", "--number", fresh_number(), "--fault", fault)
            for fault in [
                "expired", "not_yet_valid", "wrong_signature", "unknown_key", "wrong_issuer",
                "wrong_audience",
            ]
        ] + [good[:-4] + "AAAA", "not.a.token", "x" * 9000]:
            refused(ask(desk, token), 401, "UNAUTHENTICATED")

    return body


def without_token(ask):
    def body(desk):
        answer = ask(desk, None)
        refused(answer, 401, "UNAUTHENTICATED")
        assert "error" not in answer.headers["www-authenticate"]

    return body


def ask_send(desk, token):
    return desk.client.send(token, "+8613700000000", MESSAGE)


def ask_validate(desk, token):
    return desk.client.validate(token, "ea0840f3-3663-4149-bd10-c7c6b8912105", "123456")


def ask_verify(desk, token):
    return desk.client.ask("POST", VERIFY, token, {"phoneNumber": "+8613700000000"})


def ask_share(desk, token):
    return desk.client.ask("GET", SHARE, token)


scenario("OTPvalidationAPI_401.1_send_code_no_authorization_header")(without_token(ask_send))
scenario(
    "OTPvalidationAPI_401.2_send_code_expired_access_token",
    "OTPvalidationAPI_401.3_send_code_invalid_access_token",
)(unauthenticated(ask_send))


@scenario("OTPvalidationAPI_03_send_code_max_otp_code")
def too_many_sends(desk):
    number = fresh_number()
    for _ in range(MAX_SEND):
        assert desk.client.send(desk.token, number, MESSAGE).status_code == 200
    answer = desk.client.send(desk.token, number, MESSAGE)
    refused(answer, 403, OTP + "MAX_OTP_CODES_EXCEEDED")
    assert 0 < int(answer.headers["retry-after"]) <= 3600


def faulty(fault, status, code):
    def body(desk):
        number = fresh_number()
        desk.fault(number, fault)
        refused(desk.client.send(desk.token, number, MESSAGE), status, code)
        desk.fault(number, "none")
        assert desk.client.send(desk.token, number, MESSAGE).status_code == 200

    return body


scenario("OTPvalidationAPI_04_send_code_phone_number_not_allowed")(
    faulty("incapable", 403, OTP + "PHONE_NUMBER_NOT_ALLOWED"))
scenario("OTPvalidationAPI_05_send_code_phone_number_not_allowed_3")(
    lambda desk: refused(
        desk.client.send(desk.token, LANDLINE, MESSAGE), 403, OTP + "PHONE_NUMBER_NOT_ALLOWED"))
scenario("OTPvalidationAPI_06_send_code_phone_number_blocked")(
    faulty("refused", 403, OTP + "PHONE_NUMBER_BLOCKED"))
scenario("OTPvalidationAPI_404.1_send_code_phone_number_not_belong_to_operator")(
    faulty("foreign", 404, "NOT_FOUND"))


# one-time-password-sms-validateCode.feature


@scenario("OTPvalidationAPI_01_validate_code_sucess_scenario")
def validate_code(desk):
    authentication_id, code = desk.sent(desk.phone())
    assert desk.client.validate(desk.token, authentication_id, code).status_code == 204


@scenario("OTPvalidationAPI_02_validate_code_sucess_scenario_without_x-correlator")
def validate_code_without_correlator(desk):
    authentication_id, code = desk.sent(desk.phone())
    answer = desk.client.validate(desk.token, authentication_id, code, correlator=None)
    assert answer.status_code == 204


scenario("OTPvalidationAPI_400.1_validate_code_no_request_body")(invalid(VALIDATE, None))
scenario("OTPvalidationAPI_400.2_validate_code_empty_request_body")(invalid(VALIDATE, "{}"))
scenario("OTPvalidationAPI_400.3_validate_code_missing_authenticationId")(
    invalid(VALIDATE, '{"code": "123456"}'))


@scenario("OTPvalidationAPI_400.3_validate_code_missing_code")
def validate_without_code(desk):
    authentication_id, code = desk.sent(desk.phone())
    for missing in [{}, {"code": None}, {"code": ""}]:
        body = json.dumps({"authenticationId": authentication_id, **missing})
        refused(desk.raw(VALIDATE, body), 400, "INVALID_ARGUMENT")
    assert desk.client.validate(desk.token, authentication_id, code).status_code == 204


@scenario("OTPvalidationAPI_400.4_validate_code_exceed_code_max_length")
def validate_long_code(desk):
    authentication_id, _ = desk.sent(desk.phone())
    answer = desk.client.validate(desk.token, authentication_id, "thisCodeExceedsTenCharacters")
    refused(answer, 400, "INVALID_ARGUMENT")


@scenario("OTPvalidationAPI_400.5_validate_code_invalid_otp_scenario")
def validate_wrong_code(desk):
    authentication_id, code = desk.sent(desk.phone())
    for wrong in [other_code(code), "WRONG", "a+b=c", "½"]:
        answer = desk.client.validate(desk.token, authentication_id, wrong)
        refused(answer, 400, OTP + "INVALID_OTP")
    assert desk.client.validate(desk.token, authentication_id, code).status_code == 204


@scenario("OTPvalidationAPI_400.6_validate_code_verification_expired_scenario_1")
def validate_expired(desk):
    phone = desk.phone()
    with late_codes(desk.own):
        sent = until(lambda: late_send(desk, phone.number), "a code of the late instance")
    authentication_id = f"{sent['challengeId']}.{sent['codeSequence']}"
    for code in [phone.code(), "000000"]:
        answer = desk.client.validate(desk.token, authentication_id, code)
        refused(answer, 400, OTP + "VERIFICATION_EXPIRED")


@scenario("OTPvalidationAPI_400.7_validate_code_verification_expired_scenario_2")
def validate_superseded(desk):
    phone = desk.phone()
    first, first_code = desk.sent(phone)
    second, second_code = desk.sent(phone)
    assert first != second
    # Whatever is typed: an older id is over, and costs the newer one no attempt.
    for code in [first_code, second_code, other_code(second_code)] * 3:
        answer = desk.client.validate(desk.token, first, code)
        refused(answer, 400, OTP + "VERIFICATION_EXPIRED")
    assert desk.client.validate(desk.token, second, second_code).status_code == 204


@scenario("OTPvalidationAPI_400.8_validate_code_verification_expired_scenario_3")
def validate_used(desk):
    authentication_id, code = desk.sent(desk.phone())
    assert desk.client.validate(desk.token, authentication_id, code).status_code == 204
    for _ in range(2):
        answer = desk.client.validate(desk.token, authentication_id, code)
        refused(answer, 400, OTP + "VERIFICATION_EXPIRED")


@scenario("OTPvalidationAPI_400.9_validate_code_verification_failed_scenario")
def validate_too_often(desk):
    authentication_id, code = desk.sent(desk.phone())
    for _ in range(MAX_TRY):
        answer = desk.client.validate(desk.token, authentication_id, other_code(code))
        refused(answer, 400, OTP + "INVALID_OTP")
    for late in [other_code(code), code]:
        answer = desk.client.validate(desk.token, authentication_id, late)
        refused(answer, 400, OTP + "VERIFICATION_FAILED")


scenario("OTPvalidationAPI_401.1_validate_code_no_authorization_header")(
    without_token(ask_validate))
scenario(
    "OTPvalidationAPI_401.2_validate_code_expired_access_token",
    "OTPvalidationAPI_401.3_validate_code_invalid_access_token",
)(unauthenticated(ask_validate))


@scenario("OTPvalidationAPI_404_validate_code_resource_not_found")
def validate_unknown(desk):
    for unknown in [
        "ea0840f3-3663-4149-bd10-c7c6b8912105", "chl_00000000000000000000000000.0", "x",
    ]:
        refused(desk.client.validate(desk.token, unknown, "123456"), 404, "NOT_FOUND")


# number-verification-phoneNumberVerify.feature


def verify(desk, body, number, *words):
    return desk.client.ask(
        "POST", VERIFY, desk.mint("verify", "--number", number, *words), body)


def digest(number):
    return hashlib.sha256(number.encode()).hexdigest()


def verified(make, expected):
    def body(desk):
        number = fresh_number()
        answer = verify(desk, make(number), number)
        assert answer.status_code == 200, answer.text
        assert answer.json()["devicePhoneNumberVerified"] is expected

    return body


scenario(
    "phone_number_verify_01_generic_success_scenario",
    "phone_number_verify.02_validate_phone_number_success_true",
)(verified(lambda number: {"phoneNumber": number}, True))
scenario("phone_number_verify.03_validate_phone_number_success_false")(
    verified(lambda number: {"phoneNumber": other_code(number)}, False))
scenario("phone_number_verify.03 a number that no plan has")(
    verified(lambda number: {"phoneNumber": "+99999"}, False))
scenario("phone_number_verify.04_validate_hashed_phone_number_success_true")(
    verified(lambda number: {"hashedPhoneNumber": digest(number)}, True))
scenario("phone_number_verify.04 in upper case")(
    verified(lambda number: {"hashedPhoneNumber": digest(number).upper()}, True))
scenario("phone_number_verify.05_validate_hashed_phone_number_success_false")(
    verified(lambda number: {"hashedPhoneNumber": digest(other_code(number))}, False))
scenario("phone_number_verify.05 hashed without its plus")(
    verified(lambda number: {"hashedPhoneNumber": digest(number[1:])}, False))


def invalid_verify(make):
    """Refused, and the token still good for the right body."""

    def body(desk):
        number = fresh_number()
        token = desk.mint("verify", "--number", number)
        refused(desk.raw(VERIFY, make(number), token), 400, "INVALID_ARGUMENT")
        answer = desk.client.ask("POST", VERIFY, token, {"phoneNumber": number})
        assert answer.json() == {"devicePhoneNumberVerified": True}

    return body


scenario("phone_number_verify_400.1_no_request_body")(invalid_verify(lambda number: None))
scenario("phone_number_verify_400.2_empty_request_body")(invalid_verify(lambda number: "{}"))
scenario("phone_number_verify_400.3_invalid_request_non_existing_property")(
    invalid_verify(lambda number: json.dumps({"additional_property": "foo_value"})))
scenario("phone_number_verify_400.3 beside a good number")(
    invalid_verify(
        lambda number: json.dumps({"phoneNumber": number, "additional_property": "foo_value"})))
scenario("phone_number_verify_400.4_both_phone_number_and_hashed_in_request")(
    invalid_verify(
        lambda number: json.dumps({"phoneNumber": number, "hashedPhoneNumber": digest(number)})))
scenario("phone_number_verify_C02.01_phone_number_not_schema_compliant")(
    invalid_verify(lambda number: json.dumps({"phoneNumber": number[1:]})))

scenario("phone_number_verify_401.1_no_authorization_header")(without_token(ask_verify))
scenario(
    "phone_number_verify_401.2_expired_access_token",
    "phone_number_verify_401.3_invalid_access_token",
)(unauthenticated(ask_verify))


@scenario("phoneNumberVerify_403.1_invalid_token_permissions")
def verify_without_scope(desk):
    token = desk.mint("read,send-validate", "--number", fresh_number())
    refused(ask_verify(desk, token), 403, "PERMISSION_DENIED")


def by_other_means(ask, scope):
    def body(desk):
        number = fresh_number()
        for words in [
            ["--number", number, "--amr", "sms,otp"], ["--number", number, "--amr", "pwd"],
            ["--amr", "nba"], [],
        ]:
            refused(ask(desk, desk.mint(scope, *words)), 403, NOT_BY_NETWORK)

    return body


scenario(
    "phoneNumberVerify_403.2_not_authenticated_using_network_or_sim_based_authentication"
)(by_other_means(ask_verify, "verify"))


# number-verification-phoneNumberShare.feature


@scenario(
    "phone_number_share_01_generic_success_scenario", "phone_number_share_02_success_scenario")
def share(desk):
    number = fresh_number()
    for words in [[], ["--amr", "ts43"]]:
        answer = ask_share(desk, desk.mint("read", "--number", number, *words))
        assert answer.json() == {"devicePhoneNumber": number}


scenario("phone_number_share_401.1_no_authorization_header")(without_token(ask_share))
scenario(
    "phone_number_share_401.2_expired_access_token",
    "phone_number_share_401.3_invalid_access_token",
)(unauthenticated(ask_share))


@scenario("phoneNumberShare_403.1_invalid_token_permissions")
def share_without_scope(desk):
    token = desk.mint("verify,send-validate", "--number", fresh_number())
    refused(ask_share(desk, token), 403, "PERMISSION_DENIED")


scenario(
    "phoneNumberShare_403.2_not_authenticated_using_network_or_sim_based_authentication"
)(by_other_means(ask_share, "read"))


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario(name, desk):
    SCENARIOS[name](desk)


# A code whose time is over, without waiting for it


class late_codes:
    """A code service whose clock is 11 minutes late: its codes are over for the others."""

    def __init__(self, own):
        self.own = own

    def __enter__(self):
        library = (
            pathlib.Path(libfaketime.__file__).parent / "vendor/libfaketime/src/libfaketime.so.1"
        )
        self.child = Child(
            [BINARIES / "fusion-smscode", "--home", self.own.home, "--instance", "late",
             "--die-with-parent"],
            env={
                **os.environ, "LD_PRELOAD": str(library), "FAKETIME": "-11m",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            },
        )
        until(
            lambda: self.own.pid_file("smscode", "late") == (self.child.pid, "ready"),
            "the late instance",
        )

    def __exit__(self, *_):
        self.child.end()


def purpose_of(token):
    """Under which the edge keeps the codes of the token's client."""
    client_id = jwt.decode(token, options={"verify_signature": False})["client_id"]
    return "camara:" + hashlib.sha256(client_id.encode()).digest()[:16].hex()


def late_send(desk, number):
    try:
        return desk.bus.ask(
            "smscode.send",
            {"schemeCode": desk.own.scheme, "purpose": purpose_of(desk.token), "number": number},
            service="smscode@late",
        )
    except Refused as refusal:
        # It says that it is ready before the broker knows it.
        assert refusal.reason in ("unavailable", "overloaded"), refusal
        return None


# Beyond the feature files


def test_a_code_that_was_not_sent_for_this_api_is_unknown_to_it(desk):
    """Nor is it used up: its own service takes it afterwards."""
    phone = desk.phone()
    sent = desk.bus.ask(
        "smscode.send",
        {"schemeCode": desk.own.scheme, "purpose": "login", "number": phone.number})
    code = phone.code()
    authentication_id = f"{sent['challengeId']}.{sent['codeSequence']}"
    for typed in [other_code(code), code, "½"]:
        refused(desk.client.validate(desk.token, authentication_id, typed), 404, "NOT_FOUND")
    checked = desk.bus.ask("smscode.check", {"challengeId": sent["challengeId"], "code": code})
    assert checked["result"] == "accepted"


def test_a_token_serves_one_call_over_all_gateways(addresses, bus, own, mint):
    number = fresh_number()
    token = mint("verify,read", "--number", number)
    clients = [Client(address) for address in addresses * 4]
    answers = []

    def ask(client):
        answers.append(client.ask("POST", VERIFY, token, {"phoneNumber": number}))

    threads = [threading.Thread(target=ask, args=(client,)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    passed = [answer for answer in answers if answer.status_code == 200]
    assert [answer.json() for answer in passed] == [{"devicePhoneNumberVerified": True}]
    assert len(answers) == 8
    refused(clients[0].ask("GET", SHARE, token), 401, "UNAUTHENTICATED")
    for client in clients:
        client.close()


def test_a_token_that_cannot_be_watched_is_refused(desk):
    number = fresh_number()
    for words in [["--fault", "no_token_id"], ["--seconds", "301"]]:
        token = desk.mint("verify,read", "--number", number, *words)
        refused(ask_verify(desk, token), 401, "UNAUTHENTICATED")
        refused(ask_share(desk, token), 401, "UNAUTHENTICATED")


def test_what_the_carrier_cannot_say_is_never_true(desk):
    number = fresh_number()
    for fault, status, codes in [
        ("exchange_refused", 401, {"UNAUTHENTICATED"}),
        ("exchange_slow", 503, {"UNAVAILABLE", "TIMEOUT"}),
    ]:
        sim = desk.bus.call("sandbox.sim", {"numbers": [number], "fault": fault})["simId"]
        for ask, scope in [(ask_verify, "verify"), (ask_share, "read")]:
            answer = ask(desk, desk.mint(scope, "--sim", sim))
            assert answer.status_code in (status, status + 1), answer.text
            assert answer.json()["code"] in codes
    broken = desk.own.tool("sandbox", "token", "--scope", "read", "--sim", sim_without_data(desk))
    assert broken.returncode == 1 and "carrier_unavailable" in broken.stderr


def sim_without_data(desk):
    return desk.bus.call(
        "sandbox.sim", {"numbers": [fresh_number()], "fault": "no_cellular_data"})["simId"]


def test_F099_a_message_with_a_link_is_refused_and_costs_no_send(desk):
    phone = desk.phone()
    for text in ["Buy now http://x {{code}}", "HTTPS://x {{code}}", "{{code}} www.x.example"]:
        answer = desk.client.send(desk.token, phone.number, text)
        refused(answer, 400, "INVALID_ARGUMENT")
    assert phone.messages(0) == []
    for _ in range(MAX_SEND):
        assert desk.client.send(desk.token, phone.number, MESSAGE).status_code == 200


def test_an_id_of_another_owner_is_not_found(desk, bus):
    made = bus.call("scheme.create", {
        "name": "other", "owner": "somebody-else", "app": {"iosBundleId": "com.example.other"},
    })
    authentication_id, code = desk.sent(desk.phone())
    other = desk.mint("send-validate", "--scheme", made["schemeCode"])
    refused(desk.client.validate(other, authentication_id, code), 404, "NOT_FOUND")
    assert desk.client.validate(desk.token, authentication_id, code).status_code == 204


def test_a_scheme_that_is_switched_off_serves_nobody(desk, bus):
    code = bus.call("scheme.create", {
        "name": "off", "owner": "camara-off", "app": {"iosBundleId": "com.example.off"},
    })["schemeCode"]
    bus.call("scheme.disable", {"schemeCode": code})
    token = desk.mint("send-validate", "--scheme", code)
    refused(desk.client.send(token, fresh_number()), 403, "PERMISSION_DENIED")


def test_refusals_of_the_gateway_are_of_the_standard_too(desk):
    client, token = desk.client, desk.token
    for path in ["/one-time-password-sms/v1", SEND + "/more", SHARE + "/", VERIFY + "s"]:
        refused(client.ask("GET", path, token), 404, "NOT_FOUND")
    for method, path in [("GET", SEND), ("PUT", VALIDATE), ("DELETE", VERIFY), ("POST", SHARE)]:
        answer = client.ask(method, path, token)
        refused(answer, 405, "METHOD_NOT_ALLOWED")
        assert answer.headers["allow"]
    refused(client.ask("POST", SEND, token, raw="x" * 100_000), 413, "PAYLOAD_TOO_LARGE")
    for kind in ["text/plain", "application/xml", "application/json; charset=latin1"]:
        answer = client.ask("POST", SEND, token, raw="{}", headers={"Content-Type": kind})
        refused(answer, 415, "UNSUPPORTED_MEDIA_TYPE")


TEXTS = strategies.text(max_size=40)
JSON = strategies.recursive(
    strategies.none() | strategies.booleans() | strategies.integers() | strategies.floats() | TEXTS,
    lambda inner: strategies.lists(inner, max_size=3)
    | strategies.dictionaries(
        TEXTS | strategies.sampled_from(
            ["phoneNumber", "message", "hashedPhoneNumber", "authenticationId", "code"]),
        inner, max_size=4),
    max_leaves=8,
)


@pytest.mark.parametrize("path", [SEND, VALIDATE, VERIFY])
def test_odd_bodies_are_no_fault_of_ours(desk, path):
    token = desk.mint("send-validate,verify", "--number", fresh_number())

    @hypothesis.settings(max_examples=150, deadline=None, derandomize=True, database=None)
    @hypothesis.given(JSON.map(json.dumps) | strategies.text(max_size=60))
    def ask(body):
        answer = desk.client.ask("POST", path, token, raw=body.encode(errors="surrogatepass"))
        assert answer.status_code in (400, 404), answer.text

    ask()


@pytest.mark.parametrize("correlator", ["a b", "a,b", "(x)", "a" * 257, '"'])
def test_a_correlator_that_does_not_fit_is_refused(desk, correlator):
    for method, path in [("POST", SEND), ("POST", VALIDATE), ("POST", VERIFY), ("GET", SHARE)]:
        answer = desk.client.ask(method, path, desk.token, correlator=correlator)
        refused(answer, 400, "INVALID_ARGUMENT")
        assert answer.headers["x-correlator"] != correlator


# Issuers of somebody else


@pytest.mark.parametrize("kid", ["rsa", "pss", "ec", "ed"])
def test_tokens_of_a_configured_issuer(desk, operator, kid):
    phone = desk.phone()
    sent = desk.client.send(operator.token(kid), phone.number, MESSAGE)
    assert sent.status_code == 200, sent.text
    answer = desk.client.validate(
        operator.token(kid), sent.json()["authenticationId"], phone.code())
    assert answer.status_code == 204
    for number in [phone.number, f"tel:{phone.number}"]:
        token = operator.token(kid, phone_number=number)
        answer = desk.client.ask("GET", SHARE, token)
        assert answer.json() == {"devicePhoneNumber": phone.number}
        refused(desk.client.ask("GET", SHARE, token), 401, "UNAUTHENTICATED")
    for body, expected in [
        ({"phoneNumber": phone.number}, True),
        ({"phoneNumber": other_code(phone.number)}, False),
        ({"hashedPhoneNumber": digest(phone.number)}, True),
        ({"hashedPhoneNumber": digest(phone.number[1:])}, False),
    ]:
        token = operator.token(kid, phone_number=phone.number)
        answer = desk.client.ask("POST", VERIFY, token, body)
        assert answer.json() == {"devicePhoneNumberVerified": expected}


def test_tokens_that_look_like_those_of_a_configured_issuer(desk, operator):
    now = int(time.time())
    stranger = Operator(operator.name)
    stranger.add("rsa", "RS256", rsa.generate_private_key(65537, 2048))
    tokens = [
        stranger.token("rsa"), operator.token("rsa", header_kid="ec"),
        operator.token("rsa", header_kid="none"), operator.token("rsa", algorithm="RS512"),
        operator.token("rsa", aud="elsewhere"), operator.token("rsa", aud=None),
        operator.token("rsa", exp=now - 1), operator.token("rsa", iat=now + 90),
        operator.token("rsa", nbf=now + 90), operator.token("rsa", iss=operator.name + "/"),
    ]
    for token in tokens:
        refused(desk.client.send(token, "+8613700000000"), 401, "UNAUTHENTICATED")
    refused(ask_share(desk, operator.token("rsa")), 403, NOT_BY_NETWORK)
    without_amr = operator.token("rsa", phone_number="+8613700000000", amr=None)
    refused(ask_share(desk, without_amr), 403, NOT_BY_NETWORK)


def test_a_key_set_is_read_again_at_sighup(desk, own, operator):
    new = ec.generate_private_key(ec.SECP256R1())
    rolled = Operator(operator.name)
    rolled.add("rolled", "ES256", new)
    file = own.home / "etc/operator.jwks"
    before = file.read_text()
    pid = own.pid("gateway", "camara-a")

    def status():
        return desk.client.send(rolled.token("rolled"), "x").status_code

    try:
        assert status() == 401
        file.write_text(json.dumps(rolled.jwks()))
        os.kill(pid, signal.SIGHUP)
        until(lambda: status() == 400, "the new key")
        assert desk.client.send(operator.token("rsa"), "x").status_code == 401
        # A file that is no key set leaves the keys as they are.
        file.write_text("{")
        os.kill(pid, signal.SIGHUP)
        log = own.home / "log/fusion-gateway-camara-a.jsonl"
        until(lambda: "reload failed" in log.read_text(), "the failure in the log")
        assert status() == 400
    finally:
        file.write_text(before)
        os.kill(pid, signal.SIGHUP)
        until(lambda: desk.client.send(operator.token("rsa"), "x").status_code == 400, "old keys")


def test_no_token_and_no_number_in_the_logs(desk, own, operator):
    number = fresh_number()
    tokens = [
        desk.mint("verify,read", "--number", number), operator.token("rsa", phone_number=number),
    ]
    for token in tokens:
        ask_share(desk, token)
        desk.client.ask("POST", VERIFY, token, {"phoneNumber": number})
    desk.client.send(desk.token, number)
    for path in (own.home / "log").iterdir():
        text = path.read_text(errors="replace")
        for secret in [number[1:], *tokens, *(token.split(".")[2] for token in tokens)]:
            assert secret not in text, path
