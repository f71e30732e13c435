"""The systemd unit, made for this installation and this user's folders, and the model's key beside it.

Never changes what the packaged unit says about the sandbox, but for the folders that may be written. Never
puts the key into the unit, which others may read.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

from daemon.cli.refusals import Refusal
from daemon.cli.words import _
from daemon.paths import find_paths

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME: Final = "placet.service"
FIRST_LINE: Final = "# Placet for one user."
_PACKAGED_COMMAND: Final = "ExecStart=%h/.local/bin/placet up"
_PACKAGED_FOLDER: Final = "ReadWritePaths=-%h/.local/share/placet"
_KEY: Final = "PLACET_MODEL_KEY"
_CREDENTIAL: Final = "model_key"
_KEY_BYTES_MAX: Final = 4096
_FOLDERS: Final = ("PLACET_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")


def unit_file() -> str:
    """Return where the unit of this user is, installed or not."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    folder = base if os.path.isabs(base) else os.path.expanduser("~/.config")
    return os.path.join(folder, "systemd", "user", NAME)


def command() -> str:
    """Return how this installation is called: its own script, else its interpreter."""
    script = os.path.join(os.path.dirname(sys.executable), "placet")
    if os.access(script, os.X_OK):
        return _called(script)
    return f"{_called(sys.executable)} -m daemon"


def _called(program: str) -> str:
    """Write a program as systemd runs it; a name that it would not take is passed on by env(1)."""
    if not set('"\\') & set(program):
        return _quoted(program)
    return f"/usr/bin/env {_quoted(program).replace('$', '$$')}"


def unit_text(environment: Mapping[str, str]) -> str:
    """Return the unit for this installation; what moves the folders is carried over."""
    packaged = _packaged()
    assert packaged.startswith(FIRST_LINE)
    assert _PACKAGED_COMMAND in packaged
    assert _PACKAGED_FOLDER in packaged
    moved = [
        f"Environment={_quoted(f'{name}={os.path.abspath(os.path.expanduser(environment[name]))}')}"
        for name in _FOLDERS
        # As in find_paths: of the XDG folders, a relative one does not count.
        if (given := environment.get(name)) and (name == "PLACET_HOME" or os.path.isabs(given))
    ]
    paths = find_paths(environment)
    written = dict.fromkeys((paths.config, paths.data))
    folders = [f"ReadWritePaths={_quoted(f'-{folder}')}" for folder in written]
    key = key_file(environment)
    # What stands behind the colon is taken as it is: no quotes, only specifiers.
    handed = [f"LoadCredential={_CREDENTIAL}:{_plain(key)}"] if os.path.isfile(key) else []
    made = packaged.replace(_PACKAGED_COMMAND, "\n".join([*moved, *handed, f"ExecStart={command()} up"]))
    return made.replace(_PACKAGED_FOLDER, "\n".join(folders))


def out_of_sight(environment: Mapping[str, str]) -> list[str]:
    """Name the folders that the service would not see: it has a /tmp of its own."""
    paths = find_paths(environment)
    every = dict.fromkeys((paths.config, paths.data, sys.prefix))
    return [path for path in every if path.startswith(("/tmp/", "/var/tmp/"))]  # noqa: S108 - a comparison


def key_file(environment: Mapping[str, str]) -> str:
    """Return where the model's key is kept for the service, if it is."""
    return os.path.join(find_paths(environment).config, _CREDENTIAL)


def take_key(environment: Mapping[str, str]) -> bool:
    """Keep the key of this shell for the service, in a file of its owner's; False where nothing changes."""
    key = environment.get(_KEY, "").strip()
    if not key:
        return False
    if len(key) > _KEY_BYTES_MAX or not all("!" <= sign <= "~" for sign in key):
        raise Refusal("usage", _("{name} holds no key: one line of printable ASCII").format(name=_KEY))
    file = key_file(environment)
    try:
        with open(file, encoding="ascii") as opened:
            if opened.read() == key and not os.fstat(opened.fileno()).st_mode & 0o077:
                return False
    except (OSError, UnicodeDecodeError):
        pass  # it is written anew
    _write(file, key, 0o600)
    return True


def drop_key(environment: Mapping[str, str]) -> bool:
    """Remove the key that was kept for the service; False where there is none."""
    try:
        os.unlink(key_file(environment))
    except FileNotFoundError:
        return False
    return True


def _plain(text: str) -> str:
    if not text.isprintable():
        raise Refusal("usage", _("{text!r} cannot stand in a systemd unit").format(text=text))
    return text.replace("%", "%%")


def _quoted(text: str) -> str:
    """Quote a word as systemd.syntax(7) has it; `%` would begin a specifier."""
    if not text.isprintable():
        raise Refusal("usage", _("{text!r} cannot stand in a systemd unit").format(text=text))
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    plain = escaped == text and not set(" '$;") & set(text)
    return text if plain else f'"{escaped}"'


def _packaged() -> str:
    """Read the unit that came with this installation, or lies in its source tree."""
    here = os.path.dirname(os.path.abspath(__file__))
    tree = os.path.dirname(os.path.dirname(here))
    # site-packages lie three folders below the prefix that the shared files are in.
    prefixes = (sys.prefix, os.path.abspath(os.path.join(tree, "..", "..", "..")))
    places = [os.path.join(tree, "systemd"), *(os.path.join(one, "share/systemd/user") for one in prefixes)]
    for place in places:
        try:
            with open(os.path.join(place, "placet.service"), encoding="utf-8") as opened:
                return opened.read()
        except (FileNotFoundError, NotADirectoryError):
            continue
    raise Refusal("failed", _("this installation has no {module}").format(module="placet.service"))


def write(file: str, text: str) -> None:
    """Put the unit in place, whole or not at all."""
    _write(file, text, 0o666)


def _write(file: str, text: str, mode: int) -> None:
    made = f"{file}.new"
    try:
        os.makedirs(os.path.dirname(file), exist_ok=True)
        if os.path.lexists(made):
            os.unlink(made)
        with open(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8") as opened:
            opened.write(text)
        os.replace(made, file)
    except OSError as error:
        seen = _("{file} cannot be written: {reason}").format(file=file, reason=error.strerror)
        raise Refusal("failed", seen) from error
