"""The official client, ``google-genai``, in a process of its own: asks the server at an address what our adapters ask.

``python google_client.py ADDRESS llm|stt|tts``, with the question as JSON on standard input; prints as JSON what the
client understood of the answer.
"""

from __future__ import annotations

import base64
import json
import sys

from google import genai
from google.genai import types

THOUGHTLESS = types.ThinkingConfig(thinking_budget=0)


def ask_llm(models: genai.models.Models, told: dict) -> dict:
    roles = {"user": "user", "assistant": "model"}
    contents = [types.Content(role=roles[role], parts=[types.Part(text=text)]) for role, text in told["messages"]]
    config = types.GenerateContentConfig(
        system_instruction=told["system"],
        max_output_tokens=told["max_tokens"],
        temperature=told["temperature"],
        thinking_config=THOUGHTLESS,
        response_mime_type="application/json" if told["schema"] else None,
        response_json_schema=told["schema"],
    )
    chunks = list(models.generate_content_stream(model="some-model", contents=contents, config=config))
    used = chunks[-1].usage_metadata
    return {
        "text": "".join(chunk.text or "" for chunk in chunks),
        "usage": [used.prompt_token_count, used.cached_content_token_count, used.candidates_token_count],
    }


def ask_stt(models: genai.models.Models, told: dict) -> dict:
    wav = types.Part.from_bytes(data=base64.b64decode(told["wav"]), mime_type="audio/wav")
    config = types.GenerateContentConfig(
        temperature=0.0, max_output_tokens=told["max_tokens"], thinking_config=THOUGHTLESS
    )
    contents = [types.Content(role="user", parts=[types.Part(text=told["request"]), wav])]
    return {"text": models.generate_content(model="some-model", contents=contents, config=config).text}


def ask_tts(models: genai.models.Models, told: dict) -> dict:
    prebuilt = types.PrebuiltVoiceConfig(voice_name=told["voice"])
    config = types.GenerateContentConfig(
        response_modalities=["AUDIO"],
        speech_config=types.SpeechConfig(voice_config=types.VoiceConfig(prebuilt_voice_config=prebuilt)),
    )
    answer = models.generate_content(model="some-model", contents=told["text"], config=config)
    blob = answer.candidates[0].content.parts[0].inline_data
    return {"pcm": base64.b64encode(blob.data).decode(), "mime_type": blob.mime_type}


address, kind = sys.argv[1:]
options = types.HttpOptions(base_url=address, api_version="v1")
with genai.Client(api_key="sk-secret", http_options=options) as client:
    ask = {"llm": ask_llm, "stt": ask_stt, "tts": ask_tts}[kind]
    sys.stdout.write(json.dumps(ask(client.models, json.load(sys.stdin))))
