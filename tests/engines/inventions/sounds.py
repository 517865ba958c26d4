"""What a microphone hears when nobody speaks, made by rule: each sound is the same for the same seed.

Every sound takes a generator and a length in seconds, and gives mono samples at 16 kHz, float32 in [-1, 1], shape [n].
Levels are in dB of full scale: a voice close to the microphone is at about -25 dB (RMS), a quiet room at about -60 dB.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import cycle

import numpy as np
from numpy.typing import NDArray

RATE_HZ = 16_000

Audio = NDArray[np.float32]
Sound = Callable[[np.random.Generator, float], Audio]


def silence(_rng: np.random.Generator, seconds: float) -> Audio:
    """Digital silence: a muted microphone."""
    return np.zeros(round(seconds * RATE_HZ), np.float32)


def room(rng: np.random.Generator, seconds: float) -> Audio:
    """A room: the rumble and hiss of air with its reverberation, mains hum, between -58 and -40 dB."""
    n = round(seconds * RATE_HZ)
    hum = sum(tone(50 * k + rng.normal(0, 0.05), n) / k**1.5 for k in (1, 2, 3, 5, 7))
    air = coloured(rng, n, 1.0) + 0.7 * coloured(rng, n, 2.0) + 0.3 * hum
    return at_level(reverberated(rng, air, rng.uniform(0.2, 0.6)), rng.uniform(-58, -40))


def fan(rng: np.random.Generator, seconds: float) -> Audio:
    """A computer's fan, loud: broad noise that turns, at -38 to -28 dB."""
    n = round(seconds * RATE_HZ)
    turning = 1 + 0.2 * tone(rng.uniform(6, 20), n)
    return at_level(coloured(rng, n, 0.6) * turning + 0.1 * tone(rng.uniform(180, 420), n), rng.uniform(-38, -28))


def typing(rng: np.random.Generator, seconds: float) -> Audio:
    """A keyboard beside the microphone: words typed at a human rhythm, with pauses between them."""
    heard = np.zeros(round(seconds * RATE_HZ), np.float32)
    at = 0.2
    while at < seconds:
        for _ in range(rng.integers(3, 12)):
            _add(heard, at, _key(rng) * rng.uniform(0.1, 0.5))
            _add(heard, at + rng.uniform(0.06, 0.11), _key(rng) * rng.uniform(0.03, 0.15))
            at += rng.lognormal(-1.8, 0.4)
        at += rng.lognormal(-0.9, 0.8)
    return _in(heard, room(rng, seconds))


def ballad(rng: np.random.Generator, seconds: float) -> Audio:
    """Slow music: broken chords and a melody on plucked strings."""
    heard = np.zeros(round(seconds * RATE_HZ), np.float32)
    beat = rng.uniform(0.5, 0.8)
    for at, chord in _chords(rng, seconds, 4 * beat):
        for step in range(8):
            _add(heard, at + step * beat / 2, 0.2 * plucked(rng, chord[step % 3] / 2, beat * 2))
        for step in range(4):
            if rng.random() < 0.7:
                _add(heard, at + step * beat, 0.3 * plucked(rng, rng.choice(chord) * 2, beat * 2))
    return at_level(heard, -26)


def band(rng: np.random.Generator, seconds: float) -> Audio:
    """Fast music: drums, a bass and held chords."""
    heard = np.zeros(round(seconds * RATE_HZ), np.float32)
    beat = rng.uniform(0.4, 0.55)
    for at, chord in _chords(rng, seconds, 4 * beat):
        for note in chord:
            _add(heard, at, 0.12 * held(rng, note, 4 * beat))
        for step in range(8):
            _add(heard, at + step * beat / 2, 0.15 * _hiss(rng, 0.05))
            _add(heard, at + step * beat / 2, 0.3 * plucked(rng, chord[0] / 4, beat))
        for step in range(4):
            _add(heard, at + step * beat, _thump(rng, 60) if step % 2 == 0 else 0.4 * _hiss(rng, 0.2))
    return at_level(heard, -24)


def strings(rng: np.random.Generator, seconds: float) -> Audio:
    """Slow music: held chords and a melody with vibrato, nearest of all to voices."""
    heard = np.zeros(round(seconds * RATE_HZ), np.float32)
    for at, chord in _chords(rng, seconds, 3.0):
        for note in chord:
            _add(heard, at, 0.2 * held(rng, note, 3.2))
        for step in range(3):
            _add(heard, at + step, 0.3 * held(rng, rng.choice(chord) * 2, 1.1))
    return at_level(reverberated(rng, heard, 0.8), -28)


