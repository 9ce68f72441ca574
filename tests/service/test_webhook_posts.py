"""One message of a webhook: to which addresses it goes, how long it takes, and its signature."""

import base64
import contextlib
import socket
import ssl
import time
from datetime import UTC, datetime

import pytest

pytest.importorskip("standardwebhooks", reason="pip install standardwebhooks")
from standardwebhooks import Webhook

from helpers.service.webhook_receivers import Receiver
from prudent import PrudentError
from prudent.service.work import post


@pytest.fixture
def receiver():
    receiver = Receiver()
    yield receiver
    receiver.close()


PRIVATE = """
127.0.0.1 127.9.9.9 10.0.0.1 172.16.5.4 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1
255.255.255.255 ::1 :: fe80::1 fc00::1 ff02::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 2002:7f00:1:: 64:ff9b::7f00:1
64:ff9b::a00:1
"""


@pytest.mark.parametrize("address", PRIVATE.split())
def test_no_message_goes_to_this_machine_or_its_network(address, monkeypatch):
    host = f"[{address}]" if ":" in address else address
    with pytest.raises(PrudentError, match="--allow-private-webhooks"):
        post.check_address(f"https://{host}/", private=False)
    found = [(0, 0, 0, "", ("93.184.215.14", 443)), (0, 0, 0, "", (address, 443))]  # also if only one of several is
    monkeypatch.setattr(post.socket, "getaddrinfo", lambda *given, **named: found)
    monkeypatch.setattr(post.socket, "create_connection", None)
    done = post.post("https://rebound.example/", b"s", "evt_1", b"{}")
    assert done.status == 0
    assert "--allow-private-webhooks" in done.words


def test_public_addresses_are_public():
    assert all(map(post.is_public, ("93.184.215.14", "8.8.8.8", "2606:2800:21f:cb07:6820:80da:af6b:8b2c")))


def test_the_name_is_looked_up_once_and_the_connection_goes_to_what_was_checked(monkeypatch):
    looked, connected = [], []

    def look(host, port, **about):
        looked.append(host)
        return [(0, 0, 0, "", ("93.184.215.14" if len(looked) == 1 else "127.0.0.1", port))]

    def connect(address, timeout):
        connected.append(address)
        raise ConnectionRefusedError("refused")

    monkeypatch.setattr(post.socket, "getaddrinfo", look)
    monkeypatch.setattr(post.socket, "create_connection", connect)
    assert post.post("https://example.org/", b"s", "evt_1", b"{}") == (0, "refused", 0.0)
    assert (looked, connected) == (["example.org"], [("93.184.215.14", 443)])


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.org/", "file:///etc/passwd", "example.org", "https://", "https://a:b@example.org/",
        "https://example.org:0/", "https://example.org:99999/", "https://example.org/#x", "https://exa mple.org/",
        "https://example.org/\r\nX: y", "https://exämple.org/", "http://example.org/", "https://[::1", "",
    ],
)  # fmt: skip
def test_what_is_no_address_of_a_receiver_is_refused(url):
    with pytest.raises(PrudentError, match="webhook: "):
        post.check_address(url, private=False)


@pytest.mark.parametrize("how", ["silent", "dripping", "endless", "not HTTP"])
def test_an_attempt_ends_in_time_whatever_the_receiver_does(receiver, monkeypatch, how):
    monkeypatch.setattr(post, "SECONDS", 0.4)

    def behaves(handler):
        line = handler.connection
        if how == "silent":
            time.sleep(1.0)
        elif how == "not HTTP":
            line.sendall(b"\x00\xff hello\r\n\r\n")
        else:
            line.sendall(b"HTTP/1.1 200 OK\r\n")
            with contextlib.suppress(OSError):
                for _ in range(100_000):
                    line.sendall(b"x" if how == "dripping" else b"x: y\r\n" * 1000)
                    time.sleep(0.01 if how == "dripping" else 0.0)
        handler.close_connection = True

    receiver.behaves = behaves
    since = time.monotonic()
    done = post.post(receiver.url, b"s", "evt_1", b"{}", private=True)
    assert done.status == 0
    assert done.words.isprintable()
    assert time.monotonic() - since < 8.0


def test_a_long_answer_is_not_read(receiver):
    def behaves(handler):
        handler.send_response(200)
        handler.send_header("content-length", str(10**12))
        handler.end_headers()
        with contextlib.suppress(OSError):
            while True:
                handler.wfile.write(b"x" * 65536)

    receiver.behaves = behaves
    assert post.post(receiver.url, b"s", "evt_1", b"{}", private=True).status == 200


def test_a_name_that_is_not_found_in_time_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(post, "SECONDS", 0.2)
    monkeypatch.setattr(post.socket, "getaddrinfo", lambda *given, **named: time.sleep(0.5) or [])
    assert post.post("https://example.org/", b"s", "evt_1", b"{}") == (0, "no answer within 0.2 s", 0.0)


def test_a_receiver_without_a_certificate_for_its_name_is_told_nothing(monkeypatch):
    listener = socket.create_server(("127.0.0.1", 0))
    seen = []

    def handshake(self, line, server_hostname):
        seen.append((self.verify_mode, self.check_hostname, server_hostname))
        raise ssl.SSLCertVerificationError("certificate verify failed")

    monkeypatch.setattr(ssl.SSLContext, "wrap_socket", handshake)
    done = post.post(f"https://localhost:{listener.getsockname()[1]}/", b"s", "evt_1", b"{}", private=True)
    assert (done.status, "certificate verify failed" in done.words) == (0, True)
    assert seen == [(ssl.CERT_REQUIRED, True, "localhost")]
    listener.close()


def test_the_signature_is_that_of_the_standard():
    secret, at, body = b"0123456789abcdef0123456789abcdef", 1_700_000_000, b'{"type": "x"}'
    theirs = Webhook(base64.b64encode(secret).decode())
    expected = theirs.sign("evt_1", datetime.fromtimestamp(at, UTC), body.decode())
    assert post.signature(secret, "evt_1", at, body) == expected
    assert post.signature(secret, "evt_2", at, body) != expected
