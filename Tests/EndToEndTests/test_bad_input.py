"""Whatever comes in: a clear error or a counter, never a stop, never memory without bound."""

import json
import os
import random
import time
import uuid

import pytest
import zmq

from bus import CONTEXT, Bus, Refused, fresh_key, request
from house import DAEMONS, ROOT, SERVICES_OF, resident_bytes, until
from play import fresh_number

# What the broker may grow by over all of this file, in bytes: its pools, not what was thrown at it.
BROKER_GROWTH_MAX = 48 << 20
# What any other daemon may grow by.
DAEMON_GROWTH_MAX = 48 << 20

# JSON-RPC 2.0, and our own for every reason.
ERROR_CODES = {-32700, -32600, -32601, -32602, -32000}


@pytest.fixture(scope="module")
def target(own):
    """The daemons; at the end they are the same processes, and not much larger."""
    with Bus(own.ipc) as bus:
        for daemon in SERVICES_OF:
            bus.ping(daemon)
    pids = {daemon: own.pid(daemon) for daemon in DAEMONS}
    before = {daemon: resident_bytes(pid) for daemon, pid in pids.items()}
    yield own
    assert {daemon: own.pid(daemon) for daemon in DAEMONS} == pids, "a daemon stopped"
    for daemon, pid in pids.items():
        bound = BROKER_GROWTH_MAX if daemon == "broker" else DAEMON_GROWTH_MAX
        grown = resident_bytes(pid) - before[daemon]
        print(f"{daemon} grew by {grown >> 10} KiB")
        assert grown < bound, f"{daemon} grew by {grown >> 20} MiB"


@pytest.fixture
def good(target):
    """After each test every daemon still answers."""
    with Bus(target.ipc) as bus:
        yield bus
        for daemon in SERVICES_OF:
            assert bus.ping(daemon)["id"] == "1"


def throw(house, *messages):
    """Sends messages that deserve no answer, on a connection of their own."""
    socket = CONTEXT.socket(zmq.DEALER)
    socket.connect(house.ipc)
    for frames in messages:
        socket.send_multipart(frames)
    socket.close(linger=2000)


def malformed(bus):
    return sum(json.loads(bus.mmi("mmi.stats"))["broker"]["malformed"].values())


# Frames

RANDOM = random.Random(20260101)
EDGES = [b"", b"MDPC01", b"MDPC02", b"MDPW01", b"MDPW02", b"BUS1", b"\x01", b"\x02", b"\x03",
         b"\x04", b"\x05", b"\x06", b"echo", b"mmi.service", b"0" * 16, b"\x00" * 64]

NO_MESSAGES = {
    "nothing": [[b""]],
    "one frame": [[b"x"], [b"MDPC01"], [b"MDPW01"], [b"MDPC02"], [b"BUS1"]],
    "empty frames": [[b""] * count for count in (2, 3, 5, 16)],
    "no service": [[b"", b"MDPC01"], [b"MDPC02", b"\x01"], [b"MDPC02"]],
    "wrong client commands": [[b"MDPC02", bytes([n]), b"echo", b"{}"] for n in range(256) if n != 1],
    "wrong protocols": [[b"", b"MDPC03", b"echo", b"{}"], [b"mdpc01", b"echo", b"{}"]],
    "service names": [
        [b"", b"MDPC01", name, b"{}"]
        for name in (b"", b"\x00", b"a" * 300, b"\xff\xfe", b"echo\n", b"\xed\xa0\x80")
    ],
    "a thousand frames": [[b"", b"MDPC01", b"echo"] + [b"x"] * 1000, [b"x"] * 1000],
    "workers without READY": [[b"", b"MDPW01", bytes([n]), b"0" * 16, b"", b"{}"]
                              for n in range(256) if n != 1],
    "new workers without READY": [[b"MDPW02", bytes([n]), b"0" * 16, b"", b"{}"]
                                  for n in range(256) if n != 1],
    "READY of nothing": [[b"", b"MDPW01", b"\x01"], [b"", b"MDPW01", b"\x01", b""],
                         [b"MDPW02", b"\x01", b"\xff" * 255], [b"MDPW02", b"\x01", b"mmi.x"]],
    "headers": [[b"BUS1" + bytes(RANDOM.randbytes(n))] for n in (0, 1, 59, 60, 61, 200)],
    "headers before a body": [
        [b"", b"MDPC01", b"echo", b"BUS1" + bytes(RANDOM.randbytes(n)), b"{}"]
        for n in (0, 1, 59, 60, 61, 92, 200)
    ],
    "random bytes": [
        [RANDOM.randbytes(RANDOM.randrange(60)) for _ in range(RANDOM.randrange(1, 9))]
        for _ in range(2000)
    ],
    "random words": [
        [RANDOM.choice(EDGES) for _ in range(RANDOM.randrange(1, 9))] for _ in range(5000)
    ],
}


