"""The application: models loaded and proven, then routes over them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import numpy as np
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from engines.exits import Unusable
from engines.protocols import STT_RATE_HZ
from engines.worker.config import WorkerConfig
from engines.worker.detections import DetectionsRoute
from engines.worker.detector import Detector
from engines.worker.edge import Edge
from engines.worker.lane import Lane
from engines.worker.metrics import Metrics
from engines.worker.problems import Problem, answer_http_error, answer_problem, no_such_model
from engines.worker.speech import SpeechRoute
from engines.worker.synthesizer import Synthesizer
from engines.worker.transcriber import Request as Transcription
from engines.worker.transcriber import Transcriber
from engines.worker.transcriptions import TranscriptionsRoute

_WARM_UP = "ok."


class Models:
    """What one worker has loaded; each part has run one real inference."""

    def __init__(self, config: WorkerConfig) -> None:
        """Load and prove; raises :class:`engines.exits.Unusable`."""
        self.transcriber = Transcriber(config.stt) if config.stt else None
        self.synthesizer = Synthesizer(config.tts) if config.tts else None
        self.detector = Detector(config.vad_onnx) if config.vad_onnx else None
        self._prove()

    def _prove(self) -> None:
        second = np.zeros(STT_RATE_HZ, np.float32)
        if self.transcriber:
            list(self.transcriber.transcribe(second, Transcription(self.transcriber.language)))
        if self.synthesizer:
            try:
                list(self.synthesizer.speak(_WARM_UP, self.synthesizer.voice, 1.0))
            except Problem as problem:
                raise Unusable(f"tts: {problem}") from problem
        if self.detector:
            list(self.detector.detect(second))

    def listed(self) -> list[dict[str, object]]:
        """Return the models as OpenAI lists them."""
        names = [part.name for part in (self.transcriber, self.synthesizer) if part]
        return [{"id": name, "object": "model", "created": 0, "owned_by": "relance"} for name in names]


def application(config: WorkerConfig, models: Models) -> Starlette:
    """Return the ASGI application; every path is served with ``/v1`` and without."""
    hearing, speaking = Lane("stt", config.lane_capacity), Lane("tts", config.lane_capacity)
    metrics = Metrics((hearing, speaking))

    async def list_models(request: Request) -> Response:
        return JSONResponse({"object": "list", "data": models.listed()})

    async def one_model(request: Request) -> Response:
        asked = request.path_params["name"]
        for model in models.listed():
            if model["id"] == asked:
                return JSONResponse(model)
        raise no_such_model(asked, ", ".join(str(model["id"]) for model in models.listed()))

    async def health(request: Request) -> Response:
        # The models were proven before the port was opened, so that "up" is "ready".
        return JSONResponse({"status": "ok"})

    async def figures(request: Request) -> Response:
        return Response(metrics.text(), media_type="text/plain; version=0.0.4")

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        hearing.close()
        speaking.close()

    detections = DetectionsRoute(models.detector, hearing, config)
    posts = {
        "/audio/transcriptions": TranscriptionsRoute(models.transcriber, hearing, config).__call__,
        "/audio/speech": SpeechRoute(models.synthesizer, speaking).__call__,
        "/audio/speech/timestamps": detections.__call__,
        "/vad": detections.__call__,
    }
    gets = {
        "/models": list_models,
        "/models/{name:path}": one_model,
        "/healthz": health,
        "/readyz": health,
        "/metrics": figures,
    }
    routes = [
        Route(prefix + path, endpoint, methods=[method])
        for prefix in ("", "/v1")
        for method, table in (("POST", posts), ("GET", gets))
        for path, endpoint in table.items()
    ]
    return Starlette(
        routes=routes,
        lifespan=lifespan,
        middleware=[Middleware(Edge, metrics=metrics, idle_s=config.idle_s)],
        exception_handlers={Problem: answer_problem, HTTPException: answer_http_error},
    )
