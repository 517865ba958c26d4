"""What can go wrong in an engine, and whether trying again makes sense.

One base to catch, :class:`EngineError`. Its ``transient`` says whether the same request may succeed when it
is made again (a refused connection, a timeout, an overloaded server) or never will (a wrong key, an unknown
model). Messages name engine, expectation and state; they never hold text, audio, keys or an address's query.
"""

from __future__ import annotations


class EngineError(Exception):
    """Base of every engine failure.

    ``engine`` is the engine's name in logs and metrics (``stt``, ``llm``, ``tts``, ``vad``), ``code`` a
    stable word for the fault, ``transient`` whether the same request may succeed later, ``retry_after_s``
    the wait that the engine asked for, if any.
    """

    code = "engine_error"
    transient = False

    def __init__(self, engine: str, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(f"{engine}: {message}")
        self.engine = engine
        self.retry_after_s = retry_after_s


class EngineUnavailable(EngineError):
    """Connection refused or reset, or a 408, 425, 429 or 5xx answer."""

    code = "unavailable"
    transient = True


class EngineTimeout(EngineError):
    """No answer, or no next part of it, within the request's deadline."""

    code = "timeout"
    transient = True


class EngineTruncated(EngineError):
    """The answer broke off, or held nothing where something was promised (tokens counted, no text)."""

    code = "truncated"
    transient = True


class EngineRefused(EngineError):
    """The request will never be served as it is: 400, 401, 403, 404, an unknown model or voice."""

    code = "refused"


class EngineMisconfigured(EngineError):
    """The engine cannot run with these settings: no address, a missing model, ``tiny.en`` asked for French."""

    code = "misconfigured"


class EngineFault(EngineError):
    """The engine answered nonsense: a probability outside [0, 1], NaN in its audio."""

    code = "fault"
    transient = True
