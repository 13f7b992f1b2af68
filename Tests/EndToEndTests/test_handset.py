"""The sample app over the client SDK, with real daemons and an app server: what it shows, and how each scene ends."""

import json
import re
import shlex
import subprocess
import sys

import pytest

from dypnsapi import Recorder
from house import BINARIES, ROOT, PATIENCE, Child, until
from play import fresh_number

HANDSET = BINARIES / "handset"
END, STOPPED, NO_WAY, BACK_FROM_CODE = 110005, 100004, 200001, 510001


@pytest.fixture(scope="module")
def app_server(own):
    child = Child([
        sys.executable, ROOT / "deploy/examples/appserver/appserver.py", "--port", "0",
        "--scheme", own.scheme, "--ipc", own.ipc,
    ])
    try:
        yield until(lambda: child.out and child.out[0], "the address of the app server")
    finally:
        child.end()


class Screen:
    """What the handset printed, as (what, text)."""

    def __init__(self, done):
        self.status = done.returncode
        self.lines = [next(iter(json.loads(line).items())) for line in done.stdout.splitlines()]

    def texts(self, what):
        return [text for kind, text in self.lines if kind == what]

    @property
    def messages(self):
        return self.texts("message")

    @property
    def ends(self):
        return [(text.split()[0], int(text.split()[1])) for text in self.texts("finished")]


@pytest.fixture
def handset(own, app_server):
    def run(*words, server=app_server, gateway=None):
        access = ["--app-server", server] if server else []
        done = subprocess.run(
            [
                HANDSET, "--json", "--gateway", gateway or own.endpoints()["http"], *access,
                "--scheme", own.scheme, *words,
            ],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=4 * PATIENCE,
        )
        assert done.stderr == ""
        return Screen(done)

    return run


@pytest.fixture
def number():
    return fresh_number()


def temporary_token(own):
    return own.run("token", "temporary")["authToken"]


def by_hand(own):
    """What a person types at a shell: for the tokens, and for each mask token."""
    tool = shlex.quote(str(BINARIES / "fusionctl"))
    return [
        "--token", temporary_token(own), "--token-command",
        f'{tool} token temporary --bound-number "$NUMBER" --home {own.home}',
        "--verify-command", f'{tool} verify "$MASK_TOKEN" --home {own.home}',
    ]


# All five, by the two commands of the sample's README

SENT = "too many codes were asked for, wait a little"
ALL = ["login successful", "old number verified", "phone number updated",
       "verified, you can change your password", "new number bound", "verified"]


def new_numbers():
    return ["--new-number", f"{fresh_number()},{fresh_number()}"]


def assert_all_ended_well(screen):
    assert [it for it in screen.messages if it != SENT] == ALL
    assert screen.ends == [(f"10000{it}", END) for it in range(1, 6)]
    assert screen.texts("page") == ["password"]
    assert screen.texts("played") == ["5 of 5 scenes ended as designed"]
    # Who asked for codes too soon went another way, and the output says so each time.
    assert screen.messages.count(SENT) == len(screen.texts("person"))
    assert screen.status == 0


def test_all_templates_in_normal_access(handset, number):
    screen = handset("--template", "all", "--number", number, *new_numbers())
    assert_all_ended_well(screen)


def test_all_templates_in_quick_access(own, handset, number):
    screen = handset(
        "--template", "all", "--number", number, *new_numbers(), *by_hand(own), server=None)
    assert_all_ended_well(screen)


def test_all_templates_without_a_check_of_the_mask_tokens(own, handset, number):
    """Each scene shows its mask token and ends there, as it must."""
    screen = handset(
        "--template", "all", "--number", number, "--stored-number", number, *new_numbers(),
        *by_hand(own)[:-2], server=None)
    assert screen.ends == [(f"10000{it}", STOPPED) for it in range(1, 6)]
    shown = [it for it in screen.messages if it != SENT]
    assert len(shown) == 5
    assert all(it.startswith("check this mask token by hand: ") for it in shown)
    assert screen.status == 0


def test_the_commands_of_the_readme(own, app_server, tmp_path):
    """As they stand there, but for the places and the numbers of this test."""
    words = (ROOT / "deploy/examples/handset/README.md").read_text()
    assert "swift build -c release --product handset" in words
    lines = "\n".join(line[4:] for line in words.splitlines() if line.startswith("    "))
    assert lines.count("play --number") == 2
    (tmp_path / ".build").mkdir()
    (tmp_path / ".build/release").symlink_to(BINARIES)
    (tmp_path / ".fusion").symlink_to(own.home)
    lines = lines.replace("http://127.0.0.1:5572", own.endpoints()["http"])
    lines = lines.replace("http://127.0.0.1:8080", app_server)
    for old in set(re.findall(r"\+\d{13}", lines)):
        lines = lines.replace(old, fresh_number())
    done = subprocess.run(
        ["sh", "-e", "-c", lines], cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=4 * PATIENCE)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout.count("played: 5 of 5 scenes ended as designed") == 2


