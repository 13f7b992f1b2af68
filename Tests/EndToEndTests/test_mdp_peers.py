"""Plain Majordomo peers: ZeroMQ RFC 7 (0.1), RFC 18 (0.2) and RFC 8, in pyzmq alone."""

import json
import os
import re
import subprocess
import sys
import threading
import uuid

import pytest
import zmq

from bus import CONTEXT, Bus, NoAnswer, Refused, request
from house import PATIENCE, ROOT, until


def receive(socket, seconds=PATIENCE):
    assert socket.poll(int(seconds * 1000)), "nothing came"
    return socket.recv_multipart()


def socket_of(house, kind):
    socket = CONTEXT.socket(kind)
    socket.linger = 0
    socket.connect(house.ipc)
    return socket


class Worker:
    """A plain worker on a thread of its own; each gets a service name nobody else has."""

    # Answers to heartbeats keep an idle worker alive; the broker speaks first.
    READY, REQUEST, REPLY = b"\x01", b"\x02", b"\x03"

    def __init__(self, house, name=None):
        self.name = name or f"py-{uuid.uuid4().hex[:12]}"
        self.house = house
        self.addresses = []
        self.problem = None
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        with Bus(self.house.ipc) as bus:
            until(lambda: bus.mmi("mmi.service", self.name.encode()) == b"200", self.name)
        return self

    def __exit__(self, *_):
        self._end.set()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()
        assert self.problem is None, self.problem

    def _run(self):
        socket = socket_of(self.house, zmq.DEALER)
        try:
            self.hello(socket)
            while not self._end.is_set():
                if socket.poll(20):
                    self.take(socket, socket.recv_multipart())
            self.bye(socket)
        except Exception as problem:  # told by __exit__, on the test's thread
            self.problem = repr(problem)
        finally:
            socket.close(linger=500)


class OldWorker(Worker):
    """MDP/0.1."""

    def hello(self, socket):
        socket.send_multipart([b"", b"MDPW01", self.READY, self.name.encode()])

    def take(self, socket, frames):
        assert frames[:2] == [b"", b"MDPW01"], frames
        if frames[2] == b"\x04":
            socket.send_multipart([b"", b"MDPW01", b"\x04"])
            return
        assert frames[2] == self.REQUEST, frames
        address, empty, *body = frames[3:]
        assert empty == b""
        self.addresses.append(address)
        socket.send_multipart([b"", b"MDPW01", self.REPLY, address, b"", *self.answer(body)])

    def answer(self, body):
        return body

    def bye(self, socket):
        socket.send_multipart([b"", b"MDPW01", b"\x05"])


class NewWorker(Worker):
    """MDP/0.2: two partial answers, then the final one."""

    def hello(self, socket):
        socket.send_multipart([b"MDPW02", self.READY, self.name.encode()])

    def take(self, socket, frames):
        assert frames[0] == b"MDPW02", frames
        if frames[1] == b"\x05":
            socket.send_multipart([b"MDPW02", b"\x05"])
            return
        assert frames[1] == self.REQUEST, frames
        address, empty, *body = frames[2:]
        assert empty == b""
        self.addresses.append(address)
        for part in (b"one", b"two"):
            socket.send_multipart([b"MDPW02", b"\x03", address, b"", part])
        socket.send_multipart([b"MDPW02", b"\x04", address, b"", *body])

    def bye(self, socket):
        socket.send_multipart([b"MDPW02", b"\x06"])


# Clients


def test_a_req_socket_calls_a_service(shared):
    socket = socket_of(shared, zmq.REQ)
    for turn in range(3):
        socket.send_multipart(
            [b"MDPC01", b"echo", request("echo.echo", {"text": f"hi {turn}"}, id=str(turn))]
        )
        protocol, service, body = receive(socket)
        assert (protocol, service) == (b"MDPC01", b"echo")
        assert json.loads(body) == {
            "jsonrpc": "2.0", "id": str(turn), "result": {"text": f"hi {turn}"},
        }
    socket.close()


