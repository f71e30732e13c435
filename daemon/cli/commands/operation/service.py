"""Commands on the daemon as a service of this user: install, uninstall, status.

Never touches the journal or the settings, and writes nothing but the one unit file and the model's key.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Final

import click

from daemon.cli.api.client import ApiAnswer
from daemon.cli.api.command_error import CommandError
from daemon.cli.commands.operation import systemd_unit
from daemon.cli.commands.operation.systemd_unit import SOCKET_UNIT_NAME, UNIT_NAME, unit_file
from daemon.cli.framework.declaration import command, group, pass_output
from daemon.cli.terminal.output import key_value_rows
from daemon.paths import UnsafeFolder, find_paths, make_folders
from daemon.words.terminal_text import escape, pad_right
from daemon.words.translation import _, pgettext, pgettext_noop

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from daemon.cli.terminal.display import Display
    from daemon.cli.terminal.output import Output
    from daemon.shapes.answers import SentenceJson

_SYSTEMCTL_S: Final = 60
_KEYS: Final = ("installed", "unit", "enabled", "active", "socket", "pid")
_FACTS: Final = dict(
    zip(
        _KEYS,
        pgettext_noop("unit", "installed", "unit", "enabled", "active", "socket", "process"),
        strict=True,
    )
)


def _systemctl(*words: str) -> tuple[int, str]:
    """Ask this user's systemd; the status is 127 if there is none."""
    import subprocess

    try:
        result = subprocess.run(
            ["systemctl", "--user", "--no-pager", *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SYSTEMCTL_S,
            check=False,
        )
    except FileNotFoundError:
        return 127, ""
    except subprocess.TimeoutExpired:
        return 124, _("systemd did not answer within {seconds} s").format(seconds=_SYSTEMCTL_S)
    return result.returncode, (
        result.stdout if result.returncode == 0 else result.stderr or result.stdout
    ).strip()


def _answers() -> bool:
    return _systemctl("show-environment")[0] == 0


def _require_systemctl(*words: str) -> str:
    """Have systemd do something; if it fails, report the reason in one line."""
    status, output_text = _systemctl(*words)
    if status:
        message = _("systemctl {words} failed: {reason}").format(
            words=" ".join(words), reason=output_text or status
        )
        raise CommandError("failed", " ".join(message.split()), "journalctl --user -u placet")
    return output_text


@command("install")
@click.option("--socket", is_flag=True, help="A command starts the daemon too, and waits for it.")
@pass_output
def install_command(output: Output, *, socket: bool) -> None:
    """Have systemd run the daemon for you, now and after every login.

    With --socket, systemd listens for the daemon while it is away. A socket that is installed stays until
    you uninstall.
    """
    if not _answers():
        raise CommandError(
            "failed",
            _("no systemd of yours answers here"),
            _("let the program that starts your session run `{command}`").format(
                command=f"{systemd_unit.start_command()} up"
            ),
        )
    before = {name: _read_own(name) for name in (UNIT_NAME, SOCKET_UNIT_NAME)}
    texts = {}
    if socket or before[SOCKET_UNIT_NAME] is not None:
        texts[SOCKET_UNIT_NAME] = systemd_unit.socket_unit_text(os.environ)
    try:
        make_folders(find_paths())
    except UnsafeFolder as fault:
        sentence: SentenceJson = {"id": fault.sentence_id, "params": {**fault.params}}
        raise CommandError("forbidden", str(fault), sentence=sentence) from fault
    renewed = systemd_unit.store_key(os.environ)
    texts[UNIT_NAME] = systemd_unit.unit_text(os.environ)
    for folder in systemd_unit.homes_hidden_by_sandbox(os.environ):
        output.write_remark(_("{folder} is in /tmp, which no service sees.").format(folder=folder))
    changed = [name for name, text in texts.items() if text != before[name]]
    was_so = not changed and not renewed and all(map(_stands, texts))
    if not was_so:
        _start(texts, changed, renewed=renewed)
    output.write_answer(ApiAnswer(_facts(), ""), _lines, key_value_rows)
    output.write_remark(
        _("It was so already.") if was_so else _("Installed. It runs while you are logged in.")
    )
    if not was_so:
        output.write_remark(
            _("To keep it running always: {command}").format(command="loginctl enable-linger")
        )
        _tell_left_behind(output)
    if renewed:
        message = _("The model's key is kept in {file}, and handed to the service as a credential.")
        output.write_remark(message.format(file=systemd_unit.key_file(os.environ)))


def _start(texts: Mapping[str, str], changed: Sequence[str], *, renewed: bool) -> None:
    """Write the units that changed, and have systemd run what they say."""
    for name in changed:
        systemd_unit.write_unit(unit_file(name), texts[name])
    if changed:
        _require_systemctl("daemon-reload")
    running = _state("is-active", UNIT_NAME) == "active"
    if SOCKET_UNIT_NAME in texts and (SOCKET_UNIT_NAME in changed or not _stands(SOCKET_UNIT_NAME)):
        # A socket cannot be made for a daemon that runs with another one.
        if running:
            _require_systemctl("stop", UNIT_NAME)
        _require_systemctl("enable", SOCKET_UNIT_NAME)
        _require_systemctl("restart", SOCKET_UNIT_NAME)
        running = False
    _require_systemctl("enable", "--now", UNIT_NAME)
    if running and (UNIT_NAME in changed or renewed):
        _require_systemctl("restart", UNIT_NAME)


def _tell_left_behind(output: Output) -> None:
    """Tell the person which settings of this shell the service does not receive."""
    kept_names = ("PLACET_HOME", "PLACET_MODEL_KEY")
    names = [name for name in sorted(os.environ) if name.startswith("PLACET_") and name not in kept_names]
    if names:
        message = _("The service does not get these variables: {names}; use `placet config set`.")
        output.write_remark(message.format(names=", ".join(names)))


def _read_own(name: str) -> str | None:
    """Return the text of a unit that is installed, None if it is not; refuse one that is not Placet's."""
    file = unit_file(name)
    text = _read(file)
    if text is not None and not text.startswith(systemd_unit.FIRST_LINES[name]):
        raise CommandError(
            "conflict", _("{file} is not Placet's own").format(file=file), _("move it away first")
        )
    return text


def _read(file: str) -> str | None:
    try:
        with open(file, encoding="utf-8") as opened:
            return opened.read()
    except FileNotFoundError:
        return None


def _stands(name: str) -> bool:
    return _state("is-enabled", name) == "enabled" and _state("is-active", name) == "active"


def _state(question: str, name: str) -> str:
    """Ask `is-active` or `is-enabled`, which answer by their status and one word."""
    status, output_text = _systemctl(question, name)
    return "" if status == 127 else output_text.splitlines()[0] if output_text else ""


def _facts() -> dict[str, Any]:
    file = unit_file()
    pid = _systemctl("show", "--property=MainPID", "--value", UNIT_NAME)[1]
    return {
        "installed": os.path.exists(file),
        "unit": file,
        "enabled": _state("is-enabled", UNIT_NAME) == "enabled",
        "active": _state("is-active", UNIT_NAME) == "active",
        "socket": os.path.exists(unit_file(SOCKET_UNIT_NAME))
        and _state("is-active", SOCKET_UNIT_NAME) == "active",
        "pid": int(pid) if pid.isdigit() and pid != "0" else None,
    }


def _lines(fields: dict[str, Any], display: Display) -> Iterator[str]:
    for name, value in fields.items():
        words = (_("yes") if value else _("no")) if isinstance(value, bool) else escape(value or "-")
        yield f"{display.paint(pad_right(pgettext('unit', _FACTS[name]), 12), 'dim')} {words}"


@command("uninstall")
@pass_output
def uninstall_command(output: Output) -> None:
    """Have systemd stop running the daemon; the journal and the settings stay."""
    names = [name for name in (SOCKET_UNIT_NAME, UNIT_NAME) if os.path.exists(unit_file(name))]
    if not names:
        output.write_answer(ApiAnswer(_facts(), ""), _lines, key_value_rows)
        output.write_remark(_("It was so already."))
        return
    reachable = _answers()
    if reachable:
        _require_systemctl("disable", "--now", *names)
    for name in names:
        os.unlink(unit_file(name))
    if reachable:
        _require_systemctl("daemon-reload")
    output.write_answer(ApiAnswer(_facts(), ""), _lines, key_value_rows)
    if systemd_unit.delete_key(os.environ):
        output.write_remark(_("The model's key that was kept for it is removed."))
    output.write_remark(_("The journal stays in {folder}.").format(folder=find_paths().data))


@command("status")
@pass_output
def status_command(output: Output) -> None:
    """Show whether systemd runs the daemon. With --plain: a name and a value per line."""
    output.write_answer(ApiAnswer(_facts(), ""), _lines, key_value_rows)
    if sys.platform != "linux" or not _answers():
        output.write_remark(_("no systemd of yours answers here"))


@group("service")
def service_command() -> None:
    """The daemon as a service: install, uninstall, status."""


for _verb in (install_command, uninstall_command, status_command):
    service_command.add_command(_verb)
