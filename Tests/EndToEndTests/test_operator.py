"""What an operator meets on a bad day: a typing mistake, a crash, a restart, a setting that is refused."""

import os
import re
import signal
import socket
import tomllib
import urllib.request

import pytest

from house import BINARIES, PATIENCE, ROOT, Child, until

TEMPLATE = ROOT / "deploy/config/fusion.toml"
# Shown as examples of their form: their defaults are empty.
EXAMPLES = {"bus.brokers", "gateway.camaraIssuers"}


def config(house):
    return house.home / "etc/fusion.toml"


def states(house):
    return {row["daemon"]: row["state"] for row in house.run("ps")["instances"]}


def test_a_typing_mistake_and_a_crash_stop_one_daemon_alone(empty):
    up = empty.up()
    others = {name: empty.pid(name) for name in ("broker", "token", "smscode", "gateway")}
    good = config(empty).read_text()
    config(empty).write_text(good.replace("[scene]", "[scene]\nidleSecnds = 5"))
    empty.kill("scene")
    until(lambda: any("NOT RUNNING" in line for line in up.err), "the mistake to be told")
    told = [line for line in up.err if "fusion-scene" in line]
    assert any("idleSecnds" in line and "is idleSeconds meant?" in line for line in told)
    assert "again in 30 s" in told[-1]
    assert states(empty)["fusion-scene"] == "waiting"
    assert up.is_running() and not any("drained" in line for line in up.err)
    assert {name: empty.pid(name) for name in others} == others
    # Mended, it comes back by itself.
    config(empty).write_text(good)
    until(lambda: empty.pid("scene"), "scene to come back", PATIENCE + 30)
    assert states(empty)["fusion-scene"] == "ready"
    assert {name: empty.pid(name) for name in others} == others
    assert not list((empty.home / "run").glob("*.waiting"))


def test_a_start_that_fails_speaks_of_no_second_try(empty):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        done = empty.tool("up", "--port-base", str(port), seconds=2 * PATIENCE)
    assert done.returncode == 1
    assert "fusion-broker could not be started" in done.stderr
    assert "starts again" not in done.stderr and "fusion-token" not in done.stderr


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_addresses_stay_good_over_a_restart(empty, number):
    up = empty.up()
    before = empty.endpoints()
    for daemon in ("broker", "gateway"):
        old = empty.pid(daemon)
        os.kill(old, number)
        until(lambda: empty.pid(daemon) not in (None, old), f"{daemon} again")
    until(lambda: "http" in empty.endpoints() and "tcp" in empty.endpoints(), "both addresses")
    after = empty.endpoints()
    assert (after["tcp"], after["http"]) == (before["tcp"], before["http"])
    with urllib.request.urlopen(f"{before['http']}/healthz", timeout=PATIENCE) as answer:
        assert answer.status == 200
    assert up.is_running()


def test_a_port_that_others_took_meanwhile_is_left_to_them(empty):
    empty.initialise()
    first = empty.start("broker")
    port = int(empty.endpoints()["tcp"].rsplit(":", 1)[1])
    first.end()
    with socket.socket() as other:
        other.bind(("127.0.0.1", port))
        other.listen()
        empty.start("broker")
        assert int(empty.endpoints()["tcp"].rsplit(":", 1)[1]) not in (0, port)


def test_a_full_log_shows_in_the_stats_and_stops_nobody(empty):
    empty.initialise()
    (empty.home / "log/fusion-echo-1.jsonl").symlink_to("/dev/full")
    empty.start("broker")
    empty.start("echo")
    metrics = {item["name"]: item["value"] for item in empty.run("stats", "echo")["metrics"]}
    assert metrics["log_lines_lost"] >= 2


def uncommented(text):
    """The template with every `# name = value` in force, examples left out."""
    lines, section = [], ""
    for line in text.splitlines():
        if found := re.match(r"\[(\w+)\]$", line):
            section = found[1]
        found = re.match(r"# (\w+) = ", line)
        if found and f"{section}.{found[1]}" not in EXAMPLES:
            line = line[2:]
        lines.append(line)
    return tomllib.loads("\n".join(lines))


def test_every_value_that_the_template_shows_in_a_comment_is_the_default(empty):
    text = TEMPLATE.read_text()
    plain, shown = tomllib.loads(text), uncommented(text)
    (empty.home / "none.toml").write_text("")
    sections = [name for name in shown if isinstance(shown[name], dict)]
    count = 0
    for section in sections:
        daemon = "token" if section in ("daemon", "bus", "store") else section
        asked = Child(
            [
                BINARIES / f"fusion-{daemon}", "--home", empty.home, "--config",
                empty.home / "none.toml", "--print-config",
            ]
        )
        assert asked.wait() == 0, asked.err
        defaults = tomllib.loads("\n".join(asked.out))[section]
        for name, value in shown[section].items():
            if name not in plain[section]:
                assert defaults[name] == value, f"{section}.{name}"
                count += 1
    assert count > 20 and set(sections) >= {"daemon", "bus", "store", "broker", "gateway"}


def test_init_writes_the_template(empty):
    empty.run("init")
    assert config(empty).read_text() == TEMPLATE.read_text()


def test_check_config_says_what_production_lacks(empty):
    empty.initialise()
    text = config(empty).read_text()
    config(empty).write_text(text.replace("production = false", "production = true"))
    for daemon, words in (
        ("smscode", ["smscode.providers", "production", "SMSProvider"]),
        ("sandbox", ["production"]),
    ):
        check = Child([BINARIES / f"fusion-{daemon}", "--home", empty.home, "--check-config"])
        assert check.wait() == 78
        told = "\n".join(check.err)
        assert all(word in told for word in words), told
    token = Child([BINARIES / "fusion-token", "--home", empty.home, "--check-config"])
    assert token.wait() == 0


def test_a_provider_that_is_not_built_in_is_refused_before_the_start(empty):
    empty.initialise()
    check = Child(
        [
            BINARIES / "fusion-smscode", "--home", empty.home, "--check-config",
            "--set", 'smscode.providers=["acme"]',
        ]
    )
    assert check.wait() == 78
    assert "acme" in "\n".join(check.err) and "adapter" in "\n".join(check.err)
