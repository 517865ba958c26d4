"""What to do about an engine's fault: by the kind of error, the style, and what its server said.

Every mend is one or two short sentences in the imperative, and names the setting that it is about.
"""

from __future__ import annotations

import difflib
import re
import socket
import ssl
from http import HTTPStatus

import httpx

from engines.errors import EngineMisconfigured, EngineTimeout, EngineTruncated
from engines.http_errors import EngineAbsent
from engines.openai.tts import NotSamples
from server.doctor.case import Case
from server.doctor.whereabouts import mend_of_address, mend_of_model, models_of, some

_SETTINGS = ("url", "model", "voice", "options")


async def mend_of_opening(case: Case) -> str:
    """Return what to do when an engine could not even be made: its style, or a setting that the style needs."""
    message = str(case.error)
    named = next((each for each in _SETTINGS if re.search(rf"\b{case.choice.name}_{each}\b", message)), None)
    if case.error.__cause__ is not None and named is None and case.error.engine != "http":
        return f"Mend or install anew the package that brings this style, or set {case.place('style')} to another."
    if named == "model" and (models := await models_of(case)):
        return f"Set {case.place('model')}: the server has {some(models)}."
    if named == "options" and case.choice.style == "piper" and not case.choice.options:
        return f'Set {case.place("options")}, as in {{"command": ["piper", "--model", "VOICE.onnx", "--json-input"]}}.'
    if named is not None:
        return f"{'Correct' if named == 'options' else 'Set'} {case.place(named)}."
    return f"Correct {case.place('url' if case.error.engine == 'http' else 'style')}."


async def mend(case: Case) -> str:
    """Return what to do when an engine failed at its one inference."""
    if case.choice.is_own:
        return _of_our_own(case)
    if case.choice.style == "piper":
        return _of_piper(case)
    if case.choice.url is None:
        return f"See what the package of this style needs, or set {case.place('style')} to another."
    status = case.setup.notes.status
    if status is None:
        return _of_connection(case)
    return await (_of_answer(case) if status == HTTPStatus.OK else _of_status(case, status))


def _of_our_own(case: Case) -> str:
    if case.setup.notes.status == HTTPStatus.BAD_REQUEST and case.choice.voice:
        near = difflib.get_close_matches(case.choice.voice, case.voices, n=1)
        voice = near[0] if near else case.setup.default_voice
        return f"Set {case.place('voice')} to a voice of the model, such as {voice!r}."
    if isinstance(case.error, EngineTimeout):
        return f"Free the processor of other work, or give it more than {case.limit_s:g} s with --timeout."
    return "Run this again; if it stays, install relance anew with make setup."


def _of_piper(case: Case) -> str:
    if isinstance(case.error, EngineTimeout):
        return f"See by hand whether it answers a line of JSON, or give it more than {case.limit_s:g} s with --timeout."
    return f"Install piper and its voice, or correct the command in {case.place('options')}."


def _of_connection(case: Case) -> str:
    url = case.place("url")
    if isinstance(case.error, EngineAbsent):
        return f"Start the server at {case.server}, or set {url}."
    if case.caused_by(socket.gaierror):
        return f"Correct the host's name in {url}, or see whether this machine can resolve it."
    if case.caused_by(ssl.SSLCertVerificationError):
        return f"Have the server show a certificate that this machine trusts, or correct {url}."
    if case.caused_by(ssl.SSLError):
        return f"Write http:// in place of https:// in {url}, if the server speaks no TLS."
    if case.caused_by(httpx.ConnectTimeout):
        return f"See whether a firewall is before {case.server}, or correct {url}."
    if isinstance(case.error, EngineTimeout):
        return _of_silence(case)
    return f"See the log of the server at {case.server}, or correct {url}."


def _of_silence(case: Case) -> str:
    return f"See what keeps the server at {case.server} busy, or give it more than {case.limit_s:g} s with --timeout."


async def _of_answer(case: Case) -> str:
    """Return what to do about an answer of status 200 that was none."""
    if isinstance(case.error, EngineTimeout):
        return _of_silence(case)
    if case.setup.notes.is_page:
        return f"It is a web page: {await mend_of_address(case)}"
    if isinstance(case.error, EngineMisconfigured):
        return _of_language(case)
    if isinstance(case.error, EngineTruncated) and case.choice.kind == "llm":
        return _of_thinking(case)
    if isinstance(case.error, NotSamples):
        return f"Set {case.place('url')} to a server that answers response_format=pcm with samples at 24 kHz."
    what = "voice" if case.choice.kind == "tts" else "model"
    there = f"what is at {case.server} does {case.choice.kind} in the style {case.choice.style!r}"
    return f"See whether {there}, and {case.place(what)} is right."


def _of_language(case: Case) -> str:
    if case.choice.style == "whispercpp":
        return f"Start whisper-server with a model of many languages (no .en) and -l {case.setup.language}."
    return f"Set {case.place('model')} to a model that knows the language (none whose name ends with .en)."


def _of_thinking(case: Case) -> str:
    model = case.place("model")
    if case.choice.style == "gemini":
        return f"If it only thinks: see thinking_tokens in {case.place('options')}, or set {model} to another."
    return f"If it only thinks: switch its thinking off at the server, or set {model} to a model that does not think."


async def _of_status(case: Case, status: int) -> str:
    match status:
        case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN:
            verb = "Correct the key in" if case.choice.api_key else "The server wants a key: set"
            return f"{verb} {case.place('api_key')}."
        case HTTPStatus.NOT_FOUND | HTTPStatus.METHOD_NOT_ALLOWED:
            return await mend_of_address(case)
        case HTTPStatus.BAD_REQUEST | HTTPStatus.UNPROCESSABLE_ENTITY:
            return await _of_request(case)
        case HTTPStatus.TOO_MANY_REQUESTS:
            return "Wait and run this again, or see what the account with that server may still use."
        case HTTPStatus.SERVICE_UNAVAILABLE:
            return "Wait until the server has loaded its model, and run this again."
        case _ if 300 <= status < 400:
            return f"The server sends elsewhere: set {case.place('url')} to the address that it names."
        case _ if status >= 500:
            return f"See in its log why the server at {case.server} failed."
        case _:
            return f"See in its log why the server at {case.server} refused, or correct {case.place('url')}."


async def _of_request(case: Case) -> str:
    if model := await mend_of_model(case):
        return model
    model = case.place("model")
    if case.choice.kind == "tts":
        return f"Set {case.place('voice')} to a voice of that server, and {model} to a model of it."
    if case.choice.style == "gemini":
        return f"Set {model} to a model of that server, or thinking_tokens in {case.place('options')} to what it takes."
    return f"Set {model} to a model of that server that does {case.choice.kind}."
