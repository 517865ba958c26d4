"""onnxruntime sessions with a thread budget of their own."""

from __future__ import annotations

from typing import Any

import onnxruntime


def session(path: str, threads: int) -> Any:
    """Return an onnxruntime CPU session with ``threads`` threads.

    They do not spin while they wait: the other lane, and other processes, need the cores.
    """
    options = onnxruntime.SessionOptions()  # type: ignore[attr-defined]  # exported without __all__
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(  # type: ignore[attr-defined]
        path, options, providers=["CPUExecutionProvider"]
    )
