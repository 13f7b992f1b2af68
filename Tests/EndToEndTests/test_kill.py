"""kill -9 of every daemon in turn, under load: nothing that was answered is lost or done twice."""

import collections
import os
import threading
import time
import traceback

import pytest

from bus import Bus, NoAnswer, Refused, fresh_key
from house import PATIENCE, until
from play import Phone, Run, fresh_number, other_code

# More by hand: FUSION_KILL_ROUNDS=30.
ROUNDS = int(os.environ.get("FUSION_KILL_ROUNDS", "3"))
VICTIMS = ["broker", "token", "verification", "smscode", "scene"]
# Seconds; a lost request is sent again with its key after this long.
ATTEMPT = 1.5
# Open outcomes of a verification: asked again with a new key.
OPEN = {"try_again", "carrier_timeout", "carrier_unavailable", "scheme_disabled"}
# Wrong guesses that one number may make in an hour.
GUESSES = 5


class Ledger:
    """Every answer that a client got, with the request that it answered."""

    def __init__(self):
        self.lock = threading.Lock()
        self.answers = []
        self.problems = []
        self.done = collections.Counter()
        self.challenges = {}
        self.passes = []
        self.sends = collections.Counter()
        self.guesses = {}

    def note(self, method, params, key, result):
        with self.lock:
            self.answers.append((method, params, key, result))


class Careful(Bus):
    """A client that repeats with one key until it has an answer, and keeps it."""

    def __init__(self, endpoint, ledger):
        super().__init__(endpoint)
        self.ledger = ledger

    def call(self, method, params=None, key=None, **_):
        key = key or fresh_key()
        deadline = time.monotonic() + 2 * PATIENCE
        while True:
            try:
                result = self.ask(method, params, key, seconds=ATTEMPT)
                break
            except NoAnswer:
                problem = "no answer"
            except Refused as refusal:
                problem = str(refusal)
                if refusal.reason not in (
                    "unavailable", "worker_lost", "overloaded", "deadline_passed", "try_again",
                ):
                    raise
            if time.monotonic() > deadline:
                raise NoAnswer(f"{method} {key}: {problem}")
            time.sleep(0.01)
        if method != "sandbox.inbox":
            self.ledger.note(method, params, key, result)
        return result


def one_code(bus, house, ledger):
    """send → wrong guess → right code."""
    phone = Phone(bus)
    send = {"schemeCode": house.scheme, "purpose": "login", "number": phone.number}
    sent = bus.call("smscode.send", send)
    ledger.sends[phone.number] += 1
    challenge = {"challengeId": sent["challengeId"]}
    code = phone.code()
    wrong = bus.call("smscode.check", {**challenge, "code": other_code(code)})
    assert wrong["result"] == "rejected" and wrong["attemptsLeft"] == GUESSES - 1, wrong
    right = bus.call("smscode.check", {**challenge, "code": code})
    assert right["result"] == "accepted", right
    ledger.challenges[sent["challengeId"]] = "accepted"


def one_guesser(bus, house, ledger):
    """More wrong guesses than a number has."""
    phone = Phone(bus)
    send = {"schemeCode": house.scheme, "purpose": "guess", "number": phone.number}
    sent = bus.call("smscode.send", send)
    ledger.sends[phone.number] += 1
    challenge = {"challengeId": sent["challengeId"]}
    code = phone.code()
    results = [
        bus.call("smscode.check", {**challenge, "code": other_code(code)})["result"]
        for _ in range(GUESSES + 2)
    ]
    results.append(bus.call("smscode.check", {**challenge, "code": code})["result"])
    ledger.guesses[phone.number] = results
    ledger.challenges[sent["challengeId"]] = None


def verify(run):
    while True:
        verified = run.verify()
        if verified.get("reason") not in OPEN:
            return verified


def one_run(bus, house, ledger):
    """A login by code, PASS at the app server, continue."""
    run = Run(bus, house.scheme)
    run.leave_carrier()
    run.send()
    if run.view["node"].get("delivery") not in ("queued", "sending", "sent", "delivered"):
        raise AssertionError(f"the code was not sent: {run.view}")
    ledger.sends[run.phone.number] += 1
    run.type()
    verified = verify(run)
    assert verified["result"] == "PASS", verified
    assert verified["phoneNumber"] == run.phone.number
    ledger.passes.append(run.mask)
    view = run.move("continue", isSuccess=True)
    assert view["state"] == "passed", view


