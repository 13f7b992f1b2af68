"""`fusionctl up` and `demo`: the one command that an operator types first."""

import json
import os
import signal
import socket

import pytest

from house import BINARIES, PATIENCE, Child, House, is_alive, until

# (template, case) → how the run ends.
CASES = {
    ("100001", "one_click"): "passed",
    ("100001", "sms_code"): "passed",
    ("100001", "up_going"): "passed",
    ("100001", "carrier_to_sms_to_up_going"): "passed",
    ("100001", "wrong_code"): "failed",
    ("100001", "continue_refused"): "stopped",
    ("100002", "halfway"): "passed",
    ("100002", "wrong_code"): "failed",
    ("100003", "sms_code"): "passed",
    ("100003", "wrong_code"): "failed",
    ("100004", "sms_code"): "passed",
    ("100004", "wrong_code"): "failed",
    ("100005", "sms_code"): "passed",
    ("100005", "wrong_code"): "failed",
}


def pids(house):
    found = {}
    for path in (house.home / "run").glob("*.pid"):
        try:
            pid = int(path.read_text().split()[0])
        except (FileNotFoundError, IndexError):
            continue  # a drain takes its file away
        if is_alive(pid):
            found[path.stem] = pid
    return found


def check_shape(report):
    """Exactly the fields of the documented output."""
    assert list(report) == ["formatVersion", "ok", "seconds", "endpoints", "cases"]
    assert report["formatVersion"] == 1
    assert isinstance(report["seconds"], (int, float)) and report["seconds"] > 0
    assert list(report["endpoints"]) == ["ipc", "tcp", "http"]
    assert report["endpoints"]["tcp"].startswith("tcp://127.0.0.1:")
    for case in report["cases"]:
        assert list(case) == [
            "templateId", "case", "expected", "outcome", "runId", "nodes", "verifications",
            "resultCodes", "error",
        ]
        assert case["error"] is None and case["expected"] == case["outcome"], case
        assert case["runId"].startswith("run_")
        assert case["nodes"]
        for node in case["nodes"]:
            assert list(node) == ["nodeId", "kind", "outcome", "resultCodes"]
            assert 2000001 <= node["kind"] <= 2000009
        for verification in case["verifications"]:
            assert list(verification) == [
                "nodeId", "result", "reason", "phoneNumber", "phoneScore",
            ]
            passed = verification["result"] == "PASS"
            assert passed == (verification["reason"] is None)
            assert passed == (verification["phoneNumber"] is not None)
        codes = [code for node in case["nodes"] for code in node["resultCodes"]]
        assert all(isinstance(code, int) for code in codes + case["resultCodes"])
        end = {"passed": 110005, "failed": 200001, "stopped": 100004}[case["outcome"]]
        assert case["resultCodes"][-1] == end and case["resultCodes"].count(end) == 1, case


def check_cases(report):
    outcomes = {(case["templateId"], case["case"]): case["outcome"] for case in report["cases"]}
    assert CASES.items() <= outcomes.items()
    for template in ("100001", "100002", "100003", "100004", "100005"):
        ends = {outcome for (own, _), outcome in outcomes.items() if own == template}
        assert "passed" in ends and "failed" in ends, template


def test_up_once_prints_the_report_alone_and_leaves_nothing_behind(empty):
    up = Child(empty.words("up", "--once", "--json", "--port-base", "0"))
    empty.children.append(up)
    seen = {}

    def ended():
        seen.update(pids(empty))
        return not up.is_running()

    until(ended, "up --once", 4 * PATIENCE)
    assert up.wait() == 0, "\n".join(up.err)
    assert len(up.out) == 1
    report = json.loads(up.out[0])
    assert report["ok"] is True
    check_shape(report)
    check_cases(report)
    assert report["endpoints"]["ipc"] == empty.ipc
    assert len(seen) >= 6
    assert not [pid for pid in seen.values() if is_alive(pid)]


def test_a_second_demo_in_the_same_home_meets_no_limit(shared):
    reports = [shared.run("demo", seconds=4 * PATIENCE) for _ in range(2)]
    for report in reports:
        assert report["ok"] is True
        check_shape(report)
        check_cases(report)
    runs = [{case["runId"] for case in report["cases"]} for report in reports]
    assert not runs[0] & runs[1]


