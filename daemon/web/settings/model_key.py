"""The key of the model, as the page deals with it: stored when it is typed, and never read back.

Never lets a key go to an address that it was not given for, and never puts one into a page or a log.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from daemon.agents.models.openai.endpoint import CREDENTIAL_NAME, CREDENTIALS_VARIABLE, KEY_VARIABLE
from daemon.config import ModelSettings
from daemon.files import replace_file

KEY_SETTING: Final = "model.key_file"


@dataclass(frozen=True, slots=True)
class KeyPlace:
    """Where the key of the model comes from; `name` is empty if there is none.

    Only what `is_of_page` may be replaced and forgotten on the page.
    """

    name: str
    is_of_page: bool


class ModelKeyFile:
    """The file beside the settings that the page stores a key in; a service hands it over as a credential."""

    def __init__(self, config_file: str, environment: Mapping[str, str]) -> None:
        self._file = Path(config_file).parent / CREDENTIAL_NAME
        self._environment = environment

    @property
    def path(self) -> str:
        """Return the file, as a setting names it."""
        return str(self._file)

    def place(self, model: ModelSettings) -> KeyPlace:
        """Return where the key comes from, by the order in which a daemon looks for it."""
        if self._environment.get(KEY_VARIABLE, "").strip():
            return KeyPlace(KEY_VARIABLE, is_of_page=False)
        folder = self._environment.get(CREDENTIALS_VARIABLE, "")
        if folder and (Path(folder) / CREDENTIAL_NAME).is_file():
            return KeyPlace(self.path, is_of_page=self._file.is_file())
        if not model.key_file:
            return KeyPlace("", is_of_page=True)
        return KeyPlace(model.key_file, is_of_page=model.key_file == self.path)

    def store(self, key: str) -> None:
        """Store a key for its owner alone. Raises OSError."""
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(self._file, f"{key.strip()}\n".encode(), mode=0o600)

    def forget(self) -> None:
        """Remove the file. Raises OSError."""
        with suppress(FileNotFoundError):
            self._file.unlink()


def is_other_address(before: str, after: str) -> bool:
    """Return whether a key that was given for one address would go to another host, port or scheme."""
    return _origin(before) != _origin(after)


def _origin(address: str) -> tuple[str, str]:
    try:
        parts = urlsplit(address)
    except ValueError:
        return address, ""
    return parts.scheme, parts.netloc.lower()
