"""What a worker bears: many callers at once, callers that stall, half an hour of audio, files that promise too much."""

from __future__ import annotations

import asyncio
import io
import json
import os
import socket
import struct
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest
import soundfile
import soxr

from engines.local import SpeechWorkerSpec, speech_worker
from engines.models import Lock, Store
from engines.supervision import Supervised
from engines.worker.clauses import clauses

SPEECH, TRANSCRIPTIONS = "/audio/speech", "/audio/transcriptions"
LONG = "This is a sentence that takes a while to be spoken, and it goes on for some time. " * 40
CALLERS = 200
IDLE_S = 2.0


@pytest.fixture(scope="session")
def impatient(lock: Lock, models_dir: Path) -> Iterator[Supervised]:
    """A worker with a lane of two, that gives up callers who stall for two seconds."""
    stt, tts, voices, vad = (Store(models_dir).path(lock.profile("ci"), r) for r in ("stt", "tts", "voices", "vad"))
    spec = SpeechWorkerSpec(stt, tts, voices, vad, "en", "af_heart", lane_capacity=2, idle_s=IDLE_S)
    with asyncio.Runner() as runner:
        child = speech_worker(spec)
        running = child.running()
        runner.run(running.__aenter__())
        try:
            runner.run(child.ready(120))
            yield child
        finally:
            runner.run(running.__aexit__(None, None, None))


def open_jobs(base: str, lane: str) -> float:
    return figure_of(base, f'relance_worker_lane_jobs{{lane="{lane}"}} ')


def figure_of(base: str, name: str) -> float:
    return next(
        float(line[len(name) :]) for line in httpx.get(f"{base}/metrics").text.splitlines() if line.startswith(name)
    )


