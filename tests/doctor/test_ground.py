"""What everything stands on: settings, model files, database, directories, port, secret, libraries, memory."""

from __future__ import annotations

import json
import shutil
import socket
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from engines.models import Lock
from server.doctor.database import check_database
from server.doctor.ground import check_data_dir, check_memory, check_tokens
from server.settings import Settings
from server.store.store import Store


def test_settings_that_cannot_be_used(doctor: Any) -> None:
    """Every fault has its line, as at a start; nothing else is looked at, for it would be of other settings."""
    outcome = doctor(port="http", profil="fr", jwt_secret="short")
    assert outcome.status == 1
    assert outcome.faults == [
        "settings: RELANCE_PROFIL: unknown setting; the nearest is RELANCE_PROFILE. "
        "Correct or remove RELANCE_PROFIL (docs/settings.md).",
        "settings: RELANCE_PORT: expected a valid integer, unable to parse string as an integer, got 'http'. "
        "Correct or remove RELANCE_PORT (docs/settings.md).",
    ]
    assert outcome.line("engines") == "-      engines: the settings come first"


def test_models_that_are_not_there(own: Any, tmp_path: Path) -> None:
    """One line with the command that brings them; what cannot be checked without them is said, and is no fault."""
    outcome = own(models_dir=tmp_path / "models")
    (line,) = outcome.faults
    assert line.startswith(f"models: 8 files of the profile ci are not in {tmp_path / 'models'}: silero-vad/")
    assert line.endswith(". Run: relance models fetch ci")
    assert [outcome.line(kind)[0] for kind in ("vad", "stt", "llm", "tts")] == ["-"] * 4
    assert list(tmp_path.iterdir()) == []


def test_a_ground_that_is_all_faults(doctor: Any, tmp_path: Path, lock: Lock, models_dir: Path) -> None:
    """A changed model, a newer database, a read-only place, a port of others: a finding each, as JSON."""
    vad = lock.profile("ci").artifacts["vad"]
    changed = tmp_path / "models" / vad.name / vad.files[0].path
    changed.parent.mkdir(parents=True)
    changed.write_bytes((models_dir / vad.name / vad.files[0].path).read_bytes()[:-1] + b"x")
    database = tmp_path / "newer.sqlite3"
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
        connection.execute("INSERT INTO alembic_version VALUES ('9999')")
        connection.commit()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        outcome = doctor(
            "--json",
            models_dir=tmp_path / "models",
            data_dir="/proc/relance",
            database_url=f"sqlite+aiosqlite:///{database}",
            port=port,
        )
    told = json.loads(outcome.out)
    faults = {each["name"]: (each["told"], each["mend"]) for each in told["findings"] if each["status"] == "fault"}
    assert (outcome.status, outcome.err, told["ok"], told["profile"]) == (1, "", False, "ci")
    assert {"name": "data_dir", "value": "/proc/relance", "origin": "RELANCE_DATA_DIR"} in told["settings"]
    assert list(faults) == ["data_dir", "database", "port", "models"]
    assert "/proc/relance cannot be written: " in faults["data_dir"][0]
    assert "RELANCE_DATA_DIR" in faults["data_dir"][1]
    assert faults["database"][0].endswith("expected migration 0002 or an earlier one, got 9999")
    assert "RELANCE_DATABASE_URL" in faults["database"][1]
    assert faults["port"][0] == f"port {port} of 127.0.0.1 is in use"
    assert "RELANCE_PORT" in faults["port"][1]
    assert faults["models"][0].startswith(f"{changed}: expected sha256 {vad.files[0].sha256}, got ")
    assert faults["models"][1] == "To replace it, run: relance models fetch ci"


def test_a_server_of_ours_at_the_port(doctor: Any, engines: Any, start_server: Callable[..., Any]) -> None:
    """A relance that is running is no fault; its open database is read, and its secret is found."""
    elsewhere = {name: value for name, value in doctor.given.items() if name.endswith(("_url", "_model"))}
    server = start_server(wait=False, **elsewhere)
    outcome = doctor(port=server.address.rpartition(":")[2], data_dir=server.env["RELANCE_DATA_DIR"])
    assert (outcome.status, outcome.faults) == (0, [])
    assert outcome.line("port").endswith(" is in use by a relance server that is running")
    assert "is at migration 0002, the latest" in outcome.line("database")


def test_a_library_that_is_too_old(own: Any, engines: Any, tmp_path: Path) -> None:
    """Below the floor the speech worker is not started, for it would end with the same fault: one line."""
    info = tmp_path / "older" / "onnxruntime-1.22.1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: onnxruntime\nVersion: 1.22.1\n")
    own.python_path.insert(0, str(info.parent))
    outcome = own(llm_url=engines.url, llm_model="thinking-1")
    assert outcome.faults == [
        "onnxruntime: expected version 1.32 or later, got 1.22.1, which computes noise on some processors. "
        "Run: pip install 'onnxruntime>=1.32'."
    ]
    assert outcome.line("stt") == "-      stt: onnxruntime comes first"
    assert "llm" in outcome.well


def in_directory(path: Path) -> list[str]:
    return [each.name for each in path.iterdir()]


async def database_of(path: Path) -> Any:
    return await check_database(f"sqlite+aiosqlite:///{path}", 5.0)


