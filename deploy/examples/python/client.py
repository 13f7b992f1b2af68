#!/usr/bin/env python3
"""Calls one method of the bus: MDP/0.1 frames (ZeroMQ RFC 7), JSON-RPC 2.0 body.

client.py [--peer FILE | --ipc PATH] [METHOD [PARAMS-AS-JSON]]
"""

import argparse
import json
import sys
import uuid

import zmq

from peer import connect


class Refused(RuntimeError):
    """The bus or a service said no; `reason` is for programs, `message` for people."""

    def __init__(self, error):
        super().__init__(json.dumps(error, ensure_ascii=False))
        self.reason, self.message = error.get("data", {}).get("reason", "unavailable"), error["message"]


def call(socket, method, params, timeout_ms=5000):
    """Returns the result; raises Refused with the service's own words, RuntimeError without an answer."""
    service = method.rpartition(".")[0] or method
    request = {"jsonrpc": "2.0", "id": uuid.uuid4().hex, "method": method, "params": params,
               "meta": {"timeoutMilliseconds": timeout_ms}}
    # A REQ socket puts the empty frame in front by itself.
    socket.send_multipart([b"MDPC01", service.encode(), json.dumps(request).encode()])
    if not socket.poll(timeout_ms + 1000):
        raise RuntimeError("no answer in time")
    _protocol, _service, body = socket.recv_multipart()
    reply = json.loads(body)
    if "error" in reply:
        raise Refused(reply["error"])
    return reply["result"]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--peer")
    options.add_argument("--ipc")
    options.add_argument("method", nargs="?", default="echo.echo")
    options.add_argument("params", nargs="?", default='{"text": "hello"}')
    given = options.parse_args()
    socket = connect(zmq.Context.instance(), zmq.REQ, given.peer, given.ipc)
    try:
        print(json.dumps(call(socket, given.method, json.loads(given.params)), ensure_ascii=False))
    except RuntimeError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
