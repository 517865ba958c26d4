from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from dataclasses import dataclass

import numpy as np
import pytest
import soundfile

RELANCE = (sys.executable, "-m", "server.cli.main", "exam")


@dataclass(frozen=True)
class Run:
    """What a finished command left: its status and what it wrote."""

    status: int
    out: str
    err: str


async def start(*arguments: object, **environment: str) -> asyncio.subprocess.Process:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("RELANCE_")}
    return await asyncio.create_subprocess_exec(
        *RELANCE,
        *(str(argument) for argument in arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=inherited | {"COLUMNS": "200", "NO_COLOR": "1"} | environment,
    )


async def finish(process: asyncio.subprocess.Process) -> Run:
    out, err = await process.communicate()
    assert process.returncode is not None
    return Run(process.returncode, out.decode(), err.decode())


async def relance(*arguments: object, **environment: str) -> Run:
    return await finish(await start(*arguments, **environment))


async def closing(candidate) -> None:
    await candidate.close()


@pytest.fixture
def monologue(report):
    """A T1 server: hears the candidate to the end, then reports."""

    async def script(candidate):
        await candidate.say({"type": "caption", "role": "candidate", "text": "Bonjour."})
        await candidate.hear_until("end")
        await candidate.say({"type": "report", "data": report})
        await candidate.close()

    return script


FAST = ("--token", "t", "--speed", 50)


def one_line_error(run: Run, *parts: str) -> None:
    assert run.status == 1
    assert run.out == ""
    assert len(run.err.strip().splitlines()) == 1
    for part in parts:
        assert part in run.err


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("t1", "--audio", "none.wav"), "cannot read none.wav: No such file or directory"),
        (("t1", "--audio", "/"), "/ is a directory, expected an audio file"),
        (("t1", "--audio", __file__), "is not audio that libsndfile reads"),
        (("t1", "--audio", "none.wav", "--sujet", "5b1c8f0e-0000-4000-8000-000000000001"), "--sujet is for t2"),
        (("t1", "--audio", "none.wav", "--vad", "manual"), "--vad manual is for t2"),
        (("t1", "--audio", "none.wav", "--url", "ws://h", "--profile", "ci"), "--profile is for a private server"),
        (("t1", "--audio", "none.wav", "--record", "x.wav", "--speed", "2"), "--record needs --speed 1"),
    ],
)
def test_bad_input_is_one_line_and_status_1(arguments, part):
    """What is wrong is said before anything is started."""
    one_line_error(asyncio.run(relance(*arguments)), part)


def test_wrong_usage_is_status_2():
    """Usage is the command line's own matter, and has its usual status."""
    assert asyncio.run(relance("t3", "--audio", "none.wav")).status == 2


def test_an_empty_file_is_named(tmp_path, voice_file):
    """A file without audio in it is told from one that is no audio."""
    empty = tmp_path / "empty.wav"
    soundfile.write(empty, np.zeros(0, np.int16), 16_000)
    one_line_error(asyncio.run(relance("t1", "--audio", empty)), str(empty), "holds no audio: 0 samples")


def test_a_wrong_address_is_one_line(voice_file):
    """The address that was given is in the message."""
    run = asyncio.run(relance("t1", "--audio", voice_file(), "--url", "localhost:8000", *FAST))
    one_line_error(run, "expected a server as ws://HOST:PORT", "'localhost:8000'")


@pytest.mark.parametrize("task", ["t1", "t2"])
def test_a_server_that_is_not_there_is_one_line(voice_file, task):
    """Nothing listens: the address is named, and the token is not."""
    arguments = ("--audio", voice_file(), "--url", "ws://127.0.0.1:1", "--token", "SECRET")
    run = asyncio.run(relance(task, *arguments))
    one_line_error(run, "127.0.0.1:1", "refused")
    assert "SECRET" not in run.err


@pytest.mark.parametrize(
    "target", ["missing/out.wav", ".", "voice.wav"], ids=["no such directory", "a directory", "the audio itself"]
)
def test_a_recording_that_cannot_be_written_is_refused_before_the_exam(serving, voice_file, tmp_path, target):
    """The candidate does not speak for minutes to learn it at the end."""
    audio = voice_file("voice.wav")

    async def exam():
        async with serving(closing) as server:
            run = await relance(
                "t1", "--audio", audio, "--url", server.url, "--token", "t", "--record", tmp_path / target
            )
            return run, len(server.exams)

    run, exams = asyncio.run(exam())
    one_line_error(run, str(tmp_path / target))
    assert exams == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["voice.wav"]


