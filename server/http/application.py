"""The application: the routes, around services that live as long as it does."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.routing import BaseRoute

from server.alongside import alongside
from server.http.answers import HANDLERS
from server.http.health import health_routes
from server.http.origins import origin_rules
from server.http.productions import production_routes
from server.http.services import Services
from server.http.subjects import subject_routes
from server.metrics import watch_loop_lag


def application(services: Services, live_routes: Sequence[BaseRoute] = ()) -> Starlette:
    """Return the application around ``services``: the plain routes, and ``live_routes``.

    Its lifespan enters and leaves ``services``, which are at ``app.state.services``.
    """

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with services, alongside(watch_loop_lag(services.metrics)):
            yield

    routes = [*health_routes(services), *subject_routes(services), *production_routes(services), *live_routes]
    app = Starlette(
        routes=routes,
        middleware=origin_rules(services.settings.allowed_origins),
        exception_handlers=dict(HANDLERS),
        lifespan=lifespan,
    )
    app.state.services = services
    return app
