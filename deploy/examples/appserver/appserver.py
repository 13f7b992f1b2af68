#!/usr/bin/env python3
"""The server of an app's own team: the two paths that the app calls, each of them one call on the bus.

appserver.py --scheme CODE [--peer FILE | --ipc PATH] [--host ADDRESS] [--port N]
"""

import argparse
import collections
import json
import pathlib
import secrets
import sys
import threading

import zmq

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))

from client import Refused, call  # noqa: E402
from peer import connect  # noqa: E402
from web import Problem, Server  # noqa: E402

SESSIONS_MAX, TEXT_MAX, TOKEN_SECONDS, CALL_MILLISECONDS = 10_000, 4096, 1800, 3000
# Fields of the app → parameters of token.issue.
PLATFORMS = {"iOS": {"BundleId": "bundleId"}, "Android": {"PackageName": "packageName", "PackageSign": "packageSign"}}
# The bus or a service is away; everything else that is refused is the caller's to mend.
AWAY = {"unavailable", "overloaded", "worker_lost", "deadline_passed", "internal_fault"}


def text(body, name):
    value = body.get(name)
    if not isinstance(value, str) or not 0 < len(value) <= TEXT_MAX:
        raise Problem(400, "invalid_parameters", f"{name} is missing or no text")
    return value


class AppServer:
    """What the team's server knows: its scheme, and who is signed in with which number."""

    def __init__(self, scheme, peer=None, ipc=None):
        self.scheme, self.peer, self.ipc = scheme, peer, ipc
        self.context, self.idle_sockets = zmq.Context(), []
        self.sessions, self.lock = collections.OrderedDict(), threading.Lock()

    def bus(self, method, params):
        try:
            socket = self.idle_sockets.pop()
        except IndexError:
            socket = connect(self.context, zmq.REQ, self.peer, self.ipc)
        try:
            result = call(socket, method, params, CALL_MILLISECONDS)
        except Refused as refused:
            self.idle_sockets.append(socket)
            status = 503 if refused.reason in AWAY else 400
            raise Problem(status, refused.reason, refused.message) from None
        except RuntimeError as error:
            socket.close()  # a REQ socket without its answer can ask nothing more
            raise Problem(503, "unavailable", str(error)) from None
        self.idle_sockets.append(socket)
        return result

    def auth_token(self, body, session):
        fields = PLATFORMS.get(text(body, "Platform"))
        if fields is None:
            raise Problem(400, "invalid_parameters", f"Platform is one of {', '.join(PLATFORMS)}")
        params = {"schemeCode": self.scheme, "platform": body["Platform"].lower(), "durationSeconds": TOKEN_SECONDS}
        params |= {name: text(body, field) for field, name in fields.items()}
        if session is not None:
            # The account's number goes to the bus in the token; the app cannot name another.
            params["boundNumber"] = self.sessions.get(session)
            if params["boundNumber"] is None:
                raise Problem(401, "session_unknown", "log in again")
        issued = self.bus("token.issue", params)
        return {"Token": issued["authToken"], "ExpiresAtMilliseconds": issued["expiresAtMilliseconds"]}

    def verify(self, body, session):
        params = {"maskToken": text(body, "MaskToken"), "schemeCode": self.scheme}
        verified = self.bus("verification.verify", params)
        if verified["result"] != "PASS":
            return {"VerifyResult": verified["result"], "Reason": verified.get("reason")}
        answer = {"VerifyResult": "PASS", "PhoneNumber": verified["phoneNumber"]}
        with self.lock:
            if verified.get("templateId") == "100001":  # a login: who holds the number holds the account
                session = answer["Session"] = secrets.token_urlsafe(32)
                self.sessions[session] = verified["phoneNumber"]
            elif verified.get("templateId") in ("100002", "100004") and session in self.sessions:
                self.sessions[session] = verified["phoneNumber"]
            while len(self.sessions) > SESSIONS_MAX:
                self.sessions.popitem(last=False)
        return answer


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--scheme", required=True)
    options.add_argument("--peer")
    options.add_argument("--ipc")
    options.add_argument("--host", default="127.0.0.1")
    options.add_argument("--port", type=int, default=8080)
    given = options.parse_args()
    app = AppServer(given.scheme, given.peer, given.ipc)
    server = Server((given.host, given.port), {"/auth-token": app.auth_token, "/verify": app.verify})
    print(f"http://{given.host}:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
