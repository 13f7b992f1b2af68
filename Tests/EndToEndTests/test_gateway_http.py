"""The gateway's HTTP server, by raw bytes: framing, bounds, drain, TLS, what operators read."""

import datetime
import http.client
import ipaddress
import json
import signal
import socket
import ssl
import time
import urllib.parse

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from prometheus_client.parser import text_string_to_metric_families

from house import BINARIES, PATIENCE, Child, is_alive, until


def place(house):
    url = urllib.parse.urlsplit(house.endpoints()["http"])
    return url.hostname, url.port


def connect(where):
    return socket.create_connection(where, timeout=PATIENCE)


def raw(where, data):
    """Everything that comes back up to the end of the connection."""
    with connect(where) as wire:
        wire.sendall(data)
        return rest(wire)


def rest(wire):
    data = b""
    try:
        while part := wire.recv(65536):
            data += part
    except ConnectionResetError:
        pass
    return data


def get(where, path, headers=None, method="GET"):
    client = http.client.HTTPConnection(*where, timeout=PATIENCE)
    try:
        client.request(method, path, headers=headers or {})
        answer = client.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        client.close()


@pytest.fixture(scope="module")
def where(own):
    return place(own)


def log_lines(house, instance="1"):
    path = house.home / f"log/fusion-gateway-{instance}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()]


# Requests that a server may not take, or may read in two ways.

GOOD = b"GET /healthz HTTP/1.1\r\nHost: h\r\n"

