"""The client API as an app sees it: plain HTTP, every answer held to the OpenAPI document."""

import json
import re

import httpx
from jsonschema import Draft202012Validator

from bus import fresh_key
from house import ROOT, until
from play import BUNDLE, Phone, Run

BASE = "/client/v1"
DOCUMENT = json.loads((ROOT / "Tests/Golden/openapi.json").read_text())
HEADERS_OF_ALL = ["x-request-id", "traceparent", "x-content-type-options"]


def start_gateway(house, instance, *words):
    """One more gateway, on a port of its own; gives its address."""
    house.start("gateway", instance, "--set", "gateway.httpPort=0", *words)
    log = house.home / f"log/fusion-gateway-{instance}.jsonl"

    def address():
        found = re.findall(r'"address":\s*"(https?://[^"]+)"', log.read_text())
        return found[-1] if found else None

    return until(address, "the address of the gateway")


def operation(method, path):
    """The part of the document that a request falls under; None outside it."""
    for pattern, methods in DOCUMENT["paths"].items():
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", pattern), path):
            return methods.get(method.lower())
    return None


def resolve(part):
    while "$ref" in part:
        target = part["$ref"]
        part = DOCUMENT
        for name in target.removeprefix("#/").split("/"):
            part = part[name]
    return part


def validate(value, schema):
    Draft202012Validator({**schema, "components": DOCUMENT["components"]}).validate(value)


class Web:
    """Holds what comes back to the document, whatever was asked."""

    def __init__(self, address):
        self.client = httpx.Client(base_url=address, timeout=30)

    def close(self):
        self.client.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def ask(self, method, path, *, token=None, key=None, body=None, headers=None, raw=None):
        headers = {**(headers or {})}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        if key is not None:
            headers["X-Run-Key"] = key
        content = raw
        if body is not None:
            content = json.dumps(body).encode()
        if content is not None:
            headers.setdefault("Content-Type", "application/json")
        answer = self.client.request(
            method, BASE + path, headers=headers, content=content
        )
        self.check(method, BASE + path, answer)
        return answer

    @staticmethod
    def check(method, path, answer):
        for name in HEADERS_OF_ALL:
            assert name in answer.headers, name
        described = operation(method, path)
        if described is None:
            return
        assert str(answer.status_code) in described["responses"], answer.text
        response = resolve(described["responses"][str(answer.status_code)])
        kind = answer.headers["content-type"].split(";")[0]
        assert kind in response["content"], answer.headers
        if kind.endswith("json"):
            validate(answer.json(), response["content"][kind]["schema"])
        if answer.status_code >= 400:
            problem = answer.json()
            assert problem["status"] == answer.status_code
            assert problem["requestId"] == answer.headers["x-request-id"]
        if answer.status_code == 401:
            assert answer.headers["www-authenticate"].startswith("Bearer ")


class Failed(Exception):
    def __init__(self, answer):
        super().__init__(answer.text)
        self.answer = answer
        self.status = answer.status_code
        self.code = answer.json()["code"]


def issue(bus, scheme, seconds=900, service=None, **more):
    return bus.ask(
        "token.issue",
        {
            "schemeCode": scheme, "platform": "ios", "bundleId": BUNDLE,
            "durationSeconds": seconds, **more,
        },
        service=service,
    )["authToken"]


class WebRun(Run):
    """A run that is walked over HTTP; the phone and the app server stay on the bus."""

    def __init__(self, web, bus, scheme, template="100001", number=None, bound=None, token=None,
                 headers=None, **start):
        self.web, self.bus, self.scheme = web, bus, scheme
        self.phone = Phone(bus, number)
        self.secrets, self.mask = set(), None
        self.token = token or issue(bus, scheme, **({"boundNumber": bound} if bound else {}))
        body = {
            "templateId": template, "locale": "en", "deviceId": "dev-" + fresh_key(), **start,
        }
        self.view = self.post("/scenes", body, headers, status=201)
        self.key, self.id = self.view["runKey"], self.view["runId"]

    def post(self, path, body, headers=None, status=200):
        answer = self.web.ask(
            "POST", path, token=self.token, key=getattr(self, "key", None), body=body,
            headers=headers,
        )
        if answer.status_code != status:
            raise Failed(answer)
        return answer.json()

    def move(self, verb, key=None, **params):
        verb = "input" if verb == "submit" else verb
        headers = {"Idempotency-Key": key} if key else None
        body = params if verb == "stop" else {"step": self.step, **params}
        self.view = self.post(f"/scenes/{self.id}/{verb}", body, headers)
        if self.view.get("maskToken"):
            self.mask = self.view["maskToken"]
        return self.view

    def get(self):
        answer = self.web.ask("GET", f"/scenes/{self.id}", token=self.token, key=self.key)
        if answer.status_code != 200:
            raise Failed(answer)
        return answer.json()

    def pass_step(self):
        verified = self.verify()
        assert verified["result"] == "PASS", verified
        return verified

    # Events

    def events(self, after=None):
        """An open stream; to be used in a with statement."""
        headers = {"Authorization": f"Bearer {self.token}", "X-Run-Key": self.key}
        if after is not None:
            headers["Last-Event-ID"] = str(after)
        return self.web.client.stream("GET", f"{BASE}/scenes/{self.id}/events", headers=headers)


def read_events(response):
    """Server-sent events, by the rules of the standard that we use."""
    event = {}
    for line in response.iter_lines():
        if not line:
            if "data" in event:
                yield event
            event = {}
        elif not line.startswith(":"):
            name, _, value = line.partition(": ")
            event[name] = value
