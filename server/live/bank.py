"""The bank's sentences, spoken ahead of time, so that they can be heard even when every engine is gone.

Their audio is kept on disk from one start to the next, under a name made of the voice and the text.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable
from contextlib import aclosing
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engines.protocols import TextToSpeech

SENTENCE_TIMEOUT_S = 60.0


async def spoken_ahead(
    sentences: Iterable[str], tts: TextToSpeech, directory: Path, voice: str
) -> dict[str, NDArray[np.int16]]:
    """Return the audio of each sentence, int16 at 24 kHz, shape [n]; what ``directory`` lacks is made and put there.

    ``voice`` names everything that the sound depends on: the model and its voice. Raises
    :class:`engines.errors.EngineError`, and :class:`OSError` when the directory cannot be written.
    """
    await asyncio.to_thread(directory.mkdir, parents=True, exist_ok=True)
    bank = {}
    for sentence in sentences:
        name = hashlib.sha256(f"{voice}\n{sentence}".encode()).hexdigest()
        path = directory / f"{name}.npy"
        audio = await asyncio.to_thread(_kept, path)
        if audio is None:
            audio = await _spoken(sentence, tts)
            await asyncio.to_thread(_keep, path, audio)
        bank[sentence] = audio
    return bank


async def _spoken(sentence: str, tts: TextToSpeech) -> NDArray[np.int16]:
    async with aclosing(tts.speak(sentence, timeout_s=SENTENCE_TIMEOUT_S)) as blocks:
        return np.concatenate([block async for block in blocks])


def _kept(path: Path) -> NDArray[np.int16] | None:
    try:
        audio: NDArray[np.int16] = np.load(path)
    except (FileNotFoundError, ValueError, EOFError):  # a file that cannot be read is made anew
        return None
    return audio


def _keep(path: Path, audio: NDArray[np.int16]) -> None:
    temporary = path.with_suffix(".tmp.npy")
    np.save(temporary, audio)
    temporary.replace(path)
