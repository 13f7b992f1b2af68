"""The demo and the loads over HTTP, through a real gateway."""

import pytest

from house import House


@pytest.fixture(scope="module")
def house():
    house = House("hd")
    try:
        house.up()
        yield house
    finally:
        house.close()


def test_every_case_passes_over_http_in_both_access_modes(house):
    report = house.run("demo", "--http", seconds=180)
    assert report["ok"] and report["formatVersion"] == 1
    assert report["endpoints"]["http"].startswith("http://127.0.0.1:")
    plain = house.run("demo", seconds=120)
    stories = [(case["templateId"], case["case"], case["outcome"]) for case in plain["cases"]]
    for mode in ("normal", "quick"):
        cases = [case for case in report["cases"] if case["mode"] == mode]
        assert [(case["templateId"], case["case"], case["outcome"]) for case in cases] == stories
        assert all(list(case)[:2] == ["mode", "transport"] for case in cases)
    assert len(report["cases"]) == 2 * len(stories)
    assert {case["transport"] for case in report["cases"]} == {"http"}
    assert not any("mode" in case for case in plain["cases"])


def test_a_gateway_that_is_not_there_is_a_failure_and_not_a_crash(house):
    done = house.tool("demo", "--http", "http://127.0.0.1:9", "--case", "one_click", "--json")
    assert done.returncode == 1 and "nobody could be reached there" in done.stdout


@pytest.mark.parametrize("words, calls", [
    (["sms"], ["pair", "· send", "· check"]),
    (["scene"], ["scene", "· issue", "· start", "· other login", "· send", "· code", "· verify", "· continue"]),
    (["scene", "--way", "one_click"],
     ["scene", "· issue", "· session", "· start", "· carrier token", "· verify", "· continue", "· get"]),
    (["http"], ["request"]),
])
def test_a_load_ends_without_a_failure_and_names_its_calls(house, words, calls):
    report = house.run("bench", *words, "--seconds", "2", "--outstanding", "4", "--rate", "0", seconds=60)
    assert [row["what"] for row in report["rows"]] == calls
    assert all(row["failedCount"] == 0 and row["perSecond"] > 0 for row in report["rows"])
    assert all(0 < row["p50Milliseconds"] <= row["p99Milliseconds"] for row in report["rows"])
    if words == ["sms"]:  # its key was for this run alone
        keys = house.run("key", "list")["keys"]
        assert not any(key["active"] for key in keys if key.get("name") == "fusionctl bench")
