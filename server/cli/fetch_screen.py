"""A fetch on the terminal: a bar for each file on its way; plain lines where the output is not a terminal."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, SpinnerColumn, TaskID, TextColumn

from engines.models.events import Event, FileGrew, FileReady, FileStarted, SourcePassedOver, WaitingForOther
from engines.models.lock import ModelFile


class FetchScreen:
    """Shows the events of a fetch on standard error. ``show`` may be called from several threads."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True, highlight=False)
        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), DownloadColumn())
        self._bars = Progress(*columns, console=self._console, transient=True, disable=not self._console.is_terminal)
        self._tasks: dict[ModelFile, TaskID] = {}
        self._said: set[str] = set()

    def __enter__(self) -> FetchScreen:
        self._bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._bars.stop()

    def show(self, event: Event) -> None:
        """Take one event of the fetch."""
        match event:
            case WaitingForOther(root):
                self._say(f"another fetch is at work in {root}: waiting for it")
            case FileStarted(artifact, file):
                name = f"{artifact.name}/{file.path}"
                if file not in self._tasks:
                    self._tasks[file] = self._bars.add_task(name, total=file.size_bytes)
            case FileGrew(_, file, received_bytes):
                self._bars.update(self._tasks[file], completed=received_bytes)
            case SourcePassedOver(_, _, reason):
                self._say(f"passed over: {reason}")
            case FileReady(artifact, file, source):
                self._bars.remove_task(self._tasks.pop(file))
                self._say(f"{artifact.name}/{file.path}  verified, from {source}")

    def _say(self, line: str) -> None:
        """Print a line once: an unreachable host is told of at its first file, not at each."""
        if line not in self._said:
            self._said.add(line)
            self._console.print(line, soft_wrap=True, markup=False)