@pytest.mark.parametrize("command, message, end, status", [
    ("echo REJECT", "the code is wrong or has expired", BACK_FROM_CODE, 1),
    ("echo PASS", "failed to get the phone number", BACK_FROM_CODE, 1),
    ("echo nothing of use", None, BACK_FROM_CODE, 1),
    ("exit 3", "the verify command ended with 3", STOPPED, 1),
])
def test_a_hand_that_does_not_say_pass(own, handset, number, command, message, end, status):
    screen = handset(
        "--template", "100004", "--number", number, "--token", temporary_token(own),
        "--verify-command", command, server=None)
    assert screen.messages == ([message] if message else [])
    assert screen.ends == [("100004", end)] and screen.status == status


@pytest.mark.parametrize("command, message, end", [
    ("echo REJECT", "the code is wrong or has expired", BACK_FROM_CODE),
    ("echo nothing of use", "the code is wrong or has expired", BACK_FROM_CODE),
    ("exit 3", "the verify command ended with 3", STOPPED),
])
def test_half_way_no_hand_says_pass(own, handset, number, command, message, end):
    screen = handset(
        "--template", "100002", "--number", number, "--stored-number", number, *new_numbers(),
        "--token", temporary_token(own), "--verify-command", command, server=None)
    assert screen.messages == [message]
    assert screen.ends == [("100002", end)] and screen.status == 1


# The command line


