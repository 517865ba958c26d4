"""From the timed calls of the engines to figures, each next to the stock library's and the ratio."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from server.bench import targets
from server.bench.engine_calls import Round
from server.bench.figures import ratio, words_wrong
from server.bench.record import Figure, Source, Target
from server.bench.stock_job import Heard, Spoken

LONG_TEXT = 80
"""Characters of a sentence from which the first audio must come sooner than the stock library's."""


def vad_figures(ours: Sequence[float], streams: int, stock: Sequence[float]) -> Iterator[Figure]:
    """Yield microseconds a stream and window."""
    name = f"VAD, {streams} {'stream' if streams == 1 else 'streams'}"
    yield _figure(name, "µs", ours, asked=targets.VAD_US if streams > 1 else ())
    if stock and streams == 1:
        yield _figure("VAD, one window", "µs", stock, "stock")
    if stock:
        middle = sorted(stock)[len(stock) // 2]
        yield _times(f"{name}, times faster", [(middle, mine) for mine in ours])


def stt_figures(ours: Sequence[Heard], stock: Sequence[Heard], said: str) -> Iterator[Figure]:
    """Yield time and word errors; ``said`` is the text of all recordings, empty where it is not known."""
    yield from _heard(ours, said, "engine")
    if not stock:
        return
    yield from _heard(stock, said, "stock")
    pairs = [(theirs.took_s, mine.took_s) for theirs, mine in zip(stock, ours, strict=True)]
    yield _times("STT, times faster", pairs, targets.STT_TIMES_FASTER)
    if said:
        more = 100 * (_word_error_rate(ours, said) - _word_error_rate(stock, said))
        yield _figure("STT, word errors more than stock", "%", [more], asked=targets.STT_NO_WORSE)


def tts_figures(
    texts: Sequence[str], ours: Sequence[Spoken], stock: Sequence[Spoken], *, amx: bool
) -> Iterator[Figure]:
    """Yield first audio and the whole; ``amx`` says whether the CPU has it."""
    is_long = [len(text) >= LONG_TEXT for text in texts]
    yield from _spoken(ours, is_long, "engine")
    if not stock:
        return
    yield from _spoken(stock, is_long, "stock")
    both = list(zip(stock, ours, is_long, strict=True))
    firsts = [(theirs.first_s, mine.first_s) for theirs, mine, long in both if long]
    yield _times("TTS, first audio of long texts, times sooner", firsts, targets.TTS_FIRST_TIMES_SOONER)
    wholes = [(theirs.whole_s, mine.whole_s) for theirs, mine, _ in both]
    asked = targets.TTS_WHOLE_TIMES_FASTER_AMX if amx else targets.TTS_WHOLE_TIMES_FASTER
    yield _times("TTS, whole text, times faster", wholes, asked)


def llm_figures(rounds: Sequence[Round]) -> Iterator[Figure]:
    """Yield first token and new tokens of each kind of prompt, and the pace."""
    kinds = {
        "prompt new": [each.new for each in rounds],
        "dialogue goes on": [each.goes_on for each in rounds],
        "long turn": [each.unwarmed for each in rounds],
        "long turn, warmed": [each.warmed for each in rounds],
    }
    for kind, answers in kinds.items():
        yield _figure(f"LLM, first token, {kind}", "ms", [1000 * answer.first_s for answer in answers])
        told = [answer.new_tokens for answer in answers if answer.new_tokens is not None]
        yield _figure(f"LLM, new tokens, {kind}", "tokens", told)
    warming = [(each.unwarmed.first_s, each.warmed.first_s) for each in rounds]
    yield _times("LLM, first token, times sooner for warming", warming)
    paces = [answer.tokens_per_s for each in rounds for answer in (each.new, each.goes_on)]
    yield _figure("LLM, pace", "tokens/s", [pace for pace in paces if pace is not None])


def guard_figures(took: dict[str, list[float]]) -> Iterator[Figure]:
    """Yield microseconds a sentence."""
    for name, samples in took.items():
        yield _figure(name, "µs", samples)


def _heard(found: Sequence[Heard], said: str, by: Source) -> Iterator[Figure]:
    yield _figure("STT, a segment", "ms", [1000 * heard.took_s for heard in found], by)
    yield _figure("STT, time for a second of audio", "s", [heard.took_s / heard.audio_s for heard in found], by)
    if said:
        yield _figure("STT, word errors", "%", [100 * _word_error_rate(found, said)], by)


def _word_error_rate(found: Sequence[Heard], said: str) -> float:
    wrong, words = words_wrong(said, " ".join(heard.text for heard in found))
    return wrong / words if words else 0.0


def _spoken(found: Sequence[Spoken], is_long: Sequence[bool], by: Source) -> Iterator[Figure]:
    long_ones = [spoken for spoken, long in zip(found, is_long, strict=True) if long]
    yield _figure("TTS, first audio", "ms", [1000 * spoken.first_s for spoken in found], by)
    yield _figure("TTS, first audio of long texts", "ms", [1000 * spoken.first_s for spoken in long_ones], by)
    yield _figure("TTS, whole text", "ms", [1000 * spoken.whole_s for spoken in found], by)
    audible = [spoken for spoken in found if spoken.audio_s]
    yield _figure("TTS, time for a second of audio", "s", [spoken.whole_s / spoken.audio_s for spoken in audible], by)


def _times(name: str, pairs: Sequence[tuple[float, float]], asked: tuple[Target, ...] = ()) -> Figure:
    """How many times faster the second of each pair is than the first, the stock library's."""
    found = [ratio(theirs, mine) for theirs, mine in pairs]
    return _figure(name, "×", [times for times in found if times is not None], "engine", asked)


def _figure(
    name: str, unit: str, samples: Sequence[float], by: Source = "engine", asked: tuple[Target, ...] = ()
) -> Figure:
    return Figure(name, unit, by, tuple(round(sample, 4) for sample in samples), asked)
