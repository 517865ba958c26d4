"""A key set published on a real socket, and tokens of every kind."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa


class KeyServer:
    """Publishes JSON at ``url`` and counts who asks; ``status`` other than 200 stands for a broken
    server, ``answers`` not set for a slow one."""

    def __init__(self) -> None:
        self.asked = 0
        self.status = 200
        self.body = b'{"keys": []}'
        self.was_asked = threading.Event()
        self.answers = threading.Event()
        self.answers.set()
        outer = self

        class Answer(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked += 1
                outer.was_asked.set()
                outer.answers.wait(10)
                self.send_response(outer.status)
                self.end_headers()
                self.wfile.write(outer.body)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/keys"

    def publish(self, *keys: dict[str, Any]) -> None:
        self.body = json.dumps({"keys": keys}).encode()

    def stop(self) -> None:
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()


@pytest.fixture
def key_server() -> Iterator[KeyServer]:
    """A key server with no keys yet."""
    server = KeyServer()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def rsa_key() -> rsa.RSAPrivateKey:
    """A private key of the issuer."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@pytest.fixture(scope="session")
def ec_key() -> ec.EllipticCurvePrivateKey:
    """A private key of the issuer, on a curve."""
    return ec.generate_private_key(ec.SECP256R1())


@pytest.fixture(scope="session")
def rsa_jwk(rsa_key: rsa.RSAPrivateKey) -> dict[str, Any]:
    """The public half of ``rsa_key``, as it is published."""
    return jwt.algorithms.RSAAlgorithm.to_jwk(rsa_key.public_key(), as_dict=True) | {"kid": "rsa-1"}


@pytest.fixture(scope="session")
def ec_jwk(ec_key: ec.EllipticCurvePrivateKey) -> dict[str, Any]:
    """The public half of ``ec_key``, as it is published."""
    return jwt.algorithms.ECAlgorithm.to_jwk(ec_key.public_key(), as_dict=True) | {"kid": "ec-1", "alg": "ES256"}
