"""Errors of the protocol, split by whose fault they are.

Never raised for the world (disk, network): those errors stay what they are.
"""

from collections.abc import Sequence


class ProtocolError(Exception):
    """Anything that breaks the protocol; the message says what was seen."""


class LocalProtocolError(ProtocolError):
    """This side asked for something that the protocol forbids: a bug here, or input past a limit."""


class RemoteProtocolError(ProtocolError):
    """The peer sent something that the protocol forbids: close its link, change nothing."""


class OtherVersion(RemoteProtocolError):
    """The peer speaks versions of the protocol that are all newer, or all older, than this side's."""

    def __init__(self, versions: Sequence[int], *, newer: bool) -> None:
        spoken = ", ".join(str(version) for version in versions[:8])
        super().__init__(f"no common version: it speaks {spoken or 'none'}")
        self.newer = newer


class CommitTooLarge(LocalProtocolError):
    """A commit would exceed the limit; refuse the text where it was entered."""