@pytest.mark.parametrize(
    ("code", "reason", "advice"),
    [
        (4001, "AUTH_REQUIRED", "relance token"),
        (1013, "TRY_AGAIN_LATER", "Try again"),
    ],
)
def test_a_refusal_is_one_line_and_status_1(serving, voice_file, code, reason, advice):
    """No exam took place: the code, its reason and what to do."""

    async def exam():
        async with serving(lambda candidate: candidate.close(code, reason)) as server:
            return await relance("t1", "--audio", voice_file(), "--url", server.url, *FAST)

    run = asyncio.run(exam())
    assert run.status == 1
    assert f"closed with {code} {reason}" in run.err
    assert advice in run.err


@pytest.mark.parametrize(
    ("error", "code", "reason", "shown"),
    [
        ("EMPTY_TRANSCRIPT", 1000, "", "error EMPTY_TRANSCRIPT: Rien n'a été dit."),
        ("CORRECTION_FAILED", 1011, "CORRECTION_FAILED", "no valid report could be had"),
        (None, 4006, "GEMINI_DISCONNECTED", "an engine failed twice"),
    ],
)
def test_an_exam_without_a_report_is_status_3(serving, voice_file, error, code, reason, shown):
    """The exam took place; why there is no report is told."""

    async def script(candidate):
        await candidate.hear(1_600)
        if error:
            await candidate.say({"type": "error", "code": error, "message": "Rien n'a été dit."})
        await candidate.close(code, reason)

    async def exam():
        async with serving(script) as server:
            return await relance("t1", "--audio", voice_file(), "--url", server.url, *FAST)

    run = asyncio.run(exam())
    assert run.status == 3
    assert shown in run.out
    assert "no report: closed with" in run.out


def test_t1_shows_what_happens_and_prints_the_report(serving, voice_file, monologue):
    """Times, captions and the report on standard output; nothing on the other."""

    async def exam():
        async with serving(monologue) as server:
            run = await relance("t1", "--audio", voice_file(), "--url", server.url, *FAST)
            return run, server.exams[0]

    run, heard = asyncio.run(exam())
    assert run.status == 0
    assert run.err == ""
    assert heard.path == "/t1/live?token=t&captions=1"
    assert heard.voice.size == 8_000 + 40_000
    for part in ("candidate begins turn 1, 0.5 s", "Candidate  Bonjour.", "closed, 1000", "14/20", "NCLC 9"):
        assert part in run.out


def test_json_is_one_object_and_nothing_else(serving, voice_file, examiner_audio, report):
    """Machines read standard output: every event with its time, audio as counts, the report, the close."""

    async def script(candidate):
        await candidate.say(examiner_audio("t1", 2_400), {"serverContent": {"turnComplete": True}})
        await candidate.hear_until("end")
        await candidate.say({"type": "report", "data": report})
        await candidate.close()

    async def exam():
        async with serving(script) as server:
            arguments = ("--audio", voice_file(), "--url", server.url, "--json", "--no-captions", "--silence-after", 0)
            return await relance("t1", *arguments, *FAST), server.exams[0]

    run, heard = asyncio.run(exam())
    told = json.loads(run.out)
    assert run.status == 0
    assert heard.path == "/t1/live?token=t"
    assert told["report"] == report
    assert told["close"] == {"code": 1000, "reason": ""}
    kinds = {event["type"] for event in told["events"]}
    assert kinds == {"candidate_speaks", "candidate_silent", "audio", "turnComplete", "end", "report", "close"}
    assert [event["samples"] for event in told["events"] if event["type"] == "audio"] == [2_400]
    times = [event["at_ms"] for event in told["events"]]
    assert times == sorted(times)
    assert "candidate begins turn 1" in run.err


def test_t2_takes_the_first_subject_and_waits_for_answers(serving, voice_file, examiner_audio, report):
    """Each file is a turn; the subject is named and read out; the exam ends after the last answer."""
    answered_at = []

    async def script(candidate):
        for _ in range(2):
            await candidate.hear_until("activityEnd")
            await candidate.hear(candidate.voice.size + 16_000)
            answered_at.append(np.count_nonzero(candidate.voice))
            await candidate.say(examiner_audio("t2", 2_400), {"type": "turnComplete"})
        await candidate.hear_until("end")
        await candidate.say({"type": "report", "data": report})
        await candidate.close()

    async def exam():
        async with serving(script) as server:
            files = ("--audio", voice_file("q1.wav"), "--audio", voice_file("q2.flac", rate_hz=44_100))
            return await relance("t2", *files, "--url", server.url, "--vad", "manual", *FAST), server.exams[0]

    run, heard = asyncio.run(exam())
    assert run.status == 0
    assert heard.path == "/t2/live?token=t&sujet=5b1c8f0e-0000-4000-8000-000000000001&captions=1&vad=manual"
    assert "Subject 5b1c8f0e-0000-4000-8000-000000000001: Louer un vélo" in run.out
    assert "Posez des questions à l'employé." in run.out
    assert answered_at[0] < 8_001 < answered_at[1]
    assert heard.types.count("activityStart") == heard.types.count("activityEnd") == 2


