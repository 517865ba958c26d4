"""``python -m engines.piper --model voice.onnx``: a process that speaks piper's JSON lines around ``piper-tts``.

The C++ piper has ``--json-input`` of its own; the Python one on PyPI, which has voices to itself today, has not. It is
GPL-3.0, with espeak-ng in it: it is imported in this process only.
"""

from __future__ import annotations

import sys
import wave
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from engines import exits
from engines.piper.process import Request


def main(model: Annotated[Path, typer.Option(help="The voice, an ONNX file with its .json beside it.")]) -> None:
    """Say each line of standard input until it ends."""
    try:
        from piper import PiperVoice  # the heavy and the GPL part, needed for nothing but this

        voice = PiperVoice.load(model)
    except Exception as error:
        sys.stderr.write(f"cannot load the voice {model}: {error}\n")
        sys.exit(exits.UNUSABLE)
    for line in sys.stdin.buffer:
        request = msgspec.json.decode(line, type=Request)
        write(voice, request)
        sys.stdout.write(request.output_file + "\n")
        sys.stdout.flush()


def write(voice: Any, request: Request) -> None:
    """Write what ``voice``, a ``PiperVoice``, makes of the request's text to its file, which may be no sample at all.

    A speaker that the voice does not have is its first, as with piper's own.
    """
    from piper import SynthesisConfig

    speaker_id = voice.config.speaker_id_map.get(request.speaker)
    with wave.open(request.output_file, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(voice.config.sample_rate)
        for chunk in voice.synthesize(request.text, SynthesisConfig(speaker_id=speaker_id)):
            file.writeframes(chunk.audio_int16_bytes)


if __name__ == "__main__":
    typer.run(main)
