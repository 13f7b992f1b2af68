"""The examples against a real bus: both over tcp with peer files, and over ipc."""

import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "Tests" / "EndToEndTests"))

from house import House, until  # noqa: E402


@pytest.fixture(scope="module")
def house():
    house = House("ex")
    try:
        house.up("--daemons", "broker,echo")
        yield house
    finally:
        house.close()


def script(name, *words):
    return [sys.executable, str(HERE / name), *words]


def called(*words):
    done = subprocess.run(script("client.py", *words), capture_output=True, text=True, timeout=60)
    return done.stdout.strip() or done.stderr.strip()


@pytest.mark.parametrize("road", ["ipc", "tcp"])
def test_a_worker_in_python_answers_a_client_in_python(house, road):
    name = f"pyecho.{road}"
    served, asked = ["--ipc", house.ipc], ["--ipc", house.ipc]
    if road == "tcp":
        files = [str(house.home / file) for file in ("worker.toml", "client.toml")]
        house.run("peer", "add", "w", "--role", "service", "--serve", "pyecho.*", "--out", files[0])
        house.run("peer", "add", "c", "--role", "integrator", "--call", "pyecho.*", "--out", files[1])
        served, asked = ["--peer", files[0]], ["--peer", files[1]]
    worker = subprocess.Popen(script("worker.py", *served, name))
    try:
        said = until(
            lambda: '"hi"' in (answer := called(*asked, f"{name}.say", '{"text": "hi"}')) and answer,
            lambda: called(*asked, f"{name}.say", "{}"),
        )
        assert said == '{"text": "hi"}'
    finally:
        worker.terminate()
        worker.wait(timeout=10)


def test_the_client_calls_one_of_ours_and_shows_its_errors(house):
    assert called("--ipc", house.ipc, "echo.echo", '{"text": "hi"}') == '{"text": "hi"}'
    assert "invalid_parameters" in called("--ipc", house.ipc, "echo.echo", "{}")
