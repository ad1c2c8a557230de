import json
import socket
import threading
import time

import pytest

from countmorl.serving import patience
from countmorl.serving.app import make_app
from countmorl.serving.listening import make_server


class Nothing:
    def __init__(self):
        self.contract = {"x": 1}

    def numbers(self, obs):
        return []

    def rows(self, rows):
        return []


@pytest.fixture
def address(monkeypatch):
    """A service on a free port of this machine, for the length of a test."""
    monkeypatch.setattr(patience, "HEADERS", 0.2)
    server = make_server(make_app(Nothing()), host="127.0.0.1", port=0)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield server.servers[0].sockets[0].getsockname()
    server.should_exit = True
    thread.join(10)


def said(connection: socket.socket) -> bytes:
    """Everything until the other side hangs up."""
    connection.settimeout(60)
    parts = []
    with connection:
        while part := connection.recv(4096):
            parts.append(part)
    return b"".join(parts)


def test_whoever_never_ends_a_head_is_hung_up_on_and_others_are_served(address):
    slow = [socket.create_connection(address) for _ in range(3)]
    slow[1].sendall(b"GET /contract HT")
    slow[2].sendall(b"GET /contract HTTP/1.1\r\nHost: x\r\n\r\n")  # Kept, and never used again.
    with socket.create_connection(address) as good:
        good.sendall(b"GET /contract HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        answer = said(good)
    assert json.loads(answer.partition(b"\r\n\r\n")[2]) == {"x": 1}
    assert [said(each).partition(b"\r\n")[0] for each in slow] == [b"", b"", b"HTTP/1.1 200 OK"]


def test_what_is_no_http(address):
    with socket.create_connection(address) as odd:
        odd.sendall(b"\x16\x03\x01 hello\r\n\r\n")
        assert said(odd).startswith(b"HTTP/1.1 400")
