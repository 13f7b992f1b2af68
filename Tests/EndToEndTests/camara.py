"""A client of the two CAMARA APIs. Every answer is held to the schemas of their OpenAPI definitions
(OTPValidation r3.2, NumberVerification r3.2), written down here as far as answers need them."""

import json
import re
import secrets
import time

import httpx
import jwt
from jsonschema import Draft202012Validator

PASSWORDS = "/one-time-password-sms/v1"
NUMBERS = "/number-verification/v2"
SEND = PASSWORDS + "/send-code"
VALIDATE = PASSWORDS + "/validate-code"
VERIFY = NUMBERS + "/verify"
SHARE = NUMBERS + "/device-phone-number"

CORRELATOR = re.compile(r"^[a-zA-Z0-9-_:;.\/<>{}]{0,256}$")
NUMBER = r"^\+[1-9][0-9]{4,14}$"


def strict(**properties):
    return {
        "type": "object", "properties": properties, "required": sorted(properties),
        "additionalProperties": False,
    }


SEND_CODE_RESPONSE = strict(authenticationId={"type": "string", "maxLength": 36})
MATCH_RESPONSE = strict(devicePhoneNumberVerified={"type": "boolean"})
SHARE_RESPONSE = strict(devicePhoneNumber={"type": "string", "pattern": NUMBER})


def error(status, *codes):
    return strict(
        status={"const": status}, code={"enum": list(codes)},
        message={"type": "string", "minLength": 1, "maxLength": 512},
    )


OTP = "ONE_TIME_PASSWORD_SMS."
NOT_BY_NETWORK = "NUMBER_VERIFICATION.USER_NOT_AUTHENTICATED_BY_MOBILE_NETWORK"
OF_ALL = {
    400: error(400, "INVALID_ARGUMENT"),
    401: error(401, "UNAUTHENTICATED"),
    403: error(403, "PERMISSION_DENIED"),
    404: error(404, "NOT_FOUND"),
    405: error(405, "METHOD_NOT_ALLOWED"),
    413: error(413, "PAYLOAD_TOO_LARGE"),
    415: error(415, "UNSUPPORTED_MEDIA_TYPE"),
    429: error(429, "QUOTA_EXCEEDED", "TOO_MANY_REQUESTS"),
    503: error(503, "UNAVAILABLE"),
    504: error(504, "TIMEOUT"),
}
OF_NUMBERS = {403: error(403, "PERMISSION_DENIED", NOT_BY_NETWORK)}
ANSWERS = {
    SEND: {
        200: SEND_CODE_RESPONSE,
        403: error(
            403, "PERMISSION_DENIED", OTP + "MAX_OTP_CODES_EXCEEDED",
            OTP + "PHONE_NUMBER_NOT_ALLOWED", OTP + "PHONE_NUMBER_BLOCKED",
        ),
    },
    VALIDATE: {
        400: error(
            400, "INVALID_ARGUMENT", "OUT_OF_RANGE", OTP + "VERIFICATION_FAILED",
            OTP + "VERIFICATION_EXPIRED", OTP + "INVALID_OTP",
        ),
    },
    VERIFY: {200: MATCH_RESPONSE, **OF_NUMBERS},
    SHARE: {200: SHARE_RESPONSE, **OF_NUMBERS},
}


class Client:
    """Sends what it is told, and believes no answer that is not of the standard."""

    def __init__(self, address):
        self.http = httpx.Client(base_url=address, timeout=30)

    def close(self):
        self.http.close()

    def ask(self, method, path, token=None, body=None, raw=None, correlator="", headers=None):
        """`correlator`: a fresh one unless given; None sends none."""
        sent = {"x-correlator": secrets.token_hex(8) if correlator == "" else correlator}
        if correlator is None:
            sent = {}
        if token is not None:
            sent["Authorization"] = f"Bearer {token}"
        content = raw if body is None else json.dumps(body)
        if content is not None:
            sent["Content-Type"] = "application/json"
        answer = self.http.request(
            method, path, headers={**sent, **(headers or {})}, content=content
        )
        self.check(path, sent.get("x-correlator"), answer)
        return answer

    @staticmethod
    def check(path, correlator, answer):
        echoed = answer.headers["x-correlator"]
        assert CORRELATOR.fullmatch(echoed) and echoed
        if correlator and CORRELATOR.fullmatch(correlator):
            assert echoed == correlator
        status = answer.status_code
        if status == 204:
            assert answer.content == b""
            return
        assert answer.headers["content-type"] == "application/json"
        schema = ANSWERS.get(path, {}).get(status) or OF_ALL[status]
        Draft202012Validator(schema).validate(answer.json())
        if status == 401:
            assert answer.headers["www-authenticate"].startswith("Bearer ")
        if status == 429:
            assert int(answer.headers["retry-after"]) >= 1

    def send(self, token, number, message="{{code}} is your code", **more):
        return self.ask("POST", SEND, token, {"phoneNumber": number, "message": message}, **more)

    def validate(self, token, authentication_id, code, **more):
        body = {"authenticationId": authentication_id, "code": code}
        return self.ask("POST", VALIDATE, token, body, **more)


def refused(answer, status, code):
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text


class Operator:
    """An authorization server of somebody else: its keys, its JWKS, its tokens."""

    def __init__(self, name):
        self.name = name
        self.keys = {}

    def add(self, kid, algorithm, private):
        self.keys[kid] = (algorithm, private)

    def jwks(self):
        classes = {
            "RS256": jwt.algorithms.RSAAlgorithm, "PS256": jwt.algorithms.RSAAlgorithm,
            "ES256": jwt.algorithms.ECAlgorithm, "EdDSA": jwt.algorithms.OKPAlgorithm,
        }
        return {"keys": [
            {
                **classes[algorithm].to_jwk(private.public_key(), as_dict=True), "kid": kid,
                "use": "sig",
            }
            for kid, (algorithm, private) in self.keys.items()
        ]}

    def token(self, kid, header_kid=None, algorithm=None, **changes):
        own, private = self.keys[kid]
        now = int(time.time())
        claims = {
            "iss": self.name, "sub": "phone-1", "aud": "gateway", "client_id": "app",
            "scope": "openid one-time-password-sms:send-validate number-verification:verify "
                     "number-verification:device-phone-number:read",
            "amr": ["nba"], "iat": now, "exp": now + 300, "jti": secrets.token_hex(8), **changes,
        }
        claims = {name: value for name, value in claims.items() if value is not None}
        return jwt.encode(
            claims, private, algorithm or own,
            headers={"kid": header_kid or kid, "typ": "at+jwt"},
        )