def run_alone(*words):
    return subprocess.run(
        [HANDSET, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=PATIENCE)


def test_help():
    done = run_alone("--help")
    assert (done.returncode, done.stderr) == (0, "")
    for flag in ["--gateway", "--scheme", "--number", "--template", "--verify-command", "--help"]:
        assert flag in done.stdout


GOOD = ["--gateway", "http://127.0.0.1:1", "--scheme", "FA1", "--number", "+8613800138000",
        "--token", "e30.e30.e30"]


@pytest.mark.parametrize("words, fault", [
    ([], "nothing is said"),
    (GOOD[2:], "--gateway is missing"),
    (GOOD[:2] + GOOD[4:], "--scheme is missing"),
    (GOOD[:4] + GOOD[6:], "--number is missing"),
    (GOOD[:6], "--app-server and --token"),
    (GOOD + ["--app-server", "http://127.0.0.1:1"], "--app-server and --token"),
    (GOOD + ["--nonsense"], "--nonsense is no flag"),
    (GOOD + ["100001"], "100001 is no flag"),
    (GOOD + ["--device"], "--device needs a value"),
    (GOOD + ["--number", "13800138000"], "--number takes numbers such as +86"),
    (GOOD + ["--gateway", "here"], "--gateway is no URL"),
    (GOOD + ["--template", "login"], "--template takes"),
    (GOOD + ["--template", "all"], "100002 needs --new-number"),
    (GOOD + ["--wrong-codes", "many"], "--wrong-codes takes a number"),
])
def test_wrong_flags(words, fault):
    done = run_alone(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert fault in done.stderr.splitlines()[0]
    assert "--verify-command CMD" in done.stderr


def test_a_template_that_is_none(handset, number):
    screen = handset("--template", "999999", "--number", number)
    assert screen.texts("gave up") == ["999999 did not begin"] and screen.status == 1


# Well ended


def test_one_click(handset, number):
    screen = handset("--number", number)
    assert (screen.messages, screen.ends) == (["login successful"], [("100001", END)])
    assert screen.status == 0


def test_another_way_with_a_wrong_code_first(handset, number):
    screen = handset("--number", number, "--other-login", "--wrong-codes", "1")
    assert screen.messages == ["the code is wrong or has expired", "login successful"]
    assert screen.ends == [("100001", END)]


def test_login_then_another_number(handset, number):
    new = fresh_number()
    screen = handset("--template", "100001,100002", "--number", number, "--new-number", new)
    assert screen.messages == ["login successful", "old number verified", "phone number updated"]
    assert screen.ends == [("100001", END), ("100002", END)]


def test_login_then_the_bound_number(handset, number):
    screen = handset("--template", "100001,100005", "--number", number)
    assert screen.messages == ["login successful", "verified"]
    assert screen.ends == [("100001", END), ("100005", END)]


def test_a_number_that_only_the_app_knows(handset, number):
    screen = handset("--template", "100005", "--number", number, "--stored-number", number)
    assert (screen.messages, screen.ends) == (["verified"], [("100005", END)])


def test_a_new_password(handset, number):
    screen = handset("--template", "100003", "--number", number, "--stored-number", number)
    assert screen.messages == ["verified, you can change your password"]
    assert screen.texts("page") == ["password"]
    assert screen.ends == [("100003", END)]


def test_a_new_number(handset, number):
    screen = handset("--template", "100004", "--number", number)
    assert (screen.messages, screen.ends) == (["new number bound"], [("100004", END)])


def test_no_cellular_data_then_a_code(handset, number):
    screen = handset("--number", number, "--sim-fault", "no_cellular_data")
    assert (screen.messages, screen.ends) == (["login successful"], [("100001", END)])


# By way of an SMS of one's own


@pytest.fixture
def limited(handset, number):
    """A number that had a code within the minute."""
    screen = handset("--number", number, "--other-login", "--wrong-codes", "1", "--gives-up")
    assert screen.messages == ["the code is wrong or has expired"]
    assert screen.ends == [("100001", BACK_FROM_CODE)] and screen.status == 1
    return number


def test_too_many_codes_then_an_sms(handset, limited):
    screen = handset("--number", limited, "--other-login")
    assert screen.messages == ["too many codes were asked for, wait a little", "login successful"]
    assert screen.ends == [("100001", END)]


def test_an_sms_that_was_never_sent(handset, limited):
    screen = handset("--number", limited, "--other-login", "--lies")
    assert screen.messages[-1] == "not verified: was the SMS sent?"
    assert screen.ends == [("100001", NO_WAY)] and screen.status == 1


# Badly ended


def test_another_number_than_the_accounts(handset, number):
    # Compared by the app's word; the person types the same wrong number, and leaves.
    screen = handset("--template", "100003", "--number", number, "--stored-number", fresh_number())
    assert screen.messages == ["this is not the number of the account"]
    assert screen.ends == [("100003", BACK_FROM_CODE)]


def test_a_pre_filled_page_without_a_number(handset, number):
    screen = handset("--template", "100005", "--number", number)
    assert screen.messages == ["the phone number is not known"]
    assert screen.ends == [("100005", STOPPED)]


def test_quick_access(own, handset, number):
    screen = handset("--token", temporary_token(own), "--number", number, server=None)
    assert screen.ends == [("100001", STOPPED)] and screen.status == 0
    (shown,) = screen.messages
    mask = re.fullmatch("check this mask token by hand: (.+)", shown).group(1)
    verified = own.call("verification.verify", {"maskToken": mask})
    assert (verified["result"], verified["phoneNumber"]) == ("PASS", number)


@pytest.mark.parametrize("token", ["nonsense", "e30.e30.e30"])
def test_a_token_that_is_none(handset, number, token):
    screen = handset("--token", token, "--number", number, server=None)
    assert screen.lines == [("gave up", "no good auth token")] and screen.status == 1


def test_no_gateway(handset, number):
    screen = handset("--number", number, gateway="http://127.0.0.1:1")
    assert screen.lines == [("gave up", "no good auth token")]


def test_the_secrets_of_a_scene_are_not_in_any_log(own, handset, number):
    with Recorder(own.endpoints()["http"]) as recorder:
        screen = handset(
            "--number", number, "--other-login", gateway=f"http://{recorder.endpoint}")
    assert screen.ends == [("100001", END)] and screen.status == 0
    wire = b"\n".join(recorder.requests + recorder.answers).decode()
    secrets = {"number": {number[1:]}, "national number": {number[3:]}}
    for kind, pattern in {
        "auth token": r"(?i)authorization: bearer (\S+)", "run key": r"(?i)x-run-key: (\S+)",
        "mask token": r'"maskToken":"([^"]+)"', "code": r'"code":"(\d{4,10})"',
    }.items():
        secrets[kind] = set(re.findall(pattern, wire))
        assert secrets[kind], kind
    logs = {path.name.rsplit("-", 1)[0]: path for path in (own.home / "log").glob("*.jsonl")}
    daemons = {"broker", "gateway", "scene", "smscode", "token", "verification"}
    assert {f"fusion-{daemon}" for daemon in daemons} <= set(logs)
    for path in logs.values():
        text = path.read_text()
        for kind, values in secrets.items():
            for value in values:
                # A code is short: digits of a longer number, or of a fraction, are not it.
                found = re.search(rf"(?<![\d.]){re.escape(value)}(?!\d)", text)
                assert not found, (kind, path)