def test_a_dealer_has_many_calls_under_way(shared):
    socket = socket_of(shared, zmq.DEALER)
    wanted = {str(turn) for turn in range(300)}
    for turn in sorted(wanted):
        socket.send_multipart(
            [b"", b"MDPC01", b"echo", request("echo.echo", {"text": turn}, id=turn)]
        )
    seen = set()
    while seen != wanted:
        empty, protocol, service, body = receive(socket)
        assert (empty, protocol, service) == (b"", b"MDPC01", b"echo")
        answer = json.loads(body)
        assert answer["result"]["text"] == answer["id"] and answer["id"] not in seen
        seen.add(answer["id"])
    assert not socket.poll(100)
    socket.close()


def test_a_client_of_mdp_02_gets_one_final_answer(shared):
    socket = socket_of(shared, zmq.DEALER)
    socket.send_multipart([b"MDPC02", b"\x01", b"token", request("token.keys", id=7)])
    protocol, command, service, body = receive(socket)
    assert (protocol, command, service) == (b"MDPC02", b"\x03", b"token")
    answer = json.loads(body)
    assert answer["id"] == 7 and answer["result"]["keys"][0]["kty"] == "OKP"
    socket.close()


def test_each_client_gets_its_own_answers(shared):
    sockets = [socket_of(shared, zmq.REQ) for _ in range(20)]
    for index, socket in enumerate(sockets):
        socket.send_multipart(
            [b"MDPC01", b"echo", request("echo.echo", {"text": str(index)}, id=index)]
        )
    for index, socket in enumerate(sockets):
        assert json.loads(receive(socket)[2])["result"]["text"] == str(index)
        socket.close()


# Workers


def test_a_plain_worker_of_mdp_01_serves(shared, bus):
    with OldWorker(shared) as worker:
        for turn in range(50):
            body = b'{"turn": %d}' % turn
            assert bus.raw(worker.name, body) == body
        # 16 printable characters that no port of any worker library changes.
        assert len(set(worker.addresses)) == 50
        assert all(re.fullmatch(rb"[0-9a-v]{16}", address) for address in worker.addresses)
    until(lambda: bus.mmi("mmi.service", worker.name.encode()) == b"404", "the worker to leave")


def test_a_plain_worker_may_answer_many_frames(shared):
    class Twice(OldWorker):
        def answer(self, body):
            return [*body, b"", b"\x00\xff" * 10]

    with Twice(shared) as worker:
        socket = socket_of(shared, zmq.DEALER)
        socket.send_multipart([b"", b"MDPC01", worker.name.encode(), b"a", b"b"])
        assert receive(socket)[3:] == [b"a", b"b", b"", b"\x00\xff" * 10]
        socket.close()


def test_partial_answers_of_mdp_02(shared, bus):
    with NewWorker(shared) as worker:
        socket = socket_of(shared, zmq.DEALER)
        socket.send_multipart([b"MDPC02", b"\x01", worker.name.encode(), b"body"])
        name = worker.name.encode()
        answers = [receive(socket) for _ in range(3)]
        assert answers == [
            [b"MDPC02", b"\x02", name, b"one"],
            [b"MDPC02", b"\x02", name, b"two"],
            [b"MDPC02", b"\x03", name, b"body"],
        ]
        # A client of 0.1 knows one answer: the final one.
        assert bus.raw(worker.name, b"old") == b"old"
        assert not bus.socket.poll(100)
        assert all(re.fullmatch(rb"[0-9a-v]{16}", address) for address in worker.addresses)
        socket.close()


