"""Real daemons in a temporary home. Every process that is started here is ended here, by its id."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARIES = pathlib.Path(os.environ.get("FUSION_BIN", ROOT / ".build/release"))

# Seconds. Debug builds on a busy machine are slow; nothing waits longer than it must.
PATIENCE = float(os.environ.get("FUSION_TEST_PATIENCE", "30"))

DAEMONS = ["broker", "sandbox", "token", "verification", "smscode", "scene", "gateway", "echo"]
SERVICES_OF = {
    "sandbox": ["sandbox"],
    "token": ["token", "scheme", "key", "key.internal"],
    "verification": ["verification", "verification.internal"],
    "smscode": ["smscode", "upgoing", "smscode.internal"],
    "scene": ["scene"],
    "echo": ["echo"],
}


class Late(AssertionError):
    """Something did not happen in time."""


def until(condition, what, seconds=PATIENCE, interval=0.02):
    """Polls `condition` until it gives something true, and returns that."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise Late(f"not within {seconds} s: {what() if callable(what) else what}")
        time.sleep(interval)


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def resident_bytes(pid):
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Child:
    """A process, its output collected line by line."""

    def __init__(self, words, **options):
        self.process = subprocess.Popen(
            [str(word) for word in words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )
        self.out, self.err = [], []
        self._threads = [
            threading.Thread(target=self._collect, args=(pipe, lines), daemon=True)
            for pipe, lines in ((self.process.stdout, self.out), (self.process.stderr, self.err))
        ]
        for thread in self._threads:
            thread.start()

    @staticmethod
    def _collect(pipe, lines):
        for line in pipe:
            lines.append(line.rstrip("\n"))
        pipe.close()

    @property
    def pid(self):
        return self.process.pid

    def is_running(self):
        return self.process.poll() is None

    def wait(self, seconds=PATIENCE):
        status = self.process.wait(seconds)
        for thread in self._threads:
            thread.join(5)
        return status

    def signal(self, number):
        if self.is_running():
            self.process.send_signal(number)

    def kill(self):
        self.signal(signal.SIGKILL)
        self.wait()

    def end(self):
        """SIGTERM, and SIGKILL for one that does not mind it."""
        self.signal(signal.SIGTERM)
        try:
            return self.wait()
        except subprocess.TimeoutExpired:
            self.kill()
            raise Late(f"{self.process.args[0]} did not drain")


class House:
    """A home, and what runs in it."""

    def __init__(self, name="fb"):
        # A socket's path is short; /tmp is, pytest's own folders are not.
        self.home = pathlib.Path(tempfile.mkdtemp(prefix=f"{name}-", dir="/tmp"))
        self.children = []
        self.up_process = None

    # The tool

    def words(self, *words):
        return [BINARIES / "fusionctl", *words, "--home", self.home]

    def tool(self, *words, seconds=PATIENCE):
        return subprocess.run(
            [str(word) for word in self.words(*words)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
        )

    def run(self, *words, seconds=PATIENCE):
        """Runs a command that must succeed; gives its JSON."""
        done = self.tool(*words, "--json", seconds=seconds)
        assert done.returncode == 0, f"{words}: {done.stdout} {done.stderr}"
        return json.loads(done.stdout)

    def call(self, method, params=None, **options):
        flags = [
            part
            for name, value in options.items()
            for part in (f"--{name.replace('_', '-')}", str(value))
        ]
        return self.run("call", method, json.dumps(params or {}), *flags)

    # Its daemons

    def initialise(self):
        self.run("init", "--port-base", "0")

    def up(self, *words):
        """All daemons under a supervisor; returns when it says ready."""
        self.up_process = Child(self.words("up", "--port-base", "0", *words))
        self.children.append(self.up_process)

        def ready():
            assert self.up_process.is_running(), "\n".join(self.up_process.err)
            return any(line.startswith("up: ready") for line in self.up_process.err)

        until(ready, "up: ready", 2 * PATIENCE)
        return self.up_process

    def start(self, daemon, instance="1", *words):
        """One daemon by hand; returns when it says ready."""
        child = Child(
            [
                BINARIES / f"fusion-{daemon}", "--home", self.home, "--instance", instance,
                "--die-with-parent", *words,
            ]
        )
        self.children.append(child)

        def ready():
            assert child.is_running(), f"fusion-{daemon} ended: {child.err}"
            return self.pid_file(daemon, instance) == (child.pid, "ready")

        until(ready, f"fusion-{daemon} {instance} ready")
        return child

    def pid_file(self, daemon, instance="1"):
        try:
            lines = (self.home / f"run/fusion-{daemon}-{instance}.pid").read_text().split()
            return int(lines[0]), lines[1]
        except (OSError, IndexError, ValueError):
            return None

    def pid(self, daemon, instance="1"):
        """Of an instance that is ready."""
        found = self.pid_file(daemon, instance)
        return found[0] if found and found[1] == "ready" and is_alive(found[0]) else None

    def kill(self, daemon, instance="1"):
        """kill -9; returns the pid that is gone."""
        pid = until(lambda: self.pid(daemon, instance), f"{daemon} to kill")
        os.kill(pid, signal.SIGKILL)
        return pid

    def endpoints(self):
        return json.loads((self.home / "run/endpoints.json").read_text())

    @property
    def ipc(self):
        return f"ipc://{self.home}/run/broker.ipc"

    @property
    def scheme(self):
        return (self.home / "etc/default-scheme").read_text().strip()

    def close(self):
        for child in reversed(self.children):
            if child.is_running():
                child.signal(signal.SIGTERM)
        for child in reversed(self.children):
            if child.is_running():
                try:
                    child.wait(20)
                except subprocess.TimeoutExpired:
                    child.kill()
        shutil.rmtree(self.home, ignore_errors=True)
