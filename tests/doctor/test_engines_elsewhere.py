"""Engines at an address: one line for each that fails, with what is wrong and what mends it."""

from __future__ import annotations

import json
import socket
import sys
from pathlib import Path
from typing import Any

KINDS = ("stt", "llm", "tts")


def free_url() -> str:
    """An address that nothing listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}/v1"


def assert_faults(outcome: Any, *expected: str) -> None:
    """The faults are these lines, all of them and no other; what is not broken is well."""
    assert outcome.faults == list(expected)
    assert outcome.status == 1
    assert outcome.err == ""
    broken = {line.partition(":")[0] for line in expected}
    assert {*outcome.well} >= {"vad", *KINDS} - broken


def test_nothing_is_wrong(doctor: Any) -> None:
    """Status 0, what was measured of each engine, and nothing made where the server keeps its data."""
    outcome = doctor()
    assert (outcome.status, outcome.faults, outcome.err) == (0, [], "")
    assert "speech noticed, its probability was " in outcome.line("vad")
    assert "understood 9 of 9 words, " in outcome.line("stt")
    assert "first text after " in outcome.line("llm")
    assert ": 0.5 s of audio in " in outcome.line("tts")
    assert outcome.out.endswith("\nno faults\n")
    assert not (doctor.home / "data").exists()


def test_nobody_listens(doctor: Any) -> None:
    """A refused connection: start it, or set another address."""
    url = free_url()
    outcome = doctor(**{f"{kind}_url": url for kind in KINDS})
    told = "expected a connection, it was refused. Start the server at"
    assert_faults(outcome, *(f"{kind}: {told} {url}, or set RELANCE_{kind.upper()}_URL." for kind in KINDS))


def test_a_server_that_says_nothing(doctor: Any, engines: Any, false: Any) -> None:
    """A silent server is given the time of ``--timeout``."""
    engines.answers |= dict.fromkeys((false.STT, false.LLM, false.TTS), false.NEVER)
    mend = f"See what keeps the server at {engines.url} busy, or give it more than 1 s with --timeout."
    told = "expected the next part of the answer, the time was up"
    assert_faults(doctor("--timeout", "1"), *(f"{kind}: {told}. {mend}" for kind in KINDS))


def test_a_key_that_is_wrong_or_missing(doctor: Any, engines: Any, false: Any) -> None:
    """401 and 403: which setting has the key, or should."""
    engines.answers |= {false.STT: false.refuses(401), false.LLM: false.refuses(403, "invalid_api_key")}
    outcome = doctor(llm_api_key="sk-wrong-key")
    assert_faults(
        outcome,
        "stt: expected status 200, got 401. The server wants a key: set RELANCE_STT_API_KEY.",
        "llm: expected status 200, got 403 (invalid_api_key). Correct the key in RELANCE_LLM_API_KEY.",
    )


def test_an_address_that_is_not_quite_right(doctor: Any, engines: Any) -> None:
    """404: where the server does answer is found out, with and without the version."""
    root = engines.url.removesuffix("/v1")
    outcome = doctor(stt_url=root, llm_url=f"{engines.url}/chat/completions", tts_url=f"{root}/api")
    there = f"to {engines.url}: there the server answers."
    assert_faults(
        outcome,
        f"stt: expected status 200, got 404. Set RELANCE_STT_URL {there}",
        f"llm: expected status 200, got 404. Set RELANCE_LLM_URL {there}",
        "tts: expected status 200, got 404. Correct RELANCE_TTS_URL: it ends with /v1, and what is there does tts.",
    )


def test_a_model_that_the_server_does_not_have(doctor: Any, engines: Any, false: Any) -> None:
    """404 or 400, and a list of models without it: the nearest, or what there is."""
    engines.answers |= {false.STT: false.refuses(400), false.LLM: false.refuses(404, "model_not_found")}
    outcome = doctor(llm_model="thinkin-1", stt_model="xyz")
    assert_faults(
        outcome,
        "stt: expected status 200, got 400. Set RELANCE_STT_MODEL: "
        "the server has 'hearing-1', 'speaking-1', 'thinking-1', not 'xyz'.",
        "llm: expected status 200, got 404 (model_not_found). Set RELANCE_LLM_MODEL: "
        "the nearest that the server has is 'thinking-1', not 'thinkin-1'.",
    )


def test_a_request_that_is_refused(doctor: Any, engines: Any, false: Any) -> None:
    """400 with a model that is there: for a voice, the voice."""
    engines.answers |= {false.STT: false.refuses(400), false.TTS: false.refuses(400, "voice_not_found")}
    assert_faults(
        doctor(tts_voice="nobody"),
        "stt: expected status 200, got 400. Set RELANCE_STT_MODEL to a model of that server that does stt.",
        "tts: expected status 200, got 400 (voice_not_found). "
        "Set RELANCE_TTS_VOICE to a voice of that server, and RELANCE_TTS_MODEL to a model of it.",
    )


def test_a_server_in_trouble(doctor: Any, engines: Any, false: Any) -> None:
    """429, 503 and 500: wait, wait until it is loaded, look at its log."""
    answers = (false.refuses(429), false.refuses(503), false.refuses(500))
    engines.answers |= dict(zip((false.STT, false.LLM, false.TTS), answers, strict=True))
    assert_faults(
        doctor(),
        "stt: expected status 200, got 429. "
        "Wait and run this again, or see what the account with that server may still use.",
        "llm: expected status 200, got 503. Wait until the server has loaded its model, and run this again.",
        f"tts: expected status 200, got 500. See in its log why the server at {engines.url} failed.",
    )


def test_answers_that_are_none(doctor: Any, engines: Any, false: Any) -> None:
    """Another language, thinking alone, a web page in place of audio: each is known for what it is."""
    thinks = false.events(false.says(content="<think>Hm."), {"choices": [], "usage": {"completion_tokens": 3}})
    engines.answers |= {false.STT: false.hears("Bonjour, le monde."), false.LLM: thinks, false.TTS: false.PAGE}
    assert_faults(
        doctor(),
        "stt: expected a sentence in 'en' to be understood, got 0 of its 9 words: the model, or its server's own "
        "setting, is of another language. Set RELANCE_STT_MODEL to a model that knows the language "
        "(none whose name ends with .en).",
        "llm: expected text, the answer ended with none (3 tokens counted). If it only thinks: switch its thinking off "
        "at the server, or set RELANCE_LLM_MODEL to a model that does not think.",
        "tts: expected audio, got an answer of another type. It is a web page: "
        "Correct RELANCE_TTS_URL: it ends with /v1, and what is there does tts.",
    )


def test_a_connection_that_cannot_be_made(doctor: Any, engines: Any, false: Any) -> None:
    """An unknown host, TLS asked of a server without; and a file where samples were asked for."""
    engines.answers[false.TTS] = false.Answer(b"RIFF\x24\x00\x00\x00WAVEfmt ", "audio/wav")
    outcome = doctor(stt_url="http://nowhere.invalid/v1", llm_url=engines.url.replace("http:", "https:"))
    failed = "expected an answer, the connection failed (ConnectError)."
    assert_faults(
        outcome,
        f"stt: {failed} Correct the host's name in RELANCE_STT_URL, or see whether this machine can resolve it.",
        f"llm: {failed} Write http:// in place of https:// in RELANCE_LLM_URL, if the server speaks no TLS.",
        "tts: expected raw samples, got a file (WAV, MP3, Ogg or FLAC). "
        "Set RELANCE_TTS_URL to a server that answers response_format=pcm with samples at 24 kHz.",
    )


def test_a_server_that_is_another(doctor: Any, engines: Any, false: Any) -> None:
    """One that sends elsewhere, one that hangs up, and one that has no such path in the style ``gemini``."""
    engines.answers |= {false.STT: false.refuses(307), false.LLM: false.CUT}
    assert_faults(
        doctor(tts_style="gemini", tts_voice="Kore"),
        "stt: expected status 200, got 307. "
        "The server sends elsewhere: set RELANCE_STT_URL to the address that it names.",
        "llm: expected a whole answer, the connection was closed within it. "
        f"See the log of the server at {engines.url}, or correct RELANCE_LLM_URL.",
        "tts: expected status 200, got 404. "
        "Correct RELANCE_TTS_URL, which ends with the version (/v1beta), or the model.",
    )


def test_a_style_or_an_option_that_there_is_not(doctor: Any) -> None:
    """The nearest is named; where it stands is, too, be it a file."""
    (doctor.home / "relance.toml").write_text('stt_style = "opnai"\n')
    assert_faults(
        doctor(llm_options='{"kep_alive": false}', tts_options='{"speed": "fast"}'),
        "stt: unknown style 'opnai'; the nearest is 'openai'. Correct stt_style in relance.toml.",
        "llm: llm_options: unknown option 'kep_alive'; the nearest is 'keep_alive'. Correct RELANCE_LLM_OPTIONS.",
        "tts: tts_options: Expected `float`, got `str` - at `$.speed`. Correct RELANCE_TTS_OPTIONS.",
    )


def test_a_setting_that_a_style_needs(doctor: Any) -> None:
    """A model, which the server is asked for; an address; a voice."""
    assert_faults(
        doctor(stt_model=None, llm_style="gemini", llm_url=None, tts_style="gemini"),
        "stt: this style needs stt_model, and there is none. Set RELANCE_STT_MODEL: "
        "the server has 'hearing-1', 'speaking-1', 'thinking-1'.",
        "llm: this style needs llm_url, and there is none. Set RELANCE_LLM_URL.",
        "tts: this style needs tts_voice, and there is none. Set RELANCE_TTS_VOICE.",
    )


def test_a_piper_that_cannot_run(doctor: Any) -> None:
    """No such program; and a voice that does not load, in piper's own words. A fallback is examined as a primary is."""
    missing, broken = ["no-such-piper"], [sys.executable, "-m", "engines.piper", "--model", "no-such-voice.onnx"]
    outcome = doctor(
        tts_style="piper",
        tts_options=json.dumps({"command": missing}),
        tts_fallback_style="piper",
        tts_fallback_options=json.dumps({"command": broken}),
    )
    first, second = outcome.faults
    mend = "Install piper and its voice, or correct the command in RELANCE_TTS{}_OPTIONS."
    assert first == (
        "tts: expected a program that can be run, got 'no-such-piper' (FileNotFoundError). " + mend.format("")
    )
    assert second.startswith("tts_fallback: expected a voice that can be used, piper ended at once: ")
    assert "its last words: cannot load the voice no-such-voice.onnx: " in second
    assert second.endswith(f". {mend.format('_FALLBACK')}")


