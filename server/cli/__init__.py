"""The command line: ``relance``."""
