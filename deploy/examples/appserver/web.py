"""As much of an HTTP server as the sample needs: POST with JSON objects, on a bounded number of threads."""

import http.server
import json
import sys
import threading

THREADS_MAX, BODY_BYTES_MAX, READ_SECONDS_MAX = 16, 16_384, 10


class Problem(Exception):
    """An answer that is no success."""

    def __init__(self, status, code, message):
        super().__init__(code)
        self.status, self.answer = status, {"Code": code, "Message": message}


class Handler(http.server.BaseHTTPRequestHandler):
    timeout = READ_SECONDS_MAX

    def do_POST(self):
        try:
            action = self.server.actions.get(self.path)
            if action is None:
                raise Problem(404, "path_not_found", f"there are {', '.join(self.server.actions)}")
            scheme, _, session = self.headers.get("Authorization", "").partition(" ")
            self.answer(200, action(self.body(), session.strip() if scheme.lower() == "bearer" else None))
        except Problem as problem:
            self.answer(problem.status, problem.answer)
        except (ConnectionError, TimeoutError):
            raise  # the client has gone, or is too slow: nobody hears an answer
        except Exception as error:
            # The kind alone: its text may hold what was sent.
            print(f"appserver: {type(error).__name__}", file=sys.stderr, flush=True)
            self.answer(500, {"Code": "internal_fault", "Message": "a fault of ours"})

    def do_GET(self):
        self.answer(405, {"Code": "method_not_allowed", "Message": "only POST is served"})

    def body(self):
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            raise Problem(411, "invalid_parameters", "Content-Length is missing")
        if len(length) > 9 or int(length) > BODY_BYTES_MAX:
            raise Problem(413, "body_too_large", f"a body has at most {BODY_BYTES_MAX} bytes")
        try:
            body = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict):
            raise Problem(400, "invalid_parameters", "the body is a JSON object")
        return body

    def answer(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        """Nothing: what strangers send belongs in no log."""


class Server(http.server.ThreadingHTTPServer):
    """At most THREADS_MAX requests at once; more wait in the system's queue, which is short."""

    request_queue_size = 64

    def __init__(self, address, actions):
        """`actions`: path → function of the body and of the session (None without one) to the answer."""
        self.actions, self.room = actions, threading.BoundedSemaphore(THREADS_MAX)
        super().__init__(address, Handler)

    def process_request(self, request, client_address):
        self.room.acquire()
        super().process_request(request, client_address)

    def process_request_thread(self, request, client_address):
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.room.release()

    def handle_error(self, request, client_address):
        print(f"appserver: {type(sys.exc_info()[1]).__name__}", file=sys.stderr, flush=True)
