"""Stands where the real server is started: ``stand_in_server.py MODE --host H --port P``, answering plain HTTP."""

from __future__ import annotations

import json
import os
import signal
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

MODE, HOST, PORT = sys.argv[1], sys.argv[3], int(sys.argv[5])


class Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(503 if MODE == "never-ready" and self.path == "/readyz" else 200)
        self.end_headers()
        given = {name: value for name, value in os.environ.items() if name.startswith("RELANCE_")}
        self.wfile.write(json.dumps({"pid": os.getpid(), "session": os.getsid(0), "given": given}).encode())


if MODE == "dies":
    sys.exit("relance: the model store is empty; run `relance models fetch`")
if MODE == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
HTTPServer((HOST, PORT), Answers).serve_forever()
