"""Settings that are each right and together wrong."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from server.settings.model import Settings

MIN_SECRET_BYTES = 32
"""RFC 7518, 3.2: a key for HS256 is at least as long as its hash."""


def contradictions(settings: Settings) -> list[str]:
    """One line for each contradiction: the settings, what is expected, what there is."""
    return [*_draw(settings), *_times(settings), *_tokens(settings), *_engines(settings)]


def _draw(s: Settings) -> Iterator[str]:
    total = s.t1_interruption_p0 + s.t1_interruption_p1 + s.t1_interruption_p2
    if not math.isclose(total, 1, abs_tol=1e-6):
        yield f"t1_interruption_p0, _p1 and _p2: expected a sum of 1, got {total:g}"
    start, end, timeout = s.t1_interruption_window_start_ms, s.t1_interruption_window_end_ms, s.t1_session_timeout_ms
    if start > end:
        yield f"t1_interruption_window_start_ms: expected at most t1_interruption_window_end_ms ({end}), got {start}"
    elif s.t1_interruption_p2 > 0 and end - start < s.t1_interruption_min_spacing_ms:
        yield (
            f"t1_interruption_min_spacing_ms: expected at most the window's length ({end - start}), "
            f"got {s.t1_interruption_min_spacing_ms}"
        )
    if end > timeout:
        yield f"t1_interruption_window_end_ms: expected at most t1_session_timeout_ms ({timeout}), got {end}"


def _times(s: Settings) -> Iterator[str]:
    for task, warning, timeout in (
        ("t1", s.t1_session_warning_ms, s.t1_session_timeout_ms),
        ("t2", s.t2_session_warning_ms, s.t2_session_timeout_ms),
    ):
        if warning > timeout:
            yield f"{task}_session_warning_ms: expected at most {task}_session_timeout_ms ({timeout}), got {warning}"


def _tokens(s: Settings) -> Iterator[str]:
    if s.jwt_algorithm == "HS256" and s.jwks_url is not None:
        yield "jwks_url: is of no use with jwt_algorithm HS256; expected RS256 or ES256"
    if s.jwt_algorithm != "HS256" and s.jwks_url is None:
        yield f"jwt_algorithm: {s.jwt_algorithm} needs a jwks_url, and there is none"
    if s.jwt_algorithm != "HS256" and s.jwt_secret is not None:
        yield f"jwt_secret: is of no use with jwt_algorithm {s.jwt_algorithm}; expected HS256"
    if s.jwt_secret is not None and len(s.jwt_secret.get_secret_value().encode()) < MIN_SECRET_BYTES:
        yield f"jwt_secret: expected at least {MIN_SECRET_BYTES} bytes, got fewer"


def _engines(s: Settings) -> Iterator[str]:
    for kind in ("stt", "llm", "tts"):
        primary, *fallbacks = s.choices(kind)
        if not fallbacks:
            useless = [name for name in _given(s, f"{kind}_fallback") if getattr(s, name)]
            yield from (f"{name}: is of no use without {kind}_fallback_style" for name in useless)
        elif primary.is_own and fallbacks[0].is_own:
            yield f"{kind}_fallback_url: expected an address, for {kind}_url has none: both would be the same process"
        for choice in (primary, *fallbacks):
            useless = [name for name in ("model", "api_key", "options") if choice.is_own and getattr(choice, name)]
            yield from (f"{choice.name}_{name}: is of no use without {choice.name}_url" for name in useless)


def _given(s: Settings, prefix: str) -> Iterator[str]:
    """Yield the names of the settings that begin with ``prefix``."""
    return (name for name in type(s).model_fields if name.startswith(prefix))
