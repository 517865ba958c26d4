from __future__ import annotations

import pytest

from server.client.address import read_address
from server.client.errors import WrongAddress


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:8000",
        "ftp://host",
        "ws://",
        "ws://host:port",
        "ws://host:0",
        "ws://host:99999",
        "ws://[::1",
        "ws://h/?a=1",
    ],
)
def test_what_is_no_server_address_is_refused(url):
    """The message shows what was given and what is expected."""
    with pytest.raises(WrongAddress, match="expected a server as ws://HOST:PORT"):
        read_address(url)


@pytest.mark.parametrize(
    ("url", "web", "exam"),
    [
        ("ws://localhost:8000", "http://localhost:8000", "ws://localhost:8000/t1/live?token=a%2Fb"),
        ("http://localhost:8000/", "http://localhost:8000", "ws://localhost:8000/t1/live?token=a%2Fb"),
        ("wss://exam.example/oral/", "https://exam.example/oral", "wss://exam.example/oral/t1/live?token=a%2Fb"),
        ("ws://[::1]:80", "http://[::1]:80", "ws://[::1]:80/t1/live?token=a%2Fb"),
    ],
)
def test_both_addresses_follow_from_one(url, web, exam):
    """HTTP and WebSocket have the same host, port and path, and the same security."""
    address = read_address(url)
    assert address.web == web
    assert address.exam("t1", {"token": "a/b"}) == exam


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("ws://localhost", True),
        ("ws://127.0.0.9", True),
        ("ws://[::1]", True),
        ("ws://10.0.0.1", False),
        ("ws://exam.example", False),
    ],
)
def test_this_machine_is_known(url, local):
    """A loopback address is never reached through a proxy."""
    assert read_address(url).is_local is local
