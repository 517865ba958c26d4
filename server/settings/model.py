"""Every setting, with its default and its meaning. Names are flat: ``port`` in TOML is ``RELANCE_PORT`` outside."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, model_validator
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from server.exam.rules import InterviewRules, RoleplayRules
from server.settings.consistency import contradictions
from server.settings.engines import EngineSettings
from server.settings.places import data_home, default_sessions, default_t2_sessions, models_home
from server.settings.sources import config_file
from server.settings.types import Count, Url, json_object

_T1 = InterviewRules()
_T2 = RoleplayRules()


def _comma_separated(value: object) -> object:
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


LocalPath = Annotated[Path, AfterValidator(Path.expanduser)]
Milliseconds = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Probability = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_comma_separated)]
Plans = Annotated[dict[str, tuple[str, ...]], NoDecode, BeforeValidator(json_object)]


class Settings(EngineSettings, BaseSettings):
    """What an operator may choose. Frozen; secrets are secret types and are never printed."""

    model_config = SettingsConfigDict(
        env_prefix="RELANCE_",
        env_ignore_empty=True,
        extra="forbid",
        frozen=True,
        use_attribute_docstrings=True,
        hide_input_in_errors=True,
    )

    profile: Literal["ci", "fr", "fr-small"] = "fr"
    """Models, voice and language: `fr`, `fr-small` (better recognition), `ci` (English, small)."""
    models_dir: LocalPath = Field(default_factory=models_home)
    """The model store."""
    data_dir: LocalPath = Field(default_factory=data_home)
    """What the server keeps: the database, the local secret."""
    database_url: str = Field(
        default_factory=lambda given: f"sqlite+aiosqlite:///{given['data_dir'] / 'relance.sqlite3'}", repr=False
    )
    """SQLAlchemy address of the database; a SQLite file in `data_dir` by default."""
    instance: str = Field(default_factory=socket.gethostname, min_length=1)
    """Name of this server among those that share a database: after a crash it takes up its own productions."""

    host: str = "127.0.0.1"
    """Address to listen on."""
    port: int = Field(default=8000, ge=0, le=65535)
    """Port to listen on; 0 takes a free one."""
    allowed_origins: Names = ()
    """Origins of web pages that may call the server (comma-separated); none: no cross-origin headers, no check."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """Least level that is logged."""
    log_format: Literal["console", "json"] = "console"
    """`console` for people, `json` for machines."""

    jwt_algorithm: Literal["HS256", "RS256", "ES256"] = "HS256"
    """The one algorithm that tokens may be signed with."""
    jwt_secret: SecretStr | None = None
    """Secret for HS256, 32 bytes at least. Without one, the server makes a local secret once, in `data_dir`."""
    jwks_url: Url | None = None
    """Address of the key set for RS256 and ES256."""
    jwt_audience: str = Field(default="authenticated", min_length=1)
    """The audience that a token must name."""
    jwt_leeway_s: float = Field(default=10, ge=0, le=300)
    """How far clocks may differ."""
    plans: Plans = {"premium": ("oral_t2_live",)}
    """Permissions of each plan (JSON in a variable)."""

    max_sessions: Count = Field(default_factory=default_sessions)
    """Live sessions at once."""
    max_t2_sessions: Count = Field(default_factory=default_t2_sessions)
    """Live sessions of task 2 at once, which take more of the engines."""
    max_sessions_per_user: Count = 1
    """Live sessions at once of one user."""
    max_frame_bytes: int = Field(default=1024 * 1024, ge=1024)
    """Largest WebSocket frame from a client."""
    max_backlog_s: Seconds = 30
    """Candidate audio that may wait to be heard, per session."""
    idle_timeout_s: Seconds = 60
    """How long a client may stay without a frame."""
    shutdown_grace_s: float = Field(default=30, ge=0)
    """How long running sessions may go on once the server was told to stop."""

    t1_session_timeout_ms: Milliseconds = _T1.session_timeout_ms
    """Task 1: the exam ends by itself after this."""
    t1_session_warning_ms: Milliseconds = _T1.session_warning_ms
    """Task 1: the candidate is told then that the time is nearly up."""
    t1_interruption_p0: Probability = _T1.interruption_p0
    """Task 1: probability of no relance."""
    t1_interruption_p1: Probability = _T1.interruption_p1
    """Task 1: probability of one relance."""
    t1_interruption_p2: Probability = _T1.interruption_p2
    """Task 1: probability of two relances."""
    t1_interruption_window_start_ms: Milliseconds = _T1.interruption_window_start_ms
    """Task 1: no relance before this."""
    t1_interruption_window_end_ms: Milliseconds = _T1.interruption_window_end_ms
    """Task 1: no relance after this."""
    t1_interruption_min_spacing_ms: Milliseconds = _T1.interruption_min_spacing_ms
    """Task 1: least time between two relances."""
    t1_interruption_pause_grace_ms: Milliseconds = _T1.interruption_pause_grace_ms
    """Task 1: how long a relance waits for the candidate's next pause."""
    t1_terminal_flush_grace_ms: Milliseconds = _T1.terminal_flush_grace_ms
    """Task 1: how long the last words are waited for, at least."""
    t1_relance_lead_ms: Milliseconds = _T1.relance_lead_ms
    """Task 1: how long before its time a relance is prepared, at most; less once it is known how long that takes."""
    t1_relance_patience_ms: Milliseconds = _T1.relance_patience_ms
    """Task 1: how long after its time a relance is waited for before one of the bank is spoken."""
    t1_seed: int | None = None
    """Task 1: fixes the draw of the relances, for tests."""

    t2_silence_ms: int = Field(default=2000, ge=500, le=10_000)
    """Task 2: silence after speech that ends the candidate's turn; sensible from 1500 to 3000."""
    t2_session_timeout_ms: Milliseconds = _T2.session_timeout_ms
    """Task 2: the exam ends by itself after this."""
    t2_session_warning_ms: Milliseconds = _T2.session_warning_ms
    """Task 2: the candidate is told then that the time is nearly up."""
    t2_terminal_flush_grace_ms: Milliseconds = _T2.terminal_flush_grace_ms
    """Task 2: how long the last words are waited for, at least."""
    t2_history_budget_chars: int = Field(default=_T2.history_budget_chars, ge=500)
    """Task 2: length of the dialogue in the prompt above which half of it is cut."""
    t2_speculations: int = Field(default=_T2.speculations, ge=0, le=20)
    """Task 2: how many replies may be prepared in the pauses of one turn of the candidate; 0: none."""

    phonology: Literal["acoustic", "stub"] = "acoustic"
    """How phonology is scored: from measured figures, or not at all."""
    reply_timeout_s: Seconds = 20
    """Deadline of one examiner's turn, retries included."""
    evaluation_timeout_s: Seconds = 180
    """Deadline of one evaluation, retries included."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """What was given in code wins over ``RELANCE_*``, and that over the TOML file."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls, toml_file=config_file())

    @model_validator(mode="after")
    def _consistent(self) -> Settings:
        if found := contradictions(self):
            raise ValueError("\n".join(found))
        return self

    @property
    def language(self) -> Literal["fr", "en"]:
        """Language of the profile."""
        return "en" if self.profile == "ci" else "fr"

    def interview_rules(self) -> InterviewRules:
        """Task 1's constants, for the exam core."""
        return InterviewRules(**self._rules("t1_", InterviewRules))

    def roleplay_rules(self) -> RoleplayRules:
        """Task 2's constants, for the exam core."""
        return RoleplayRules(**self._rules("t2_", RoleplayRules))

    def permits(self, plan: str | None, permission: str) -> bool:
        """Whether ``plan`` holds ``permission``. No plan holds nothing."""
        return plan is not None and permission in self.plans.get(plan, ())

    def _rules(self, prefix: str, kind: type[InterviewRules | RoleplayRules]) -> Mapping[str, Any]:
        return {field.name: getattr(self, prefix + field.name) for field in fields(kind)}