@pytest.mark.parametrize("name", NO_MESSAGES)
def test_frames_that_are_no_message(target, good, name):
    throw(target, *NO_MESSAGES[name])
    assert good.ask("echo.echo", {"text": "still here"})["text"] == "still here"


def test_malformed_messages_are_counted(target, good):
    before = malformed(good)
    throw(target, *[[b"nonsense", b"x"]] * 100)
    until(lambda: malformed(good) >= before + 100, "100 counted")


def test_large_frames_are_cut_off(target, good):
    """2 MiB is above the bus's 1 MiB: the connection ends, the memory stays."""
    pid = target.pid("broker")
    before = resident_bytes(pid)
    for _ in range(20):
        throw(target, [b"", b"MDPC01", b"echo", b"x" * (2 << 20)])
    good.ping("echo")
    assert resident_bytes(pid) - before < BROKER_GROWTH_MAX
    # Just below the limit is a message like any other.
    text = "y" * 60_000
    assert good.ask("echo.echo", {"text": text})["text"] == text


def test_many_large_messages_meet_the_bounds_of_the_broker(target, good):
    """Bodies for a service that nobody serves wait, and then are refused: they do not pile up."""
    socket = CONTEXT.socket(zmq.DEALER)
    socket.connect(target.ipc)
    body = b"z" * (900 << 10)
    for _ in range(200):
        socket.send_multipart([b"", b"MDPC01", b"nobody.here", body])
    answers = 0
    while answers < 200:
        assert socket.poll(10_000), answers
        assert b"-32000" in socket.recv_multipart()[3]
        answers += 1
    socket.close(linger=0)
    stats = json.loads(good.mmi("mmi.stats"))["broker"]
    assert stats["held_bytes"] < len(body) and stats["requests_in_flight"] < 10


def test_unknown_services_cost_nothing_that_stays(target, good):
    """Names that nobody serves do not keep real workers out."""
    socket = CONTEXT.socket(zmq.DEALER)
    socket.connect(target.ipc)
    count = 6_000
    seen = 0
    for index in range(count):
        socket.send_multipart([b"", b"MDPC01", b"none%d" % index, b"{}"])
        # More calls than one client may have under way are refused at once. A peer that does not read
        # loses what lies beyond its pipe, so this one reads.
        while socket.poll(0):
            assert b"-32000" in socket.recv_multipart()[3]
            seen += 1
    while seen < count:
        assert socket.poll(10_000), seen
        assert b"-32000" in socket.recv_multipart()[3]
        seen += 1
    socket.close(linger=0)
    name = f"new-{uuid.uuid4().hex[:8]}"
    worker = CONTEXT.socket(zmq.DEALER)
    worker.connect(target.ipc)
    worker.send_multipart([b"", b"MDPW01", b"\x01", name.encode()])
    until(lambda: good.mmi("mmi.service", name.encode()) == b"200", "a new worker")
    worker.send_multipart([b"", b"MDPW01", b"\x05"])
    worker.close(linger=500)


def test_a_client_floods_and_others_are_served(target, good):
    socket = CONTEXT.socket(zmq.DEALER)
    socket.connect(target.ipc)
    for index in range(4_000):
        body = request("echo.echo", {"text": "x", "delayMilliseconds": 200}, id=str(index))
        socket.send_multipart([b"", b"MDPC01", b"echo", body])
    began = time.monotonic()
    assert good.ask("token.keys")["keys"]
    assert time.monotonic() - began < 2
    refused = 0
    for _ in range(4_000):
        assert socket.poll(20_000)
        refused += b'"overloaded"' in socket.recv_multipart()[3]
    assert 0 < refused < 4_000
    socket.close(linger=0)


def test_connections_that_come_and_go(target, good):
    pid = target.pid("broker")
    for _ in range(300):
        with Bus(target.ipc) as client:
            client.send("echo", request("echo.echo", {"text": "x"}))
    good.ping("echo")

    until(lambda: len(os.listdir(f"/proc/{pid}/fd")) < 100, "the descriptors to be given back")


