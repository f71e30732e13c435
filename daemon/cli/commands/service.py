"""The daemon as a service of this user: install, uninstall, status.

Never touches the journal or the settings, and writes nothing but the one unit file and the model's key.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Final

from daemon.cli import unit
from daemon.cli.client import Answer
from daemon.cli.grammar import command, group, pass_output
from daemon.cli.refusals import Refusal
from daemon.cli.text import padded, shown
from daemon.cli.unit import NAME, unit_file
from daemon.cli.views.standing import named_rows
from daemon.cli.words import _, named, said_of
from daemon.paths import UnsafeFolder, find_paths, make_folders

if TYPE_CHECKING:
    from collections.abc import Iterator

    from daemon.cli.look import Look
    from daemon.cli.output import Output

_SYSTEMCTL_S: Final = 60
_KEYS: Final = ("installed", "unit", "enabled", "active", "pid")
_FACTS: Final = dict(
    zip(_KEYS, named("unit", "installed", "unit", "enabled", "active", "process"), strict=True)
)


def _systemctl(*words: str) -> tuple[int, str]:
    """Ask this user's systemd; status 127 where there is none."""
    import subprocess

    try:
        done = subprocess.run(
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
    return done.returncode, (done.stdout if done.returncode == 0 else done.stderr or done.stdout).strip()


def _answers() -> bool:
    return _systemctl("show-environment")[0] == 0


def _done(*words: str) -> str:
    """Have systemd do something, or say in one line why it did not."""
    status, said = _systemctl(*words)
    if status:
        seen = _("systemctl {words} failed: {reason}").format(words=" ".join(words), reason=said or status)
        raise Refusal("failed", " ".join(seen.split()), "journalctl --user -u placet")
    return said


@command("install")
@pass_output
def install_command(output: Output) -> None:
    """Have systemd run the daemon for you, now and after every login."""
    if not _answers():
        raise Refusal(
            "failed",
            _("no systemd of yours answers here"),
            _("have whatever starts your programs run `{command}`").format(command=f"{unit.command()} up"),
        )
    file = unit_file()
    before = _read(file)
    if before is not None and not before.startswith(unit.FIRST_LINE):
        raise Refusal("conflict", _("{file} is not Placet's own").format(file=file), _("move it away first"))
    try:
        make_folders(find_paths())
    except UnsafeFolder as fault:
        raise Refusal("forbidden", str(fault)) from fault
    renewed = unit.take_key(os.environ)
    text = unit.unit_text(os.environ)
    for folder in unit.out_of_sight(os.environ):
        output.say(_("{folder} is in /tmp, which no service sees.").format(folder=folder))
    stands = _state("is-enabled") == "enabled" and _state("is-active") == "active"
    was_so = before == text and stands and not renewed
    if not was_so:
        _start(file, text, before, renewed=renewed)
    output.show(Answer(_facts(), ""), _lines, named_rows)
    output.say(_("It was so already.") if was_so else _("Installed. It runs while you are logged in."))
    if not was_so:
        output.say(_("To have it run always: {command}").format(command="loginctl enable-linger"))
        _tell_left_behind(output)
    if renewed:
        kept = _("The model's key is kept in {file}, and handed to the service as a credential.")
        output.say(kept.format(file=unit.key_file(os.environ)))


def _start(file: str, text: str, before: str | None, *, renewed: bool) -> None:
    if text != before:
        unit.write(file, text)
        _done("daemon-reload")
    running = _state("is-active") == "active"
    _done("enable", "--now", NAME)
    if running and (text != before or renewed):
        _done("restart", NAME)


def _tell_left_behind(output: Output) -> None:
    """Settings of this shell are not the service's."""
    kept = ("PLACET_HOME", "PLACET_MODEL_KEY")
    names = [name for name in sorted(os.environ) if name.startswith("PLACET_") and name not in kept]
    if names:
        told = _("Not taken along from here: {names}; use `placet config set`.")
        output.say(told.format(names=", ".join(names)))


def _read(file: str) -> str | None:
    try:
        with open(file, encoding="utf-8") as opened:
            return opened.read()
    except FileNotFoundError:
        return None


def _state(question: str) -> str:
    """Ask `is-active` or `is-enabled`, which say no with their status, and a word."""
    status, said = _systemctl(question, NAME)
    return "" if status == 127 else said.splitlines()[0] if said else ""


def _facts() -> dict[str, Any]:
    file = unit_file()
    pid = _systemctl("show", "--property=MainPID", "--value", NAME)[1]
    return {
        "installed": os.path.exists(file),
        "unit": file,
        "enabled": _state("is-enabled") == "enabled",
        "active": _state("is-active") == "active",
        "pid": int(pid) if pid.isdigit() and pid != "0" else None,
    }


def _lines(told: dict[str, Any], look: Look) -> Iterator[str]:
    for name, value in told.items():
        words = (_("yes") if value else _("no")) if isinstance(value, bool) else shown(value or "-")
        yield f"{look.paint(padded(said_of('unit', _FACTS[name]), 12), 'dim')} {words}"


@command("uninstall")
@pass_output
def uninstall_command(output: Output) -> None:
    """Have systemd stop running the daemon; the journal and the settings stay."""
    file = unit_file()
    if not os.path.exists(file):
        output.show(Answer(_facts(), ""), _lines, named_rows)
        output.say(_("It was so already."))
        return
    reachable = _answers()
    if reachable:
        _done("disable", "--now", NAME)
    os.unlink(file)
    if reachable:
        _done("daemon-reload")
    output.show(Answer(_facts(), ""), _lines, named_rows)
    if unit.drop_key(os.environ):
        output.say(_("The model's key that was kept for it is removed."))
    output.say(_("The journal stays in {folder}.").format(folder=find_paths().data))


@command("status")
@pass_output
def status_command(output: Output) -> None:
    """Show whether systemd runs the daemon. With --plain: a name and a value a line."""
    output.show(Answer(_facts(), ""), _lines, named_rows)
    if sys.platform != "linux" or not _answers():
        output.say(_("no systemd of yours answers here"))


@group("service")
def service_command() -> None:
    """The daemon as a service: install, uninstall, status."""


for _verb in (install_command, uninstall_command, status_command):
    service_command.add_command(_verb)
