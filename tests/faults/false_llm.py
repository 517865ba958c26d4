"""A language model on a real socket that answers as it is told: nonsense, invalid JSON, or never."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

from server.exam.assessment import CRITERIA

ASSESSMENT = {
    **{key: {"score": 2, "comment": "clear"} for key in CRITERIA["en"]},
    "pointsForts": ["a clear voice"],
    "pointsAmelioration": ["longer sentences"],
    "corrections": [],
}
PATIENCE_S = 90.0
USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


class FalseLlm:
    """What it says: ``reply`` to the examiner's prompts, ``assessment`` to an evaluation's; ``None``: never a word."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.tell()

    def tell(self, reply: str | None = "That is a fine day.", assessment: str | None = json.dumps(ASSESSMENT)) -> None:
        """Answer in this way from now on; the counts begin anew."""
        self.reply, self.assessment = reply, assessment
        self.asked = {"reply": 0, "assessment": 0}
        self._asked_for_reply = threading.Event()

    def take(self, kind: str) -> str | None:
        """Count a request; return the answer."""
        self.asked[kind] += 1
        if kind == "reply":
            self._asked_for_reply.set()
        return self.reply if kind == "reply" else self.assessment

    async def asked_for_reply(self) -> None:
        """Wait until the examiner has asked for its next words."""
        assert await asyncio.to_thread(self._asked_for_reply.wait, PATIENCE_S)


@contextmanager
def serving() -> Iterator[FalseLlm]:
    """Serve on a free port of this machine."""
    over = threading.Event()

    class Answering(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        llm: ClassVar[FalseLlm]

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            kind = "assessment" if "response_format" in body else "reply"
            text = self.llm.take(kind)
            self.close_connection = True
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            if text is None:
                over.wait()
                return
            for chunk in ({"choices": [{"index": 0, "delta": {"content": text}}]}, {"choices": [], "usage": USAGE}):
                self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
            self.wfile.write(b"data: [DONE]\n\n")

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as http:
        http.daemon_threads = True
        Answering.llm = FalseLlm(f"http://127.0.0.1:{http.server_port}/v1")
        serving = threading.Thread(target=http.serve_forever, daemon=True)
        serving.start()
        try:
            yield Answering.llm
        finally:
            over.set()
            http.shutdown()
            serving.join()
