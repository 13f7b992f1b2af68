"""kill -9 of the gateway under load over HTTP: a repeated call finds the answer that was lost."""

import base64
import collections
import hashlib
import hmac
import json
import threading
import time
import traceback
import urllib.parse
import uuid

import httpx
import pytest

from bus import Bus, fresh_key
from house import PATIENCE, until
from play import Phone
from web import WebRun
from test_kill import ROUNDS

# What a client repeats with the same key: nobody there, or nobody behind it.
AGAIN = {502, 503, 504}
# Seconds.
ATTEMPT = 3
WORDS = {
    "SignName": "Shop", "TemplateCode": "100001",
    "TemplateParam": json.dumps({"code": "##code##", "min": "5"}),
}


class Patient:
    """Asks until there is an answer, wherever the gateway is by then."""

    def __init__(self, house, ledger):
        self.house, self.ledger = house, ledger
        self.client = httpx.Client(timeout=ATTEMPT)

    def send(self, make):
        """`make` gives method, path, headers and content: a signature is new each time."""
        deadline = time.monotonic() + 2 * PATIENCE
        while True:
            method, path, headers, content = make()
            try:
                address = self.house.endpoints()["http"]
                answer = self.client.request(method, address + path, headers=headers, content=content)
                if answer.status_code not in AGAIN:
                    return answer
                problem = answer.text
            except (httpx.TransportError, KeyError, FileNotFoundError, ValueError) as error:
                self.ledger.lost[type(error).__name__] += 1
                problem = repr(error)
            assert time.monotonic() < deadline, problem
            time.sleep(0.01)


class PatientWeb(Patient):
    """In the place of `web.Web`: every write has a key."""

    def ask(self, method, path, *, token=None, key=None, body=None, headers=None):
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        headers |= {"X-Run-Key": key} if key else {}
        headers |= {"Idempotency-Key": fresh_key()}
        content = json.dumps(body).encode()
        request = (method, "/client/v1" + path, headers, content)
        answer = self.send(lambda: request)
        self.ledger.writes.append((request, answer.status_code, answer.json()))
        return answer


class Signer(Patient):
    """Signed calls of the server API (RPC signature 1.0)."""

    def call(self, key, action, parameters):
        request_key = fresh_key()
        answer = self.send(lambda: self.signed(key, request_key, action, parameters))
        assert answer.status_code == 200, answer.text
        body = answer.json()
        assert body["Code"] == "OK", body
        self.ledger.signed.append((key, request_key, action, parameters, body))
        return body

    @staticmethod
    def signed(key, request_key, action, parameters):
        def escaped(text):
            return urllib.parse.quote(text, safe="-_.~")

        fields = {
            **parameters, "Action": action, "Version": "2017-05-25", "Format": "JSON",
            "AccessKeyId": key["accessKeyId"], "SignatureMethod": "HMAC-SHA1",
            "SignatureVersion": "1.0", "SignatureNonce": str(uuid.uuid4()),
            "Timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        }
        query = "&".join(f"{escaped(name)}={escaped(fields[name])}" for name in sorted(fields))
        made = hmac.new(
            (key["accessKeySecret"] + "&").encode(), f"POST&%2F&{escaped(query)}".encode(),
            hashlib.sha1).digest()
        signature = escaped(base64.b64encode(made).decode())
        return "POST", f"/?{query}&Signature={signature}", {"Idempotency-Key": request_key}, b""


class Ledger:
    def __init__(self):
        self.writes, self.signed, self.problems = [], [], []
        self.done, self.lost = collections.Counter(), collections.Counter()


def one_run(house, bus, ledger, key):
    """A login by code, PASS at the app server, continue."""
    run = WebRun(PatientWeb(house, ledger), bus, house.scheme)
    run.leave_carrier()
    run.send()
    run.type()
    run.pass_step()
    assert run.move("continue", isSuccess=True)["state"] == "passed"


def one_code(house, bus, ledger, key):
    """A code that the app's server sends, and checks."""
    phone = Phone(bus)
    signer = Signer(house, ledger)
    number = {"PhoneNumber": phone.number.removeprefix("+86")}
    sent = signer.call(key, "SendSmsVerifyCode", {**WORDS, **number})
    code = phone.code()
    checked = signer.call(key, "CheckSmsVerifyCode", {**number, "VerifyCode": code})
    assert sent["Model"]["BizId"] and checked["Model"]["VerifyResult"] == "PASS"
    assert phone.messages(wait=0) == [], "sent once"


def worker(story, house, ledger, key, end):
    with Bus(house.ipc) as bus:
        while not end.is_set() and len(ledger.problems) < 5:
            try:
                story(house, bus, ledger, key)
                ledger.done[story.__name__] += 1
            except Exception:
                ledger.problems.append(f"{story.__name__}: {traceback.format_exc()}")


@pytest.fixture(scope="module")
def chaos(own):
    owner = own.run("scheme", "show", own.scheme)["owner"]
    key = own.run("key", "create", owner, "--default-scheme", own.scheme)
    ledger, end = Ledger(), threading.Event()
    threads = [
        threading.Thread(target=worker, args=(story, own, ledger, key, end), daemon=True)
        for story in (one_run, one_run, one_code)
    ]
    for thread in threads:
        thread.start()
    try:
        until(lambda: ledger.problems or len(ledger.done) == 2, "load")
        for _ in range(ROUNDS):
            old = own.kill("gateway")
            until(lambda: own.pid("gateway") not in (None, old), "the gateway to come back")
            before = ledger.done.copy()
            until(
                lambda: ledger.problems
                or all(ledger.done[story] > before[story] for story in ("one_run", "one_code")),
                "work after its end",
            )
    finally:
        end.set()
        for thread in threads:
            thread.join(3 * PATIENCE)
    assert not [thread for thread in threads if thread.is_alive()]
    return ledger


def test_every_call_found_its_answer(chaos):
    assert not chaos.problems, "\n".join(chaos.problems[:3])
    assert chaos.lost, "no call met the gap: nothing was tried"


def test_what_was_answered_is_answered_again(own, chaos):
    patient = Signer(own, Ledger())
    assert chaos.writes and chaos.signed
    for request, status, body in chaos.writes:
        again = patient.send(lambda: request)
        assert (again.status_code, again.json()) == (status, body), request[1]
    for key, request_key, action, parameters, body in chaos.signed:
        again = patient.send(lambda: patient.signed(key, request_key, action, parameters)).json()
        # The id of the request is that of this one.
        assert without_ids(again) == without_ids(body)


def without_ids(body):
    return {
        name: without_ids(value) if isinstance(value, dict) else value
        for name, value in body.items() if name != "RequestId"
    }
