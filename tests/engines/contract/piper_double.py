"""A program that speaks piper's JSON lines and does at each line what its score says.

``python piper_double.py FOLDER``. ``FOLDER/score.json`` is a list of steps, one a line over all its lives, the last
again and again: a path (say this WAV file), ``die``, ``refuse`` (end with code 78), ``hang``, ``meet`` and a path (say
it once the test says go), ``garble`` (a file that is no WAV), ``lie`` (a path without a file), ``chatter`` (other
output first, then silence in a file). Each line that came is added to ``FOLDER/lines``; ``FOLDER/lives`` has a process
id for each start. ``FOLDER/asked`` and ``FOLDER/go`` are named pipes: who hangs or meets writes to the first.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import wave
from pathlib import Path

folder = Path(sys.argv[1])
score, lines = json.loads((folder / "score.json").read_text()), folder / "lines"
with (folder / "lives").open("a") as lives:
    lives.write(f"{os.getpid()}\n")


def print_path(path: str) -> None:
    sys.stdout.write(path + "\n")
    sys.stdout.flush()


def chatter(path: str) -> None:
    sys.stdout.write("x" * 200_000 + f"\nready\n{folder / 'score.json'}\n")
    with wave.open(path, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(24_000)
        file.writeframes(bytes(20))


for line in sys.stdin.buffer:
    said = lines.read_bytes().count(b"\n") if lines.exists() else 0
    with lines.open("ab") as log:
        log.write(line)
    wav, step = json.loads(line)["output_file"], score[min(said, len(score) - 1)]
    if step.startswith("meet "):
        (folder / "asked").write_text("asked")
        step = step.removeprefix("meet ") * bool((folder / "go").read_text())
    match step:
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "refuse":
            sys.exit(78)
        case "hang":
            (folder / "asked").write_text("asked")
            signal.pause()
        case "garble":
            Path(wav).write_bytes(b"RIFF")
        case "chatter":
            chatter(wav)
        case "lie":
            pass
        case path:
            Path(wav).write_bytes(Path(path).read_bytes())
    print_path(wav)
