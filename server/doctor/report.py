"""What the doctor prints: findings line by line as they are made, plain where the output is no terminal."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager

import msgspec
from rich.console import Console
from rich.text import Text

from server.doctor.findings import Finding
from server.doctor.in_force import Given

_MARKS = {"ok": ("ok", "green"), "fault": ("FAULT", "bold red"), "not checked": ("-", "dim")}
_HIDDEN = "[hidden]"


class Report:
    """Keeps the findings and prints each; with ``as_json``, one object at the end and nothing before it.

    ``secrets`` are blanked wherever they turn up: an engine, or a package of others, may quote them in its errors.
    """

    def __init__(self, console: Console, secrets: Collection[str] = (), *, as_json: bool = False) -> None:
        self.findings: list[Finding] = []
        self._console = console
        self._secrets = sorted(secrets, key=len, reverse=True)
        self._as_json = as_json
        self._configuration: dict[str, object] = {}

    @property
    def faults(self) -> int:
        """How many faults were found so far."""
        return sum(finding.status == "fault" for finding in self.findings)

    def configuration(self, profile: str, language: str, given: Sequence[Given]) -> None:
        """Say what is configured: what was given, all else being at its default."""
        self._configuration = {"profile": profile, "language": language, "settings": given}
        rows = [(each.name, self._clean(each.value), each.origin) for each in given]
        widths = [max((len(row[column]) for row in rows), default=0) for column in (0, 1)]
        self._print(
            f"profile {profile}, language {language}; {'settings given:' if rows else 'every setting its default'}"
        )
        for name, value, origin in rows:
            self._print(f"  {name:<{widths[0]}}  {value:<{widths[1]}}  {origin}")

    def tell(self, finding: Finding) -> None:
        """Keep and print one finding, on one line."""
        finding = Finding(finding.name, finding.status, self._clean(finding.told), self._clean(finding.mend))
        self.findings.append(finding)
        mark, style = _MARKS[finding.status]
        told = f"{finding.told}. {finding.mend}" if finding.mend else finding.told
        self._print(Text.assemble((f"{mark:<5}", style), f"  {finding.name}: {told}"))

    def doing(self, what: str) -> AbstractContextManager[object]:
        """Show on a terminal what goes on, while inside."""
        return self._console.status(Text(what))

    def conclude(self) -> None:
        """Say how many faults there are."""
        if self._as_json:
            told = {"ok": not self.faults, **self._configuration, "findings": self.findings}
            print(msgspec.json.encode(told).decode())
        elif self.faults:
            self._print(Text(f"{self.faults} {'fault' if self.faults == 1 else 'faults'}", "bold red"))
        else:
            self._print(Text("no faults", "green"))

    def _print(self, line: str | Text) -> None:
        if not self._as_json:
            self._console.print(line, markup=False, soft_wrap=True)

    def _clean(self, text: str) -> str:
        """Return ``text`` on one line, without secrets and without what could rewrite the terminal."""
        for secret in self._secrets:
            text = text.replace(secret, _HIDDEN)
        return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
