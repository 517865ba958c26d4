"""Where settings come from, and how faults are told."""

import os
import socket
from collections.abc import MutableMapping
from pathlib import Path

import pytest

from server.exam.rules import InterviewRules, RoleplayRules
from server.settings import Settings, SettingsError, load

Environ = MutableMapping[str, str]


def faults(**given: object) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as caught:
        load(**given)
    return caught.value.faults


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("RELANCE_PORT", "http", "RELANCE_PORT: expected a valid integer"),
        ("RELANCE_PORT", "65536", "RELANCE_PORT: expected less than or equal to 65535, got '65536'"),
        ("RELANCE_PROFILE", "de", "RELANCE_PROFILE: expected 'ci', 'fr' or 'fr-small', got 'de'"),
        ("RELANCE_JWT_ALGORITHM", "none", "RELANCE_JWT_ALGORITHM: expected 'HS256', 'RS256' or 'ES256', got 'none'"),
        ("RELANCE_T2_SILENCE_MS", "499", "RELANCE_T2_SILENCE_MS: expected greater than or equal to 500"),
        ("RELANCE_T2_SILENCE_MS", "10001", "RELANCE_T2_SILENCE_MS: expected less than or equal to 10000"),
        ("RELANCE_IDLE_TIMEOUT_S", "nan", "RELANCE_IDLE_TIMEOUT_S: expected"),
        ("RELANCE_MAX_SESSIONS", "0", "RELANCE_MAX_SESSIONS: expected greater than or equal to 1"),
        ("RELANCE_STT_URL", "localhost:9000", "RELANCE_STT_URL: expected an address that begins with http://"),
        ("RELANCE_PLANS", "{", "RELANCE_PLANS: expecting property name"),
        ("RELANCE_JWT_SECRET", "short", "jwt_secret: expected at least 32 bytes"),
    ],
)
def test_a_wrong_value_is_one_line_that_names_the_variable(environ: Environ, name: str, value: str, line: str) -> None:
    """A wrong value gives exactly one line: where it came from, what is expected, what was found."""
    environ[name] = value
    (fault,) = faults()
    assert fault.startswith(line)
    assert "\n" not in fault


def test_an_unknown_variable_names_the_nearest_known(environ: Environ) -> None:
    """A variable that is no setting is an error, with the nearest setting's name."""
    environ["RELANCE_MAX_SESSION"] = "3"
    assert faults() == ("RELANCE_MAX_SESSION: unknown setting; the nearest is RELANCE_MAX_SESSIONS",)


def test_an_unknown_key_in_the_file_names_the_nearest_known(environ: Environ) -> None:
    """A key of the file that is no setting is an error, with the nearest setting's name."""
    Path("relance.toml").write_text("prot = 1\nzzz = 2\n")
    assert set(faults()) == {
        "prot in relance.toml: unknown setting; the nearest is port",
        "zzz in relance.toml: unknown setting",
    }


def test_a_wrong_value_in_the_file_names_the_file(environ: Environ) -> None:
    """A wrong value of the file is told with the file's path."""
    Path("own.toml").write_text('port = "x"\n')
    environ["RELANCE_CONFIG"] = "own.toml"
    (fault,) = faults()
    assert fault.startswith("port in own.toml: expected a valid integer")


def test_a_file_that_is_not_toml_is_one_line(environ: Environ) -> None:
    """Syntax errors of the file are told with its path."""
    Path("relance.toml").write_text("port = \n")
    (fault,) = faults()
    assert fault.startswith("relance.toml: not TOML")


def test_a_named_file_must_be_there(environ: Environ) -> None:
    """``RELANCE_CONFIG`` naming no file is an error; the default file may be missing."""
    environ["RELANCE_CONFIG"] = "/nowhere/relance.toml"
    assert faults() == ("RELANCE_CONFIG: no file at /nowhere/relance.toml",)
    del environ["RELANCE_CONFIG"]
    assert load().port == 8000