# Bodies

DEEP = 100_000
BODIES = {
    "empty": b"",
    "blank": b"   ",
    "half": b'{"jsonrpc":"2.0"',
    "null": b"null",
    "number": b"1",
    "text": b'"x"',
    "true": b"true",
    "empty batch": b"[]",
    "batch": b"[" + request("echo.echo", {"text": "x"}) + b"]",
    "empty object": b"{}",
    "not UTF-8": b'{"jsonrpc":"2.0","id":"1","method":"echo.echo","params":{"text":"\xff\xfe"}}',
    "UTF-16": '{"jsonrpc":"2.0","id":"1","method":"x.y"}'.encode("utf-16"),
    "zero bytes": b"\x00" * 100,
    "deep lists": b"[" * DEEP,
    "deep closed lists": b"[" * DEEP + b"]" * DEEP,
    "deep objects": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "deep parameters": b'{"jsonrpc":"2.0","id":"1","method":"echo.echo","params":'
    + b'{"a":' * DEEP + b"1" + b"}" * DEEP + b"}",
    "deep in a field": b'{"jsonrpc":"2.0","id":"1","method":"echo.echo","params":{"text":'
    + b"[" * DEEP + b"]" * DEEP + b"}}",
    "deep id": b'{"jsonrpc":"2.0","method":"echo.echo","id":' + b"[" * DEEP + b"]" * DEEP + b"}",
    "no version": b'{"id":"1","method":"echo.echo","params":{"text":"x"}}',
    "old version": b'{"jsonrpc":"1.0","id":"1","method":"echo.echo","params":{"text":"x"}}',
    "no method": b'{"jsonrpc":"2.0","id":"1"}',
    "method number": b'{"jsonrpc":"2.0","id":"1","method":1}',
    "method of another service": request("token.keys"),
    "unknown method": request("echo.nothing"),
    "method without dot": request("echo"),
    "empty method": request(""),
    "parameters list": b'{"jsonrpc":"2.0","id":"1","method":"echo.echo","params":["x"]}',
    "parameters text": b'{"jsonrpc":"2.0","id":"1","method":"echo.echo","params":"x"}',
    "parameters missing": b'{"jsonrpc":"2.0","id":"1","method":"echo.echo"}',
    "field missing": request("echo.echo", {"other": 1}),
    "field of another type": request("echo.echo", {"text": 1}),
    "field null": request("echo.echo", {"text": None}),
    "number too large": request("echo.echo", {"text": "x", "delayMilliseconds": 10**40}),
    "number not whole": request("echo.echo", {"text": "x", "delayMilliseconds": 0.5}),
    "infinite": b'{"jsonrpc":"2.0","id":"1","method":"echo.echo","params":'
    b'{"text":"x","delayMilliseconds":1e999}}',
    "not a number": b'{"jsonrpc":"2.0","id":"1","method":"echo.echo","params":'
    b'{"text":"x","delayMilliseconds":NaN}}',
    "meta list": b'{"jsonrpc":"2.0","id":"1","method":"echo.echo","params":{"text":"x"},"meta":[]}',
    "empty key": request("echo.echo", {"text": "x"}, key=""),
    "long key": request("echo.echo", {"text": "x"}, key="k" * 10_000),
    "key number": b'{"jsonrpc":"2.0","id":"1","method":"echo.echo","params":{"text":"x"},'
    b'"meta":{"requestKey":1}}',
    "time-out text": request("echo.echo", {"text": "x"}, timeoutMilliseconds="x"),
    "caller text": request("echo.echo", {"text": "x"}, onBehalfOf="x"),
    "caller of no role": request(
        "echo.echo", {"text": "x"}, onBehalfOf={"role": "emperor", "name": "x"}
    ),
    "id list": b'{"jsonrpc":"2.0","id":[1],"method":"echo.echo","params":{"text":"x"}}',
    "id object": b'{"jsonrpc":"2.0","id":{},"method":"echo.echo","params":{"text":"x"}}',
    "trailing": request("echo.echo", {"text": "x"}) + b"{}",
    "text too long": request("echo.echo", {"text": "x" * 900_000}),
}


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("service", ["echo", "smscode"])
def test_bodies_that_are_no_request(target, good, name, service):
    answer = json.loads(good.raw(service, BODIES[name]))
    assert set(answer) == {"jsonrpc", "id", "error"}, answer
    assert answer["error"]["code"] in ERROR_CODES, answer
    assert answer["error"]["message"]


