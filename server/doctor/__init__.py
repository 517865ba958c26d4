"""``relance doctor``: what is configured, whether it works, and what mends it where it does not.

Every check is real: files are hashed, the database is read, engines are started and do one inference each, the same
that proves them at a server's start. Nothing is made, migrated or left running. One fault hides no other.
"""

from server.doctor.examination import examine
from server.doctor.findings import Finding
from server.doctor.in_force import Given, in_force, origin
from server.doctor.report import Report

__all__ = ["Finding", "Given", "Report", "examine", "in_force", "origin"]
