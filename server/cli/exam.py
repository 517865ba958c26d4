"""``relance exam``: sits an exam from the terminal, with a voice from files."""

from __future__ import annotations

import asyncio
import itertools
import signal
from collections.abc import Iterable
from contextlib import ExitStack
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated
from uuid import UUID

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console

from server.cli.errors import CommandError
from server.client.advice import explain, is_refusal
from server.client.audio import load_voice, split_at_pauses
from server.client.candidate import Candidate, Manner
from server.client.chronicle import Chronicle
from server.client.errors import ClientError
from server.client.interrupts import signals_heard
from server.client.live_view import LiveView, printable
from server.client.mix import Recording
from server.client.report import print_report
from server.client.seat import Seat, private_seat, seat_at
from server.client.session import open_exam
from server.client.sitting import REPORT_PATIENCE_S, sit_exam
from server.client.subjects import first_subject

NO_REPORT = 3
"""Exit status of an exam that took place and ended without a report."""


class Task(StrEnum):
    """The two tasks."""

    T1 = "t1"
    T2 = "t2"


class Vad(StrEnum):
    """Who decides when a turn of the candidate is over."""

    SERVER = "server"
    MANUAL = "manual"


class Profile(StrEnum):
    """The profiles of a private server."""

    CI = "ci"
    FR = "fr"
    FR_SMALL = "fr-small"


def exam(
    task: Annotated[Task, typer.Argument(help="t1, the guided interview, or t2, the role-play.")],
    audio: Annotated[list[Path], typer.Option(help="The candidate's voice; give it again for more, in order.")],
    url: Annotated[str | None, typer.Option(help="A running server, ws://HOST:PORT; none: a private one.")] = None,
    token: Annotated[str | None, typer.Option(envvar="RELANCE_TOKEN", help="Token for --url; none: made here.")] = None,
    sujet: Annotated[UUID | None, typer.Option(help="T2: the subject; none: the server's first.")] = None,
    profile: Annotated[Profile | None, typer.Option(help="Profile of the private server.")] = None,
    captions: Annotated[bool, typer.Option(help="Show what is said.")] = True,
    wait: Annotated[bool, typer.Option(help="T2: wait for an answer after each pause of 1 s in the audio.")] = True,
    vad: Annotated[Vad, typer.Option(help="T2: manual is push-to-talk.")] = Vad.SERVER,
    loop: Annotated[bool, typer.Option(help="Begin again when the audio is over, until the exam ends.")] = False,
    silence_after: Annotated[float, typer.Option(min=0, help="T1: seconds of silence after the audio.")] = 2.5,
    speed: Annotated[float, typer.Option(min=0.1, max=1000, help="Pace of the audio; 1 is real time.")] = 1.0,
    record: Annotated[Path | None, typer.Option(help="Write both voices to this WAV file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout, all else on stderr.")] = False,
) -> None:
    """Sit an exam: play audio to a server as a candidate would, and print the report.

    Exit status: 0 with a report, 1 on an error, 2 on wrong usage, 3 when the exam ended without a report.
    """
    _refuse_if(task is Task.T1 and sujet is not None, "--sujet is for t2: the interview of t1 has no subject")
    _refuse_if(task is Task.T1 and vad is Vad.MANUAL, "--vad manual is for t2: t1 has no turns to mark")
    _refuse_if(bool(url and profile), "--profile is for a private server: the one at --url has its own")
    _refuse_if(bool(record) and speed != 1, "--record needs --speed 1: at another pace the voices share no timeline")
    console = Console(stderr=as_json, highlight=False)
    recording = Recording()
    chronicle = Chronicle(LiveView(console).note, recording.note)
    manner = Manner(task is Task.T2, vad is Vad.MANUAL, silence_after, speed=speed)
    try:
        turns = _turns(task, audio, wait=wait, loop=loop)
        _check_record(record, audio)
        with ExitStack() as stack:
            seat = _take_seat(stack, url, token, profile, console)
            address = _exam_address(seat, task, sujet, console, captions=captions, vad=vad)
            _sit(address, not seat.address.is_local, turns, manner, chronicle, recording, console)
    except ClientError as fault:
        raise CommandError(str(fault)) from fault
    if record:
        _write(recording, record, chronicle.duration_s, console)
    _conclude(chronicle, console, as_json=as_json)


