"""Cases that users of other systems met (the numbers are those of the field-case list), tried here
on real daemons. Cases of one service alone are unit tests beside that service."""

import re
import sqlite3
import threading
import time

import pytest

from bus import Bus, Refused, fresh_key
from house import PATIENCE, House, until
from play import Phone, Run, fresh_number, other_code


def scheme_with(bus, **policy):
    made = bus.call("scheme.create", {
        "name": "field", "app": {"iosBundleId": "com.example.app"}, "policy": policy,
    })
    return made["schemeCode"]


class Flow:
    """Codes of one purpose for one number."""

    def __init__(self, bus, scheme, number=None, purpose="login"):
        self.bus = bus
        self.scheme = scheme
        self.purpose = purpose
        self.phone = Phone(bus, number)
        self.number = self.phone.number
        self.challenge = None

    def send(self, **more):
        sent = self.bus.call("smscode.send", {
            "schemeCode": self.scheme, "purpose": self.purpose, "number": self.number,
            "cooldownSeconds": 1, **more,
        })
        self.challenge = sent.get("challengeId")
        return sent

    def resend(self, **more):
        """At exactly the moment that the first answer told."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return self.send(**more)
            except Refused as refusal:
                assert refusal.reason == "cooldown" and time.monotonic() < deadline
                time.sleep(refusal.retry_after / 1000)

    def code(self):
        return self.phone.code()

    def check(self, code, key=None, **more):
        where = {"challengeId": self.challenge} if not more else more
        return self.bus.call("smscode.check", {**where, "code": code}, key)

    def result(self, code, **more):
        return self.check(code, **more)["result"]

    def by_number(self, code, **more):
        return self.check(code, **{
            "schemeCode": self.scheme, "purpose": self.purpose, "number": self.number, **more,
        })


@pytest.fixture
def flow(shared, bus):
    return Flow(bus, shared.scheme)


def in_parallel(house, count, act):
    """`act(bus, index)` on `count` threads with a connection each, at once."""
    barrier = threading.Barrier(count)
    results = [None] * count

    def run(index):
        with Bus(house.ipc) as own:
            own.ping("smscode")
            barrier.wait(PATIENCE)
            try:
                results[index] = act(own, index)
            except Exception as problem:
                results[index] = problem

    threads = [threading.Thread(target=run, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(2 * PATIENCE)
    return results


# A. Guessing and counters


def test_F001_wrong_codes_from_many_addresses_meet_one_cap(flow):
    sent = flow.bus.call("smscode.send", {
        "schemeCode": flow.scheme, "purpose": "login", "number": flow.number,
        "origin": {"address": "203.0.113.7"},
    })
    code = flow.code()
    results = [
        flow.bus.ask(
            "smscode.check", {"challengeId": sent["challengeId"], "code": other_code(code)},
            fresh_key(), onBehalfOf={"role": "operator", "name": f"from-{index}"},
        )["result"]
        for index in range(30)
    ]
    assert results == ["rejected"] * 5 + ["exhausted"] * 25
    flow.challenge = sent["challengeId"]
    assert flow.result(code) == "exhausted"


def test_F002_after_the_cap_the_answer_says_so(flow):
    flow.send()
    code = flow.code()
    lefts = [flow.check(other_code(code))["attemptsLeft"] for _ in range(5)]
    assert lefts == [4, 3, 2, 1, 0]
    last = flow.check(code)
    assert last["result"] == "exhausted" and 0 < last["retryAfterMilliseconds"] <= 3_600_000


@pytest.mark.parametrize("policy", ["newest", "all", "same"])
def test_F004_guesses_are_kept_over_a_resend(flow, policy):
    flow.send(duplicatePolicy=policy)
    code = flow.code()
    assert flow.check(other_code(code))["attemptsLeft"] == 4
    assert flow.check(other_code(code))["attemptsLeft"] == 3
    flow.resend(duplicatePolicy=policy)
    newer = flow.code()
    assert (newer == code) == (policy == "same")
    wrong = next(text for text in ("111111", "222222", "333333") if text not in (code, newer))
    assert flow.check(wrong)["attemptsLeft"] == 2


@pytest.mark.parametrize("wrongs", [20, 100])
def test_F006_F009_a_fresh_install_is_not_guessed(flow, wrongs):
    flow.send()
    code = flow.code()
    results = [flow.result(other_code(code)) for _ in range(wrongs)]
    assert results.count("rejected") == 5
    assert flow.result(code) == "exhausted"


def test_F007_F016_the_cap_is_exact_under_parallel_load(shared, flow):
    flow.send()
    code = flow.code()
    wrong = {"challengeId": flow.challenge, "code": other_code(code)}

    def guess(bus, _):
        return [bus.call("smscode.check", wrong)["result"] for _ in range(16)]

    results = [result for each in in_parallel(shared, 32, guess) for result in each]
    assert len(results) == 512
    assert results.count("rejected") == 5 and results.count("exhausted") == 507
    assert flow.result(code) == "exhausted"


def test_F014_a_wrong_guess_survives_kill_9(own, own_bus):
    flow = Flow(own_bus, own.scheme)
    flow.send()
    code = flow.code()
    assert flow.check(other_code(code))["attemptsLeft"] == 4
    old = own.kill("smscode")
    until(lambda: own.pid("smscode") not in (None, old), "smscode to come back")
    assert flow.check(other_code(code))["attemptsLeft"] == 3


def test_F017_a_bad_request_with_the_right_code_uses_nothing_up(flow):
    flow.send()
    code = flow.code()
    for bad in ({"caseSensitive": "x"}, {"outId": 1}, {"challengeId": 5}):
        with pytest.raises(Refused) as refused:
            flow.bus.call(
                "smscode.check", {"challengeId": flow.challenge, "code": code, **bad}
            )
        assert refused.value.reason == "invalid_parameters"
    assert flow.result(code) == "accepted"


# B. Single use and races


@pytest.mark.parametrize("count", [2, 4, 32])
def test_F019_F021_of_parallel_checks_with_the_right_code_one_passes(shared, flow, count):
    flow.send()
    right = {"challengeId": flow.challenge, "code": flow.code()}
    results = in_parallel(
        shared, count, lambda bus, _: bus.call("smscode.check", right)["result"]
    )
    assert results.count("accepted") == 1 and results.count("already_used") == count - 1, results


def test_F022_two_instances_race_for_one_code(own, own_bus):
    second = own.start("smscode", "2")
    try:
        for _ in range(5):
            flow = Flow(own_bus, own.scheme)
            flow.send()
            right = {"challengeId": flow.challenge, "code": flow.code()}

            def check(bus, index):
                return bus.ask(
                    "smscode.check", right, fresh_key(), service=f"smscode@{1 + index % 2}"
                )["result"]

            results = in_parallel(own, 8, check)
            assert results.count("accepted") == 1, results
    finally:
        assert second.end() == 0


def test_F021_of_parallel_verifications_of_one_mask_token_one_passes(shared, bus):
    run = Run(bus, shared.scheme)
    run.leave_carrier()
    run.send()
    run.type()
    results = in_parallel(
        shared, 16,
        lambda own, _: own.call("verification.verify", {"maskToken": run.mask})["result"],
    )
    assert results.count("PASS") == 1, results


def test_F024_two_flows_at_once_are_not_mixed_up(shared, bus):
    one, two = Flow(bus, shared.scheme), Flow(bus, shared.scheme)
    one.send()
    two.send()
    codes = one.code(), two.code()
    if codes[0] != codes[1]:
        assert two.result(codes[0]) == "rejected"
    assert one.result(codes[0]) == "accepted"
    assert two.result(codes[1]) == "accepted"


def test_F026_two_identical_checks_with_one_key_get_one_answer(shared, flow):
    flow.send()
    right, key = {"challengeId": flow.challenge, "code": flow.code()}, fresh_key()
    answers = in_parallel(shared, 8, lambda bus, _: bus.call("smscode.check", right, key))
    assert all(answer == answers[0] for answer in answers)
    assert answers[0]["result"] == "accepted"


def test_F027_a_cancelled_code_is_void(flow):
    flow.send()
    code = flow.code()
    flow.bus.call("smscode.cancel", {"schemeCode": flow.scheme, "number": flow.number})
    assert flow.result(code) == "cancelled"


def test_F029_a_code_is_accepted_once(flow):
    flow.send()
    code = flow.code()
    assert [flow.result(code) for _ in range(3)] == ["accepted", "already_used", "already_used"]


# C. Binding


def test_F031_F032_a_code_is_good_for_its_purpose_only(flow):
    flow.send()
    code = flow.code()
    assert flow.by_number(code, purpose="reset")["result"] == "rejected"
    assert flow.by_number(code)["result"] == "accepted"


def test_F034_F041_the_old_number_alone_changes_nothing(shared, bus):
    old = fresh_number()
    run = Run(bus, shared.scheme, "100002", number=old, bound=old)
    run.send()
    run.type()
    assert run.verify()["result"] == "PASS"
    run.move("halfway", isSuccess=True)
    with pytest.raises(Refused) as refused:
        run.move("continue", isSuccess=True)
    assert refused.value.reason == "pass_not_on_record"
    assert bus.call("scene.get", run.where())["state"] == "waiting"


def test_F036_the_old_number_is_told_of_a_change(shared, bus):
    old, new = Phone(bus), Phone(bus)
    run = Run(bus, shared.scheme, "100002", number=old.number, bound=old.number)
    run.phone = old
    run.send()
    run.type()
    assert run.verify()["result"] == "PASS"
    run.move("halfway", isSuccess=True)
    run.phone = new
    run.send()
    run.type()
    assert run.verify()["result"] == "PASS"
    assert run.move("continue", isSuccess=True)["state"] == "passed"
    notices = until(old.messages, "a notice")
    assert len(notices) == 1 and not re.search(r"\d{4,}", notices[0]["text"])
    assert not new.messages(wait=0)


# D. Resend


def test_F047_F137_a_refused_resend_names_the_wait_and_harms_nothing(flow):
    flow.send(cooldownSeconds=60)
    code = flow.code()
    for _ in range(3):
        with pytest.raises(Refused) as refused:
            flow.send(cooldownSeconds=60)
        assert refused.value.reason == "cooldown"
        assert 50_000 < refused.value.retry_after <= 60_000
    assert flow.by_number(code)["result"] == "accepted"


def test_F051_F054_F059_after_a_resend_the_newest_code_passes(flow):
    first = flow.send()
    old_code, old = flow.code(), flow.challenge
    second = flow.resend()
    assert second["sendsLeft"] == first["sendsLeft"] - 1
    code = flow.code()
    if old_code != code:
        answer = flow.check(old_code, challengeId=old)
        assert answer["result"] == "superseded" and answer["newerSentAtMilliseconds"]
    assert flow.by_number(code)["result"] == "accepted"
    assert not flow.phone.messages(wait=0)


def test_F057_with_all_in_window_both_codes_are_good(flow):
    flow.send(duplicatePolicy="all")
    old = flow.code()
    flow.resend(duplicatePolicy="all")
    flow.code()
    assert flow.by_number(old)["result"] == "accepted"


def test_F064_F106_F107_the_sixth_send_is_refused_and_not_sent(flow):
    sends = [flow.resend() for _ in range(5)]
    assert [sent["sendsLeft"] for sent in sends] == [4, 3, 2, 1, 0]
    # After the last one, the told moment is the window's, not the cool-down's.
    assert sends[-1]["resendAtMilliseconds"] > (time.time() + 3000) * 1000
    def is_over():
        with pytest.raises(Refused) as refused:
            flow.send()
        return refused if refused.value.reason != "cooldown" else None

    refused = until(is_over, "the cool-down's end")
    assert refused.value.reason == "number_limit" and refused.value.field == "hour"
    assert refused.value.retry_after > 0
    assert len(flow.bus.call("sandbox.inbox", {"number": flow.number})["messages"]) == 5
    # A limit of sends is no limit of checks (F137).
    assert flow.result("000000x") in ("rejected", "superseded")


def test_F064_parallel_sends_send_once(shared, bus):
    number = fresh_number()
    send = {"schemeCode": shared.scheme, "purpose": "login", "number": number}

    def act(own, _):
        try:
            return own.call("smscode.send", send)["delivery"]
        except Refused as refusal:
            return refusal.reason

    results = in_parallel(shared, 16, act)
    assert results.count("cooldown") == 15, results
    assert len(bus.call("sandbox.inbox", {"number": number})["messages"]) == 1


# E. Numbers and codes as people type them


@pytest.mark.parametrize(
    "typed",
    ["+86 137 {0} {1}", "+86-137-{0}-{1}", "(+86)137{0}{1}", "0086137{0}{1}", "＋86137{0}{1}"],
)
def test_F069_F081_one_number_in_many_spellings(flow, typed):
    flow.send()
    code = flow.code()
    spelled = typed.format(flow.number[6:10], flow.number[10:])
    try:
        answer = flow.by_number(code, number=spelled)
    except Refused as refusal:
        # Without a region the international prefix of nobody's country is not guessed.
        assert refusal.reason == "number_invalid" and typed.startswith("00")
        return
    assert answer["result"] == "accepted" and answer["number"] == flow.number


def test_F071_spellings_of_one_number_give_no_fresh_quota(flow):
    flow.send(cooldownSeconds=60)
    first, last = flow.number[3:7], flow.number[7:]
    for typed in ("+86 {} {}", "+86-{}-{}", "(+86){}{}", "＋86{}{}", "+86\u00a0{}\u2011{}"):
        with pytest.raises(Refused) as refused:
            flow.send(number=typed.format(first, last), cooldownSeconds=60)
        assert refused.value.reason == "cooldown", typed
    assert len(flow.bus.call("sandbox.inbox", {"number": flow.number})["messages"]) == 1


def test_F072_F079_trunk_zero_and_old_forms_are_one_number(shared, bus):
    for one, other in (("+610412345678", "+61412345678"), ("+5215512345678", "+525512345678")):
        flow = Flow(bus, shared.scheme, one, purpose="spelling-" + fresh_key())
        flow.phone.number = other
        flow.phone.sequence = max(
            [m["sequence"] for m in bus.call("sandbox.inbox", {"number": other})["messages"]],
            default=0,
        )
        flow.resend()
        assert flow.by_number(flow.code(), number=other)["result"] == "accepted"


@pytest.mark.parametrize("bad", ["+99999", "+88012345", "+1415555267", "", "abc", "+", "1" * 60])
def test_F092_numbers_of_no_plan_are_refused(flow, bad):
    with pytest.raises(Refused) as refused:
        flow.send(number=bad)
    assert refused.value.reason in ("number_invalid", "invalid_parameters")


def spell(code, script):
    return code.translate(str.maketrans("0123456789", script))


@pytest.mark.parametrize("script", ["٠١٢٣٤٥٦٧٨٩", "۰۱۲۳۴۵۶۷۸۹", "０１２３４５６７８９"])
def test_F082_digits_of_other_keyboards(flow, script):
    flow.send()
    assert flow.result(spell(flow.code(), script)) == "accepted"


def test_F082_F084_F087_codes_are_text_of_their_length(flow):
    flow.send()
    code = flow.code()
    for typed in (code[1:], "0" + code, "+" + code[1:], "-" + code[1:], "1e5", "0x1234"):
        try:
            assert flow.result(typed) in ("rejected", "exhausted"), typed
        except Refused as refusal:
            assert refusal.reason == "invalid_parameters", typed
    with pytest.raises(Refused) as refused:
        flow.check(int(code))
    assert refused.value.reason == "invalid_parameters"

    other = Flow(flow.bus, flow.scheme)
    other.send()
    code = other.code()
    assert other.result(f" {code[:3]}-{code[3:]} ") == "accepted"


# F. Texts


@pytest.mark.parametrize("words", ["Código: ", "验证码：", "Код 👍🏽 ", "e\u0301 "])
def test_F094_a_text_of_any_script_arrives_as_it_was_written(flow, words):
    flow.send(text={"body": words + "##code## ✅"})
    text = until(flow.phone.messages, "a text")[-1]["text"]
    code = re.search(r"\d{4,10}", text).group()
    assert text.endswith(f"{words}{code} ✅")
    assert flow.result(code) == "accepted"


# G. Errors


def test_F109_a_refusal_of_the_provider_reaches_the_caller(flow):
    flow.bus.call("sandbox.fault", {"number": flow.number, "fault": "refused"})
    with pytest.raises(Refused) as refused:
        flow.send()
    assert refused.value.reason == "provider_refused"
    flow.bus.call("sandbox.fault", {"number": flow.number, "fault": "none"})
    assert flow.resend()["delivery"] in ("queued", "sent", "delivered")


def test_F119_a_number_without_a_code_is_not_told_from_one_with(flow):
    flow.send()
    unknown = Flow(flow.bus, flow.scheme)
    code = flow.code()
    for _ in range(7):
        known = flow.by_number(other_code(code))
        nothing = unknown.by_number(other_code(code))
        known.pop("retryAfterMilliseconds", None), nothing.pop("retryAfterMilliseconds", None)
        assert known == nothing


# K. Up-going SMS


class Upgoing:
    def __init__(self, bus, scheme):
        self.bus = bus
        self.number = fresh_number()
        self.opened = bus.call(
            "upgoing.open", {"schemeCode": scheme, "purpose": "login", "number": self.number}
        )

    def arrive(self, id, **more):
        return self.bus.call("smscode.internal.inbound", {
            "messageId": id, "sender": self.number, "receiver": self.opened["receivingNumber"],
            "text": self.opened["text"], "sentAtMilliseconds": self.sent_at, **more,
        })

    sent_at = 1_800_000_000_000

    def state(self):
        return self.bus.call("upgoing.check", {"upgoingId": self.opened["upgoingId"]})["result"]


def test_F151_F152_F154_one_message_counts_once(shared, bus):
    upgoing = Upgoing(bus, shared.scheme)
    upgoing.sent_at = int(time.time() * 1000)
    id = fresh_key()
    assert upgoing.arrive(id) == {"matched": True, "repeated": False}
    assert upgoing.arrive(id)["repeated"]
    assert upgoing.arrive(fresh_key(), sentAtMilliseconds=upgoing.sent_at + 2000)["repeated"]
    assert upgoing.state() == "received"


def test_F154_parallel_deliveries_make_one_match(shared, bus):
    upgoing = Upgoing(bus, shared.scheme)
    message = {
        "messageId": fresh_key(), "sender": upgoing.number,
        "receiver": upgoing.opened["receivingNumber"], "text": upgoing.opened["text"],
        "sentAtMilliseconds": int(time.time() * 1000),
    }
    answers = in_parallel(
        shared, 16, lambda own, _: own.call("smscode.internal.inbound", message)
    )
    assert sum(not answer["repeated"] for answer in answers) == 1


def test_F149_an_inbound_message_is_durable_before_its_answer(own, own_bus):
    upgoing = Upgoing(own_bus, own.scheme)
    upgoing.sent_at = int(time.time() * 1000)
    assert upgoing.arrive(fresh_key())["matched"]
    own.kill("smscode")
    assert upgoing.state() == "received"


def test_a_text_of_another_sender_or_of_nobody_proves_nothing(shared, bus):
    upgoing = Upgoing(bus, shared.scheme)
    upgoing.sent_at = int(time.time() * 1000)
    for more in ({"text": "hello"}, {"sender": fresh_number()}):
        upgoing.arrive(fresh_key(), **more)
        assert upgoing.state() != "received"


# M. Test numbers


def test_F117_F139_F164_F166_test_numbers(bus):
    hour = 3_600_000
    now = int(time.time() * 1000)
    scheme = scheme_with(bus, testNumbers=[
        {"number": "+1415555xxxx", "code": "424242", "endsAtMilliseconds": now + hour},
    ])
    flow = Flow(bus, scheme, "+14155550123")
    for _ in range(30):
        assert flow.send()["delivery"] == "simulated"
        assert flow.result("424242") == "accepted"
    assert not flow.phone.messages(wait=0)
    # Just outside the pattern: a real code, and the fixed one is wrong.
    outside = Flow(bus, scheme, "+14155560123")
    assert outside.send()["delivery"] != "simulated"
    code = outside.code()
    if code != "424242":
        assert outside.result("424242") == "rejected"


def test_F164_a_test_number_ends(bus):
    now = int(time.time() * 1000)
    scheme = scheme_with(bus, testNumbers=[
        {"number": "+14155550199", "code": "424242", "endsAtMilliseconds": now + 1500},
    ])
    flow = Flow(bus, scheme, "+14155550199")
    assert flow.send()["delivery"] == "simulated"
    until(lambda: time.time() * 1000 > now + 1500, "its end")
    # The scheme's policy may be a few seconds old at the service; never older.
    after = int(max(
        [m["sequence"] for m in bus.call("sandbox.inbox", {"number": flow.number})["messages"]],
        default=0,
    ))
    flow.phone.sequence = after
    assert flow.resend()["delivery"] != "simulated"
    code = flow.code()
    if code != "424242":
        assert flow.result("424242") in ("rejected", "expired")
    assert flow.by_number(code)["result"] == "accepted"


# J. Retention

# What may stay for ever: what an operator registered, and counts.
KEPT_FOR_EVER = {"scheme", "scheme_version", "api_key", "signing_key", "schema_version"}


def rows_of(path):
    with sqlite3.connect(path) as store:
        tables = [name for (name,) in store.execute(
            "select name from sqlite_master where type = 'table'")]
        counts = {
            name: store.execute(f"select count(*) from {name}").fetchone()[0] for name in tables
        }
    return {name: count for name, count in counts.items() if count}


def test_F144_after_31_days_nothing_is_left_but_counts():
    """The clock is not moved; the rows' ends are, while nothing runs."""
    house = House("fr")
    try:
        house.up()
        with Bus(house.ipc) as bus:
            Run(bus, house.scheme).pass_by_sms()
            Run(bus, house.scheme, "100004").leave_carrier().send()
            Flow(bus, house.scheme).send()
            Upgoing(bus, house.scheme)
            bus.call("key.create", {"owner": "owner"})
        assert house.up_process.end() == 0
        month = 31 * 24 * 3600 * 1000
        before = {}
        for path in (house.home / "data").glob("*.db"):
            before[path.stem] = rows_of(path)
            with sqlite3.connect(path) as store:
                for name in before[path.stem]:
                    if name != "schema_version":
                        store.execute(f"update {name} set expires_at = expires_at - {month}")
        assert {"challenge", "answer"} & set(before["smscode"])
        house.up()

        def left():
            rows = {path.stem: set(rows_of(path)) for path in (house.home / "data").glob("*.db")}
            kept = set().union(*rows.values()) - KEPT_FOR_EVER
            return {name for name in kept if not re.search("day|statistic|count", name)}

        until(lambda: not left(), lambda: f"gone: {left()}", 2 * PATIENCE)
    finally:
        house.close()


@pytest.fixture
def own_bus(own):
    with Bus(own.ipc) as client:
        yield client
