"""A second instance is the same command again: it takes load, and gives it back."""

import json
import signal
import threading
import time
import uuid

import pytest
import zmq

from bus import CONTEXT, Bus, counts, fresh_key, request
from house import BINARIES, PATIENCE, SERVICES_OF, Child, until
from play import fresh_number

# Seconds within which an instance has its share, or has given it back.
SHARE_SECONDS = 2.0


class Load:
    """Keeps calls under way on one socket and remembers who answered each, and when."""

    def __init__(self, house, service, outstanding=8, delay=0):
        self.service = service
        self.outstanding = outstanding
        self.delay = delay
        self.answers = []
        self.failures = []
        self.sent = 0
        self.slowest = 0.0
        self._house = house
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        until(lambda: len(self.answers) > 20, f"load on {self.service}")
        return self

    def __exit__(self, *_):
        self._end.set()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive(), "calls were lost"

    def _run(self):
        socket = CONTEXT.socket(zmq.DEALER)
        socket.linger = 0
        socket.connect(self._house.ipc)
        open = {}
        deadline = None
        while open or not self._end.is_set():
            while len(open) < self.outstanding and not self._end.is_set():
                id = uuid.uuid4().hex
                socket.send_multipart([b"", b"MDPC01", self.service.encode(), self._body(id)])
                open[id] = time.monotonic()
                self.sent += 1
            if self._end.is_set() and deadline is None:
                deadline = time.monotonic() + 10
            if not socket.poll(50):
                if deadline and time.monotonic() > deadline:
                    self.failures.append(f"{len(open)} calls without an answer")
                    break
                continue
            answer = json.loads(socket.recv_multipart()[3])
            now = time.monotonic()
            began = open.pop(answer["id"], None)
            if began is None or "result" not in answer:
                self.failures.append(answer)
                if began is None and open:
                    open.popitem()
                continue
            self.slowest = max(self.slowest, now - began)
            self.answers.append((now, answer["result"].get("id")))
        socket.close()

    def _body(self, id):
        if self.service == "echo" and self.delay:
            return request("echo.echo", {"text": id, "delayMilliseconds": self.delay}, id=id)
        return request(f"{self.service}.ping", id=id)

    def by(self, instance, since):
        return [at for at, id in list(self.answers) if id == instance and at >= since]

    def shares(self, count):
        """How many of the last `count` answers each of the two instances gave."""
        last = [id for _, id in list(self.answers)[-count:]]
        return [last.count(id) for id in ("1", "2")]

    def is_fair(self, count):
        # On a busy machine an instance may get no time for a moment; not for the whole patience.
        shares = self.shares(count)
        return sum(shares) == count and min(shares) > count / 5


@pytest.mark.parametrize(
    "daemon, service", [(daemon, names[0]) for daemon, names in SERVICES_OF.items()
                        if daemon != "sandbox"]
)
def test_an_instance_takes_its_share_and_gives_it_back(own, daemon, service):
    with Load(own, service) as load:
        began = time.monotonic()
        second = own.start(daemon, "2")
        ready = time.monotonic()
        until(lambda: load.by("2", began), f"{service}@2 to answer", SHARE_SECONDS)
        # Its share: about half of the calls, and every one of its names serves.
        mark = time.monotonic()
        until(lambda: load.is_fair(200), lambda: f"a fair share of 200 calls: {load.shares(200)}")
        with Bus(own.ipc) as bus:
            for name in SERVICES_OF[daemon]:
                assert bus.ping(f"{name}@2")["id"] == "2"
            rows = json.loads(bus.mmi("mmi.stats", f"{service}@2".encode()))["services"]
            (row,) = [row for row in rows if row["name"] == service]
            assert row["id"] == "2"
            assert row["endpoints"][0]["num_requests"] >= len(load.by("2", mark))

        second.kill()
        killed = time.monotonic()
        until(lambda: len(load.by("1", killed)) >= 50, "the first to go on", SHARE_SECONDS)
        # The broker may read what the dead one sent before; nothing comes after the deadline.
        late = [at for at in load.by("2", killed) if at > killed + SHARE_SECONDS]
        assert not late

        second = own.start(daemon, "2")
        until(lambda: load.by("2", time.monotonic() - 0.5), f"{service}@2 again", SHARE_SECONDS)
        second.signal(signal.SIGTERM)
        assert second.wait() == 0, second.err
        drained = time.monotonic()
        until(lambda: len(load.by("1", drained)) >= 50, "the first to go on", SHARE_SECONDS)
        assert not load.by("2", drained + 0.2)
    assert not load.failures
    assert len(load.answers) == load.sent
    assert load.slowest < SHARE_SECONDS, "a call waited for a dead instance"
    assert ready - began < PATIENCE


def test_work_in_hand_is_done_when_its_instance_is_killed_or_drained(own):
    with Load(own, "echo", outstanding=32, delay=100) as load:
        for end in (signal.SIGKILL, signal.SIGTERM):
            second = own.start("echo", "2")
            with Bus(own.ipc) as bus:
                until(
                    lambda: counts(bus.stats("echo@2")).get("echo.echo", 0) > 20,
                    "the second to be busy", SHARE_SECONDS,
                )
            second.signal(end)
            assert second.wait() == (-9 if end == signal.SIGKILL else 0)
            count = len(load.answers)
            until(lambda: len(load.answers) > count + 64, "the first to go on", SHARE_SECONDS)
    assert not load.failures
    assert len(load.answers) == load.sent
    assert load.slowest < SHARE_SECONDS


def test_an_instance_name_is_taken_once(own):
    second = own.start("echo", "2")
    third = Child([BINARIES / "fusion-echo", "--home", own.home, "--instance", "2"])
    assert third.wait() == 70
    assert "another process is this instance" in "\n".join(third.err)
    # Without a name it takes the next free one.
    fourth = Child([BINARIES / "fusion-echo", "--home", own.home, "--die-with-parent"])
    own.children.append(fourth)
    until(lambda: own.pid("echo", "3") == fourth.pid, "a third instance")
    assert fourth.end() == 0
    assert second.end() == 0


def test_two_instances_share_one_store(own):
    """What one wrote, the other answers for."""
    second = own.start("smscode", "2")
    try:
        with Bus(own.ipc) as bus:
            send = {"schemeCode": own.scheme, "purpose": "login", "number": fresh_number()}
            key = fresh_key()
            first = bus.ask("smscode.send", send, key, service="smscode@1")
            assert bus.ask("smscode.send", send, key, service="smscode@2") == first
            status = {"challengeId": first["challengeId"]}
            assert bus.ask("smscode.status", status, service="smscode@2")["sentCount"] == 1
            results = [
                bus.ask(
                    "smscode.check", {**status, "code": "00000x"},
                    service=f"smscode@{1 + turn % 2}",
                )["result"]
                for turn in range(8)
            ]
            assert results.count("rejected") == 5 and set(results[5:]) == {"exhausted"}
    finally:
        assert second.end() == 0
