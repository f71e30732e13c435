"""The settings as a person asks for them and changes them: one key of `config.toml` at a time.

Never writes what could not be read back, and never changes a comment or the order of what is there.
"""

import fcntl
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from daemon import config
from daemon.config import ConfigError

__all__ = ["KEYS", "ConfigError", "Setting", "change", "one", "replace", "settings"]

DEFAULT = "default"
_COMMAND_LINE = "the command line"


class Setting(NamedTuple):
    """A key, its value, and what set it: a file, a variable, or `default`."""

    key: str
    value: Any
    origin: str


KEYS = config.keys()
"""Every known key."""


def settings(file: str, environment: Mapping[str, str]) -> list[Setting]:
    """Return every setting as the daemon would read it now. Raises ConfigError."""
    loaded = config.load(Path(file), environment, {})
    return [
        Setting(key, _plain(config.value_of(loaded.settings, key)), loaded.origins.get(key, DEFAULT))
        for key in KEYS
    ]


def one(file: str, environment: Mapping[str, str], key: str) -> Setting:
    """Return one setting. Raises ConfigError, also for an unknown key."""
    config.check_key(key, _COMMAND_LINE)
    return next(setting for setting in settings(file, environment) if setting.key == key)


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def change(file: str, key: str, text: str | None) -> bool:
    """Set a key in the file, or with None take it out; return whether that changed anything.

    Raises ConfigError for a key or value that cannot be used, also where the file already holds one.
    """
    config.check_key(key, _COMMAND_LINE)
    value = None if text is None else _plain(config.from_text(key, text, _COMMAND_LINE))
    with _alone(file):
        before = _read(file)
        config.check_toml(before, file)
        after = _with(before, key, value)
        config.check_toml(after, file)
        if after == before:
            return False
        _write(file, after)
    return True


def replace(file: str, text: str) -> bool:
    """Write the whole file anew, if it can be used; return whether that changed anything."""
    config.check_toml(text, file)
    with _alone(file):
        if text == _read(file):
            return False
        _write(file, text)
    return True


def _with(text: str, key: str, value: object) -> str:
    import tomlkit  # imported here: only a change needs it

    document = tomlkit.parse(text)
    section, _, name = key.rpartition(".")
    if value is None:
        table = document.get(section, {}) if section else document
        if name in table:
            del table[name]
    elif not section:
        document[name] = value
    else:
        if section not in document:
            document[section] = tomlkit.table()
        document[section][name] = value
    return tomlkit.dumps(document)


def _read(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: cannot be read: {error}") from error


@contextmanager
def _alone(file: str) -> Iterator[None]:
    """Keep other changes of the same file waiting; reading it needs no lock, since it is replaced whole."""
    folder = Path(file).parent
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise ConfigError(f"{folder}: {error.strerror}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _write(file: str, text: str) -> None:
    """Put a new file in place of the old one, whole or not at all; a link stays one."""
    target = Path(file).resolve()
    try:
        descriptor, made = tempfile.mkstemp(prefix=".config.", dir=target.parent)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
                opened.write(text)
                opened.flush()
                os.fsync(opened.fileno())
            Path(made).replace(target)
        except BaseException:
            Path(made).unlink(missing_ok=True)
            raise
        _flush(target.parent)
    except OSError as error:
        raise ConfigError(f"{target}: cannot be written: {error.strerror}") from error


def _flush(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
