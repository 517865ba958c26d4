"""What is around the two audio routes, and what the worker keeps to itself."""

import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from engines.supervision import Supervised


@pytest.mark.parametrize("path", ["/models", "/healthz", "/readyz", "/metrics"])
def test_every_path_is_served_with_v1_and_without(api: httpx.Client, worker: Supervised, path: str) -> None:
    """A client that leaves ``/v1`` out of its base address works too."""
    bare = worker.base_url.removesuffix("/v1")
    assert api.get(path).status_code == httpx.get(bare + path).status_code == 200


def test_the_models_are_listed(api: httpx.Client) -> None:
    """As OpenAI lists them."""
    listed = api.get("/models").json()
    assert listed["object"] == "list"
    assert [model["id"] for model in listed["data"]] == ["whisper", "kokoro"]


@pytest.mark.parametrize(("method", "path", "status"), [("GET", "/nothing", 404), ("GET", "/audio/speech", 405)])
def test_a_wrong_path_or_method_is_an_openai_error(api: httpx.Client, method: str, path: str, status: int) -> None:
    """Also what no route of ours answers has the one shape of errors."""
    answer = api.request(method, path)
    assert answer.status_code == status
    assert answer.json()["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize("path", ["/vad", "/audio/speech/timestamps"])
def test_speech_is_found_in_a_file(api: httpx.Client, two_cities: Path, path: str) -> None:
    """Spans in milliseconds, in order, apart, inside the 44.4 s of the file, and most of it is speech."""
    spans = api.post(path, files={"file": two_cities.read_bytes()}).json()
    edges = [edge for span in spans for edge in (span["start"], span["end"])]
    assert edges == sorted(edges)
    assert 0 <= edges[0] < 2_000
    assert 40_000 < edges[-1] <= 44_400
    assert 25_000 < sum(span["end"] - span["start"] for span in spans) < 44_000


def test_espeak_is_loaded_in_the_worker_and_in_no_other_process(worker: Supervised) -> None:
    """GPL code stays behind the socket: the worker has the library mapped, a process that supervises it has nothing."""
    assert "espeak" in Path(f"/proc/{worker.pid}/maps").read_text()
    code = (
        "import sys, engines.local, engines.supervision, engines.llamacpp\n"
        "heavy = {'phonemizer', 'espeakng_loader', 'kokoro_onnx', 'faster_whisper', 'ctranslate2', 'xllamacpp'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "assert 'espeak' not in open('/proc/self/maps').read()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_its_threads_sleep_at_their_barriers(worker: Supervised) -> None:
    """Spinning ones starve the other engine's process, which shares the same cores."""
    assert b"OMP_WAIT_POLICY=passive\0" in Path(f"/proc/{worker.pid}/environ").read_bytes()


@pytest.mark.parametrize(
    ("config", "line"),
    [
        ("{", "worker: --config: "),
        ('{"port": 0, "sst": {}}', "worker: --config: Object contains unknown field `sst`"),
        (
            '{"port": 0, "stt": {"model_dir": "/nowhere", "name": "w", "language": "en"}}',
            "worker: stt: /nowhere has no model.bin, config.json, tokenizer.json: fetch the profile's models",
        ),
        ('{"port": 0, "vad_onnx": "/nowhere.onnx"}', "worker: vad: no file /nowhere.onnx: fetch the profile's models"),
    ],
)
def test_a_configuration_that_cannot_work_is_one_line_and_exit_code_78(config: str, line: str) -> None:
    """No traceback: what was expected, and what is there."""
    command = [sys.executable, "-m", "engines.worker", "--config", config]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 78
    assert ended.stderr.startswith(line)
    assert ended.stderr.count("\n") == 1


def test_an_english_model_with_french_is_a_configuration_error(models_dir: Path) -> None:
    """tiny.en would transcribe French as English words: it is refused at the start."""
    stt = f'{{"model_dir": "{models_dir}/faster-whisper-tiny.en", "name": "w", "language": "fr"}}'
    config = f'{{"port": 0, "stt": {stt}}}'
    ended = subprocess.run([sys.executable, "-m", "engines.worker", "--config", config], capture_output=True, text=True)
    assert ended.returncode == 78
    assert ended.stderr == (
        "worker: stt: the model 'w' knows only en, but the language is 'fr': take a multilingual model\n"
    )