def breath(rng: np.random.Generator, seconds: float) -> Audio:
    """Breath, from across the table to right into the microphone, where it is as loud as a voice."""
    n = round(seconds * RATE_HZ)
    heard = np.zeros(n, np.float32)
    at = rng.uniform(0.1, 0.5)
    while at < seconds:
        for length, centre in ((rng.uniform(0.6, 1.3), 1800), (rng.uniform(0.9, 2.0), 900)):
            _add(heard, at, rng.choice([0.05, 0.2, 1.0]) * _blown(rng, length, centre * rng.uniform(0.7, 1.4)))
            at += length + rng.uniform(0.1, 0.9)
    return _in(heard * 0.4, room(rng, seconds))


def wind(rng: np.random.Generator, seconds: float) -> Audio:
    """Blowing on the microphone: deep gusts that overload it."""
    n = round(seconds * RATE_HZ)
    gusts = np.abs(np.interp(np.arange(n), np.arange(0, n, 2000), rng.normal(0, 1, len(range(0, n, 2000)))))
    return np.clip(0.5 * gusts * coloured(rng, n, 2.0) + 0.05 * gusts * coloured(rng, n, 0.5), -1, 1).astype(np.float32)


def coughs(rng: np.random.Generator, seconds: float) -> Audio:
    """A cough now and then, two or three at once."""
    heard = np.zeros(round(seconds * RATE_HZ), np.float32)
    at = rng.uniform(0.2, 1.0)
    while at < seconds:
        for _ in range(rng.integers(1, 4)):
            _add(heard, at, rng.uniform(0.3, 0.8) * _cough(rng))
            at += rng.uniform(0.35, 0.6)
        at += rng.uniform(1.0, 4.0)
    return _in(heard, room(rng, seconds))


def door(rng: np.random.Generator, seconds: float) -> Audio:
    """Doors, steps and chairs in the room."""
    heard = np.zeros(round(seconds * RATE_HZ), np.float32)
    at = rng.uniform(0.2, 1.0)
    while at < seconds:
        _add(heard, at, rng.uniform(0.1, 0.7) * _thump(rng, rng.uniform(50, 200)))
        _add(heard, at + 0.02, 0.2 * _key(rng))
        at += rng.choice([0.5, 0.6, 2.5]) * rng.uniform(0.8, 1.3)
    return _in(reverberated(rng, heard, 0.5), room(rng, seconds))


