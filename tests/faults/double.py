"""An engine's server on a real socket that fails as a test tells it, turn by turn, and sees when its caller leaves."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

PATIENCE_S = 90.0


class Exchange:
    """One request and its answer, which goes out in chunks; the ``number``-th of those that are answered alike."""

    def __init__(self, head: bytes, body: bytes, number: int, writer: asyncio.StreamWriter) -> None:
        self.head, self.body, self.number = head, body, number
        self.begun_at = time.monotonic()
        self.left_at: float | None = None
        """When the caller closed the connection before the answer was whole."""
        self._left = threading.Event()
        self._writer = writer

    async def send(self, data: bytes) -> None:
        """Send bytes as they are."""
        self._writer.write(data)
        await self._writer.drain()

    async def start(self, kind: str, status: int = 200, **headers: str) -> None:
        """Send the head of an answer."""
        lines = {"Content-Type": kind, "Transfer-Encoding": "chunked", "Connection": "close"}
        lines |= {name.replace("_", "-"): value for name, value in headers.items()}
        told = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        await self.send(f"HTTP/1.1 {status} X\r\n{told}\r\n".encode())

    async def part(self, data: bytes) -> None:
        """Send a part of the body; an empty one is its end."""
        await self.send(b"%x\r\n%s\r\n" % (len(data), data))

    async def for_ever(self) -> None:
        """Say no more, and do not close."""
        await asyncio.Event().wait()

    def cut(self) -> None:
        """Reset the connection."""
        self._writer.transport.abort()

    def leave(self) -> None:
        """The caller has left."""
        self.left_at = time.monotonic()
        self._left.set()

    async def left(self) -> float:
        """Wait until the caller has left; return when, on the clock of :func:`time.monotonic`."""
        assert await asyncio.to_thread(self._left.wait, PATIENCE_S)
        assert self.left_at is not None
        return self.left_at


Answer = Callable[[Exchange], Awaitable[None]]


class Double:
    """Serves on a port of its own, in a thread of its own. ``exchanges`` are all so far.

    A request whose body holds the mark of a rule is answered by that rule, any other one by ``answer``.
    """

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.rules: dict[bytes, Answer] = {}
        self.exchanges: list[Exchange] = []
        self.bugs: list[BaseException] = []
        self.port = 0
        self._counts: dict[bytes, int] = {}
        self._loop = asyncio.new_event_loop()
        self._listening: asyncio.Server | None = None
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Base address, which ends with ``/v1``."""
        return f"http://127.0.0.1:{self.port}/v1"

    def tell(self, answer: Answer, mark: str | bytes = b"") -> None:
        """Answer requests that hold ``mark`` in this way from now on, or those without any mark; counts begin anew."""
        mark = _bytes(mark)
        self._counts.pop(mark, None)
        if mark:
            self.rules = {**self.rules, mark: answer}
        else:
            self.answer = answer

    def asked(self, mark: str | bytes = b"") -> list[Exchange]:
        """Return the exchanges whose request holds ``mark``."""
        return [each for each in self.exchanges if _bytes(mark) in each.body]

    def listen(self) -> None:
        """Accept connections, at the same port as before; nothing if that is so."""
        if self._listening is not None:
            return

        async def start() -> asyncio.Server:
            return await asyncio.start_server(self._serve, "127.0.0.1", self.port)

        self._listening = asyncio.run_coroutine_threadsafe(start(), self._loop).result()
        self.port = self._listening.sockets[0].getsockname()[1]

    def refuse(self) -> None:
        """Refuse connections; nothing if that is so."""
        if (listening := self._listening) is None:
            return
        self._listening = None

        async def end() -> None:
            listening.close()
            await listening.wait_closed()

        asyncio.run_coroutine_threadsafe(end(), self._loop).result()

    def stop(self) -> None:
        """End it all."""
        self.refuse()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        assert self.bugs == []

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            exchange, answer = await self._take(reader, writer)
            await self._answer(exchange, answer, reader)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        except Exception as bug:
            self.bugs.append(bug)
        finally:
            writer.close()

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[Exchange, Answer]:
        head = await reader.readuntil(b"\r\n\r\n")
        (length,) = [line[15:] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        body = await reader.readexactly(int(length))
        mark = next((mark for mark in self.rules if mark in body), b"")
        self._counts[mark] = self._counts.get(mark, 0) + 1
        exchange = Exchange(head, body, self._counts[mark], writer)
        self.exchanges.append(exchange)
        return exchange, self.rules.get(mark, self.answer)

    async def _answer(self, exchange: Exchange, answer: Answer, reader: asyncio.StreamReader) -> None:
        answering = asyncio.ensure_future(answer(exchange))
        leaving = asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                exchange.leave()
                return
            await answering
        except ConnectionError:
            exchange.leave()
        finally:
            answering.cancel()
            leaving.cancel()
            await asyncio.gather(answering, leaving, return_exceptions=True)


def _bytes(mark: str | bytes) -> bytes:
    return mark if isinstance(mark, bytes) else mark.encode()


@contextmanager
def serving(answer: Answer) -> Iterator[Double]:
    """Serve for the length of the block."""
    double = Double(answer)
    double.listen()
    try:
        yield double
    finally:
        double.stop()