def _say(console: Console, text: str) -> None:
    console.print(printable(text), markup=False, soft_wrap=True)


def _refuse_if(wrong: bool, message: str) -> None:
    if wrong:
        raise CommandError(message)


def _turns(task: Task, audio: list[Path], *, wait: bool, loop: bool) -> Iterable[NDArray[np.int16]]:
    voices = [load_voice(path) for path in audio]
    if task is Task.T2:
        voices = [turn for voice in voices for turn in split_at_pauses(voice)] if wait else [np.concatenate(voices)]
    return itertools.cycle(voices) if loop else voices


def _check_record(record: Path | None, audio: list[Path]) -> None:
    """Find out before the exam whether the recording can be written; leave nothing behind."""
    if record is None:
        return
    try:
        is_new = not record.exists()
        _refuse_if(not is_new and any(record.samefile(path) for path in audio), f"--record would overwrite {record}")
        with record.open("ab"):
            pass
        if is_new:
            record.unlink()
    except OSError as fault:
        raise CommandError(f"cannot write {record}: {fault.strerror}") from fault


def _take_seat(stack: ExitStack, url: str | None, token: str | None, profile: Profile | None, console: Console) -> Seat:
    if url is not None:
        return seat_at(url, token)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that the server is stopped on this way out as well
    with console.status("starting a private server: its engines are being loaded"):
        seat = stack.enter_context(private_seat(profile))
    _say(console, f"a private server is ready at {seat.address.web}")
    return seat


def _exam_address(seat: Seat, task: Task, sujet: UUID | None, console: Console, *, captions: bool, vad: Vad) -> str:
    query = {"token": seat.token}
    if task is Task.T2:
        query["sujet"] = str(sujet or _choose_subject(seat, console))
    if captions:
        query["captions"] = "1"
    if vad is Vad.MANUAL:
        query["vad"] = "manual"
    return seat.address.exam(task, query)


def _choose_subject(seat: Seat, console: Console) -> str:
    subject = first_subject(seat)
    _say(console, f"Subject {subject.id}: {subject.titre}")
    _say(console, subject.consigne)
    return subject.id


def _sit(
    address: str,
    through_proxy: bool,
    turns: Iterable[NDArray[np.int16]],
    manner: Manner,
    chronicle: Chronicle,
    recording: Recording,
    console: Console,
) -> None:
    async def sit() -> None:
        async with open_exam(address, through_proxy=through_proxy) as client:
            candidate = Candidate(client, turns, manner, notice=chronicle.note, spoke=recording.candidate_spoke)
            sitting = asyncio.ensure_future(sit_exam(client, candidate, chronicle.note))
            with signals_heard(candidate, sitting, partial(_say, console)):
                await sitting

    try:
        asyncio.run(sit())
    except TimeoutError:
        _say(console, f"no report came within {REPORT_PATIENCE_S:.0f} s")
    except asyncio.CancelledError:
        _say(console, "left before the report")


def _write(recording: Recording, record: Path, duration_s: float, console: Console) -> None:
    try:
        recording.write(record, duration_s)
    except OSError as fault:
        raise CommandError(f"cannot write {record}: {fault.strerror}") from fault
    _say(console, f"both voices are in {record}, {duration_s:.1f} s")


def _conclude(chronicle: Chronicle, console: Console, *, as_json: bool) -> None:
    """Print what came of the exam, and turn it into the exit status."""
    if as_json:
        typer.echo(chronicle.as_json())
    elif chronicle.report is not None:
        print_report(chronicle.report, console)
    if chronicle.report is not None:
        return
    if chronicle.closed is not None and is_refusal(chronicle.closed):
        raise CommandError(explain(chronicle.closed))
    if chronicle.closed is not None:
        _say(console, f"no report: {explain(chronicle.closed)}")
    raise typer.Exit(NO_REPORT)