def test_a_plain_worker_sees_no_header_of_ours(shared):
    """fusionctl calls with a header; a plain worker gets the JSON alone."""
    bodies = []

    class Reader(OldWorker):
        def answer(self, body):
            bodies.append(body)
            asked = json.loads(body[0])
            return [json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {"n": 1}}).encode()]

    with Reader(shared) as worker:
        assert shared.call(f"{worker.name}.add", {"a": 1}) == {"n": 1}
    assert len(bodies) == 1 and len(bodies[0]) == 1


def test_a_worker_that_dies_busy_gives_its_request_to_the_next(shared):
    name = f"py-{uuid.uuid4().hex[:12]}"
    first = socket_of(shared, zmq.DEALER)
    first.send_multipart([b"", b"MDPW01", b"\x01", name.encode()])
    client = socket_of(shared, zmq.DEALER)
    client.send_multipart([b"", b"MDPC01", name.encode(), b"job"])
    while receive(first)[2] != b"\x02":
        pass
    with OldWorker(shared, name):
        # DISCONNECT of a busy worker (RFC 7) hands its request back.
        first.send_multipart([b"", b"MDPW01", b"\x05"])
        assert receive(client)[3] == b"job"
    first.close()
    client.close()


# The broker itself


def test_mmi_service(bus):
    assert bus.mmi("mmi.service", b"token") == b"200"
    assert bus.mmi("mmi.service", b"no.such.service") == b"404"
    assert bus.mmi("mmi.service", b"") == b"404"


@pytest.mark.parametrize("name", ["mmi.nothing", "mmi.echo", "mmi.", "mmi.services"])
def test_other_mmi_names_are_not_implemented(bus, name):
    assert bus.mmi(name) == b"501"


def test_mmi_tells_of_every_worker(bus):
    ping = json.loads(bus.mmi("mmi.ping"))
    names = {row["name"] for row in ping["services"]}
    assert {"token", "scheme", "key", "verification", "smscode", "scene", "sandbox"} <= names
    assert {"token@1", "scene@1"} <= names

    info = json.loads(bus.mmi("mmi.info", b"token"))
    (row,) = info["services"]
    assert row["name"] == "token" and row["id"] == "1" and row["metadata"]["credit"] == 64

    for _ in range(5):
        bus.ping("token")
    stats = json.loads(bus.mmi("mmi.stats", b"token"))
    (row,) = stats["services"]
    assert row["endpoints"][0]["num_requests"] >= 5

    health = json.loads(bus.mmi("mmi.health", b"token"))
    (row,) = health["services"]
    assert row["state"] == "serving" and row["workers"] == 1 and row["queued"] == 0

    everything = json.loads(bus.mmi("mmi.stats"))
    assert everything["broker"]["num_requests"] > 0


def test_no_worker_may_register_an_mmi_name(shared, bus):
    socket = socket_of(shared, zmq.DEALER)
    socket.send_multipart([b"", b"MDPW01", b"\x01", b"mmi.service"])
    assert receive(socket)[:3] == [b"", b"MDPW01", b"\x05"]
    assert bus.mmi("mmi.service", b"token") == b"200"
    socket.close()


def test_an_unknown_service_is_refused_after_five_seconds(shared):
    with Bus(shared.ipc) as bus:
        try:
            bus.ask("no_such.method", seconds=10)
            raise AssertionError("it answered")
        except Refused as refusal:
            assert refusal.reason == "unavailable" and refusal.code == -32000
        except NoAnswer:
            raise AssertionError("the client hangs")


# The examples that the README shows

EXAMPLES = ROOT / "deploy/examples/python"


@pytest.mark.skipif(not (EXAMPLES / "client.py").exists(), reason="no examples here")
def test_the_python_examples_run(shared, bus):
    environment = {**os.environ, "FUSION_HOME": str(shared.home)}
    client = subprocess.run(
        [sys.executable, str(EXAMPLES / "client.py")], env=environment, capture_output=True,
        text=True, timeout=2 * PATIENCE, cwd=shared.home,
    )
    assert client.returncode == 0, client.stdout + client.stderr
    assert client.stdout.strip()