def worker(story, house, ledger, end):
    bus = Careful(house.ipc, ledger)
    while not end.is_set():
        try:
            story(bus, house, ledger)
            ledger.done[story.__name__] += 1
        except Exception:
            ledger.problems.append(f"{story.__name__}: {traceback.format_exc()}")
            if len(ledger.problems) > 5:
                break
    bus.close()


@pytest.fixture(scope="module")
def chaos(own):
    """The whole story, once; each test reads one promise off it."""
    ledger = Ledger()
    end = threading.Event()
    stories = [one_code, one_guesser, one_run, one_run]
    threads = [
        threading.Thread(target=worker, args=(story, own, ledger, end), daemon=True)
        for story in stories
    ]
    for thread in threads:
        thread.start()
    killed = collections.Counter()
    try:
        until(lambda: len(ledger.done) == 3, "load")
        for _ in range(ROUNDS):
            for victim in VICTIMS:
                old = own.kill(victim)
                killed[victim] += 1
                until(lambda: own.pid(victim) not in (None, old), f"{victim} to come back")
                before = ledger.done.copy()
                until(
                    lambda: ledger.problems
                    or sum(ledger.done.values()) > sum(before.values()) + 1,
                    f"work after the end of {victim}",
                )
    finally:
        end.set()
        for thread in threads:
            thread.join(2 * PATIENCE)
    assert not [thread for thread in threads if thread.is_alive()]
    assert killed == {victim: ROUNDS for victim in VICTIMS}
    return ledger


def test_every_call_found_its_answer(chaos):
    assert not chaos.problems, "\n".join(chaos.problems[:3])
    assert min(chaos.done[name] for name in ("one_code", "one_guesser", "one_run")) >= 3
    print(dict(chaos.done))


def test_every_answered_challenge_is_known(own, chaos):
    with Bus(own.ipc) as bus:
        for challenge, state in chaos.challenges.items():
            status = bus.call("smscode.status", {"challengeId": challenge})
            assert state is None or status["state"] == state, status


def test_every_pass_stays_the_only_one(own, chaos):
    assert chaos.passes
    with Bus(own.ipc) as bus:
        for mask in chaos.passes:
            verified = bus.call("verification.verify", {"maskToken": mask}, fresh_key())
            assert verified["result"] == "UNKNOWN" and verified["reason"] == "already_used"
            assert "phoneNumber" not in verified


def test_the_same_key_gives_the_same_answer_for_all_of_them(own, chaos):
    writes = [
        entry for entry in chaos.answers
        if entry[0] not in ("scene.get", "smscode.status", "token.keys")
    ]
    assert len(writes) > 100
    with Bus(own.ipc) as bus:
        for method, params, key, result in writes:
            assert bus.call(method, params, key) == result, (method, key)


def test_every_answered_send_arrived_exactly_once(own, chaos):
    inbox, after = [], 0
    with Bus(own.ipc) as bus:
        while True:
            page = bus.call("sandbox.inbox", {"afterSequence": after, "limit": 100})["messages"]
            if not page:
                break
            inbox += page
            after = page[-1]["sequence"]
    references = collections.Counter(message["reference"] for message in inbox)
    assert set(references.values()) == {1}
    arrived = collections.Counter(message["number"] for message in inbox)
    assert {number: arrived[number] for number in chaos.sends} == dict(chaos.sends)


def test_no_number_was_guessed_at_more_than_its_budget(chaos):
    assert chaos.guesses
    for results in chaos.guesses.values():
        # Each key is charged once: the budget is met exactly, and then not even the code helps.
        assert results == ["rejected"] * GUESSES + ["exhausted"] * 3


def test_the_store_is_sound_after_all_of_it(own, chaos):
    import sqlite3

    for path in (own.home / "data").glob("*.db"):
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as store:
            assert store.execute("pragma integrity_check").fetchone() == ("ok",), path
