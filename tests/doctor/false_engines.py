"""Engines of every kind behind one real socket, in the style ``openai``: well, until they are told otherwise."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

from engines.proofs import SENTENCE

MODELS = ("hearing-1", "thinking-1", "speaking-1")

NEVER, CUT = object(), object()
"""An answer that never comes; the end of the connection in place of one."""


@dataclass(frozen=True)
class Answer:
    """One HTTP answer."""

    body: bytes
    kind: str = "application/json"
    status: int = 200


def events(*data: dict[str, Any]) -> Answer:
    """Return a stream of server-sent events."""
    lines = [f"data: {json.dumps(each)}\n\n" for each in data]
    return Answer("".join([*lines, "data: [DONE]\n\n"]).encode(), "text/event-stream")


def says(**delta: str) -> dict[str, Any]:
    """Return a chunk of a chat completion."""
    return {"choices": [{"index": 0, "delta": delta}]}


def refuses(status: int, code: str = "") -> Answer:
    """Return an error in OpenAI's shape."""
    return Answer(json.dumps({"error": {"message": "no", "code": code or None}}).encode(), status=status)


def hears(text: str) -> Answer:
    """Return a transcription."""
    return Answer(json.dumps({"text": text}).encode())


PAGE = Answer(b"<!doctype html><title>Welcome</title>", "text/html; charset=utf-8")

STT, LLM, TTS, LIST = "/v1/audio/transcriptions", "/v1/chat/completions", "/v1/audio/speech", "/v1/models"

WELL: Mapping[str, object] = {
    STT: hears(SENTENCE["en"]),
    LLM: events(says(content="Good morning.")),
    TTS: Answer(b"\x01\x00\x02\x00" * 6_000, "audio/pcm"),
    LIST: Answer(json.dumps({"data": [{"id": name} for name in MODELS]}).encode()),
}


@dataclass
class Engines:
    """Engines of every kind at one address: ``answers`` by path, 404 elsewhere."""

    port: int
    answers: dict[str, object] = field(default_factory=lambda: dict(WELL))

    @property
    def url(self) -> str:
        """The base address, in the style ``openai``."""
        return f"http://127.0.0.1:{self.port}/v1"


@contextmanager
def serving() -> Iterator[Engines]:
    """Serve on a free port of this machine."""
    over = threading.Event()

    class Answering(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        engines: ClassVar[Engines]

        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self._answer()

        def _answer(self) -> None:
            answer = self.engines.answers.get(self.path, refuses(404))
            if answer is NEVER:
                over.wait()
                return
            self.close_connection = answer is CUT
            if answer is CUT:
                return
            assert isinstance(answer, Answer)
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.kind)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as http:
        http.daemon_threads = True
        Answering.engines = Engines(http.server_port)
        serving = threading.Thread(target=http.serve_forever, daemon=True)
        serving.start()
        try:
            yield Answering.engines
        finally:
            over.set()
            http.shutdown()
            serving.join()