@pytest.mark.parametrize(
    "id", ["1", 1, 0, -1, 2**53, None, "", "é" * 10], ids=lambda id: f"id={id!r}"
)
def test_ids_come_back_as_they_were(good, id):
    answer = json.loads(good.raw("echo", request("echo.echo", {"text": "x"}, id=id)))
    assert answer["result"]["text"] == "x" and answer["id"] == id


def test_a_request_without_id_is_answered(good):
    body = b'{"jsonrpc":"2.0","method":"echo.echo","params":{"text":"x"}}'
    answer = json.loads(good.raw("echo", body))
    assert answer == {"jsonrpc": "2.0", "id": None, "result": {"text": "x"}}


def test_fields_that_nobody_knows_are_ignored(good):
    body = request("echo.echo", {"text": "x", "new": {"deep": [1]}}, new=1)
    assert json.loads(good.raw("echo", body))["result"]["text"] == "x"


@pytest.mark.parametrize(
    "text", ["\\ud800", "\\udfff\\ud800", "\\u0000", "\\uffff", "\\ud83d\\ude00"]
)
def test_odd_characters_in_texts(good, text):
    """Lone surrogates are refused or replaced; what comes back is JSON either way."""
    for service, field in (("echo", "text"), ("smscode", "purpose"), ("token", "schemeCode")):
        method = {"echo": "echo.echo", "smscode": "smscode.send", "token": "token.issue"}[service]
        body = (
            '{"jsonrpc":"2.0","id":"1","method":"%s","params":{"%s":"%s"}}' % (method, field, text)
        )
        answer = json.loads(good.raw(service, body.encode()))
        assert "result" in answer or answer["error"]["code"] in ERROR_CODES


@pytest.mark.parametrize("timeout", [0, -1, -(2**62)])
def test_a_deadline_that_has_passed_does_nothing(target, good, timeout):
    number = fresh_number()
    send = {"schemeCode": target.scheme, "purpose": "late", "number": number}
    try:
        good.ask("smscode.send", send, fresh_key(), timeoutMilliseconds=timeout)
        raise AssertionError("it was done")
    except Refused as refusal:
        assert refusal.reason == "deadline_passed", refusal
    assert good.call("sandbox.inbox", {"number": number})["messages"] == []
    with pytest.raises(Refused) as refused:
        good.ask(
            "echo.echo", {"text": "x", "delayMilliseconds": 500}, timeoutMilliseconds=timeout
        )
    assert refused.value.reason == "deadline_passed"


def test_a_short_deadline_ends_in_time(good):
    """The echo answers at its deadline at the latest, although it was asked to wait longer."""
    began = time.monotonic()
    good.ask("echo.echo", {"text": "x", "delayMilliseconds": 5000}, timeoutMilliseconds=100)
    assert time.monotonic() - began < 2


# Every method, every field

WRONG = [None, True, 0, -1, 2**63, -(2**63), 1.5, "", " ", "x", "x" * 100_000, "\x00", "'; --",
         [], {}, [[]], [None], "+999", "☎" * 50]


def examples():
    folder = ROOT / "Tests/Golden"
    for path in sorted(folder.glob("*.*.json")):
        entry = json.loads(path.read_text())
        yield pytest.param(entry["method"], entry["request"], id=entry["method"])


def places(value, path=()):
    """Paths to every field, outermost first."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield (*path, name)
            yield from places(inner, (*path, name))


def changed(value, path, new):
    copy = json.loads(json.dumps(value))
    inner = copy
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = new
    return copy


@pytest.mark.parametrize("method, example", list(examples()))
def test_wrong_values_in_every_field(good, method, example):
    service = method.rsplit(".", 1)[0]
    paths = list(places(example))[:40]
    bodies = [request(method, params) for params in (None, [], "x", 1)]
    bodies += [
        request(method, changed(example, path, wrong)) for path in paths for wrong in WRONG
    ]
    for body in bodies:
        answer = json.loads(good.raw(service, body))
        error = answer.get("error")
        if error is None:
            continue
        assert error["code"] in ERROR_CODES, (body[:300], error)
        reason = (error.get("data") or {}).get("reason")
        assert reason not in ("internal_fault", "unavailable", "deadline_passed", "worker_lost"), (
            body[:300], error,
        )
