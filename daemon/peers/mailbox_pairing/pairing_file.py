"""The secrets of pairing through mailboxes, in a file of mode 0600: open invitations, and one accepted.

Never puts a secret into the store, which backups copy.
"""

from pathlib import Path

import msgspec
import structlog

from daemon.files import replace_file

FILE_NAME = "mailbox_pairing"

log = structlog.get_logger("peers")


class OpenInvitation(msgspec.Struct, frozen=True):
    """An invitation of this device into the vault of a tag (hexadecimal), through the mailbox of a name."""

    invitation_id: str
    secret: bytes
    vault_tag: str
    mailbox: str
    expires_ms: int


class OpenJoining(msgspec.Struct, frozen=True):
    """An invitation that this device has accepted: it waits for the answer of the inviter (its id).

    The mailbox is looked into by this name once this device is in. `began_ms` is Unix time in milliseconds.
    """

    secret: bytes
    inviter: bytes
    mailbox: str
    kind: str
    place: str
    box_secret: str
    unite: bool
    began_ms: int


class _Content(msgspec.Struct, frozen=True):
    invitations: list[OpenInvitation] = []
    joining: OpenJoining | None = None


_decoder = msgspec.json.Decoder(_Content)


class PairingFile:
    """What is under way, as the file says. All methods raise OSError."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE_NAME
        self._content: _Content | None = None

    @property
    def invitations(self) -> list[OpenInvitation]:
        """Return the invitations that are open."""
        return self._read().invitations

    @property
    def joining(self) -> OpenJoining | None:
        """Return the invitation that this device has accepted, None if it waits for no answer."""
        return self._read().joining

    def add_invitation(self, invitation: OpenInvitation) -> None:
        """Keep an invitation beside the others."""
        self._write(msgspec.structs.replace(self._read(), invitations=[*self.invitations, invitation]))

    def remove_invitation(self, invitation_id: str) -> None:
        """Forget an invitation."""
        others = [other for other in self.invitations if other.invitation_id != invitation_id]
        self._write(msgspec.structs.replace(self._read(), invitations=others))

    def store_joining(self, joining: OpenJoining | None) -> None:
        """Keep the invitation that this device has accepted; None: it waits for no answer."""
        self._write(msgspec.structs.replace(self._read(), joining=joining))

    def _write(self, content: _Content) -> None:
        replace_file(self._file, msgspec.json.encode(content), mode=0o600)
        self._content = content

    def _read(self) -> _Content:
        if self._content is None:
            try:
                self._content = _decoder.decode(self._file.read_bytes())
            except FileNotFoundError:
                self._content = _Content()
            except msgspec.MsgspecError:
                log.warning("what waits for pairing through mailboxes cannot be read: invite again")
                self._content = _Content()
        return self._content
