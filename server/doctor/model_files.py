"""The model files that this machine needs: all there, every byte right."""

from __future__ import annotations

from dataclasses import dataclass, field

from engines.models import Profile, Role, Store
from engines.models.errors import HashMismatch
from engines.setup import Kind
from server.doctor.findings import Finding, fault, ok
from server.needed_models import needed_roles
from server.settings import Settings

SPEECH_ROLES: frozenset[Role] = frozenset({"vad", "stt", "tts", "voices"})
"""What the speech worker loads, whichever of its two kinds is asked for."""


@dataclass(slots=True)
class ModelFiles:
    """What was found of the files of ``profile`` in ``store``. ``broken`` are the roles that lack a right file."""

    profile: Profile
    store: Store
    findings: list[Finding] = field(default_factory=list)
    broken: set[Role] = field(default_factory=set)

    @classmethod
    def looked_at(cls, settings: Settings, profile: Profile) -> ModelFiles:
        """Hash every file that has changed since it was last hashed; seconds for each GB, so not for the event loop."""
        self = cls(profile, Store(settings.models_dir))
        roles = needed_roles(settings)
        missing = [name for role in roles for name in self._missing(role)]
        mend = f"Run: {self.store.fetch_command(profile)}"
        if missing:
            told = (
                f"{len(missing)} files of the profile {profile.name} are not in {self.store.root}: {', '.join(missing)}"
            )
            self.findings.append(fault("models", told, mend))
        if not self.findings:
            count = sum(len(profile.artifacts[role].files) for role in roles)
            self.findings.append(ok("models", f"{count} files in {self.store.root}, every hash is right"))
        return self

    def serve(self, kind: Kind) -> bool:
        """Whether our own process for ``kind`` has all that it loads."""
        return not self.broken & ({"llm"} if kind == "llm" else SPEECH_ROLES)

    def _missing(self, role: Role) -> list[str]:
        """Return the names of the files that are not there; of those that are and are wrong, make a finding each."""
        artifact, missing = self.profile.artifacts[role], []
        for file in artifact.files:
            try:
                if self.store.has(artifact, file):
                    continue
                missing.append(f"{artifact.name}/{file.path}")
            except HashMismatch as error:
                told = f"{self.store.place(artifact, file)}: expected sha256 {error.expected}, got {error.found}"
                mend = f"To replace it, run: {self.store.fetch_command(self.profile)}"
                self.findings.append(fault("models", told, mend))
            except OSError as error:
                told = f"{self.store.place(artifact, file)} cannot be read: {error.strerror}"
                self.findings.append(fault("models", told, "Have it belong to the user that serves."))
            self.broken.add(role)
        return missing
