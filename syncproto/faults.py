"""Errors of the protocol, split by whose fault they are.

Never raised for the world (disk, network): those errors stay what they are.
"""


class ProtocolError(Exception):
    """Anything that breaks the protocol; the message says what was seen."""


class LocalProtocolError(ProtocolError):
    """This side asked for something that the protocol forbids: a bug here, or input past a limit."""


class RemoteProtocolError(ProtocolError):
    """The peer sent something that the protocol forbids: close its link, change nothing."""


class CommitTooLarge(LocalProtocolError):
    """A commit would exceed the limit; refuse the text where it was entered."""
