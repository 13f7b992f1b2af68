"""The app server against a real bus: over tcp as the integrator that owns the scheme, and over ipc."""

import http.client
import importlib.util
import json
import pathlib
import random
import socket
import subprocess
import sys
import threading

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "Tests" / "EndToEndTests"))

from house import House, until  # noqa: E402

# By its path: the tests' folder has a module of that name, too.
spec = importlib.util.spec_from_file_location("appserver_web", HERE / "web.py")
web = importlib.util.module_from_spec(spec)
spec.loader.exec_module(web)

IOS = {"Platform": "iOS", "BundleId": "com.example.app"}
ANDROID = {"Platform": "Android", "PackageName": "com.example.app", "PackageSign": "0" * 32}


@pytest.fixture(scope="module")
def house():
    house = House("as")
    try:
        house.up()
        yield house
    finally:
        house.close()


class Sample:
    def __init__(self, *words):
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "appserver.py"), "--port", "0", *map(str, words)],
            stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        self.port = int(self.url.rpartition(":")[2])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=10)

    def ask(self, path, body, session=None, method="POST"):
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {session}"} if session else {}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request(method, path, data, headers)
        response = connection.getresponse()
        answer = json.loads(response.read())
        connection.close()
        return response.status, answer


@pytest.fixture(scope="module", params=["ipc", "tcp"])
def sample(request, house):
    if request.param == "ipc":
        words = ["--ipc", house.ipc, "--scheme", (house.home / "etc/default-scheme").read_text().strip()]
    else:
        file = house.home / "appserver.toml"
        house.run("peer", "add", "appserver", "--role", "integrator", "--out", file)
        scheme = house.run(
            "scheme", "create", "shop", "--peer", file, "--bundle-id", IOS["BundleId"],
            "--package-name", ANDROID["PackageName"], "--package-sign", ANDROID["PackageSign"])
        words = ["--peer", file, "--scheme", scheme["schemeCode"]]
    with Sample(*words) as sample:
        sample.scheme = words[-1]
        yield sample


def test_an_app_gets_a_token_that_the_bus_takes(house, sample):
    status, answer = sample.ask("/auth-token", IOS)
    assert status == 200 and answer["ExpiresAtMilliseconds"] > 0
    state = house.run("call", "token.introspect", json.dumps({"authToken": answer["Token"]}))
    assert state["active"] and state["schemeCode"] == sample.scheme


def log_in(house, sample, number):
    """A carrier login by hand: the mask token that an app would have got."""
    def call(method, **params):
        return house.run("call", method, json.dumps(params))

    token = sample.ask("/auth-token", IOS)[1]["Token"]
    run = call("scene.start", authToken=token, templateId="100001", deviceId=f"d{number}")
    sim = call("sandbox.sim", numbers=[number], carrier="mobile")["simId"]
    carrier = call("sandbox.carrier_token", simId=sim)["carrierToken"]
    place = {"authToken": token, "runId": run["runId"], "runKey": run["runKey"], "step": run["step"]}
    return call("scene.submit", input={"carrierToken": carrier}, **place)["maskToken"]


def test_a_login_gives_a_session_and_the_session_binds_the_number(house, sample):
    number = f"+86138{random.randrange(10**8):08}"
    mask = log_in(house, sample, number)
    status, answer = sample.ask("/verify", {"MaskToken": mask})
    assert status == 200 and answer["VerifyResult"] == "PASS" and answer["PhoneNumber"] == number
    again = sample.ask("/verify", {"MaskToken": mask})[1]
    assert again == {"VerifyResult": "UNKNOWN", "Reason": "already_used"}
    token = sample.ask("/auth-token", IOS, answer["Session"])[1]["Token"]
    run = house.run("call", "scene.start", json.dumps(
        {"authToken": token, "templateId": "100005", "deviceId": f"e{number}"}))
    assert run["node"]["maskedNumber"].endswith(number[-2:])
    status, answer = sample.ask("/auth-token", IOS, "no-such-session")
    assert status == 401 and answer["Code"] == "session_unknown"


@pytest.mark.parametrize("path, body, status", [
    ("/auth-token", {}, 400),
    ("/auth-token", {"Platform": "iOS"}, 400),
    ("/auth-token", {"Platform": "iOS", "BundleId": 7}, 400),
    ("/auth-token", {"Platform": ["iOS"]}, 400),
    ("/auth-token", {"Platform": "iOS", "BundleId": "com.other.app"}, 400),
    ("/auth-token", {"Platform": "Android", "PackageName": "x", "PackageSign": "y"}, 400),
    ("/verify", {}, 400),
    ("/verify", b"[]", 400),
    ("/verify", b"{", 400),
    ("/verify", b"\xff", 400),
    ("/verify", b"[" * 16_000, 400),
    ("/verify", {"MaskToken": ""}, 400),
    ("/verify", {"MaskToken": "x" * 20_000}, 413),
    ("/other", {}, 404),
])
def test_bad_input_is_refused_in_words(sample, path, body, status):
    seen, answer = sample.ask(path, body)
    assert seen == status and answer["Code"] and answer["Message"], answer


def test_another_method_is_refused(sample):
    assert sample.ask("/verify", None, method="GET")[0] == 405


def test_a_foreign_mask_token_is_an_answer(sample):
    assert sample.ask("/verify", {"MaskToken": "1.nothing"}) == (
        200, {"VerifyResult": "UNKNOWN", "Reason": "mask_token_invalid"})


def test_a_fault_of_the_server_is_an_answer_without_details(capfd):
    def broken(body, session):
        raise KeyError(body["secret"])

    server = web.Server(("127.0.0.1", 0), {"/broken": broken})
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        connection = http.client.HTTPConnection(*server.server_address, timeout=10)
        connection.request("POST", "/broken", b'{"secret": "13812345678"}')
        response = connection.getresponse()
        answer = response.read().decode()
        connection.close()
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert response.status == 500 and json.loads(answer)["Code"] == "internal_fault"
    told = answer + "".join(capfd.readouterr())
    assert "KeyError" in told and "KeyError" not in answer and "13812345678" not in told


def test_slow_clients_do_not_keep_others_out_for_ever(sample):
    """More connections that say nothing than there are threads: READ_SECONDS_MAX frees them."""
    idle = [socket.create_connection(("127.0.0.1", sample.port)) for _ in range(20)]
    try:
        assert sample.ask("/auth-token", IOS)[0] == 200
    finally:
        for connection in idle:
            connection.close()


def test_without_a_bus_it_says_so_and_goes_on(tmp_path):
    with Sample("--ipc", tmp_path / "none.ipc", "--scheme", "FA1") as sample:
        status, answer = sample.ask("/auth-token", IOS)
        assert status == 503 and answer["Code"] == "unavailable"
        assert sample.ask("/auth-token", {})[0] == 400


def test_the_whole_demo_passes_with_it(house):
    scheme = (house.home / "etc/default-scheme").read_text().strip()
    until(lambda: house.run("ps") and (house.home / "run/endpoints.json").exists(), "no endpoints")
    with Sample("--ipc", house.ipc, "--scheme", scheme) as sample:
        report = house.run("demo", "--http", "--mode", "normal", "--app-server", sample.url, seconds=120)
    assert report["ok"] and {case["transport"] for case in report["cases"]} == {"http"}
