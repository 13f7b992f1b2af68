"""After real runs, no secret and no full number lies in a log, a store, a file or a queue."""

import base64
import hashlib
import hmac
import json
import re
import time

import pytest

from bus import Bus, Refused, fresh_key
from house import House
from play import Phone, Run, fresh_number

# Where a secret belongs: the keys' own folder, which nobody but the owner reads.
ALLOWED = ("keys/",)


class Secrets:
    def __init__(self):
        self.texts = {}

    def add(self, kind, *texts):
        for text in texts:
            assert text and len(text) >= 10, (kind, text)
            self.texts[text] = kind

    def needles(self):
        """Each as it is, and as a careless program would have encoded it."""
        for text, kind in self.texts.items():
            yield text.encode(), kind
            if kind == "number":
                # Without the plus, and the national part alone.
                yield text[1:].encode(), kind
                yield text[3:].encode(), kind
            if kind != "code":
                raw = text.encode()
                yield base64.b64encode(raw).rstrip(b"="), kind + ", base64"
                yield base64.urlsafe_b64encode(raw).rstrip(b"="), kind + ", base64url"
                yield raw.hex().encode(), kind + ", hex"
                yield text.encode("utf-16-le"), kind + ", UTF-16"


@pytest.fixture(scope="module")
def lived():
    """A home in which everything happened once, at debug level; its daemons are still up."""
    house = House("fs")
    house.initialise()
    config = house.home / "etc/fusion.toml"
    config.write_text(
        config.read_text().replace('# logLevel = "info" ', 'logLevel = "debug" ')
    )
    assert '\nlogLevel = "debug"' in config.read_text()
    secrets = Secrets()
    try:
        house.up()
        with Bus(house.ipc) as bus:
            live(house, bus, secrets)
            yield house, bus, secrets
    finally:
        house.close()


def live(house, bus, secrets):
    scheme = house.scheme
    # Long codes: one of six digits may lie in some number of a log by chance.
    bus.call("scheme.update", {"schemeCode": scheme, "policy": {"codeLength": 10}})
    for template, bound in (("100001", None), ("100003", fresh_number()), ("100004", None)):
        run = Run(bus, scheme, template, number=bound, bound=bound)
        secrets.add("number", run.phone.number)
        run.pass_by_sms()
        secrets.add("code", *[text for text in run.secrets if len(text) == 10])
        secrets.add("auth token", run.token)
        secrets.add("run key", run.key)
        secrets.add("mask token", run.mask)

    # A change of number: a notice to the old one.
    old, new = fresh_number(), fresh_number()
    run = Run(bus, scheme, "100002", number=old, bound=old)
    secrets.add("number", old, new)
    run.send()
    secrets.add("code", run.type())
    assert run.verify()["result"] == "PASS"
    run.move("halfway", isSuccess=True)
    run.phone = Phone(bus, new)
    run.send()
    secrets.add("code", run.type())
    assert run.verify()["result"] == "PASS"
    run.move("continue", isSuccess=True)
    secrets.add("auth token", run.token)
    secrets.add("run key", run.key)
    secrets.add("mask token", run.mask)

    # A carrier, an up-going text, a wrong code, an open run.
    number = fresh_number()
    secrets.add("number", number)
    bus.call("sandbox.sim", {"numbers": [number]})
    token = bus.call("sandbox.carrier_token", {"number": number})["carrierToken"]
    secrets.add("carrier token", token)
    got = bus.call("verification.get_number", {"schemeCode": scheme, "carrierToken": token})
    assert got["number"] == number
    opened = bus.call(
        "upgoing.open", {"schemeCode": scheme, "purpose": "login", "number": number}
    )
    bus.call("sandbox.send_mo", {
        "sender": number, "receiver": opened["receivingNumber"], "text": opened["text"],
    })
    assert bus.call("upgoing.check", {"upgoingId": opened["upgoingId"]})["number"] == number

    phone = Phone(bus)
    secrets.add("number", phone.number)
    sent = bus.call("smscode.send", {
        "schemeCode": scheme, "purpose": "login", "number": phone.number, "returnCode": True,
        "codeLength": 10,
    })
    # A live code, which is the one worth stealing.
    assert sent["code"] == phone.code()
    secrets.add("code", sent["code"])
    bus.call("smscode.check", {"challengeId": sent["challengeId"], "code": "87654321"})
    details = bus.call("smscode.details", {
        "schemeCode": scheme, "number": phone.number, "day": time.strftime("%Y%m%d", time.gmtime()),
        "page": 1, "pageSize": 10,
    })
    assert sent["code"] not in json.dumps(details)

    # Access keys, used rightly and wrongly.
    key = bus.call("key.create", {"owner": "owner"})
    secrets.add("access key secret", key["accessKeySecret"])
    temporary = bus.call(
        "key.create_temporary", {"accessKeyId": key["accessKeyId"], "durationSeconds": 900}
    )
    secrets.add("access key secret", temporary["accessKeySecret"])
    secrets.add("security token", temporary["securityToken"])
    text = "GET&%2F&" + fresh_key()
    secret = key["accessKeySecret"].encode()
    for signature in (
        hmac.new(secret, text.encode(), hashlib.sha256).hexdigest(), "0" * 64,
    ):
        try:
            bus.call("key.internal.authenticate", {
                "accessKeyId": key["accessKeyId"], "algorithm": "ACS3-HMAC-SHA256",
                "stringToSign": text, "nonce": fresh_key(), "action": "X", "signature": signature,
                "timestampMilliseconds": int(time.time() * 1000),
            })
        except Refused as refusal:
            assert refusal.reason == "signature_mismatch"

    # A peer's secret key goes to its own file alone.
    out = house.home.parent / f"{house.home.name}.peer"
    house.run("peer", "add", "shop", "--role", "integrator", "--out", out)
    secrets.add("peer secret key", re.search(r'secret_key = "(.*)"', out.read_text()).group(1))
    out.unlink()


