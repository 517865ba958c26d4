"""Sockets as they must be for frames to leave at once."""

from __future__ import annotations

import socket
from collections.abc import Callable

import pytest

from engines.worker.__main__ import _listen as worker_listens
from server.cli.serve import listen


@pytest.mark.parametrize("listening", [lambda: listen("127.0.0.1", 0), lambda: worker_listens(0)])
def test_a_small_frame_does_not_wait_for_the_one_before(listening: Callable[[], socket.socket]) -> None:
    """Accepted connections have TCP_NODELAY: without it the second of two small writes is held back 40 ms."""
    with listening() as listener:
        listener.listen()
        with socket.create_connection(listener.getsockname()), listener.accept()[0] as accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
