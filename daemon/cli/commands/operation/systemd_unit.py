"""Writes the systemd units for this installation and this user's folders, and the model's key beside it.

Never changes the sandbox of the packaged unit, except for the folders that may be written. Never
puts the key into the unit, which others may read.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

import daemon
from daemon.cli.api.command_error import CommandError
from daemon.files import Durability, replace_file
from daemon.paths import find_paths
from daemon.words.translation import _

if TYPE_CHECKING:
    from collections.abc import Mapping

UNIT_NAME: Final = "placet.service"
SOCKET_UNIT_NAME: Final = "placet.socket"
FIRST_LINES: Final = {
    UNIT_NAME: "# Placet for one user.",
    SOCKET_UNIT_NAME: "# Placet's socket for one user",
}
_PACKAGED_SOCKET: Final = "ListenStream=%t/placet/control.sock\n"
_SOCKET_PATH_BYTES_MAX: Final = 107  # sockaddr_un(7), without the closing zero
_PACKAGED_COMMAND: Final = "ExecStart=%h/.local/bin/placet up"
_PACKAGED_FOLDERS: Final = "BindPaths=-%h/.config/placet\nBindPaths=-%h/.local/share/placet\n"
_PACKAGED_PROGRAM: Final = (
    "BindReadOnlyPaths=-%h/.local/bin -%h/.local/lib -%h/.local/pipx -%h/.local/share/pipx\n"
    "BindReadOnlyPaths=-%h/.local/share/uv -%h/.pyenv\n"
)
_KEY: Final = "PLACET_MODEL_KEY"
_CREDENTIAL: Final = "model_key"
_KEY_BYTES_MAX: Final = 4096
_FOLDERS: Final = ("PLACET_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")


def unit_file(name: str = UNIT_NAME) -> str:
    """Return the path of a unit of this user, whether it is installed or not."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    folder = base if os.path.isabs(base) else os.path.expanduser("~/.config")
    return os.path.join(folder, "systemd", "user", name)


def start_command() -> str:
    """Return the command that starts this installation: its own script, else its interpreter."""
    script = os.path.join(os.path.dirname(sys.executable), "placet")
    if os.access(script, os.X_OK):
        return _program_in_unit(script)
    return f"{_program_in_unit(sys.executable)} -m daemon"


def _program_in_unit(program: str) -> str:
    """Write a program as systemd runs it; env(1) runs a name that systemd would not accept."""
    if not set('"\\') & set(program):
        return _quote(program)
    return f"/usr/bin/env {_quote(program).replace('$', '$$')}"


def unit_text(environment: Mapping[str, str]) -> str:
    """Return the unit for this installation; variables that move the folders are copied into it."""
    packaged = _read_packaged_unit(UNIT_NAME)
    assert packaged.startswith(FIRST_LINES[UNIT_NAME])
    assert _PACKAGED_COMMAND in packaged
    assert _PACKAGED_FOLDERS + _PACKAGED_PROGRAM in packaged
    moved = [
        f"Environment={_quote(f'{name}={os.path.abspath(os.path.expanduser(environment[name]))}')}"
        for name in _FOLDERS
        # As in find_paths: a relative XDG folder is ignored.
        if (text := environment.get(name)) and (name == "PLACET_HOME" or os.path.isabs(text))
    ]
    paths = find_paths(environment)
    fromkeys = dict.fromkeys((paths.config, paths.data))
    folders = [f"BindPaths={_optional_mount(folder)}\n" for folder in fromkeys]
    program = [f"BindReadOnlyPaths={_optional_mount(folder)}\n" for folder in program_folders()]
    key = key_file(environment)
    # systemd reads the text after the colon without quotes; only specifiers count.
    handed = [f"LoadCredential={_CREDENTIAL}:{_plain(key)}"] if os.path.isfile(key) else []
    unit = packaged.replace(
        _PACKAGED_COMMAND, "\n".join([*moved, *handed, f"ExecStart={start_command()} up"])
    )
    return unit.replace(_PACKAGED_FOLDERS + _PACKAGED_PROGRAM, "".join([*folders, *program]))


def socket_unit_text(environment: Mapping[str, str]) -> str:
    """Return the unit of the socket that commands of this installation connect to."""
    packaged = _read_packaged_unit(SOCKET_UNIT_NAME)
    assert packaged.startswith(FIRST_LINES[SOCKET_UNIT_NAME])
    assert _PACKAGED_SOCKET in packaged
    path = find_paths(environment).socket
    if len(os.fsencode(path)) > _SOCKET_PATH_BYTES_MAX:
        raise CommandError(
            "usage",
            _("the path {socket} is too long for systemd, which takes {bytes} bytes").format(
                socket=path, bytes=_SOCKET_PATH_BYTES_MAX
            ),
            _("name a shorter folder in PLACET_HOME, or install it without --socket"),
        )
    return packaged.replace(_PACKAGED_SOCKET, f"ListenStream={_plain(path)}\n")