def rss(child: Supervised) -> int:
    """Bytes of memory that the child has in use."""
    pages = int(Path(f"/proc/{child.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def sockets(child: Supervised) -> int:
    """How many sockets the child holds open."""
    return sum(str(file.readlink()).startswith("socket:") for file in Path(f"/proc/{child.pid}/fd").iterdir())


def until(holds: Callable[[], bool], what: str, within_s: float = 60) -> None:
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline, f"expected {what} within {within_s} s"
        time.sleep(0.05)


def connected(base: str) -> socket.socket:
    url = httpx.URL(base)
    return socket.create_connection((url.host, url.port), timeout=60)


def posted(path: str, length: int, kind: str = "application/json") -> bytes:
    head = f"POST /v1{path} HTTP/1.1\r\nHost: worker\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n"
    return head.encode()


def test_two_hundred_callers_are_served_or_told_to_come_back(impatient: Supervised) -> None:
    """A bounded lane: every caller has an answer, 200 or 429 with ``Retry-After``; the worker is well afterwards."""

    async def call_all() -> list[httpx.Response]:
        limits = httpx.Limits(max_connections=None)
        async with httpx.AsyncClient(base_url=impatient.base_url, timeout=120, limits=limits) as client:
            body = {"input": "Yes.", "response_format": "pcm"}
            return await asyncio.gather(*(client.post(SPEECH, json=body) for _ in range(CALLERS)))

    answers = asyncio.run(call_all())
    statuses = Counter(answer.status_code for answer in answers)
    assert set(statuses) == {200, 429}
    assert statuses[200] >= 2
    assert all(answer.headers["retry-after"] == "1" for answer in answers if answer.status_code == 429)
    assert open_jobs(impatient.base_url, "tts") == 0
    assert httpx.post(impatient.base_url + SPEECH, json={"input": "Still well."}, timeout=60).status_code == 200


def test_a_caller_who_stops_reading_does_not_keep_the_lane(impatient: Supervised) -> None:
    """Two of them fill it; after the idle time it is free, no socket is kept, and the rest was never made."""
    steps = 'relance_worker_lane_steps_total{lane="tts"} '
    made_before, open_before = figure_of(impatient.base_url, steps), sockets(impatient)
    body = json.dumps({"input": LONG, "response_format": "wav"}).encode()
    callers = []
    try:
        for _ in range(2):
            caller = connected(impatient.base_url)
            caller.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            caller.sendall(posted(SPEECH, len(body)) + body)
            callers.append(caller)
        until(lambda: open_jobs(impatient.base_url, "tts") == 2, "a full lane")
        until(lambda: open_jobs(impatient.base_url, "tts") == 0, "a free lane", within_s=120)
        until(lambda: sockets(impatient) <= open_before, "no socket of theirs")
    finally:
        for caller in callers:
            caller.close()
    assert figure_of(impatient.base_url, steps) - made_before < len(list(clauses(LONG)))
    assert httpx.post(impatient.base_url + SPEECH, json={"input": "Next, please."}, timeout=60).status_code == 200


@pytest.mark.parametrize(
    ("kind", "path"), [("application/json", SPEECH), ("multipart/form-data; boundary=b", TRANSCRIPTIONS)]
)
def test_half_a_request_is_given_up(impatient: Supervised, kind: str, path: str) -> None:
    """Whoever promises more than they send gets 408, and holds no place meanwhile."""
    with connected(impatient.base_url) as caller:
        caller.sendall(posted(path, 1_000, kind) + b"--b\r\n")
        assert caller.recv(65_536).startswith(b"HTTP/1.1 408 ")
    assert open_jobs(impatient.base_url, "stt") == 0


def test_a_caller_who_hangs_up_frees_the_lane_at_the_next_clause(impatient: Supervised) -> None:
    """Seen in the worker's own figures: the place at once, and the thread after the clause that it is in."""
    body = json.dumps({"input": LONG, "response_format": "pcm"}).encode()
    with connected(impatient.base_url) as caller:
        caller.sendall(posted(SPEECH, len(body)) + body)
        assert caller.recv(16).startswith(b"HTTP/1.1 200")
    until(lambda: open_jobs(impatient.base_url, "tts") == 0, "a free place", within_s=10)
    answer = httpx.post(impatient.base_url + SPEECH, json={"input": "Now me.", "response_format": "pcm"}, timeout=60)
    assert len(answer.content) > 10_000


@pytest.mark.thorough
@pytest.mark.timeout(600)
def test_half_an_hour_of_speech_is_served_in_bounded_memory(impatient: Supervised, two_cities: Path) -> None:
    """Dickens forty times over, in an upload within the limit: words to the end, and some hundred megabytes."""
    samples, rate_hz = soundfile.read(two_cities, dtype="float32")
    quiet = soxr.resample(samples, rate_hz, 16_000)
    spoken = np.tile(quiet, 2)
    half_an_hour = np.concatenate([spoken, np.zeros(30 * 60 * 16_000 - 2 * len(spoken), np.float32), spoken])
    file = io.BytesIO()
    soundfile.write(file, half_an_hour, 16_000, format="OGG", subtype="OPUS")
    before, highest = rss(impatient), 0

    async def hear() -> dict:
        nonlocal highest
        async with httpx.AsyncClient(timeout=580) as client:
            asked = asyncio.create_task(
                client.post(
                    impatient.base_url + TRANSCRIPTIONS,
                    files={"file": file.getvalue()},
                    data={"response_format": "verbose_json"},
                )
            )
            while not asked.done():
                highest = max(highest, rss(impatient))
                await asyncio.wait((asked,), timeout=0.2)
            return asked.result().raise_for_status().json()

    heard = asyncio.run(hear())
    assert heard["duration"] == pytest.approx(1_800, abs=1)
    assert heard["segments"][-1]["end"] > 1_780
    assert heard["text"].lower().count("best of times") >= 3
    assert highest - before < 600e6, f"{(highest - before) / 1e6:.0f} MB more"


def header_of(frames: int, rate_hz: int = 8_000) -> bytes:
    """A WAV file that promises ``frames`` and has none."""
    size = (frames * 2) & 0xFFFFFFFF
    fmt = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, rate_hz, rate_hz * 2, 2, 16)
    return struct.pack("<4sI4s", b"RIFF", (size + 36) & 0xFFFFFFFF, b"WAVE") + fmt + struct.pack("<4sI", b"data", size)


def silence_for(seconds: int, container: str, subtype: str) -> bytes:
    file = io.BytesIO()
    with soundfile.SoundFile(file, "w", 8_000, 1, format=container, subtype=subtype) as sound:
        for _ in range(seconds // 60):
            sound.write(np.zeros(60 * 8_000, np.int16))
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "status"), [("two hours of FLAC", 413), ("a WAV header alone", 200), ("a WAV header that lies", 200)]
)
def test_a_file_that_promises_too_much_costs_nothing(impatient: Supervised, name: str, status: int) -> None:
    """A small file that decodes to hours is refused; a header without what it tells of is an empty file."""
    files = {
        "two hours of FLAC": lambda: silence_for(7_200, "FLAC", "PCM_16"),
        "a WAV header alone": lambda: header_of(0),
        "a WAV header that lies": lambda: header_of(2**31 - 1),
    }
    before = rss(impatient)
    answer = httpx.post(impatient.base_url + TRANSCRIPTIONS, files={"file": files[name]()}, timeout=60)
    assert answer.status_code == status, answer.text
    assert status != 200 or answer.json()["text"] == ""
    assert rss(impatient) - before < 300e6
