"""The server as an ASGI application."""

from __future__ import annotations

from starlette.applications import Starlette

from server.http.application import application
from server.live.routes import websocket_routes
from server.live.services import Services
from server.settings import Settings


def create_app(settings: Settings) -> Starlette:
    """Return the application that serves exams. Its lifespan opens the store and starts the engines."""
    services = Services(settings)
    return application(services, websocket_routes(services))
