"""Settings that cannot be used, as findings: every fault as the loading tells it, and where to mend it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from server.doctor.findings import Finding, fault, not_checked


def settings_findings(faults: Iterable[str]) -> Iterator[Finding]:
    """Yield a finding for each fault, and that the rest was not looked at: it would be of other settings."""
    for line in faults:
        subject, separated, _ = line.partition(": ")
        where = subject if separated and not subject.startswith("[Errno") else "the file"
        yield fault("settings", line, f"Correct or remove {where} (docs/settings.md).")
    yield not_checked("engines", "the settings come first")
