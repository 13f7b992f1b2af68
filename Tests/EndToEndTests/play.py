"""The app, its server and the phone of one person."""

import random
import re

from bus import fresh_key

BUNDLE = "com.example.app"


def fresh_number():
    return "+86137" + "".join(random.choices("0123456789", k=8))


def other_code(code):
    return code[:-1] + str((int(code[-1]) + 1) % 10)


class Phone:
    """Reads what arrived in the sandbox's inbox."""

    def __init__(self, bus, number=None):
        self.bus = bus
        self.number = number or fresh_number()
        self.sequence = 0

    def messages(self, wait=1000):
        inbox = self.bus.call(
            "sandbox.inbox",
            {"number": self.number, "afterSequence": self.sequence, "waitMilliseconds": wait},
        )["messages"]
        if inbox:
            self.sequence = inbox[-1]["sequence"]
        return inbox

    def code(self, tries=20):
        for _ in range(tries):
            for message in reversed(self.messages()):
                found = re.search(r"\d{4,10}", message["text"])
                if found:
                    return found.group()
        raise AssertionError("no code arrived")


class Run:
    """One scene run, played by hand."""

    def __init__(self, bus, scheme, template="100001", number=None, bound=None, **start):
        self.bus = bus
        self.scheme = scheme
        self.phone = Phone(bus, number)
        self.secrets = set()
        issue = {
            "schemeCode": scheme, "platform": "ios", "bundleId": BUNDLE, "durationSeconds": 900,
        }
        if bound:
            issue["boundNumber"] = bound
        self.token = bus.call("token.issue", issue)["authToken"]
        self.view = bus.call(
            "scene.start",
            {
                "authToken": self.token, "templateId": template, "locale": "en",
                "deviceId": "dev-" + fresh_key(), **start,
            },
        )
        self.key = self.view["runKey"]
        self.id = self.view["runId"]
        self.mask = None
        self.secrets |= {self.token, self.key}

    @property
    def step(self):
        return self.view["step"]

    def where(self):
        return {"authToken": self.token, "runId": self.id, "runKey": self.key}

    def move(self, verb, key=None, **params):
        view = self.bus.call(
            f"scene.{verb}", {**self.where(), "step": self.step, **params}, key=key
        )
        self.view = view
        if view.get("maskToken"):
            self.mask = view["maskToken"]
            self.secrets.add(self.mask)
        return view

    def submit(self, **input):
        return self.move("submit", input=input)

    def leave_carrier(self):
        if self.view["node"]["kind"] == 2000001:
            self.submit(otherLogin=True)
        return self

    def send(self):
        typed = self.view["node"].get("numberInput") == "typed"
        return self.submit(send=True, **({"number": self.phone.number} if typed else {}))

    def type(self, wrong=False):
        code = self.phone.code()
        self.secrets.add(code)
        self.submit(code=other_code(code) if wrong else code)
        return code

    def verify(self, key=None):
        return self.bus.call("verification.verify", {"maskToken": self.mask}, key=key)

    def pass_by_sms(self):
        self.leave_carrier()
        self.send()
        self.type()
        verified = self.verify()
        assert verified["result"] == "PASS", verified
        return self.move("continue", isSuccess=True)
