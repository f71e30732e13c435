"""The settings as a person asks for them and changes them: one key of `config.toml` at a time.

Never writes what could not be read back, and never changes a comment or the order of what is there.
"""

import fcntl
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from daemon import config
from daemon.config import ConfigError, Settings
from daemon.files import replace_file
from store.sentence import sentence

__all__ = [
    "KEYS",
    "ConfigError",
    "Setting",
    "all_settings",
    "change_setting",
    "change_settings",
    "changed_settings",
    "find_setting",
    "read_settings",
    "replace_text",
]

DEFAULT_ORIGIN = "default"
_COMMAND_LINE = "the command line"


class Setting(NamedTuple):
    """A key, its value, and what set it: a file, a variable, or `default`."""

    key: str
    value: Any
    origin: str


Changes = Mapping[str, str | None]
"""Keys, each with its new value as it is written outside of the file; None takes it out of the file."""
KEYS = config.keys()
"""Every known key."""


def all_settings(file: str, environment: Mapping[str, str]) -> list[Setting]:
    """Return every setting as the daemon would read it now. Raises ConfigError."""
    loaded = config.load(Path(file), environment, {})
    return [
        Setting(key, _plain(config.value_of(loaded.settings, key)), loaded.origins.get(key, DEFAULT_ORIGIN))
        for key in KEYS
    ]


def find_setting(file: str, environment: Mapping[str, str], key: str) -> Setting:
    """Return one setting. Raises ConfigError, also for an unknown key."""
    config.check_key(key, _COMMAND_LINE)
    return next(setting for setting in all_settings(file, environment) if setting.key == key)


def _plain(value: object) -> object:
    """Return a value as JSON and TOML have it; of a further model only what is set."""
    if isinstance(value, dict):
        return {name: _set_fields(member) for name, member in value.items()}
    return list(value) if isinstance(value, tuple) else value


def _set_fields(member: object) -> object:
    if not isinstance(member, msgspec.Struct):
        return member
    plain: dict[str, Any] = msgspec.to_builtins(member)
    defaults = msgspec.to_builtins(type(member)())
    return {name: value for name, value in plain.items() if value != defaults[name]}


def change_setting(file: str, key: str, text: str | None) -> bool:
    """Set a key in the file, or with None take it out; return whether that changed anything.

    Raises ConfigError for a key or value that cannot be used, also if the file already contains one.
    """
    config.check_key(key, _COMMAND_LINE)
    if text is not None:
        config.parse_value(key, text, _COMMAND_LINE)
    with _alone(file):
        return _write_if_other(file, _changed_text(file, {key: text}))


def changed_settings(file: str, environment: Mapping[str, str], changes: Changes) -> Settings:
    """Return the settings as a daemon would read them after these changes, which are not written.

    Raises ConfigError as `change_settings` does.
    """
    return config.load_text(_changed_text(file, changes), file, environment, {}).settings


def change_settings(
    file: str, environment: Mapping[str, str], changes: Changes, judge: Callable[[Settings], object]
) -> bool:
    """Make several changes, or none of them; return whether that changed anything.

    `judge` raises ConfigError for settings with which a daemon could not start. Raises ConfigError.
    """
    with _alone(file):
        after = _changed_text(file, changes)
        judge(config.load_text(after, file, environment, {}).settings)
        return _write_if_other(file, after)


def _changed_text(file: str, changes: Changes) -> str:
    text = config.read_file(Path(file))
    config.check_toml(text, file)
    for key, written in changes.items():
        config.check_key(key, file)
        value = None if written is None else _plain(config.parse_value(key, written, file))
        text = _set_key(text, key, value)
    config.check_toml(text, file)
    return text


def read_settings(file: str) -> str:
    """Return the text of the settings file, as an editor shows it. Raises ConfigError."""
    return config.read_file(Path(file))


def replace_text(file: str, text: str) -> bool:
    """Write the whole file anew, if it can be used; return whether that changed anything."""
    config.check_toml(text, file)
    with _alone(file):
        return _write_if_other(file, text)


def _set_key(text: str, key: str, value: object) -> str:
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


@contextmanager
def _alone(file: str) -> Iterator[None]:
    """Keep other changes of the same file waiting; reading it needs no lock, since it is replaced whole."""
    folder = Path(file).parent
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise ConfigError(
            sentence("folder-failed", "{folder}: {reason}", folder=str(folder), reason=str(error.strerror))
        ) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _write_if_other(file: str, text: str) -> bool:
    """Replace the settings file as a whole, unless it is so already; if it is a link, what it leads to."""
    if text == config.read_file(Path(file)):
        return False
    target = Path(file).resolve()
    try:
        replace_file(target, text.encode())
    except OSError as error:
        raise ConfigError(
            sentence(
                "settings-unwritable",
                "{file}: cannot be written: {reason}",
                file=str(target),
                reason=str(error.strerror),
            )
        ) from error
    return True
