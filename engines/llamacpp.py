"""``python -m engines.llamacpp --model PATH --port N``: llama.cpp's own server on loopback.

It speaks OpenAI's HTTP and serves until SIGTERM. Exit codes as in :mod:`engines.exits`. Nothing that it serves
writes a file, shows slots or changes properties, and no page in a browser may read its answers.
"""

from __future__ import annotations

import argparse
import signal
import socket
import sys
import threading
from pathlib import Path
from typing import Final

from engines import exits, orphan

CACHE_RAM_MIB: Final = 512
"""Room for the prompts of slots that were given away, so that a session that comes back is not read anew.

llama.cpp's own default, 8192, is more than a small machine has.
"""

BATCH_TOKENS: Final = 128
"""Tokens that are read in one go, after which a request that was cancelled ends and others get their turn.

With llama.cpp's own 2048 the answer to a candidate waited 7 s for the prompt of an evaluation that had been given up.
On a CPU 128 at once are read as fast.
"""

_ERRORS_ONLY = 1
"""llama.cpp's verbosity: higher ones log pieces of prompts."""


def main() -> int:
    """Run the server; returns the exit code."""
    options = _options()
    if options.with_parent:
        orphan.exit_with_parent()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    try:
        server = _start(options)
    except exits.CannotStart as error:
        print(f"llamacpp: {error}", file=sys.stderr)
        return error.code
    stop.wait()
    del server
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="engines.llamacpp", description=__doc__)
    parser.add_argument("--model", required=True, type=Path, help="a GGUF file")
    parser.add_argument("--name", default="local", help="the model's name in requests and answers")
    parser.add_argument("--port", required=True, type=int)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--ctx", type=int, default=8192, help="context of all slots together, in tokens")
    parser.add_argument("--parallel", type=int, default=5, help="slots: talks that are kept in the context")
    parser.add_argument("--with-parent", action="store_true", help="exit when standard input ends")
    return parser.parse_args()


def _start(options: argparse.Namespace) -> object:
    _check_file(options.model)
    _check_port(options.port)
    import xllamacpp

    try:
        server: object = xllamacpp.Server(_params(options))  # type: ignore[attr-defined]  # a C extension
    except RuntimeError:
        # llama.cpp has told the cause on standard error; its exception says only that there is one.
        raise exits.Unusable(f"{options.model} cannot be loaded") from None
    return server


def _check_file(model: Path) -> None:
    if not model.is_file():
        raise exits.Unusable(f"no file {model}: fetch the profile's models")
    with model.open("rb") as file:
        magic = file.read(4)
    if magic != b"GGUF":
        raise exits.Unusable(f"{model} is no GGUF file: it begins with {magic!r}")


def _check_port(port: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind(("127.0.0.1", port))
        except OSError as error:
            raise exits.CannotStart(exits.PORT_TAKEN, f"cannot listen on 127.0.0.1:{port}: {error.strerror}") from None


def _params(options: argparse.Namespace) -> object:
    import xllamacpp

    params = xllamacpp.CommonParams()  # type: ignore[attr-defined]
    params.model.path = str(options.model)
    params.model_alias = {options.name}
    params.port = options.port
    params.cors_origins = ""
    params.ui = False
    params.endpoint_slots = False
    params.n_gpu_layers = 0
    params.fit_params = False
    params.n_parallel = options.parallel
    params.n_batch = params.n_ubatch = BATCH_TOKENS
    params.n_ctx = options.ctx
    params.kv_unified = True  # slots share the whole context: most hold a short talk, one now and then an evaluation
    params.cache_idle_slots = False  # a slot keeps its talk between two turns
    params.cpuparams.n_threads = options.threads
    params.cpuparams_batch.n_threads = options.threads
    params.n_threads_http = options.parallel + 2
    params.cache_ram_mib = CACHE_RAM_MIB
    params.verbosity = _ERRORS_ONLY
    return params


if __name__ == "__main__":
    sys.exit(main())