def test_both_voices_are_recorded(serving, voice_file, examiner_audio, report, tmp_path):
    """The recording holds both voices and is as long as the session."""
    path = tmp_path / "both.wav"

    async def script(candidate):
        await candidate.hear(8_000)
        await candidate.say(examiner_audio("t1", 4_800))
        await candidate.hear_until("end")
        await candidate.say({"type": "report", "data": report})
        await candidate.close()

    async def exam():
        async with serving(script) as server:
            arguments = ("--audio", voice_file(), "--url", server.url, "--token", "t", "--json", "--silence-after", 0.5)
            return await relance("t1", *arguments, "--record", path)

    run = asyncio.run(exam())
    mixed, rate_hz = soundfile.read(path, dtype="int16")
    assert rate_hz == 24_000
    events = json.loads(run.out)["events"]
    assert abs(mixed.size - events[-1]["at_ms"] * 24) <= 24
    audio_at = next(event["at_ms"] for event in events if event["type"] == "audio") * 24
    assert np.abs(mixed[audio_at + 30 : audio_at + 4_700].astype(int) - 1_000).max() < 50
    assert np.abs(mixed[2_400:9_600]).max() > 15_000
    assert str(path) in run.err


def test_ctrl_c_asks_for_the_end_and_the_report_still_comes(serving, voice_file, report):
    """The first Ctrl-C ends the exam, not the client."""

    async def exam():
        speaking = asyncio.Event()

        async def script(candidate):
            await candidate.hear(16_000)
            speaking.set()
            await candidate.hear_until("end")
            await candidate.say({"type": "report", "data": report})
            await candidate.close()

        async with serving(script) as server:
            process = await start("t1", "--audio", voice_file(), "--loop", "--url", server.url, *FAST)
            await speaking.wait()
            process.send_signal(signal.SIGINT)
            return await finish(process), server.exams[0]

    run, heard = asyncio.run(exam())
    assert run.status == 0
    assert heard.types.count("end") == 1
    assert "14/20" in run.out


@pytest.mark.parametrize("signals", [(signal.SIGINT, signal.SIGINT), (signal.SIGTERM,)])
def test_a_second_ctrl_c_or_sigterm_leaves_without_the_report(serving, voice_file, signals):
    """Whoever does not want to wait may go: status 3, and no traceback."""

    async def exam():
        speaking, ended = asyncio.Event(), asyncio.Event()

        async def script(candidate):
            await candidate.hear(16_000)
            speaking.set()
            with contextlib.suppress(AssertionError):  # the client is gone: so it should be
                await candidate.hear_until("end")
                ended.set()
                await candidate.hear_until("end")

        async with serving(script) as server:
            process = await start("t1", "--audio", voice_file(), "--loop", "--url", server.url, *FAST)
            await speaking.wait()
            process.send_signal(signals[0])
            for number in signals[1:]:
                await ended.wait()
                process.send_signal(number)
            return await finish(process)

    run = asyncio.run(exam())
    assert run.status == 3
    assert "left before the report" in run.out
    assert "Traceback" not in run.err


def test_a_token_from_the_environment_is_used(serving, voice_file, monologue):
    """``RELANCE_TOKEN`` serves where ``--token`` is not given."""

    async def exam():
        async with serving(monologue) as server:
            arguments = ("--audio", voice_file(), "--url", server.url, "--speed", 50)
            await relance("t1", *arguments, RELANCE_TOKEN="from-the-environment")
            return server.exams[0].path

    assert "token=from-the-environment&" in asyncio.run(exam())


def test_without_a_token_one_is_made_with_the_local_secret(serving, voice_file, monologue, tmp_path):
    """On the server's machine no token is needed: the secret in the data directory signs one."""

    async def exam():
        async with serving(monologue) as server:
            arguments = ("--audio", voice_file(), "--url", server.url, "--speed", 50)
            run = await relance("t1", *arguments, RELANCE_DATA_DIR=str(tmp_path))
            return run, server.exams[0].path

    run, path = asyncio.run(exam())
    assert run.status == 0
    assert path.split("token=")[1].split("&")[0].count(".") == 2
    assert (tmp_path / "jwt_secret").is_file()
