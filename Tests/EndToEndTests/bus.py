"""A Majordomo client in plain pyzmq: what any backend team could write."""

import json
import time
import uuid

import zmq

from house import PATIENCE

# Seconds that a caller waits before it takes the request for lost and sends it again.
ATTEMPT_SECONDS = 4.0

CONTEXT = zmq.Context()


class Refused(Exception):
    """A JSON-RPC error."""

    def __init__(self, error):
        data = error.get("data") or {}
        super().__init__(f"{error['code']} {data.get('reason')}: {error['message']}")
        self.code = error["code"]
        self.reason = data.get("reason")
        self.field = data.get("field")
        self.retry_after = data.get("retryAfterMilliseconds")


# Refusals of the bus itself: the request may or may not have been done.
OF_THE_BUS = {"unavailable", "worker_lost", "overloaded", "deadline_passed"}


class NoAnswer(Exception):
    """Nothing came back."""


def service_of(method):
    return method.rsplit(".", 1)[0]


def request(method, params=None, key=None, id="1", **meta):
    body = {"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}}
    if key is not None:
        meta["requestKey"] = key
    if meta:
        body["meta"] = meta
    return json.dumps(body).encode()


def fresh_key():
    return uuid.uuid4().hex


class Bus:
    """MDP/0.1 over a DEALER socket; used by one thread."""

    def __init__(self, endpoint, curve=None):
        self.endpoint = endpoint
        self.curve = curve
        self.socket = None
        self._open()

    def _open(self):
        self.close()
        self.socket = CONTEXT.socket(zmq.DEALER)
        self.socket.linger = 0
        if self.curve:
            server, public, secret = self.curve
            self.socket.curve_serverkey = server
            self.socket.curve_publickey = public
            self.socket.curve_secretkey = secret
        self.socket.connect(self.endpoint)

    def close(self):
        if self.socket is not None:
            self.socket.close()
            self.socket = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def raw(self, service, body, seconds=ATTEMPT_SECONDS):
        """Sends one body; gives the body of the answer."""
        self.send(service, body)
        return self.receive(seconds)

    def send(self, service, *body):
        self.socket.send_multipart([b"", b"MDPC01", service.encode(), *body])

    def receive(self, seconds=ATTEMPT_SECONDS):
        if not self.socket.poll(int(seconds * 1000)):
            # Whatever comes later belongs to nobody.
            self._open()
            raise NoAnswer()
        frames = self.socket.recv_multipart()
        assert frames[:2] == [b"", b"MDPC01"], frames
        return frames[3]

    def ask(self, method, params=None, key=None, service=None, seconds=ATTEMPT_SECONDS, **meta):
        """One attempt. Raises Refused or NoAnswer."""
        id = uuid.uuid4().hex
        body = self.raw(
            service or service_of(method), request(method, params, key, id, **meta), seconds
        )
        answer = json.loads(body)
        if "error" in answer:
            raise Refused(answer["error"])
        assert answer["id"] == id, answer
        return answer["result"]

    def call(self, method, params=None, key=None, seconds=PATIENCE, **meta):
        """Repeats with one key until there is an answer of the service: what a careful client does."""
        key = key or fresh_key()
        deadline = time.monotonic() + seconds
        while True:
            try:
                return self.ask(method, params, key, **meta)
            except NoAnswer:
                problem = "no answer"
            except Refused as refusal:
                if refusal.reason not in OF_THE_BUS and refusal.reason != "try_again":
                    raise
                problem = str(refusal)
            if time.monotonic() > deadline:
                raise NoAnswer(f"{method}: {problem}")
            time.sleep(0.02)

    def ping(self, service, seconds=ATTEMPT_SECONDS):
        named = service.split("@")[0]
        return self.ask(f"{named}.ping", service=service, seconds=seconds)

    def stats(self, service):
        named = service.split("@")[0]
        return self.ask(f"{named}.stats", service=service)

    def mmi(self, name, body=b""):
        return self.raw(name, body)


def counts(stats):
    """Requests by method, of a `stats` answer."""
    return {row["name"]: row["requestsCount"] for row in stats["endpoints"]}
