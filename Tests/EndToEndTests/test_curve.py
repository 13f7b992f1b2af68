"""tcp: CURVE keys that are known, one role each, judged for every message."""

import os
import subprocess
import sys

import pytest
import zmq

from bus import Bus, NoAnswer, Refused, fresh_key
from house import BINARIES, PATIENCE, House, until
from play import BUNDLE, fresh_number


def peer_file(path):
    """`name = "value"` lines."""
    pairs = [line.split(" = ", 1) for line in path.read_text().splitlines() if " = " in line]
    return {name: value.strip('"') for name, value in pairs}


def bus_of(peer):
    keys = [peer[name].encode() for name in ("broker_key", "public_key", "secret_key")]
    return Bus(peer["endpoint"], keys)


def add(house, name, role="integrator"):
    path = house.home / f"{name}.peer"
    told = house.run("peer", "add", name, "--role", role, "--out", path)
    assert told["admitted"] is True
    assert path.stat().st_mode & 0o077 == 0
    return peer_file(path)


def stranger(peer):
    public, secret = zmq.curve_keypair()
    return {**peer, "public_key": public.decode(), "secret_key": secret.decode()}


@pytest.fixture(scope="module")
def shop(own):
    return add(own, "shop")


@pytest.fixture
def shopping(shop):
    with bus_of(shop) as client:
        yield client


def refuses(client, method, params=None, reason="not_allowed"):
    with pytest.raises(Refused) as refused:
        client.ask(method, params)
    assert refused.value.reason == reason, refused.value


def test_a_new_peer_is_admitted_at_once(own):
    peer = add(own, "atonce")
    with bus_of(peer) as client:
        assert client.ask("token.keys")["keys"]


def test_the_tool_calls_as_a_peer(own, shop):
    done = own.call("token.keys", peer=own.home / "shop.peer")
    assert done["keys"]
    failed = own.tool("call", "key.list", "--json", "--peer", own.home / "shop.peer")
    assert failed.returncode == 1 and "not_allowed" in failed.stdout


def test_a_peer_that_brings_its_own_key(own):
    public, secret = zmq.curve_keypair()
    told = own.run("peer", "add", "own", "--role", "integrator", "--public-key", public.decode())
    assert told["publicKey"] == public.decode() and told["file"] is None
    keys = (told["brokerKey"].encode(), public, secret)
    with Bus(told["endpoint"], keys) as client:
        assert client.ask("token.keys")["keys"]


def test_an_integrator_registers_a_scheme_and_uses_it(shopping):
    app = {"iosBundleId": "com.shop"}
    scheme = shopping.call("scheme.create", {"name": "shop", "app": app})
    assert scheme["owner"] == "shop"
    code = scheme["schemeCode"]
    token = shopping.call("token.issue", {
        "schemeCode": code, "platform": "ios", "bundleId": "com.shop", "durationSeconds": 900,
    })
    assert token["authToken"]
    sent = shopping.call("smscode.send", {
        "schemeCode": code, "purpose": "login", "number": fresh_number(), "returnCode": True,
    })
    checked = shopping.call(
        "smscode.check", {"challengeId": sent["challengeId"], "code": sent["code"]}
    )
    assert checked["result"] == "accepted"
    run = shopping.call("scene.start", {
        "authToken": token["authToken"], "templateId": "100004", "deviceId": fresh_key(),
    })
    assert run["state"] == "waiting"


@pytest.mark.parametrize(
    "method",
    [
        "verification.internal.open", "verification.internal.run_status", "key.create",
        "key.list", "key.internal.authenticate", "smscode.internal.redeem",
        "smscode.internal.inbound", "sandbox.inbox", "sandbox.sim", "token.rotate",
    ],
)
def test_an_integrator_may_not_call(shopping, method):
    refuses(shopping, method)


def test_an_integrator_may_not_ask_the_broker_for_everybody(shopping):
    for name in ("mmi.info", "mmi.stats", "mmi.health"):
        assert b"not_allowed" in shopping.mmi(name), name
    assert shopping.mmi("mmi.service", b"token") == b"200"


def test_another_owners_scheme_looks_like_none(own, shopping):
    for code in (own.scheme, "FA00000000000000"):
        refuses(shopping, "scheme.get", {"schemeCode": code}, "scheme_not_found")
        refuses(
            shopping, "token.issue",
            {"schemeCode": code, "platform": "ios", "bundleId": BUNDLE, "durationSeconds": 900},
            "scheme_not_found",
        )
        refuses(
            shopping, "smscode.send",
            {"schemeCode": code, "purpose": "login", "number": fresh_number()},
            "scheme_not_found",
        )
    assert own.scheme not in str(shopping.call("scheme.list"))


def test_another_owners_challenge_and_run_look_like_none(own, shopping):
    with Bus(own.ipc) as owner:
        sent = owner.call("smscode.send", {
            "schemeCode": own.scheme, "purpose": "login", "number": fresh_number(),
        })
    challenge = {"challengeId": sent["challengeId"]}
    for params in (challenge, {"challengeId": "chl_" + "0" * 26}):
        refuses(shopping, "smscode.status", params, "challenge_not_found")
        refuses(shopping, "smscode.check", {**params, "code": "000000"}, "challenge_not_found")


