"""Official dypnsapi clients, each in a virtual environment of its own, and a way to hear what they
send."""

import hashlib
import json
import pathlib
import shutil
import socket
import socketserver
import subprocess
import sys
import threading

from house import PATIENCE, ROOT

FOLDER = pathlib.Path(__file__).parent / "clients"
# Kept between runs; named by what is in them.
CACHE = ROOT / ".build/python-clients"
# Seconds; a package index may be slow.
INSTALL_SECONDS = 300

# Requirement file, driver, and what the client is told of the signature.
FLAVOURS = {
    "2.0.0": ("dypnsapi-2.0.0.txt", "tea_client.py", None),
    "2.0.0-v2": ("dypnsapi-2.0.0.txt", "tea_client.py", "v2"),
    "1.2.2": ("dypnsapi-1.2.2.txt", "tea_client.py", None),
    "1.0.0": ("dypnsapi-1.0.0.txt", "tea_client.py", None),
    "core": ("aliyun-core.txt", "core_client.py", None),
}


def environment(requirements):
    """The interpreter of an environment with these requirements."""
    text = (FOLDER / requirements).read_bytes() + sys.version.encode()
    folder = CACHE / f"{requirements[:-4]}-{hashlib.sha256(text).hexdigest()[:12]}"
    python = folder / "bin/python"
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True, timeout=INSTALL_SECONDS)
        subprocess.run(
            [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
             "-r", FOLDER / requirements],
            check=True, timeout=INSTALL_SECONDS,
        )
        (folder / "complete").touch()
    return python


class Client:
    """One generation of the client with one key."""

    def __init__(self, flavour, endpoint, key):
        requirements, self.driver, self.algorithm = FLAVOURS[flavour]
        self.flavour = flavour
        self.python = environment(requirements)
        self.endpoint = endpoint.removeprefix("http://")
        self.key = key

    def at(self, endpoint):
        return Client(self.flavour, endpoint, self.key)

    def calls(self, *calls):
        """Outcomes of calls, each `(action, parameters)` or with options as a third."""
        order = {
            "endpoint": self.endpoint,
            "id": self.key["accessKeyId"],
            "secret": self.key["accessKeySecret"],
            "securityToken": self.key.get("securityToken"),
            "algorithm": self.algorithm,
            "calls": [
                {"action": action, "parameters": parameters, **self.options(options)}
                for action, parameters, *options in calls
            ],
        }
        done = subprocess.run(
            [self.python, FOLDER / self.driver], input=json.dumps(order), text=True,
            capture_output=True, timeout=3 * PATIENCE,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def options(self, given):
        # The first generation has few actions of its own, and sends all of them as forms.
        form = {"form": True} if self.flavour == "1.0.0" else {}
        return {**form, **(given[0] if given else {})}

    def call(self, action, parameters, **options):
        """The body of an answer that was no exception."""
        [outcome] = self.calls((action, parameters, options))
        assert "body" in outcome, outcome
        return outcome["body"]

    def refused(self, action, parameters, **options):
        [outcome] = self.calls((action, parameters, options))
        assert "raised" in outcome, outcome
        return outcome


class Recorder:
    """Stands between a client and a gateway, and keeps requests and answers. With `replayed` set it sends that
    request instead of what came."""

    def __init__(self, gateway):
        self.target = address(gateway)
        self.requests, self.answers = [], []
        self.replayed = None
        recorder = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                asked = read_message(self.request)
                if asked is None:
                    return
                recorder.requests.append(asked)
                answer = exchange(recorder.target, recorder.replayed or asked)
                recorder.answers.append(answer)
                self.request.sendall(answer)

        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,))

    @property
    def endpoint(self):
        return "127.0.0.1:%d" % self.server.server_address[1]

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def address(url):
    host, port = url.removeprefix("http://").split(":")
    return host, int(port)


def exchange(target, message):
    """Sends the bytes of one request; gives the bytes of the answer."""
    with socket.create_connection(target, timeout=PATIENCE) as connection:
        connection.sendall(message)
        answer = read_message(connection)
    assert answer is not None, "the gateway closed the connection"
    return answer


def read_message(connection):
    """A head and the body that its length announces; None for a connection that ends before."""
    connection.settimeout(PATIENCE)
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            return None
        data += more
    head, body = data.split(b"\r\n\r\n", 1)
    lengths = [
        int(line.split(b":")[1])
        for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")
    ]
    while len(body) < (lengths or [0])[0]:
        more = connection.recv(65536)
        if not more:
            return None
        body += more
    return head + b"\r\n\r\n" + body


def status_and_body(answer):
    head, body = answer.split(b"\r\n\r\n", 1)
    return int(head.split(b" ")[1]), json.loads(body)
