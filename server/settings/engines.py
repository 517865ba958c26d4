"""The settings of the engines: for each kind a primary and, where it is named, a fallback."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr
from pydantic_settings import NoDecode

from engines.setup import Kind
from server.settings.places import default_threads
from server.settings.types import Count, Url, json_object

OWN_STYLE = "openai"
"""The style that needs no address: the server then starts a process of its own that speaks it."""

KINDS: tuple[Kind, ...] = ("stt", "llm", "tts")

Options = Annotated[dict[str, Any], NoDecode, BeforeValidator(json_object)]


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """One backend as it was chosen. ``name`` is the beginning of its settings' names: ``stt``, ``stt_fallback``."""

    kind: Kind
    name: str
    style: str
    url: str | None
    model: str | None
    api_key: SecretStr | None
    voice: str | None
    options: dict[str, Any] = field(hash=False, repr=False)

    @property
    def is_own(self) -> bool:
        """Whether the server starts a process for it."""
        return self.style == OWN_STYLE and self.url is None


class EngineSettings(BaseModel):
    """Which engines are used."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    stt_style: str = "openai"
    """Style of speech to text: `openai`, `gemini`, `whispercpp`, or one of an installed package."""
    stt_url: Url | None = None
    """Address of the speech-to-text server (`openai`: with its `/v1`); none: the server starts its own worker."""
    stt_model: str | None = None
    """Model asked for at `stt_url`."""
    stt_api_key: SecretStr | None = None
    """Key for `stt_url`."""
    stt_options: Options = Field(default={}, repr=False)
    """Options of the style (JSON in a variable)."""
    stt_threads: Count = Field(default_factory=default_threads)
    """Threads of the own worker's speech to text."""
    stt_fallback_style: str | None = None
    """Style of the speech to text that is asked when the first one fails; none: there is no fallback."""
    stt_fallback_url: Url | None = None
    """Address of the fallback; none: the server's own worker."""
    stt_fallback_model: str | None = None
    """Model asked for at `stt_fallback_url`."""
    stt_fallback_api_key: SecretStr | None = None
    """Key for `stt_fallback_url`."""
    stt_fallback_options: Options = Field(default={}, repr=False)
    """Options of the fallback's style (JSON in a variable)."""

    llm_style: str = "openai"
    """Style of the language model: `openai`, `gemini`, or one of an installed package."""
    llm_url: Url | None = None
    """Address of the language model's server (`openai`: with its `/v1`); none: the server starts its own llama.cpp."""
    llm_model: str | None = None
    """Model asked for at `llm_url`; needed with it."""
    llm_api_key: SecretStr | None = None
    """Key for `llm_url`."""
    llm_options: Options = Field(default={}, repr=False)
    """Options of the style (JSON in a variable)."""
    llm_threads: Count = Field(default_factory=default_threads)
    """Threads of the own llama.cpp."""
    llm_fallback_style: str | None = None
    """Style of the language model that is asked when the first one fails; none: there is no fallback."""
    llm_fallback_url: Url | None = None
    """Address of the fallback; none: the server's own llama.cpp."""
    llm_fallback_model: str | None = None
    """Model asked for at `llm_fallback_url`."""
    llm_fallback_api_key: SecretStr | None = None
    """Key for `llm_fallback_url`."""
    llm_fallback_options: Options = Field(default={}, repr=False)
    """Options of the fallback's style (JSON in a variable)."""

    tts_style: str = "openai"
    """Style of text to speech: `openai`, `gemini`, `piper`, or one of an installed package."""
    tts_url: Url | None = None
    """Address of the text-to-speech server (`openai`: with its `/v1`); none: the server starts its own worker."""
    tts_model: str | None = None
    """Model asked for at `tts_url`."""
    tts_api_key: SecretStr | None = None
    """Key for `tts_url`."""
    tts_voice: str | None = None
    """Voice asked for; the profile's own by default. For `piper`, the speaker."""
    tts_options: Options = Field(default={}, repr=False)
    """Options of the style (JSON in a variable)."""
    tts_threads: Count = Field(default_factory=default_threads)
    """Threads of the own worker's text to speech."""
    tts_graph: Literal["fast", "pinned"] = "fast"
    """The own worker's Kokoro: `fast` is rebuilt from the pinned file where the CPU has VNNI; `pinned` is that file."""
    tts_fallback_style: str | None = None
    """Style of the text to speech that is asked when the first one fails; none: there is no fallback."""
    tts_fallback_url: Url | None = None
    """Address of the fallback; none: the server's own worker."""
    tts_fallback_model: str | None = None
    """Model asked for at `tts_fallback_url`."""
    tts_fallback_api_key: SecretStr | None = None
    """Key for `tts_fallback_url`."""
    tts_fallback_voice: str | None = None
    """Voice asked of the fallback."""
    tts_fallback_options: Options = Field(default={}, repr=False)
    """Options of the fallback's style (JSON in a variable)."""

    def choices(self, kind: Kind) -> tuple[EngineChoice, ...]:
        """Return the backends of ``kind`` in the order in which they are asked: the primary, then its fallback."""
        primary = self._choice(kind, kind, getattr(self, f"{kind}_style"))
        style: str | None = getattr(self, f"{kind}_fallback_style")
        return (primary,) if style is None else (primary, self._choice(kind, f"{kind}_fallback", style))

    def own_kinds(self) -> frozenset[Kind]:
        """Return the kinds that the server runs a process of its own for."""
        return frozenset(kind for kind in KINDS if any(choice.is_own for choice in self.choices(kind)))

    def _choice(self, kind: Kind, name: str, style: str) -> EngineChoice:
        def given(setting: str) -> Any:
            return getattr(self, f"{name}_{setting}")

        voice = given("voice") if kind == "tts" else None
        return EngineChoice(kind, name, style, given("url"), given("model"), given("api_key"), voice, given("options"))
