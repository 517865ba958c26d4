"""``POST /v1/audio/speech/timestamps``, and ``/vad``: where a file holds speech."""

from __future__ import annotations

from collections.abc import Generator

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from engines.worker.answers import collected, unless_gone
from engines.worker.audio_in import decode
from engines.worker.config import WorkerConfig
from engines.worker.detector import Detector, Span
from engines.worker.lane import Lane
from engines.worker.problems import no_such_model
from engines.worker.uploads import file, form, in_memory


class DetectionsRoute:
    """The route over one detector; it shares the lane of speech to text."""

    def __init__(self, detector: Detector | None, lane: Lane, config: WorkerConfig) -> None:
        self._detector = detector
        self._lane = lane
        self._config = config

    async def __call__(self, request: Request) -> Response:
        """Answer one request with ``[{"start": ms, "end": ms}, …]``."""
        if self._detector is None:
            raise no_such_model("silero", None)
        async with form(request, self._config.max_upload_bytes) as fields:
            upload = file(fields)
            detector = self._detector

            def job() -> Generator[list[Span] | None, None, None]:
                yield from detector.detect(decode(in_memory(upload), self._config.max_audio_s))

            steps = await unless_gone(request, collected(self._lane.run(job())))
        return JSONResponse([{"start": span.start, "end": span.end} for span in steps[-1] or ()])
