"""The server's settings: defaults, then a TOML file, then ``RELANCE_*`` variables; checked once, at the start."""

from server.settings.engines import EngineChoice
from server.settings.loading import SettingsError, load
from server.settings.model import Settings

__all__ = ["EngineChoice", "Settings", "SettingsError", "load"]