def test_every_fault_is_told_at_once(environ: Environ) -> None:
    """All faults are told, not the first alone."""
    environ |= {"RELANCE_PORT": "x", "RELANCE_LOG_LEVEL": "loud", "RELANCE_PROFIL": "fr"}
    assert len(faults()) == 3


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"t1_interruption_p0": 0.5}, "t1_interruption_p0, _p1 and _p2: expected a sum of 1, got 1.3"),
        ({"t1_interruption_window_start_ms": 80_000}, "t1_interruption_window_start_ms: expected at most"),
        ({"t1_interruption_min_spacing_ms": 50_001}, "t1_interruption_min_spacing_ms: expected at most the window's"),
        ({"t1_interruption_window_end_ms": 181_000}, "t1_interruption_window_end_ms: expected at most"),
        ({"t1_session_warning_ms": 180_001}, "t1_session_warning_ms: expected at most"),
        ({"t2_session_timeout_ms": 1_000}, "t2_session_warning_ms: expected at most"),
        ({"jwt_algorithm": "RS256"}, "jwt_algorithm: RS256 needs a jwks_url"),
        ({"jwks_url": "https://example.org/keys"}, "jwks_url: is of no use with jwt_algorithm HS256"),
        (
            {"jwt_algorithm": "ES256", "jwks_url": "https://example.org/keys", "jwt_secret": "s" * 32},
            "jwt_secret: is of no use with jwt_algorithm ES256",
        ),
    ],
)
def test_settings_that_contradict_each_other_are_refused(environ: Environ, given: dict[str, object], line: str) -> None:
    """Values that are each right and together wrong give one line."""
    (fault,) = faults(**given)
    assert fault.startswith(line)


def test_a_window_without_room_is_fine_when_two_relances_are_never_drawn(environ: Environ) -> None:
    """The spacing counts only when two relances may be drawn."""
    settings = load(t1_interruption_p1=0.8, t1_interruption_p2=0, t1_interruption_window_end_ms=25_000)
    assert settings.interview_rules().interruption_window_end_ms == 25_000


def test_variables_win_over_the_file_and_what_is_given_over_both(environ: Environ) -> None:
    """Order: defaults, file, variables, command line."""
    Path("relance.toml").write_text('port = 1\nhost = "a"\ninstance = "file"\n')
    environ |= {"RELANCE_PORT": "2", "RELANCE_HOST": "b"}
    settings = load(port=3, host=None)
    assert (settings.port, settings.host, settings.instance) == (3, "b", "file")


def test_an_empty_variable_is_no_value(environ: Environ) -> None:
    """``RELANCE_X=`` leaves the default."""
    environ["RELANCE_STT_URL"] = ""
    assert load().stt_url is None


def test_lists_and_mappings_can_be_written_in_variables(environ: Environ) -> None:
    """Origins are comma-separated, plans are JSON."""
    environ |= {"RELANCE_ALLOWED_ORIGINS": "https://a.org, https://b.org", "RELANCE_PLANS": '{"pro": ["oral_t2_live"]}'}
    settings = load()
    assert settings.allowed_origins == ("https://a.org", "https://b.org")
    assert settings.permits("pro", "oral_t2_live")
    assert not settings.permits("premium", "oral_t2_live")
    assert not settings.permits(None, "oral_t2_live")


def test_no_secret_is_printed(environ: Environ) -> None:
    """Neither the settings nor an error about them show a secret."""
    secret, address = "s" * 40, "postgresql+asyncpg://u:hunter2@db/relance"
    engine = {"stt_url": "http://stt/v1", "stt_model": "whisper", "stt_api_key": secret, "stt_options": {"key": secret}}
    settings = load(jwt_secret=secret, database_url=address, **engine)
    assert secret not in repr(settings)
    assert secret not in repr(settings.choices("stt"))
    assert "hunter2" not in repr(settings)
    environ |= {"RELANCE_STT_URL": "ftp://u:hunter2@host", "RELANCE_JWT_SECRET": "hunter2"}
    environ |= {"RELANCE_LLM_OPTIONS": '["hunter2"]', "RELANCE_TTS_OPTIONS": "hunter2"}
    assert not any("hunter2" in fault for fault in faults())