@pytest.mark.anyio
async def test_a_database_is_read_and_nothing_else(tmp_path: Path) -> None:
    """No file, byte or side file is made by looking: of none, of one that is closed, of one that is open."""
    path = tmp_path / "store" / "relance.sqlite3"
    found = await database_of(path)
    assert (found.status, found.told) == ("ok", f"{path} is not there yet, the server makes it at its first start")
    assert in_directory(tmp_path) == []
    async with Store(f"sqlite+aiosqlite:///{path}"):
        assert "is at migration 0002, the latest" in (await database_of(path)).told
    before = path.read_bytes()
    assert "is at migration 0002, the latest" in (await database_of(path)).told
    assert in_directory(path.parent) == [path.name]
    assert path.read_bytes() == before


@pytest.mark.anyio
async def test_a_database_that_the_server_would_migrate_is_well(tmp_path: Path) -> None:
    """An empty file, and one of an earlier release."""
    path = tmp_path / "relance.sqlite3"
    path.touch()
    assert "is empty" in (await database_of(path)).told
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
        connection.execute("INSERT INTO alembic_version VALUES ('0001')")
        connection.commit()
    found = await database_of(path)
    assert (found.status, found.told) == ("ok", f"{path} is at migration 0001, the server brings it to 0002")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("address", "word"),
    [
        ("sqlite+aiosqlite:////proc", "/proc cannot be opened: Is a directory"),
        ("sqlite+aiosqlite:////proc/x/y.sqlite3", "y.sqlite3 cannot be opened: "),
        ("oracle+foo://user:SECRET@127.0.0.1/x", "oracle+foo://127.0.0.1/x cannot be opened: "),
        ("no address", "database_url cannot be opened: "),
    ],
)
async def test_a_database_that_cannot_be_opened(address: str, word: str) -> None:
    """A directory, a place where no file can be made, a driver that is not there, no address at all."""
    found = await check_database(address, 5.0)
    assert (found.status, found.told.startswith(word) or word in found.told) == ("fault", True)
    assert "RELANCE_DATABASE_URL" in found.mend
    assert "SECRET" not in found.told + found.mend


@pytest.mark.anyio
async def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    """SQLite's own reason."""
    path = tmp_path / "relance.sqlite3"
    path.write_text("no database " * 1000)
    found = await database_of(path)
    assert (found.status, found.told) == ("fault", f"{path} cannot be opened: DatabaseError: file is not a database")


def test_a_data_directory_is_left_as_it_is(tmp_path: Path) -> None:
    """Files can be made there, and none is; a file in its place is told."""
    assert check_data_dir(tmp_path / "a" / "b").told.startswith(f"{tmp_path / 'a' / 'b'} is not there yet, and can be")
    assert check_data_dir(tmp_path).told.startswith(f"{tmp_path} can be written, ")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").touch()
    assert check_data_dir(tmp_path / "file").told == f"{tmp_path / 'file'} cannot be written: Not a directory"


def test_a_local_secret_that_is_too_short(tmp_path: Path) -> None:
    """None yet is well; a short one, as an interrupted copy leaves it, is to be deleted."""
    settings = Settings(data_dir=tmp_path)
    assert check_tokens(settings).status == "ok"
    (tmp_path / "jwt_secret").write_text("short")
    found = check_tokens(settings)
    assert found.told == f"expected a secret of at least 32 bytes in {tmp_path / 'jwt_secret'}, got 5"
    assert found.mend == "Delete the file: the server makes another secret."
    (tmp_path / "jwt_secret").write_text("long enough " * 4)
    assert check_tokens(settings).status == "ok"


def test_a_key_set_is_asked_for(engines: Any, false: Any) -> None:
    """It must be one: a list of keys at its address."""
    settings = Settings(jwt_algorithm="RS256", jwks_url=f"{engines.url}/keys")
    assert "got 404" in check_tokens(settings).told
    engines.answers["/v1/keys"] = false.PAGE
    assert "got something else" in check_tokens(settings).told
    engines.answers["/v1/keys"] = false.Answer(b'{"keys": [{}]}')
    assert check_tokens(settings).told == f"key set of 1 at {engines.url}/keys"


@pytest.mark.parametrize(("available_kb", "status"), [(500_000, "fault"), (4_000_000, "ok")])
def test_memory_that_does_not_suffice(lock: Lock, tmp_path: Path, available_kb: int, status: str) -> None:
    """The French profile takes 2.7 GB; with its engines elsewhere, next to nothing."""
    meminfo = tmp_path / "meminfo"
    meminfo.write_text(f"MemTotal: 8000000 kB\nMemAvailable: {available_kb} kB\n")
    profile = lock.profile("fr")
    found = check_memory(Settings(profile="fr"), profile, meminfo)
    assert (found.status, bool(found.mend)) == (status, status == "fault")
    assert "about 2.8 GB needed" in found.told
    elsewhere = Settings(**{f"{kind}_url": "http://127.0.0.1:9/v1" for kind in ("stt", "llm", "tts")})  # type: ignore[arg-type]
    assert check_memory(elsewhere, profile, meminfo).status == "ok"
    shutil.rmtree(tmp_path)
    assert check_memory(elsewhere, profile, meminfo).status == "not checked"
