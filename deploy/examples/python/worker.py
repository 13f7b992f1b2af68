#!/usr/bin/env python3
"""Serves `pyecho` as a plain MDP/0.1 worker (ZeroMQ RFC 7): whatever comes in `params` goes back.

worker.py [--peer FILE | --ipc PATH] [SERVICE]
"""

import argparse
import json
import time

import zmq

from peer import connect

WORKER, READY, REQUEST, REPLY, HEARTBEAT, DISCONNECT = b"MDPW01", b"\1", b"\2", b"\3", b"\4", b"\5"
BEAT_SECONDS, SILENCE_SECONDS = 2.0, 10.0


def answer(body):
    """One JSON-RPC request to its reply."""
    try:
        request = json.loads(body)
        reply = {"jsonrpc": "2.0", "id": request.get("id"), "result": request.get("params")}
    except (ValueError, AttributeError):
        error = {"code": -32700, "message": "not a JSON object"}
        reply = {"jsonrpc": "2.0", "id": None, "error": error}
    return json.dumps(reply).encode()


def serve(context, service, peer=None, ipc=None):
    """Serves until the broker says goodbye or falls silent."""
    socket = connect(context, zmq.DEALER, peer, ipc)
    socket.send_multipart([b"", WORKER, READY, service.encode()])
    beat_at, heard_at = time.monotonic() + BEAT_SECONDS, time.monotonic()
    while time.monotonic() - heard_at < SILENCE_SECONDS:
        if socket.poll(max(0, beat_at - time.monotonic()) * 1000):
            _empty, _protocol, command, *rest = socket.recv_multipart()
            heard_at = time.monotonic()
            if command == REQUEST:
                address, _blank, body = rest
                socket.send_multipart([b"", WORKER, REPLY, address, b"", answer(body)])
            elif command == DISCONNECT:
                break
        if time.monotonic() >= beat_at:
            socket.send_multipart([b"", WORKER, HEARTBEAT])
            beat_at = time.monotonic() + BEAT_SECONDS
    socket.close()


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--peer")
    options.add_argument("--ipc")
    options.add_argument("service", nargs="?", default="pyecho")
    given = options.parse_args()
    while True:  # the broker may come and go
        serve(zmq.Context.instance(), given.service, given.peer, given.ipc)
        time.sleep(1)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
