"""Which of the profile's models this machine needs: those of the engines that it runs itself."""

from __future__ import annotations

from engines.models import Role, Store, load_lock
from engines.models.lock import ROLES
from server.settings import Settings


def check_models(settings: Settings) -> None:
    """Check every file of the models that the engines of this machine load, before any of them is started.

    Raises :class:`engines.models.ModelError`, which names the command that brings what is missing.
    """
    profile, store = load_lock().profile(settings.profile), Store(settings.models_dir)
    for role in needed_roles(settings):
        store.path(profile, role)


def needed_roles(settings: Settings) -> tuple[Role, ...]:
    """Return the roles whose models this machine needs: those of engines elsewhere, it does not."""
    own, elsewhere = settings.own_kinds(), set[Role]()
    if "llm" not in own:
        elsewhere.add("llm")
    if not own & {"stt", "tts"}:
        elsewhere |= {"stt", "tts", "voices"}  # one worker holds them all, so that one of the two needs both
    return tuple(role for role in ROLES if role not in elsewhere)
