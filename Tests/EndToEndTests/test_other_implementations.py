"""A Majordomo implementation written by others, unmodified: majortomo (MDP/0.2) as client and as worker."""

import json
import threading
import uuid

import majortomo

from bus import CONTEXT, Bus, request
from house import PATIENCE, until


def serve(worker, answers, ended):
    """Answers requests until `answers` have gone out: two partials and a final each."""
    try:
        for _ in range(answers):
            client, frames = worker.wait_for_request()
            body = b"".join(frames)
            worker.send_reply_partial(client, [b"1:" + body])
            worker.send_reply_partial(client, [b"2:" + body])
            worker.send_reply_final(client, [b"3:" + body])
    finally:
        ended.set()


def test_its_client_calls_a_service_of_ours(shared):
    client = majortomo.Client(shared.ipc, zmq_context=CONTEXT)
    client.connect()
    try:
        for number in range(200):
            client.send("token", request("token.keys", id=number))
            reply = json.loads(b"".join(client.recv_all_as_list(timeout=PATIENCE)))
            assert reply["id"] == number
            assert reply["result"]["keys"][0]["crv"] == "Ed25519"
    finally:
        client.close()


def test_its_worker_serves_its_client_with_partials_through_our_broker(shared):
    name, count = f"mt-{uuid.uuid4().hex[:12]}", 50
    worker = majortomo.Worker(shared.ipc, name.encode(), zmq_context=CONTEXT)
    worker.connect()
    ended = threading.Event()
    thread = threading.Thread(target=serve, args=(worker, count, ended), daemon=True)
    thread.start()
    with Bus(shared.ipc) as bus:
        until(lambda: bus.mmi("mmi.service", name.encode()) == b"200", name)
    client = majortomo.Client(shared.ipc, zmq_context=CONTEXT)
    client.connect()
    try:
        for number in range(count):
            body = f"request {number}".encode()
            client.send(name, body)
            replies = list(client.recv_all_as_list(timeout=PATIENCE))
            assert replies == [b"1:" + body, b"2:" + body, b"3:" + body]
        assert ended.wait(PATIENCE)
    finally:
        client.close()
        worker.close()
    with Bus(shared.ipc) as bus:
        until(lambda: bus.mmi("mmi.service", name.encode()) == b"404", "the worker took its leave")