def found_in(data, secrets):
    found = set()
    for needle, kind in secrets.needles():
        at = data.find(needle)
        while at >= 0:
            # A code inside a longer run of digits is another number.
            around = data[max(0, at - 1):at + len(needle) + 1]
            if not (kind == "code" and re.search(rb"\d{%d,}" % (len(needle) + 1), around)):
                found.add(kind)
                break
            at = data.find(needle, at + 1)
    return found


def files(house):
    for path in sorted(house.home.rglob("*")):
        if path.is_file():
            name = str(path.relative_to(house.home))
            if not name.startswith(ALLOWED):
                yield name, path


def test_the_search_finds_what_is_there(lived):
    """The search itself: each kind, hidden in noise."""
    _, _, secrets = lived
    for text, kind in secrets.texts.items():
        assert kind in found_in(b"\x00noise " + text.encode() + b" noise", secrets)


def test_no_file_of_the_home_holds_a_secret_or_a_number_F141_F142(lived):
    house, _, secrets = lived
    seen = {}
    for name, path in files(house):
        data = path.read_bytes()
        leaks = found_in(data, secrets)
        if leaks:
            seen[name] = sorted(leaks)
    assert not seen
    names = [name for name, _ in files(house)]
    for part in ("log/fusion-smscode-1.jsonl", "data/smscode.db", "data/smscode.db-wal",
                 "data/scene.db", "data/verification.db", "data/token.db", "etc/peers.toml",
                 "run/fusion-scene-1.pid"):
        assert part in names, part


def test_the_supervisors_output_holds_none(lived):
    house, _, secrets = lived
    text = "\n".join(house.up_process.out + house.up_process.err).encode()
    assert not found_in(text, secrets)


def test_what_the_daemons_tell_of_themselves_holds_none(lived):
    house, bus, secrets = lived
    for name in ("mmi.ping", "mmi.info", "mmi.stats", "mmi.health"):
        assert not found_in(bus.mmi(name), secrets), name
    for service in ("token", "verification", "smscode", "scene", "sandbox"):
        assert not found_in(json.dumps(bus.stats(service)).encode(), secrets), service
    key_list = bus.call("key.list")
    assert not found_in(json.dumps(key_list).encode(), secrets)


def test_no_command_line_or_environment_holds_one(lived):
    house, _, secrets = lived
    for daemon in ("broker", "token", "verification", "smscode", "scene"):
        pid = house.pid(daemon)
        for name in ("cmdline", "environ"):
            with open(f"/proc/{pid}/{name}", "rb") as file:
                assert not found_in(file.read(), secrets), (daemon, name)


def test_logs_are_one_json_object_a_line(lived):
    house, _, _ = lived
    lines = 0
    for path in (house.home / "log").glob("*.jsonl"):
        for line in path.read_text().splitlines():
            assert isinstance(json.loads(line), dict)
            lines += 1
    assert lines > 50


def test_errors_do_not_repeat_what_they_were_given(lived):
    house, bus, _ = lived
    number = fresh_number()
    secret = "5up3rs3cr3t" * 3
    for method, params in (
        ("smscode.send", {"schemeCode": house.scheme, "purpose": "p", "number": number + "999999"}),
        ("token.introspect", {"authToken": secret}),
        ("verification.verify", {"maskToken": secret}),
        ("scene.get", {"runId": secret}),
        ("smscode.check", {"challengeId": secret, "code": "424242"}),
        ("key.revoke", {"accessKeyId": secret}),
    ):
        body = bus.raw(method.rsplit(".", 1)[0], json.dumps({
            "jsonrpc": "2.0", "id": "1", "method": method, "params": params,
        }).encode())
        for given in (number, secret, "424242"):
            assert given.encode() not in body, (method, body)


def test_tokens_carry_no_secret_F042(lived):
    """Nothing that a client is given holds the code, in clear or encoded."""
    house, bus, _ = lived
    run = Run(bus, house.scheme)
    run.leave_carrier()
    view = run.send()
    code = run.phone.code()
    given = json.dumps([view, run.token, run.key]).encode()
    head, body, _ = run.token.split(".")
    given += base64.urlsafe_b64decode(head + "==") + base64.urlsafe_b64decode(body + "==")
    assert code.encode() not in given
    assert base64.b64encode(code.encode()) not in given
    for digest in (hashlib.sha256, hashlib.md5, hashlib.sha1):
        assert digest(code.encode()).hexdigest().encode() not in given
