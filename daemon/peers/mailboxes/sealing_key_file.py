"""The private keys to which other devices seal what they leave for this one: the newest, and a few others.

Never sends a private key anywhere, and never puts one into the store, which backups copy.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import structlog

from daemon.files import replace_file
from syncproto.mailboxes import sealing_keys
from syncproto.mailboxes.names import NUMBER_MAX
from syncproto.mailboxes.sealing_keys import PrivateSealingKey, SealingSuite

FILE_NAME = "mailbox_keys"
KEYS_MAX = 4
DAY_MS = 86_400_000

log = structlog.get_logger("peers")

_decoder = msgspec.json.Decoder(list[PrivateSealingKey])


class SealingKeyFile:
    """The keys of this device in a file of mode 0600, the newest first."""

    def __init__(self, folder: Path, now_ms: Callable[[], int], randomness: Callable[[int], bytes]) -> None:
        self._file = folder / FILE_NAME
        self._now_ms = now_ms
        self._randomness = randomness
        self.keys: Sequence[PrivateSealingKey] = ()

    @property
    def present(self) -> PrivateSealingKey:
        """Return the key that others seal to."""
        return self.keys[0]

    def load(self, suite: SealingSuite, renew_days: int | None, published: int = 0) -> None:
        """Read the keys; make one at the first start, if the suite changed, or after so many days.

        `published` is the number of the newest key that this device is known by. A file that cannot be read
        is replaced: what was sealed to its keys is put into mailboxes once more. Raises OSError.
        """
        self.keys = self._read()
        now_ms = self._now_ms()
        present = self.keys[0] if self.keys else None
        if self.needs_another(suite, renew_days):
            earlier = max(published, 0 if present is None else present.number)
            number = min(max(now_ms, earlier + 1, 1), NUMBER_MAX)
            private = self._randomness(sealing_keys.private_bytes_of(suite))
            self.keys = [PrivateSealingKey(suite, number, private), *self.keys][:KEYS_MAX]
            replace_file(self._file, msgspec.json.encode(self.keys), mode=0o600)

    def needs_another(self, suite: SealingSuite, renew_days: int | None) -> bool:
        """Return whether there is no key of a suite that is younger than so many days."""
        if not self.keys or self.keys[0].suite is not suite:
            return True
        return renew_days is not None and self._now_ms() - self.keys[0].number > renew_days * DAY_MS

    def _read(self) -> list[PrivateSealingKey]:
        try:
            keys = _decoder.decode(self._file.read_bytes())
        except FileNotFoundError:
            return []
        except msgspec.MsgspecError as fault:
            log.warning("the keys of mailboxes cannot be read and are made anew", error=str(fault))
            return []
        sizes = {suite: sealing_keys.private_bytes_of(suite) for suite in SealingSuite}
        return [key for key in keys if len(key.private) == sizes[key.suite]][:KEYS_MAX]