def program_folders() -> list[str]:
    """Return the folders from which this installation runs, without those that every sandbox shows."""
    tree = os.path.dirname(os.path.dirname(os.path.abspath(daemon.__file__)))
    # An interpreter of the person's own may be reached by links.
    everything = (sys.prefix, tree, sys.base_prefix, os.path.realpath(sys.base_prefix))
    return [folder for folder in dict.fromkeys(everything) if folder not in ("/usr", "/")]


def homes_hidden_by_sandbox(environment: Mapping[str, str]) -> list[str]:
    """Return the folders that the service would not see, since it has a /tmp of its own."""
    paths = find_paths(environment)
    fromkeys = dict.fromkeys((paths.config, paths.data, sys.prefix))
    return [path for path in fromkeys if path.startswith(("/tmp/", "/var/tmp/"))]  # noqa: S108 - a comparison


def key_file(environment: Mapping[str, str]) -> str:
    """Return the path of the model's key for the service, if there is one."""
    return os.path.join(find_paths(environment).config, _CREDENTIAL)


def store_key(environment: Mapping[str, str]) -> bool:
    """Store this shell's key for the service, readable only by its owner; False if nothing changes."""
    key = environment.get(_KEY, "").strip()
    if not key:
        return False
    if len(key) > _KEY_BYTES_MAX or not all("!" <= sign <= "~" for sign in key):
        raise CommandError(
            "usage", _("{name} does not contain a key: one line of printable ASCII").format(name=_KEY)
        )
    file = key_file(environment)
    try:
        with open(file, encoding="ascii") as opened:
            if opened.read() == key and not os.fstat(opened.fileno()).st_mode & 0o077:
                return False
    except (OSError, UnicodeDecodeError):
        pass  # the key is then written anew
    _write(file, key, 0o600)
    return True


def delete_key(environment: Mapping[str, str]) -> bool:
    """Remove the key that was stored for the service; False if there is none."""
    try:
        os.unlink(key_file(environment))
    except FileNotFoundError:
        return False
    return True


def _plain(text: str) -> str:
    if not text.isprintable():
        raise CommandError("usage", _("{text!r} cannot be written in a systemd unit").format(text=text))
    return text.replace("%", "%%")


def _quote(text: str) -> str:
    """Quote a word by the rules of systemd.syntax(7); an unescaped `%` would begin a specifier."""
    if not text.isprintable():
        raise CommandError("usage", _("{text!r} cannot be written in a systemd unit").format(text=text))
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    plain = escaped == text and not set(" '$;") & set(text)
    return text if plain else f'"{escaped}"'


def _optional_mount(folder: str) -> str:
    """Return a folder as a mount that may be missing."""
    # After a colon systemd reads where to mount it, and how to escape one depends on its version.
    if ":" in folder:
        raise CommandError("usage", _("{text!r} cannot be written in a systemd unit").format(text=folder))
    return _quote(f"-{folder}")


def _read_packaged_unit(name: str) -> str:
    """Read a unit that this installation or its source tree contains."""
    tree = os.path.dirname(os.path.dirname(os.path.abspath(daemon.__file__)))
    # site-packages is three folders below the prefix that contains the shared files.
    prefixes = (sys.prefix, os.path.abspath(os.path.join(tree, "..", "..", "..")))
    places = [
        os.path.join(tree, "systemd"),
        *(os.path.join(prefix, "share/systemd/user") for prefix in prefixes),
    ]
    for place in places:
        try:
            with open(os.path.join(place, name), encoding="utf-8") as opened:
                return opened.read()
        except (FileNotFoundError, NotADirectoryError):
            continue
    raise CommandError("failed", _("this installation has no {module}").format(module=name))


def write_unit(file: str, text: str) -> None:
    """Write the unit to its place, whole or not at all."""
    _write(file, text, 0o666)


def _write(file: str, text: str, mode: int) -> None:
    try:
        os.makedirs(os.path.dirname(file), exist_ok=True)
        replace_file(file, text.encode(), mode=mode, durability=Durability.NONE)
    except OSError as error:
        message = _("{file} cannot be written: {reason}").format(file=file, reason=error.strerror)
        raise CommandError("failed", message) from error
