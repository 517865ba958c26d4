"""The real processes: what they serve, how they die, and that they are never orphans."""

import asyncio
import json
import os
import select
import signal
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from engines.errors import EngineMisconfigured
from engines.local import LlamaSpec, SpeechWorkerSpec, llama, speech_worker
from engines.models import Lock, Store

CHAT = "/chat/completions"
HELLO = [{"role": "user", "content": "Say hello."}]


def test_a_model_that_does_not_exist_is_one_clear_line(smollm: LlamaSpec) -> None:
    """Both processes say which file, and are not started again."""

    async def main() -> None:
        nowhere = Path("/nowhere/model")
        speech = SpeechWorkerSpec(nowhere, nowhere, nowhere, nowhere, language="fr", voice="ff_siwis")
        for child in (llama(replace(smollm, model=nowhere)), speech_worker(speech)):
            async with child.running():
                with pytest.raises(EngineMisconfigured) as failed:
                    await child.ready(60)
                assert "it exited with code 78: " in str(failed.value)
                assert "/nowhere/model" in str(failed.value)
                assert "\n" not in str(failed.value)
                assert (child.state, child.restarts) == ("failed", 0)

    asyncio.run(main())


def test_a_file_that_is_no_model_is_told_apart(smollm: LlamaSpec) -> None:
    """llama.cpp would say it in ten lines."""

    async def main() -> None:
        child = llama(replace(smollm, model=Path(__file__)))
        async with child.running():
            with pytest.raises(EngineMisconfigured, match="is no GGUF file"):
                await child.ready(60)

    asyncio.run(main())


def test_llama_answers_streams_obeys_a_schema_and_reuses_its_prompt(smollm: LlamaSpec) -> None:
    """What the LLM adapter counts on; and it moves to another port when its own was taken meanwhile."""

    async def main() -> None:
        child = llama(smollm)
        with socket.create_server(("127.0.0.1", int(child.base_url.split(":")[2].removesuffix("/v1")))):
            # A connection for each request: after a stream llama.cpp closes its own, now and then under the next one.
            once = httpx.Limits(max_keepalive_connections=0)
            async with child.running(), httpx.AsyncClient(timeout=60, limits=once) as client:
                await child.ready(60)
                assert child.restarts == 1
                await check(client, child.base_url)

    async def check(client: httpx.AsyncClient, base_url: str) -> None:
        options = {"stream": True, "stream_options": {"include_usage": True}, "max_tokens": 4}
        streamed = await client.post(base_url + CHAT, json={"model": "smollm2", "messages": HELLO, **options})
        events = [line[6:] for line in streamed.text.splitlines() if line]
        assert events[-1] == "[DONE]"
        last = json.loads(events[-2])
        assert last["choices"] == []
        assert last["usage"]["completion_tokens"] == 4

        schema = {"type": "object", "properties": {"score": {"type": "integer"}}, "required": ["score"]}
        wanted = {"type": "json_schema", "json_schema": {"name": "r", "strict": True, "schema": schema}}
        long = [{"role": "system", "content": "You are an examiner. " * 20}, *HELLO]
        body = {"model": "smollm2", "messages": long, "max_tokens": 40, "response_format": wanted}
        first, again = [(await client.post(base_url + CHAT, json=body)).json() for _ in range(2)]
        assert isinstance(json.loads(first["choices"][0]["message"]["content"])["score"], int)
        assert again["usage"]["prompt_tokens_details"]["cached_tokens"] > 100
        assert again["timings"]["prompt_n"] < first["timings"]["prompt_n"]

        too_long = [{"role": "user", "content": "word " * 2_000}]
        refused = await client.post(base_url + CHAT, json={"messages": too_long})
        assert (refused.status_code, refused.json()["error"]["type"]) == (400, "exceed_context_size_error")
        bare = base_url.removesuffix("/v1")
        assert (await client.get(bare + "/slots")).status_code == 501
        assert (await client.get(bare + "/", headers={"Accept": "text/html"})).status_code == 404
        foreign = await client.get(base_url + "/models", headers={"Origin": "http://elsewhere.example"})
        assert foreign.headers.get("access-control-allow-origin", "") in ("", "null")

    asyncio.run(main())


def test_a_killed_worker_is_back_and_understands_itself(lock: Lock, models_dir: Path) -> None:
    """SIGKILL costs some seconds: the same address serves again, proven by speech and its transcript."""
    profile, store = lock.profile("ci"), Store(models_dir)
    stt, tts, voices, vad = (store.path(profile, role) for role in ("stt", "tts", "voices", "vad"))
    spec = SpeechWorkerSpec(stt, tts, voices, vad, language="en", voice="af_heart")

    async def main() -> None:
        child = speech_worker(spec)
        async with child.running():
            await child.ready(90)
            pid, address = child.pid, child.base_url
            assert pid is not None
            os.kill(pid, signal.SIGKILL)
            await child.reaches("restarting")
            await child.ready(90)
            assert (child.restarts, child.base_url) == (1, address)
            assert child.pid != pid

    asyncio.run(main())


PARENT = """
import asyncio, sys
from pathlib import Path
from engines.local import LlamaSpec, llama

async def main():
    child = llama(LlamaSpec(Path(sys.argv[1]), ctx=512))
    async with child.running():
        await child.ready(60)
        print(child.pid, flush=True)
        await asyncio.Event().wait()

import structlog
structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
asyncio.run(main())
"""


def test_a_child_does_not_outlive_a_parent_that_is_killed(smollm: LlamaSpec) -> None:
    """SIGKILL leaves the parent no time for anything; the child is gone all the same."""
    command = [sys.executable, "-c", PARENT, str(smollm.model)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as parent:
        assert parent.stdout is not None
        child = os.pidfd_open(int(parent.stdout.readline()))
        try:
            assert not select.select([child], [], [], 0)[0]
            parent.kill()
            assert select.select([child], [], [], 10)[0], "the child is an orphan"
        finally:
            os.close(child)