def test_rules_default_to_the_exams_own_constants(environ: Environ) -> None:
    """The defaults of the exam's settings are the exam's."""
    settings = load()
    assert settings.interview_rules() == InterviewRules()
    assert settings.roleplay_rules() == RoleplayRules()


def test_rules_follow_the_settings(environ: Environ) -> None:
    """Each constant is a setting under its own name."""
    environ |= {"RELANCE_T1_SESSION_TIMEOUT_MS": "200000", "RELANCE_T2_TERMINAL_FLUSH_GRACE_MS": "5"}
    settings = load()
    assert settings.interview_rules().session_timeout_ms == 200_000
    assert settings.roleplay_rules().terminal_flush_grace_ms == 5


def test_the_database_lies_in_the_data_directory(environ: Environ, tmp_path: Path) -> None:
    """The default database follows ``data_dir``, and that follows the XDG variable."""
    environ["XDG_DATA_HOME"] = str(tmp_path)
    assert load().database_url == f"sqlite+aiosqlite:///{tmp_path}/relance/relance.sqlite3"
    assert load(data_dir="/srv/r").database_url == "sqlite+aiosqlite:////srv/r/relance.sqlite3"


def test_defaults_come_from_this_machine(environ: Environ) -> None:
    """Instance is the host's name; threads are no more than the cores that the process may use."""
    settings = load()
    assert settings.instance == socket.gethostname()
    assert 1 <= settings.llm_threads <= len(os.sched_getaffinity(0))


def test_every_setting_has_a_description() -> None:
    """Each setting says what it is for."""
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


def test_without_a_word_every_engine_is_the_servers_own(environ: Environ) -> None:
    """No address: a process of ours, and no fallback."""
    choices = [load().choices(kind) for kind in ("stt", "llm", "tts")]
    assert [[(each.name, each.is_own) for each in of_kind] for of_kind in choices] == [
        [("stt", True)],
        [("llm", True)],
        [("tts", True)],
    ]
    assert load().own_kinds() == {"stt", "llm", "tts"}


def test_a_fallback_is_there_when_its_style_is_named(environ: Environ) -> None:
    """The primary first; each has its own settings, options of a variable as JSON."""
    environ |= {
        "RELANCE_LLM_STYLE": "gemini",
        "RELANCE_LLM_URL": "http://llm/v1beta/",
        "RELANCE_LLM_MODEL": "m",
        "RELANCE_LLM_OPTIONS": '{"thinking_tokens": null}',
        "RELANCE_LLM_FALLBACK_STYLE": "openai",
    }
    primary, fallback = load().choices("llm")
    assert (primary.name, primary.style, primary.url, primary.is_own) == ("llm", "gemini", "http://llm/v1beta", False)
    assert primary.options == {"thinking_tokens": None}
    assert (fallback.name, fallback.style, fallback.url, fallback.is_own) == ("llm_fallback", "openai", None, True)
    assert "llm" in load().own_kinds()


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({"llm_fallback_url": "http://llm/v1"}, "llm_fallback_url: is of no use without llm_fallback_style"),
        ({"tts_fallback_style": "openai"}, "tts_fallback_url: expected an address"),
        ({"llm_model": "qwen"}, "llm_model: is of no use without llm_url"),
        ({"stt_style": "gemini", "stt_url": "http://stt", "stt_options": "x"}, "RELANCE_STT_OPTIONS: "),
        ({"tts_options": "[1]"}, "RELANCE_TTS_OPTIONS: expected a valid dictionary"),
    ],
)
def test_engines_that_contradict_each_other_are_told(environ: Environ, settings: dict[str, str], fault: str) -> None:
    """What would be passed over in silence is an error."""
    environ |= {f"RELANCE_{name.upper()}": value for name, value in settings.items()}
    assert [line for line in faults() if line.startswith(fault)], faults()
