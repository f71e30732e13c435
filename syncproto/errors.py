"""Errors of the protocol, divided by whose fault they are.

Never raised for a fault of the disk or the network: those errors keep their own types.
"""

from collections.abc import Sequence


class ProtocolError(Exception):
    """A violation of the protocol; the message contains what was seen."""


class LocalProtocolError(ProtocolError):
    """This side asked for something that the protocol forbids: a bug here, or input beyond a limit."""


class RemoteProtocolError(ProtocolError):
    """The peer sent something that the protocol forbids: close its link, change nothing."""


class CommitsMissing(RemoteProtocolError):
    """A commit follows or rests on one that this side lacks.

    A peer whose commits are in order sends such a page too, if it believes that this side has more than it
    has. The next Hellos correct that (PROTOCOL.md §11).
    """


class UnsupportedVersion(RemoteProtocolError):
    """All versions of the protocol that the peer speaks are newer, or all are older, than ours."""

    def __init__(self, versions: Sequence[int], *, newer: bool) -> None:
        spoken = ", ".join(str(version) for version in versions[:8])
        super().__init__(f"no common version: it speaks {spoken or 'none'}")
        self.newer = newer


class CommitTooLarge(LocalProtocolError):
    """A commit would exceed the limit: refuse the text to the person who entered it."""