def test_nobody_but_the_gateway_calls_for_others(shopping):
    with pytest.raises(Refused) as refused:
        shopping.ask("scheme.list", onBehalfOf={"role": "operator", "name": "owner"})
    assert refused.value.reason == "not_allowed"


def test_an_integrator_serves_nothing(shop):
    client = bus_of(shop)
    client.socket.send_multipart([b"", b"MDPW01", b"\x01", b"token"])
    assert client.socket.poll(int(PATIENCE * 1000))
    assert client.socket.recv_multipart()[:3] == [b"", b"MDPW01", b"\x05"]
    client.close()


def test_a_strangers_key_is_refused(own, shop, shopping):
    with bus_of(stranger(shop)) as client:
        with pytest.raises(NoAnswer):
            client.ask("token.keys", seconds=1)
    assert shopping.ask("token.keys")["keys"]


def test_a_client_without_curve_is_refused_on_tcp(own, shop, shopping):
    with Bus(own.endpoints()["tcp"]) as client:
        with pytest.raises(NoAnswer):
            client.ask("token.keys", seconds=1)
    assert shopping.ask("token.keys")["keys"]


def test_a_wrong_broker_key_is_noticed_by_the_client(own, shop):
    public, _ = zmq.curve_keypair()
    with bus_of({**shop, "broker_key": public.decode()}) as client:
        with pytest.raises(NoAnswer):
            client.ask("token.keys", seconds=1)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
def test_another_unix_user_is_refused_on_ipc(own):
    """The folder keeps others out, and ZAP too once the folder lets them in."""
    script = (
        "import os, sys; sys.path.insert(0, sys.argv[2]);"
        "import bus;"
        "os.setgid(65534); os.setuid(65534);"
        "client = bus.Bus(sys.argv[1]);"
        "print(client.ask('token.keys', seconds=1))"
    )
    changed = [own.home, own.home / "run", own.home / "run/broker.ipc"]
    modes = [path.stat().st_mode for path in changed]
    try:
        for path in changed:
            path.chmod(0o777)
        done = subprocess.run(
            [sys.executable, "-c", script, own.ipc, os.path.dirname(__file__)],
            capture_output=True, text=True, timeout=PATIENCE,
        )
        assert done.returncode != 0
        assert "NoAnswer" in done.stderr, done.stderr
    finally:
        for path, mode in zip(changed, modes):
            path.chmod(mode)


def test_a_removed_peer_is_out_at_once_on_an_open_connection(own):
    peer = add(own, "leaver")
    with bus_of(peer) as client:
        assert client.ask("token.keys")["keys"]
        own.run("peer", "remove", "leaver")
        with pytest.raises((Refused, NoAnswer)) as refused:
            client.ask("token.keys", seconds=2)
        if isinstance(refused.value, Refused):
            assert refused.value.reason == "not_allowed"
    assert "leaver" not in [row["name"] for row in own.run("peer", "list")["peers"]]
    with bus_of(peer) as client:
        with pytest.raises(NoAnswer):
            client.ask("token.keys", seconds=1)


def test_peers_are_named_once(own):
    add(own, "twice")
    done = own.tool("peer", "add", "twice", "--role", "gateway", "--out", own.home / "x.peer")
    assert done.returncode != 0 and "twice" in done.stderr


def test_an_operator_over_tcp_asks_the_broker(own):
    peer = add(own, "desk", "operator")
    with bus_of(peer) as client:
        assert b"services" in client.mmi("mmi.stats")
        assert client.ask("key.list")["keys"] is not None


def test_a_broken_policy_is_refused_at_start_and_ignored_at_reload():
    house = House("fp")
    try:
        house.initialise()
        policy = house.home / "etc/policy.toml"
        good = policy.read_text()
        policy.write_text(good.replace('"operator"', '"emperor"', 1))
        broker = subprocess.run(
            [BINARIES / "fusion-broker", "--home", house.home], capture_output=True, text=True,
            timeout=PATIENCE,
        )
        assert broker.returncode == 70 and "emperor" in broker.stderr
        policy.write_text(good)
        child = house.start("broker")
        with Bus(house.ipc) as client:
            assert client.mmi("mmi.service", b"x") == b"404"
            policy.write_text("[[uid]\n")
            child.signal(1)
            until(lambda: b"404" == client.mmi("mmi.service", b"x"), "the broker to go on")
            assert child.is_running()
    finally:
        house.close()


def test_a_broker_without_its_keys_does_not_start(empty):
    empty.initialise()
    (empty.home / "keys/broker.curve").unlink()
    broker = subprocess.run(
        [BINARIES / "fusion-broker", "--home", empty.home], capture_output=True, text=True,
        timeout=PATIENCE,
    )
    assert broker.returncode == 70 and "broker.curve" in broker.stderr
    assert not (empty.home / "run/endpoints.json").exists()