def test_a_demo_of_a_part_is_a_report_too(shared):
    report = shared.run("demo", "--template", "100004", seconds=2 * PATIENCE)
    check_shape(report)
    assert {case["templateId"] for case in report["cases"]} == {"100004"}
    wrong = shared.tool("demo", "--case", "no_such_case")
    assert wrong.returncode == 2 and "--case takes" in wrong.stderr


def test_the_port_is_taken(empty):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        done = empty.tool("up", "--port-base", str(port), "--once", seconds=2 * PATIENCE)
    assert done.returncode == 1
    assert f"127.0.0.1:{port} is taken" in done.stderr
    assert "--port-base" in done.stderr
    assert not pids(empty)


def test_a_path_that_is_too_long_is_refused_by_name(empty):
    long = empty.home / ("d" * 120)
    done = empty.tool("init", seconds=PATIENCE)
    assert done.returncode == 0
    words = [BINARIES / "fusionctl", "up", "--once", "--home", long]
    up = Child(words)
    assert up.wait() != 0
    text = "\n".join(up.err)
    assert "107" in text and "broker.ipc" in text
    daemon = Child([BINARIES / "fusion-broker", "--home", long])
    assert daemon.wait() == 70


@pytest.mark.parametrize(
    "text, word",
    [
        ("[broker]\ntcpPort = 700000\n", "tcpPort"),
        ("[broker]\ntcpHost = \"0.0.0.0\"\n", "tcpHost"),
        ("[broker]\ntcpPrt = 0\n", "tcpPrt"),
        ("[broker]\ntcpPort = \"zero\"\n", "tcpPort"),
        ("[broker\n", "fusion.toml"),
    ],
)
def test_a_broken_configuration_is_named(empty, text, word):
    empty.initialise()
    (empty.home / "etc/fusion.toml").write_text(text)
    check = Child([BINARIES / "fusion-broker", "--home", empty.home, "--check-config"])
    assert check.wait() == 78
    assert word in "\n".join(check.err + check.out)
    done = empty.tool("up", "--once", seconds=2 * PATIENCE)
    assert done.returncode != 0
    assert word in done.stderr
    assert not pids(empty)


def test_production_keeps_the_sandbox_out(empty):
    empty.initialise()
    config = empty.home / "etc/fusion.toml"
    config.write_text(config.read_text().replace("production = false", "production = true"))
    sandbox = Child([BINARIES / "fusion-sandbox", "--home", empty.home])
    assert sandbox.wait() not in (0, -9)
    assert "production" in "\n".join(sandbox.err)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_drains_everything(empty, number):
    up = empty.up()
    running = pids(empty)
    assert len(running) >= 6
    up.signal(number)
    assert up.wait(2 * PATIENCE) == 0, "\n".join(up.err)
    assert not [pid for pid in running.values() if is_alive(pid)]
    assert not pids(empty)
    assert sum("drained" in line for line in up.err) == len(running)


def test_no_daemon_outlives_a_killed_supervisor(empty):
    up = empty.up()
    running = pids(empty)
    assert len(running) >= 6
    up.kill()
    until(lambda: not [pid for pid in running.values() if is_alive(pid)], "all daemons to end")
    # The home is free again.
    empty.up_process = None
    empty.up()


def test_ps_tells_what_runs(shared):
    instances = shared.run("ps")["instances"]
    assert {row["daemon"] for row in instances} >= {
        "fusion-broker", "fusion-token", "fusion-verification", "fusion-smscode", "fusion-scene",
        "fusion-sandbox", "fusion-gateway",
    }
    for row in instances:
        assert row["alive"] and row["answered"] and row["state"] == "ready", row
        assert os.path.exists(f"/proc/{row['pid']}")
        assert row["memoryBytes"] > 0


def test_ps_and_calls_of_an_empty_home_say_what_to_do(empty):
    assert empty.tool("ps").returncode == 0
    empty.initialise()
    done = empty.tool("call", "token.keys")
    assert done.returncode == 1 and "fusionctl up" in done.stderr


def test_a_second_broker_of_one_home_is_refused():
    house = House("fd")
    try:
        house.initialise()
        house.start("broker")
        second = Child([BINARIES / "fusion-broker", "--home", house.home, "--instance", "2"])
        assert second.wait() == 70
        assert house.pid("broker")
    finally:
        house.close()
