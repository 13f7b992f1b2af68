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


def call(socket, method, params, timeout_ms=5000):
    """Returns the result; raises RuntimeError with the service's own words."""
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
        raise RuntimeError(json.dumps(reply["error"], ensure_ascii=False))
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
