"""A local server that speaks the packets of Google's API and of whisper.cpp, and has the real engines do the work."""

from __future__ import annotations

import base64
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx


class Engines:
    """The real ones, by their OpenAI addresses; whoever makes it closes its ``client``."""

    def __init__(self, speech: str, llm: str) -> None:
        self._speech = speech
        self._llm = llm
        self.client = httpx.Client(timeout=60)

    def hear(self, wav: bytes) -> str:
        files = {"file": ("x.wav", wav)}
        heard = self.client.post(f"{self._speech}/audio/transcriptions", files=files).raise_for_status()
        return str(heard.json()["text"])

    def say(self, text: str, voice: str) -> bytes:
        asked = {"input": text, "voice": voice, "response_format": "pcm"}
        return self.client.post(f"{self._speech}/audio/speech", json=asked).raise_for_status().content

    def answer(self, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield llama.cpp's chunks for a request of Google's shape."""
        config = body["generationConfig"]
        said = [*({"role": "system", **each} for each in [body.get("systemInstruction")] if each), *body["contents"]]
        roles = {"system": "system", "user": "user", "model": "assistant"}
        asked = {
            "messages": [{"role": roles[each["role"]], "content": each["parts"][0]["text"]} for each in said],
            "max_tokens": config["maxOutputTokens"],
            "temperature": config["temperature"],
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if "responseJsonSchema" in config:
            named = {"name": "answer", "schema": config["responseJsonSchema"], "strict": True}
            asked["response_format"] = {"type": "json_schema", "json_schema": named}
        with self.client.stream("POST", f"{self._llm}/chat/completions", json=asked) as response:
            for line in response.raise_for_status().iter_lines():
                if line.startswith("data: {"):
                    yield json.loads(line[6:])


def generated(part: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return Google's answer with one part."""
    return {"candidates": [{"content": {"role": "model", "parts": [part]}}], **more}


def generate(engines: Engines, body: dict[str, Any]) -> dict[str, Any]:
    """Answer ``generateContent``: audio to text, or text to audio."""
    parts = body["contents"][0]["parts"]
    if audio := next((part["inlineData"] for part in parts if "inlineData" in part), None):
        return generated({"text": engines.hear(base64.b64decode(audio["data"]))})
    voice = body["generationConfig"]["speechConfig"]["voiceConfig"]["prebuiltVoiceConfig"]["voiceName"]
    pcm = base64.b64encode(engines.say(parts[0]["text"], voice)).decode()
    return generated({"inlineData": {"mimeType": "audio/L16;codec=pcm;rate=24000", "data": pcm}})


def stream(engines: Engines, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Answer ``streamGenerateContent``."""
    for chunk in engines.answer(body):
        if usage := chunk.get("usage"):
            told = {
                "promptTokenCount": usage["prompt_tokens"],
                "cachedContentTokenCount": usage["prompt_tokens_details"]["cached_tokens"],
                "candidatesTokenCount": usage["completion_tokens"],
            }
            yield {"usageMetadata": told}
        elif text := chunk["choices"][0]["delta"].get("content"):
            yield generated({"text": text})


def form_file(head: str, body: bytes) -> bytes:
    """Return the ``file`` of a multipart form."""
    form = BytesParser(policy=HTTP).parsebytes(f"Content-Type: {head}\r\n\r\n".encode() + body)
    names = {part.get_param("name", header="content-disposition"): part for part in form.iter_parts()}
    return bytes(names["file"].get_payload(decode=True))


@contextmanager
def serving(speech: str, llm: str) -> Iterator[str]:
    """Serve on a free port of this machine; give the address without a path."""
    engines = Engines(speech, llm)

    class Bridge(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path == "/inference":
                self._answer({"text": engines.hear(form_file(self.headers["Content-Type"], body))})
            elif re.fullmatch(r"/v1beta/models/\w+:generateContent", self.path):
                self._answer(generate(engines, json.loads(body)))
            elif re.fullmatch(r"/v1beta/models/\w+:streamGenerateContent\?alt=sse", self.path):
                self._send("text/event-stream", lambda: self._events(json.loads(body)))
            else:
                self.send_error(404)

        def _answer(self, told: dict[str, Any]) -> None:
            self._send("application/json", lambda: self.wfile.write(json.dumps(told).encode()))

        def _events(self, body: dict[str, Any]) -> None:
            for chunk in stream(engines, body):
                self.wfile.write(f"data: {json.dumps(chunk)}\r\n\r\n".encode())

        def _send(self, kind: str, write: Callable[[], Any]) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.end_headers()
            try:
                write()
            except ConnectionError:  # the caller has gone, which is what some tests are about
                self.close_connection = True

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Bridge) as http:
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{http.server_port}"
        finally:
            http.shutdown()
            thread.join()
            engines.client.close()
