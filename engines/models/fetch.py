"""Bringing a profile's files to the store, several artifacts at once."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from engines.models import packages, space
from engines.models.bring import Bringer
from engines.models.errors import HashMismatch
from engines.models.events import Report, WaitingForOther
from engines.models.lock import Artifact, ModelFile, Profile
from engines.models.shelf import LOOK_AHEAD, Download
from engines.models.store import Store
from engines.models.web import Web

Missing = Mapping[Artifact, Sequence[ModelFile]]


def fetch(
    profile: Profile,
    store: Store,
    report: Report = lambda event: None,
    *,
    web: Web | None = None,
    download: Download = packages.download,
    free_bytes: space.FreeBytes = space.free_bytes,
) -> Missing:
    """Bring every missing or wrong file of the profile to the store and return those that were brought.

    ``report`` is called from several threads with the events of :mod:`engines.models.events`. A second fetch into the
    same store waits for the first. With nothing missing, nothing touches the network. Interrupting keeps what was
    received for the next run. ``web``, ``download`` and ``free_bytes`` are the outside: web hosts, package clients and
    the disk.

    Raises StoreNotWritable, DiskTooSmall (before any download), HashMismatch, NoSourceLeft.
    """
    if not missing_files(profile, store):
        return {}
    store.open_for_writing()
    with store.only_one(lambda: report(WaitingForOther(store.root))):
        missing = missing_files(profile, store)
        kept_bytes = sum(store.partial_bytes(file) for files in missing.values() for file in files)
        space.check(store.root, missing, kept_bytes, free_bytes)
        with web or Web() as reached:
            _fetch_all(missing, store, report, reached, download)
    return missing


def missing_files(profile: Profile, store: Store) -> Missing:
    """The files of the profile that are not in the store, or are there with other bytes."""
    missing: dict[Artifact, list[ModelFile]] = {}
    for artifact, file in profile.files():
        if not is_there(store, artifact, file):
            missing.setdefault(artifact, []).append(file)
    return missing


def is_there(store: Store, artifact: Artifact, file: ModelFile) -> bool:
    """Whether the store has the file with the right bytes."""
    try:
        return store.has(artifact, file)
    except HashMismatch:
        return False


def _fetch_all(missing: Missing, store: Store, report: Report, web: Web, download: Download) -> None:
    """Every artifact is tried to its end, whatever happens to the others; then the first failure is raised."""
    stop = threading.Event()
    with ThreadPoolExecutor(LOOK_AHEAD) as pool, ThreadPoolExecutor(max(1, len(missing))) as artifacts:
        bringer = Bringer(store, report, web, download, pool, stop)
        work = [artifacts.submit(bringer.bring_all, artifact, files) for artifact, files in missing.items()]
        try:
            failures = [failure for future in work if (failure := future.exception()) is not None]
        except BaseException:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    for failure in failures:
        raise failure
