"""A Majordomo worker written by others, unmodified: majortomo's, which puts an empty frame in front of MDP/0.2.

Its client is left out: it numbers the commands otherwise than RFC 18 does (a request is 0x02 there).
"""

import threading
import uuid

import majortomo
import zmq

from bus import CONTEXT, Bus
from house import PATIENCE, until


def serve(house, name, answers, problems):
    """Answers requests until `answers` have gone out: two partials and a final each."""
    worker = majortomo.Worker(house.ipc, name.encode(), zmq_context=CONTEXT)
    try:
        worker.connect()
        for _ in range(answers):
            client, frames = worker.wait_for_request()
            body = b"".join(frames)
            worker.send_reply_partial(client, [b"1:" + body])
            worker.send_reply_partial(client, [b"2:" + body])
            worker.send_reply_final(client, [b"3:" + body])
    except Exception as problem:  # told by the test, on its own thread
        problems.append(problem)
    finally:
        worker.close()


def test_its_worker_serves_partials_through_our_broker_and_takes_its_leave(shared):
    name, count, problems = f"mt-{uuid.uuid4().hex[:12]}", 50, []
    thread = threading.Thread(target=serve, args=(shared, name, count, problems), daemon=True)
    thread.start()
    with Bus(shared.ipc) as bus:
        until(lambda: bus.mmi("mmi.service", name.encode()) == b"200", lambda: problems or name)
    client = CONTEXT.socket(zmq.DEALER)
    client.linger = 0
    client.connect(shared.ipc)
    try:
        for number in range(count):
            body = f"request {number}".encode()
            client.send_multipart([b"MDPC02", b"\x01", name.encode(), body])
            for part, command in enumerate((b"\x02", b"\x02", b"\x03"), start=1):
                assert client.poll(PATIENCE * 1000), problems or "nothing came"
                assert client.recv_multipart() == [
                    b"MDPC02", command, name.encode(), f"{part}:".encode() + body,
                ]
    finally:
        client.close()
    thread.join(PATIENCE)
    assert not problems
    with Bus(shared.ipc) as bus:
        until(lambda: bus.mmi("mmi.service", name.encode()) == b"404", "it took its leave")
