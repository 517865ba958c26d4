"""What a client may send: any size, any base64, any rate; and what is not of the contract, which changes nothing."""

from __future__ import annotations

import base64
import json
import struct

import numpy as np
import pytest

EMPTY = {"type": "error", "code": "EMPTY_TRANSCRIPT"}


async def transcript_of(sit, server, *frames, task="t2"):
    """Return the transcript of an exam in which exactly these frames and ``end`` are sent."""
    async with sit(server, task) as candidate:
        await candidate.send(*frames)
        await candidate.say("end")
        account = await candidate.over()
    assert account.close == (1000, "")
    return account.transcript


@pytest.fixture(scope="module")
def speech(human):
    """Four seconds of human speech, as the bytes of the contract."""
    return human(0.7, 4.7).astype("<i2").tobytes()


@pytest.fixture
def reference(sit, speech_server, client, speech):
    """What is understood of ``speech`` when it comes in the chunks of a browser, 4096 samples."""

    async def heard():
        return await transcript_of(sit, speech_server, *chunks(client, speech, 8_192))

    return heard


def chunks(client, pcm, size):
    return [client.audio(pcm[start : start + size]) for start in range(0, len(pcm), size)]


NOISE = {
    "no JSON": "audio",
    "half a message": '{"type":"audio","data":"',
    "empty": "",
    "a lone surrogate": '{"type":"\\ud800"}',
    "a number": "7",
    "null": "null",
    "a list": '[{"type":"end"}]',
    "no type": '{"data":"AAAA"}',
    "an unknown type": '{"type":"finish"}',
    "another letter case": '{"type":"End"}',
    "a type that is no string": '{"type":["end"]}',
    "setup of another protocol": '{"setup":{"model":"models/gemini"}}',
    "audio without data": '{"type":"audio"}',
    "audio whose data is a number": '{"type":"audio","data":1}',
    "audio whose data is null": '{"type":"audio","data":null}',
    "audio whose data is a list": '{"type":"audio","data":["AAAA"]}',
    "audio that is no base64": '{"type":"audio","data":"*** not base64 ***"}',
    "audio that is one letter": '{"type":"audio","data":"A"}',
    "audio of nothing": '{"type":"audio","data":""}',
    "nested without end": "[" * 100_000,
    "text with a nul": '{"type":"end\x00"}',
    "binary": b"\x00\x01\x02\x03",
    "a binary end": b'{"type":"end"}',
    "binary of nothing": b"",
    "the server's own words": '{"type":"report","data":{}}',
    "push-to-talk that was not asked for": '{"type":"activityStart"}',
}


@pytest.mark.parametrize("task", ["t1", "t2"])
async def test_what_is_no_message_is_ignored(sit, speech_server, task):
    """Unknown types, bad JSON, wrong types, binary and empty frames: no error frame, no close, and the exam goes on."""
    async with sit(speech_server, task) as candidate:
        await candidate.send(*NOISE.values())
        await candidate.catch_up()
        assert not candidate.heard
        assert not candidate.closed
        await candidate.say("end")
        account = await candidate.over()
    assert [{**message, "message": ""} for message in account.all("error")] == [{**EMPTY, "message": ""}]
    assert account.close == (1000, "")


async def test_noise_among_the_audio_loses_no_sample(sit, speech_server, client, speech, reference):
    """Frames to ignore between odd chunks: the carried byte is neither lost nor doubled."""
    noise = list(NOISE.values())
    frames = [
        frame for at, chunk in enumerate(chunks(client, speech, 4_097)) for frame in (chunk, noise[at % len(noise)])
    ]
    assert await transcript_of(sit, speech_server, *frames) == await reference()


async def test_unknown_fields_of_a_message_are_ignored(sit, speech_server, client, speech, reference):
    """A client may send more than the server reads."""
    frames = [json.dumps(json.loads(frame) | {"seq": 1, "rate": 16_000}) for frame in chunks(client, speech, 8_192)]
    assert await transcript_of(sit, speech_server, *frames) == await reference()


def _line_broken(data):
    return base64.encodebytes(data).decode("ascii")