def test_a_package_that_does_not_work(doctor: Any, tmp_path: Path) -> None:
    """One that fails when it is imported, one that fails when it is asked; what it quotes of a key is hidden."""
    info = tmp_path / "packages" / "acme-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[relance.engines]\nstt.acme = acme_gone:make\nllm.acme = acme_here:make\n")
    (info.parent / "acme_here.py").write_text("def make(setup):\n    raise ValueError(f'no account {setup.api_key}')\n")
    doctor.python_path.append(str(info.parent))
    assert_faults(
        doctor(stt_style="acme", llm_style="acme", llm_api_key="sk-very-secret"),
        "stt: the style 'stt.acme' cannot be loaded from acme_gone:make: ModuleNotFoundError: "
        "No module named 'acme_gone'. Mend or install anew the package that brings this style, "
        "or set RELANCE_STT_STYLE to another.",
        "llm: the style 'acme' cannot be used: ValueError: no account [hidden]. "
        "Mend or install anew the package that brings this style, or set RELANCE_LLM_STYLE to another.",
    )


def test_all_at_once(doctor: Any, engines: Any, false: Any) -> None:
    """Every primary and every fallback is broken in a way of its own: six lines, and no secret in any."""
    secrets = ["user-name", "pass%2Fword", "pass/word", "query-key", "sk-stt", "sk-llm", "sk-tts"]
    engines.answers |= {false.STT: false.refuses(401), false.TTS: false.PAGE}
    refused = free_url().replace("127", "user-name:pass%2Fword@127") + "?key=query-key"
    settings: dict[str, object] = {f"{kind}_api_key": f"sk-{kind}" for kind in KINDS}
    settings |= {"stt_fallback_style": "whispercpp", "stt_fallback_url": refused}
    settings |= {"llm_url": refused, "llm_fallback_style": "openai", "llm_fallback_url": engines.url}
    settings |= {"tts_fallback_style": "pipre"}
    outcome = doctor(**settings)
    assert (outcome.status, outcome.err) == (1, "")
    broken = ["stt", "stt_fallback", "llm", "llm_fallback", "tts", "tts_fallback"]
    assert [line.partition(":")[0] for line in outcome.faults] == broken
    assert outcome.out.endswith("\n6 faults\n")
    assert not [secret for secret in secrets if secret in outcome.out]
    shown = [line.split() for line in outcome.out.splitlines() if line.startswith("  ")]
    assert ["stt_api_key", "set", "RELANCE_STT_API_KEY"] in shown
    assert ["llm_url", refused.replace("user-name:pass%2Fword@", "").partition("?")[0], "RELANCE_LLM_URL"] in shown
