"""A language model that answers at once and always the same, in OpenAI's streamed shape; and one that is ill.

It stands at the boundary where a test is about the contract and not about the model's words.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

REPLY = (
    "The flat is on the second floor of a quiet house. It has two bedrooms and a bright living room. "
    "The rent is eighteen hundred dollars a month."
)
CRITERION = {"comment": "Clear and easy to follow.", "score": 3}
ASSESSMENT = {
    "corrections": [],
    "pointsForts": ["Speaks clearly."],
    "pointsAmelioration": ["Longer answers."],
    **dict.fromkeys(("tache", "coherence", "lexique", "grammaire"), CRITERION),
}
PATIENCE_S = 60.0


class ScriptedLlm(ThreadingHTTPServer):
    """Serves on a port of its own. ``replies`` holds the messages of every request for a reply, said or not."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Conversation)
        self.replies: list[list[dict[str, str]]] = []
        self.assessment = json.dumps(ASSESSMENT)
        self.is_failing = False
        self._free = threading.Event()
        self._free.set()

    @property
    def base_url(self) -> str:
        """Address with its ``/v1``."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    @contextmanager
    def failing(self) -> Iterator[None]:
        """Answer 500 to everything."""
        self.is_failing = True
        try:
            yield
        finally:
            self.is_failing = False

    @contextmanager
    def talking_nonsense(self) -> Iterator[None]:
        """Answer evaluations with what is no evaluation."""
        self.assessment = '{"grade": "A+"}'
        try:
            yield
        finally:
            self.assessment = json.dumps(ASSESSMENT)

    @contextmanager
    def holding_evaluations(self) -> Iterator[None]:
        """Answer no evaluation before the block's end."""
        self._free.clear()
        try:
            yield
        finally:
            self._free.set()

    def answer(self, request: dict[str, Any]) -> str | None:
        """Return the text that answers ``request``; ``None`` for a failure."""
        if self.is_failing:
            return None
        if "response_format" in request:
            assert self._free.wait(PATIENCE_S)
            return self.assessment
        if request["max_tokens"] > 1:  # one token is asked for to warm the cache, and is no reply
            self.replies.append(request["messages"])
        return REPLY


class _Conversation(BaseHTTPRequestHandler):
    server: ScriptedLlm

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = self.server.answer(request)
        if text is None:
            self.send_error(500)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
        for chunk in ({"choices": [{"index": 0, "delta": {"content": text}}]}, {"choices": [], "usage": usage}):
            self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""