ALPHABETS = {
    "standard": lambda data: base64.b64encode(data).decode("ascii"),
    "standard, not padded": lambda data: base64.b64encode(data).decode("ascii").rstrip("="),
    "URL-safe": lambda data: base64.urlsafe_b64encode(data).decode("ascii"),
    "URL-safe, not padded": lambda data: base64.urlsafe_b64encode(data).decode("ascii").rstrip("="),
    "with line breaks": _line_broken,
}


@pytest.mark.parametrize("alphabet", ALPHABETS)
async def test_both_alphabets_say_the_same(sit, speech_server, client, speech, reference, alphabet):
    """Standard and URL-safe base64, with and without padding, of chunks whose length needs every padding."""
    encode = ALPHABETS[alphabet]
    frames = [client.audio(encode(speech[start : start + 3_001])) for start in range(0, len(speech), 3_001)]
    assert await transcript_of(sit, speech_server, *frames) == await reference()


@pytest.mark.parametrize("size", [333, 3_200, 8_193, 65_536])
async def test_chunks_of_any_size_say_the_same(sit, speech_server, client, speech, reference, size):
    """Odd and even, from a hundredth of a second to more than two seconds: an odd byte waits for its other half."""
    assert await transcript_of(sit, speech_server, *chunks(client, speech, size)) == await reference()


async def test_chunks_of_one_byte_say_the_same(sit, speech_server, client, speech):
    """Half a sample a frame, for a second and a half of speech."""
    short = speech[:48_000]
    whole = await transcript_of(sit, speech_server, client.audio(short))
    assert await transcript_of(sit, speech_server, *chunks(client, short, 1)) == whole
    assert "best" in whole


async def test_human_speech_is_understood(reference):
    """The reference itself is right: what the other tests compare with is what was read aloud."""
    transcript = await reference()
    assert transcript.startswith("Candidate: ")
    assert all(word in transcript for word in ("best of times", "worst of times"))


async def test_ten_times_real_time_loses_nothing(sit, speech_server, human):
    """Sixteen seconds of speech in a second and a half: every clause is there, in order."""
    async with sit(speech_server, "t2") as candidate:
        await candidate.speak(human(0.7, 16.8), speed=10)
        await candidate.say("end")
        account = await candidate.over()
    clauses = ("best of times", "worst of times", "age of wisdom", "foolishness", "season of light", "darkness")
    places = [account.transcript.find(clause) for clause in clauses]
    assert -1 not in places
    assert places == sorted(places)
    assert account.close == (1000, "")


async def test_a_wav_header_within_the_audio_ends_nothing(sit, speech_server, client, speech):
    """Forty-four bytes of a header are heard as a click; the words after it are understood."""
    header = struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        b"RIFF",
        len(speech) + 36,
        b"WAVE",
        b"fmt ",
        16,
        1,
        1,
        16_000,
        32_000,
        2,
        16,
        b"data",
        len(speech),
    )
    assert "worst of times" in await transcript_of(sit, speech_server, *chunks(client, header + speech, 8_192))


@pytest.mark.parametrize("task", ["t1", "t2"])
async def test_no_audio_at_all_is_an_empty_transcript(sit, speech_server, task):
    """The error has its code and a message; the close that follows is an ordinary one. No production is left."""
    async with sit(speech_server, task) as candidate:
        await candidate.say("end")
        account = await candidate.over()
    (error,) = account.all("error")
    assert set(error) == {"type", "code", "message"}
    assert error["code"] == "EMPTY_TRANSCRIPT"
    assert error["message"]
    assert account.kinds == ["error"]
    assert account.close == (1000, "")


@pytest.mark.parametrize("task", ["t1", "t2"])
async def test_silence_and_noise_alone_are_an_empty_transcript(sit, speech_server, client, task):
    """Twenty seconds of silence, then of faint noise: nothing is invented, nothing is stored."""
    hiss = np.random.default_rng(7).normal(0, 30, 320_000).astype(np.int16)
    async with sit(speech_server, task) as candidate:
        await candidate.speak(np.concatenate([client.silence(20), hiss]), chunk=16_000)
        await candidate.say("end")
        account = await candidate.over()
    assert [error["code"] for error in account.all("error")] == ["EMPTY_TRANSCRIPT"]
    assert "report" not in account.kinds
    assert account.close == (1000, "")
