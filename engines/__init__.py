"""Exchangeable engines: voice activity, speech to text, language model, text to speech.

Nothing in this package imports ``server``: an engine is used by the exam, and knows nothing of it.
"""

import os

# onnxruntime's wheels carry telemetry: it makes an id and a database in the user's cache, and may send them. Nothing is
# to leave the machine. The variable is read when the library is loaded, and inherited by our own processes.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