def ringing(rng: np.random.Generator, seconds: float) -> Audio:
    """A telephone that rings, and the beeps of messages."""
    heard = np.zeros(round(seconds * RATE_HZ), np.float32)
    low, high = rng.uniform(400, 900), rng.uniform(900, 1400)
    for at in np.arange(0.3, seconds, 3.0):
        trill = np.where(np.sin(2 * np.pi * 20 * np.arange(RATE_HZ * 3 // 2) / RATE_HZ) > 0, 1, 0)
        _add(heard, at, 0.15 * trill * (tone(low, len(trill)) + tone(high, len(trill))))
        _add(heard, at + 2.0, 0.2 * plucked(rng, high, 0.4))
    return _in(heard, room(rng, seconds))


SOUNDS: dict[str, Sound] = {
    each.__name__: each
    for each in (silence, room, fan, typing, ballad, band, strings, breath, wind, coughs, door, ringing)
}


def tone(hz: float, n: int) -> Audio:
    """Return ``n`` samples of a sine."""
    return np.sin(2 * np.pi * hz * np.arange(n) / RATE_HZ).astype(np.float32)


def coloured(rng: np.random.Generator, n: int, slope: float) -> Audio:
    """Return noise whose power falls with frequency to the power of ``slope``: 1 is pink, 2 is brown. RMS 1."""
    hz = np.maximum(np.fft.rfftfreq(n, 1 / RATE_HZ), 20)
    return _unit(np.fft.irfft(np.fft.rfft(rng.normal(0, 1, n)) * hz ** (-slope / 2), n))


def shaped(rng: np.random.Generator, n: int, peaks: list[tuple[float, float]]) -> Audio:
    """Return noise that rings at ``peaks``, (Hz, width in Hz): a vocal tract without a voice. RMS 1."""
    hz = np.fft.rfftfreq(n, 1 / RATE_HZ)
    gain = sum(1 / (1 + ((hz - peak) / width) ** 2) / (i + 1) for i, (peak, width) in enumerate(peaks))
    return _unit(np.fft.irfft(np.fft.rfft(rng.normal(0, 1, n)) * gain, n))


def at_level(samples: Audio, db: float) -> Audio:
    """Return ``samples`` with an RMS of ``db`` below full scale, clipped where a peak passes it."""
    return np.clip(_unit(samples) * 10 ** (db / 20), -1, 1).astype(np.float32)


def reverberated(rng: np.random.Generator, samples: Audio, seconds: float) -> Audio:
    """Return ``samples`` as heard in a room that takes ``seconds`` to fall silent."""
    n = round(seconds * RATE_HZ)
    tail = rng.normal(0, 1, n) * 10 ** (-3 * np.arange(n) / n) * 0.05
    tail[0] = 1.0
    size = 1 << (len(samples) + n).bit_length()
    wet = np.fft.irfft(np.fft.rfft(samples, size) * np.fft.rfft(tail, size), size)
    return wet[: len(samples)].astype(np.float32)


def plucked(rng: np.random.Generator, hz: float, seconds: float) -> Audio:
    """Return a plucked string: harmonics that fade, the high ones first."""
    n = round(seconds * RATE_HZ)
    t = np.arange(n) / RATE_HZ
    parts = [np.exp(-t * (2 + k)) * tone(hz * k, n) / k for k in range(1, 9) if hz * k < RATE_HZ / 2]
    return (sum(parts) * np.minimum(1, t * 400) * np.minimum(1, (seconds - t) * 50)).astype(np.float32)


def held(rng: np.random.Generator, hz: float, seconds: float) -> Audio:
    """Return a bowed string with vibrato."""
    n = round(seconds * RATE_HZ)
    t = np.arange(n) / RATE_HZ
    phase = 2 * np.pi * hz * np.cumsum(1 + 0.006 * np.sin(2 * np.pi * rng.uniform(5, 6.5) * t)) / RATE_HZ
    parts = [np.sin(k * phase) / k for k in range(1, 12) if hz * k < RATE_HZ / 2]
    return (sum(parts) * np.minimum(1, t * 8) * np.minimum(1, (seconds - t) * 8)).astype(np.float32)


def _key(rng: np.random.Generator) -> Audio:
    n = RATE_HZ // 20
    t = np.arange(n) / RATE_HZ
    click = shaped(rng, n, [(rng.uniform(2000, 5000), 1500)]) * np.exp(-t * 400)
    return click + 0.4 * tone(rng.uniform(120, 300), n) * np.exp(-t * 100).astype(np.float32)


def _thump(rng: np.random.Generator, hz: float) -> Audio:
    n = RATE_HZ // 3
    t = np.arange(n) / RATE_HZ
    return ((tone(hz, n) + 0.3 * shaped(rng, n, [(4 * hz, 2 * hz)])) * np.exp(-t * 25)).astype(np.float32)


def _hiss(rng: np.random.Generator, seconds: float) -> Audio:
    n = round(seconds * RATE_HZ)
    return (shaped(rng, n, [(6000, 2000)]) * np.exp(-5 * np.arange(n) / n)).astype(np.float32)


def _blown(rng: np.random.Generator, seconds: float, hz: float) -> Audio:
    n = round(seconds * RATE_HZ)
    swell = np.sin(np.pi * np.arange(n) / n) ** rng.uniform(0.7, 2.0)
    peaks = [(hz, 0.5 * hz), (2.2 * hz, hz), (5500, 1500)]
    return (0.4 * shaped(rng, n, peaks) * swell * (1 + 0.15 * coloured(rng, n, 1.5))).astype(np.float32)


def _cough(rng: np.random.Generator) -> Audio:
    n = round(rng.uniform(0.25, 0.4) * RATE_HZ)
    t = np.arange(n) / RATE_HZ
    burst = shaped(rng, n, [(rng.uniform(400, 700), 200), (rng.uniform(1100, 1600), 400), (2800, 800)])
    hz = rng.uniform(120, 260)
    voice = sum(tone(hz * k, n) / k for k in range(1, 10)) * (t > 0.1)
    return (0.3 * (burst * np.exp(-t * 9) + 0.4 * voice * np.exp(-t * 12)) * np.minimum(1, t * 200)).astype(np.float32)


def _chords(rng: np.random.Generator, seconds: float, bar_s: float) -> Iterator[tuple[float, NDArray[np.float64]]]:
    """Yield the time and the three notes (Hz) of each bar's chord: the usual four chords of a random key."""
    key = 220 * 2 ** (rng.integers(0, 12) / 12)
    roots = cycle(((0, 4), (7, 4), (9, 3), (5, 4)))
    for at, (root, third) in zip(np.arange(0, seconds, bar_s), roots, strict=False):
        yield float(at), key * 2 ** (np.array([root, root + third, root + 7]) / 12)


def _add(heard: Audio, at_s: float, sound: Audio) -> None:
    start = round(at_s * RATE_HZ)
    end = min(len(heard), start + len(sound))
    if start < end:
        heard[start:end] += sound[: end - start]


def _in(sound: Audio, surroundings: Audio) -> Audio:
    return np.clip(sound + surroundings, -1, 1).astype(np.float32)


def _unit(samples: NDArray[np.floating]) -> Audio:
    return (samples / max(float(np.sqrt(np.mean(np.square(samples)))), 1e-9)).astype(np.float32)