BAD = {
    "two lengths": b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx",
    "length and coding": b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n"
                         b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "another coding": b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: xchunked\r\n\r\n",
    "coding and blank": b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "folded coding": b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
    "old and chunked": b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "no host": b"GET /healthz HTTP/1.1\r\n\r\n",
    "two hosts": GOOD + b"Host: h\r\n\r\n",
    "blank before colon": GOOD + b"X : 1\r\n\r\n",
    "folded": GOOD + b"X: 1\r\n 2\r\n\r\n",
    "no colon": GOOD + b"X\r\n\r\n",
    "bare LF": GOOD + b"X: 1\n\r\n",
    "bare CR": GOOD + b"X: 1\rY: 2\r\n\r\n",
    "NUL": GOOD + b"X: 1\x002\r\n\r\n",
    "control": GOOD + b"X: \x01\r\n\r\n",
    "not UTF-8": GOOD + b"X: \xff\r\n\r\n",
    "blank in target": b"GET /a b HTTP/1.1\r\nHost: h\r\n\r\n",
    "NUL in target": b"GET /\x00 HTTP/1.1\r\nHost: h\r\n\r\n",
    "8 bits in target": b"GET /\xc3\xa9 HTTP/1.1\r\nHost: h\r\n\r\n",
    "authority": b"CONNECT h:1 HTTP/1.1\r\nHost: h\r\n\r\n",
    "two blanks": b"GET  /healthz HTTP/1.1\r\nHost: h\r\n\r\n",
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_head_gets_400_and_the_end(where, name):
    answer = raw(where, BAD[name] + b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 400 "), answer[:200]
    assert answer.count(b"HTTP/1.1 ") == 1
    assert b"\r\nok\n" not in answer


@pytest.mark.parametrize("length", [b"-1", b"+1", b"1,1", b"0x1", b"1 1", b""])
def test_a_length_that_is_none_ends_the_connection(where, length):
    answer = raw(where, b"POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: " + length
                 + b"\r\n\r\n" + b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"\r\nok\n" not in answer


def test_bounds(where):
    too_large = raw(where, b"POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999\r\n\r\n")
    assert too_large.startswith(b"HTTP/1.1 413 ")
    wide = raw(where, GOOD + b"X: " + b"x" * 65536 + b"\r\n\r\n")
    assert wide.startswith(b"HTTP/1.1 431 ")
    long = raw(where, b"GET /" + b"x" * 65536 + b" HTTP/1.1\r\nHost: h\r\n\r\n")
    assert long.startswith(b"HTTP/1.1 414 ")
    chunks = b"POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert raw(where, chunks + b"100000\r\n" + b"x" * 0x100000) == b""
    assert raw(where, b"\x16\x03\x01\x02\x00\x01\n") == b""
    assert raw(where, GOOD + b"Connection: close\r\n\r\n").endswith(b"\r\n\r\nok\n")


def test_kept_connections_pipelining_and_head(where):
    answer = raw(where, (GOOD + b"\r\n") * 50 + GOOD.replace(b"GET", b"HEAD")
                 + b"Connection: close\r\n\r\n")
    assert answer.count(b"HTTP/1.1 200 OK\r\n") == 51
    assert answer.count(b"Content-Length: 3\r\n") == 51
    assert answer.count(b"\r\n\r\nok\n") == 50
    assert answer.endswith(b"\r\n\r\n")
    with connect(where) as wire:
        for _ in range(3):
            wire.sendall(b"GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            data = b""
            while not data.endswith(b"ok\n"):
                data += wire.recv(65536)
            assert data.startswith(b"HTTP/1.1 200 ") or data.startswith(b"HTTP/1.0 200 ")


def test_methods_and_targets(where):
    status, headers, _ = get(where, "/healthz", method="DELETE")
    assert status == 405 and headers["Allow"] == "GET, HEAD"
    absolute = raw(where, b"GET http://other/healthz HTTP/1.1\r\nHost: h\r\n"
                          b"Connection: close\r\n\r\n")
    assert absolute.startswith(b"HTTP/1.1 200 ")
    assert raw(where, b"OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n").startswith(b"HTTP/1.1 204 ")
    for path in ("/healthz/", "/healthzz", "//healthz", "/health%7a"):
        assert get(where, path)[0] != 200, path


def test_every_answer_carries_its_ids(where):
    trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    status, headers, _ = get(where, "/healthz", {"traceparent": trace})
    assert status == 200
    mine = headers["traceparent"].split("-")
    assert mine[1] == trace.split("-")[1] and mine[2] != trace.split("-")[2] and mine[3] == "01"
    assert len(headers["X-Request-Id"]) == 36 and headers["X-Content-Type-Options"] == "nosniff"
    _, other, _ = get(where, "/healthz", {"traceparent": "nonsense"})
    assert len(other["traceparent"]) == 55 and other["traceparent"] != headers["traceparent"]
    assert other["X-Request-Id"] != headers["X-Request-Id"]


def test_the_access_log_names_nobody(own, where):
    number, query = "+8613812345678", "SecretQueryValue42"
    quoted = urllib.parse.quote(number)
    status, headers, _ = get(
        where, f"/nowhere/{quoted}?phone={quoted}&k={query}",
        {"User-Agent": "AgentOfAPerson", "X-Forwarded-For": "203.0.113.77"})
    assert status == 404
    request = headers["X-Request-Id"]

    def line():
        found = [row for row in log_lines(own) if row.get("http.request.id") == request]
        return found[0] if found else None

    row = until(line, "the line of the access log")
    assert row["message"] == "request"
    assert (row["http.method"], row["http.route"], row["http.status"]) == ("GET", "none", 404)
    text = (own.home / "log/fusion-gateway-1.jsonl").read_text()
    for secret in (number, number[1:], "%2B86", query, "AgentOfAPerson", "203.0.113.77", "nowhere"):
        assert secret not in text, secret


def test_metrics_are_read_by_prometheus(where):
    for _ in range(3):
        get(where, "/healthz")
    status, headers, body = get(where, "/metrics")
    assert status == 200
    assert headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    families = {family.name: family for family in text_string_to_metric_families(body.decode())}
    requests = families["http_requests"]
    assert requests.type == "counter" and requests.documentation
    health = [sample for sample in requests.samples
              if sample.labels == {"route": "health", "status": "200"}]
    assert [sample.name for sample in health] == ["http_requests_total"]
    assert health[0].value >= 3
    seconds = families["http_request_seconds"]
    assert seconds.type == "summary"
    quantiles = {sample.labels["quantile"] for sample in seconds.samples
                 if "quantile" in sample.labels}
    assert quantiles == {"0.5", "0.99"}
    counts = [sample.value for sample in seconds.samples
              if sample.name.endswith("_count") and sample.labels == {"route": "health"}]
    assert counts and counts[0] >= 3
    assert families["http_request_seconds_max"].type == "gauge"
    # Later readings are not smaller, and the one before is counted.
    later = counters(where)
    first = {(sample.name, *sorted(sample.labels.items())): sample.value
             for family in families.values() if family.type == "counter"
             for sample in family.samples}
    assert first and {key: value for key, value in first.items() if later.get(key, -1) < value} == {}
    mine = ("http_requests_total", ("route", "metrics"), ("status", "200"))
    assert later[mine] >= first.get(mine, 0) + 1


def counters(where):
    """Every sample of a counter, by name and labels."""
    text = get(where, "/metrics")[2].decode()
    return {(sample.name, *sorted(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(text) if family.type == "counter"
            for sample in family.samples}


def test_what_is_open_can_be_read(empty):
    empty.initialise()
    empty.start("gateway", "1", "--set", "gateway.connectionsPerAddressMax=3")
    where = place(empty)

    def values():
        """None while there is no room for who asks."""
        try:
            return {name[0]: value for name, value in counters(where).items() if len(name) == 1}
        except (ConnectionError, http.client.HTTPException):
            return None

    def open_count():
        seen = values()
        return seen and (seen.get("http_connections_opened_total", 0)
                         - seen.get("http_connections_closed_total", 0))

    wires = [connect(where) for _ in range(2)]
    for wire in wires:
        wire.sendall(GOOD + b"\r\n")
        assert b"ok\n" in wire.recv(65536)
    third = connect(where)
    third.sendall(GOOD + b"\r\n")
    assert b"ok\n" in third.recv(65536)
    assert raw(where, GOOD + b"\r\n") == b""
    third.close()
    # As of a moment ago, when nobody asked.
    until(lambda: open_count() == 2, values)
    assert until(values, "room")["http_connections_refused_total"] >= 1
    for wire in wires:
        wire.close()
    until(lambda: open_count() == 0, values)


def test_readiness_names_who_is_silent_and_recovers(empty):
    empty.initialise()
    for daemon in ("broker", "token", "verification", "smscode", "scene", "gateway"):
        empty.start(daemon)
    where = place(empty)

    def ready():
        status, _, body = get(where, "/readyz")
        return status, json.loads(body)

    until(lambda: ready() == (200, {"ready": True, "notReady": []}), lambda: ready())
    scene = next(child for child in empty.children if "fusion-scene" in str(child.process.args))
    scene.end()
    until(lambda: ready() == (503, {"ready": False, "notReady": ["scene"]}), lambda: ready())
    assert get(where, "/healthz")[0] == 200
    empty.start("scene")
    until(lambda: ready()[0] == 200, lambda: ready())
    empty.kill("broker")
    until(lambda: ready()[0] == 503, lambda: ready())
    assert ready()[1]["notReady"] == ["token", "verification", "smscode", "scene"]
    assert get(where, "/healthz")[0] == 200


def test_a_drain_answers_what_is_in_flight(empty):
    empty.initialise()
    empty.start("broker")
    gateway = empty.start("gateway")
    where = place(empty)
    idle = connect(where)
    idle.sendall(GOOD + b"\r\n")
    assert b"ok\n" in idle.recv(65536)
    # The server's 100 says that it has this request in hand.
    inflight = connect(where)
    inflight.sendall(b"POST /healthz HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n"
                     b"Content-Length: 1\r\n\r\n")
    assert inflight.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
    gateway.signal(signal.SIGTERM)

    def is_refused():
        try:
            connect(where).close()
        except ConnectionRefusedError:
            return True

    until(is_refused, "new connections to be refused")
    assert gateway.is_running() and "http" not in empty.endpoints()
    inflight.sendall(b"x")
    data = rest(inflight)
    assert data.startswith(b"HTTP/1.1 405 ") and b"Connection: close" in data
    assert idle.recv(65536) == b""
    assert gateway.wait() == 0
    # The broker's part of the file is still there.
    assert empty.endpoints()["ipc"]


def test_the_port_is_taken_and_instances_count_up(empty):
    empty.initialise()
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        child = Child([BINARIES / "fusion-gateway", "--home", empty.home,
                       "--set", f"gateway.httpPort={port}"])
        assert child.wait() == 70
        assert any(f"127.0.0.1 port {port} is taken" in line for line in child.err), child.err
    named = Child([BINARIES / "fusion-gateway", "--home", empty.home, "--instance", "blue",
                   "--set", f"gateway.httpPort={port}"])
    assert named.wait() == 70
    assert any("instance blue has no port" in line for line in named.err), named.err
    with pytest.raises(FileNotFoundError):
        empty.endpoints()
    for attempt in range(20):
        # Two free ports in a row are found by trying.
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port = first.getsockname()[1]
            try:
                second.bind(("127.0.0.1", port + 1))
                break
            except OSError:
                continue
    empty.start("gateway", "1", "--set", f"gateway.httpPort={port}")
    empty.start("gateway", "2", "--set", f"gateway.httpPort={port}")
    assert get(("127.0.0.1", port), "/healthz")[0] == 200
    assert get(("127.0.0.1", port + 1), "/healthz")[0] == 200
    assert empty.endpoints()["http"] == f"http://127.0.0.1:{port}"


def test_connections_have_bounds(empty):
    empty.initialise()
    empty.start("gateway", "1", "--set", "gateway.connectionsPerAddressMax=3",
                "--set", "gateway.idleSeconds=1")
    where = place(empty)
    wires = [connect(where) for _ in range(3)]
    for wire in wires:
        wire.sendall(GOOD + b"\r\n")
        assert b"ok\n" in wire.recv(65536)
    assert raw(where, GOOD + b"\r\n") == b""
    # Idle ones make room.
    for wire in wires:
        assert rest(wire) == b""
        wire.close()
    assert get(where, "/healthz")[0] == 200


# TLS


def certificate(folder, name):
    """A self-signed certificate for 127.0.0.1; gives the files and the number."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.timezone.utc)
    made = (
        x509.CertificateBuilder().subject_name(subject).issuer_name(subject)
        .public_key(key.public_key()).serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]),
            critical=False)
        .sign(key, hashes.SHA256()))
    chain, secret = folder / "chain.pem", folder / "key.pem"
    chain.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption()))
    return chain, secret, made


def served_certificate(where):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with connect(where) as wire, context.wrap_socket(wire) as secure:
        return x509.load_der_x509_certificate(secure.getpeercert(True)).serial_number


def test_tls_1_3_and_nothing_older(empty, tmp_path):
    empty.initialise()
    chain, secret, made = certificate(tmp_path, "first")
    gateway = empty.start("gateway", "1", "--set", f"gateway.tlsCertificateFile={chain}",
                          "--set", f"gateway.tlsKeyFile={secret}")
    where = place(empty)
    assert empty.endpoints()["http"] == f"https://127.0.0.1:{where[1]}"
    context = ssl.create_default_context(cafile=str(chain))
    with connect(where) as wire, context.wrap_socket(wire, server_hostname="127.0.0.1") as secure:
        assert secure.version() == "TLSv1.3"
        secure.sendall(GOOD + b"\r\n" + GOOD + b"Connection: close\r\n\r\n")
        data = rest(secure)
    assert data.count(b"HTTP/1.1 200 ") == 2
    assert b"Strict-Transport-Security: max-age=" in data
    old = ssl.create_default_context(cafile=str(chain))
    old.maximum_version = ssl.TLSVersion.TLSv1_2
    with connect(where) as wire, pytest.raises((ssl.SSLError, ConnectionError)):
        old.wrap_socket(wire, server_hostname="127.0.0.1")
    assert b"HTTP/1.1 200" not in raw(where, GOOD + b"\r\n")

    # A new certificate is taken at SIGHUP; a broken one is not.
    _, _, newer = certificate(tmp_path, "second")
    assert served_certificate(where) == made.serial_number
    gateway.signal(signal.SIGHUP)
    until(lambda: served_certificate(where) == newer.serial_number, "the new certificate")
    chain.write_text("nonsense")
    gateway.signal(signal.SIGHUP)
    until(lambda: any(row["message"] == "reload failed" for row in log_lines(empty)),
          "the word about it")
    assert served_certificate(where) == newer.serial_number
    assert is_alive(gateway.pid)


def test_a_certificate_that_cannot_be_used_ends_the_start(empty, tmp_path):
    empty.initialise()
    chain, _, _ = certificate(tmp_path, "one")
    other = tmp_path / "other"
    other.mkdir()
    _, secret, _ = certificate(other, "two")
    for key in (secret, tmp_path / "missing.pem"):
        child = Child([BINARIES / "fusion-gateway", "--home", empty.home,
                       "--set", "gateway.httpPort=0",
                       "--set", f"gateway.tlsCertificateFile={chain}",
                       "--set", f"gateway.tlsKeyFile={key}"])
        assert child.wait() == 70
        assert any(str(key) in line for line in child.err), child.err
    lonely = Child([BINARIES / "fusion-gateway", "--home", empty.home,
                    "--set", f"gateway.tlsKeyFile={secret}"])
    assert lonely.wait() == 78
    assert not empty.pid("gateway")


def test_a_trusted_proxy_tells_that_the_client_came_by_tls(empty):
    empty.initialise()
    empty.start("gateway", "1", "--set", 'gateway.trustedProxies=["127.0.0.0/8"]')
    forwarded = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https"}
    assert "Strict-Transport-Security" in get(place(empty), "/healthz", forwarded)[1]
    assert "Strict-Transport-Security" not in get(place(empty), "/healthz")[1]


def test_nobody_is_believed_by_default(where):
    forwarded = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https"}
    assert "Strict-Transport-Security" not in get(where, "/healthz", forwarded)[1]


def test_slow_requests_end_and_others_are_served_meanwhile(empty):
    """Some hundred connections that say nothing whole do not keep others out, and are closed."""
    empty.initialise()
    empty.start("gateway", "1", "--set", "gateway.idleSeconds=2")
    where = place(empty)
    slow = [connect(where) for _ in range(200)]
    try:
        for wire in slow:
            wire.sendall(b"GET /heal")
        began = time.monotonic()
        for _ in range(20):
            assert get(where, "/healthz")[0] == 200
        assert time.monotonic() - began < 5
        assert {rest(wire) for wire in slow} == {b""}
    finally:
        for wire in slow:
            wire.close()


def test_up_tells_the_address(own, where):
    assert any(line.startswith(f"up: http http://{where[0]}:{where[1]}")
               for line in own.up_process.err)
    row = next(row for row in own.run("ps")["instances"] if row["daemon"] == "fusion-gateway")
    assert row["alive"] and row["answered"]
