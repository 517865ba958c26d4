"""The pinned models: what the lock says, where it comes from, and the store of verified files.

lock = load_lock()
profile = lock.profile("fr")
fetch(profile, store := Store())
store.path(profile, "stt")  # every byte checked
"""

from __future__ import annotations

from engines.models.errors import ModelError
from engines.models.exporting import export_archive
from engines.models.fetch import fetch
from engines.models.importing import import_archive
from engines.models.lock import Artifact, Lock, ModelFile, Profile, Role, load_lock
from engines.models.store import Store

__all__ = [
    "Artifact",
    "Lock",
    "ModelError",
    "ModelFile",
    "Profile",
    "Role",
    "Store",
    "export_archive",
    "fetch",
    "import_archive",
    "load_lock",
]
