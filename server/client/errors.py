"""What can go wrong on the candidate's side before or in an exam. Messages are one line, and never hold a token."""

from __future__ import annotations


class ClientError(Exception):
    """Base of every failure of the client; its message is fit for the terminal as it stands."""


class UnusableAudio(ClientError):
    """The file gives no voice; the message names it and says why."""


class WrongAddress(ClientError):
    """What was given as the server's address is none."""


class ServerUnreachable(ClientError):
    """No exam began: the address does not answer, or does not answer as an exam server."""


class NoSubject(ClientError):
    """The server has no subject to give, or does not give it to this candidate."""


class NoToken(ClientError):
    """No token was given, and none can be made on this machine."""


class ServerFailed(ClientError):
    """The private server did not become ready; the message says why."""


class ExamOver(Exception):
    """Something was to be sent, but the socket is closed. What closed it is the exam's last event."""
