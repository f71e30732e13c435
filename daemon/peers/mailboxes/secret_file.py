"""The secrets by which this device opens its boxes at relays, in a file of mode 0600.

Never puts a secret into the store, which backups copy, and never into a log or an answer.
"""

from collections.abc import Callable
from pathlib import Path

import msgspec
import structlog

from daemon.files import replace_file

FILE_NAME = "mailbox_secrets"

log = structlog.get_logger("peers")

_decoder = msgspec.json.Decoder(dict[str, str])


class SecretFile:
    """The secrets of mailboxes, by the names of these."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE_NAME

    def secret_of(self, mailbox: str) -> str | None:
        """Return the secret of a mailbox, None if there is none. Raises OSError."""
        return self._read().get(mailbox)

    def store(self, mailbox: str, secret: str) -> None:
        """Keep the secret of a mailbox. Raises OSError."""
        self._change(lambda secrets: secrets.update({mailbox: secret}))

    def forget(self, mailbox: str) -> None:
        """Forget the secret of a mailbox, if there is one. Raises OSError."""
        if self.secret_of(mailbox) is not None:
            self._change(lambda secrets: secrets.pop(mailbox))

    def _change(self, change: Callable[[dict[str, str]], object]) -> None:
        secrets = self._read()
        change(secrets)
        replace_file(self._file, msgspec.json.encode(secrets), mode=0o600)

    def _read(self) -> dict[str, str]:
        try:
            return _decoder.decode(self._file.read_bytes())
        except FileNotFoundError:
            return {}
        except msgspec.MsgspecError:
            log.warning("the secrets of mailboxes cannot be read; add those mailboxes again")
            return {}
