"""``python -m engines.worker --config JSON``: load, prove, serve on 127.0.0.1 until told to stop.

Exit codes: 0 stopped, 75 the port is taken, 78 the configuration or a model file cannot be used. Either failure is
one line on standard error.
"""

from __future__ import annotations

import argparse
import os
import socket
import sys
from importlib.metadata import version

import msgspec
import structlog

from engines import exits, orphan
from engines.worker.config import WorkerConfig
from engines.worker.cpu import cpu_flags

MIN_ONNXRUNTIME = (1, 32)
"""Older ones give NaN with the int8 Kokoro on CPUs with AMX, and take twice the time."""

SEND_BUFFER_BYTES = 65_536
"""What the system keeps of an answer that nobody takes; left to itself, it takes megabytes, minutes of speech."""


def main() -> int:
    """Run the worker; returns the exit code."""
    options = _options()
    if options.with_parent:
        orphan.exit_with_parent()
    # No library may fetch what it misses; set before any of them is imported.
    os.environ["HF_HUB_OFFLINE"] = "1"
    if "avx512f" in cpu_flags():  # CTranslate2 would take AVX2, a sixth slower where it encodes
        os.environ.setdefault("CT2_FORCE_CPU_ISA", "AVX512")
    structlog.configure(
        processors=[structlog.processors.add_log_level, structlog.processors.JSONRenderer()],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    try:
        config = msgspec.json.decode(options.config, type=WorkerConfig)
        _check_onnxruntime()
        listening = _listen(config.port)
        return _serve(config, listening)
    except exits.CannotStart as error:
        print(f"worker: {error}", file=sys.stderr)
        return error.code
    except msgspec.MsgspecError as error:
        print(f"worker: --config: {error}", file=sys.stderr)
        return exits.UNUSABLE


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="engines.worker", description=__doc__)
    parser.add_argument("--config", required=True, help="the configuration as JSON (engines.worker.config)")
    parser.add_argument("--with-parent", action="store_true", help="exit when standard input ends")
    return parser.parse_args()


def _check_onnxruntime() -> None:
    found = version("onnxruntime")
    if tuple(int(part) for part in found.split(".")[:2]) < MIN_ONNXRUNTIME:
        raise exits.Unusable(f"onnxruntime 1.32 or later is needed, found {found}")


def _listen(port: int) -> socket.socket:
    """Take the port before the models are loaded: a wrong one is said in milliseconds."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # asyncio leaves it out for accepted sockets
    try:
        listening.bind(("127.0.0.1", port))
    except OSError as error:
        raise exits.CannotStart(exits.PORT_TAKEN, f"cannot listen on 127.0.0.1:{port}: {error.strerror}") from None
    return listening


def _serve(config: WorkerConfig, listening: socket.socket) -> int:
    import uvicorn

    from engines.worker.app import Models, application
    from engines.worker.patience import impatient

    models = Models(config)
    # uvicorn would log tracebacks, whose messages may hold text; engines.worker.edge tells what is needed.
    settings = uvicorn.Config(
        application(config, models),
        http=impatient(config.idle_s),
        log_config=None,
        log_level="critical",
        access_log=False,
        timeout_graceful_shutdown=3,
    )
    uvicorn.Server(settings).run(sockets=[listening])
    return 0


if __name__ == "__main__":
    sys.exit(main())
