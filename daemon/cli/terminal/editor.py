"""Lets a person write a text in their own editor.

Never loses what was written: the file is deleted only after the daemon has the text. If something goes wrong,
the person is shown the path of the file.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from daemon.cli.api.command_error import CommandError
from daemon.cli.terminal.standard_input import decode_utf8
from daemon.paths import find_paths
from daemon.words.terminal_text import escape
from daemon.words.translation import _

if TYPE_CHECKING:
    from collections.abc import Iterator

_FOLDER_MODE: Final = 0o700
_FILE_MODE: Final = 0o600
_FALLBACKS: Final = ("editor", "nano", "vi")


@contextmanager
def edit_text(start: str, name: str = "note", ending: str = ".md") -> Iterator[str]:
    """Let a person edit `start` and yield the text. If the block fails, a draft worth keeping stays."""
    path = _draft(start, name, ending)
    try:
        yield _run_editor(path, start)
    except KeyboardInterrupt:
        if _is_worth_keeping(path, start):
            print(f"placet: {escape(kept_text_words(path))}", file=sys.stderr)
        else:
            os.unlink(path)
        raise
    except CommandError as refusal:
        if _is_worth_keeping(path, start):
            raise refusal.with_kept_text(path) from refusal
        os.unlink(path)
        raise
    os.unlink(path)


def kept_text_words(path: str) -> str:
    """Return the sentence that names the file in which a text is kept."""
    return _("your text is kept in {path}").format(path=path)


def _draft(start: str, name: str, ending: str) -> str:
    """Create a new file that only this user can read, and return its path."""
    folder = os.path.join(find_paths().data, "drafts")
    # The folders above may have to be created too, and are as private.
    mask = os.umask(0o777 & ~_FOLDER_MODE)
    try:
        os.makedirs(folder, _FOLDER_MODE, exist_ok=True)
    finally:
        os.umask(mask)
    path = os.path.join(folder, f"{name}-{os.urandom(4).hex()}{ending}")  # noqa: TID251 - any name would do
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _FILE_MODE)
    with open(descriptor, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        file.write(start)
    return path


def _run_editor(path: str, start: str) -> str:
    status = _run([*_editor(), path])
    text = _read_text(path)
    if status:
        ended = _("the editor ended with status {status}").format(status=status)
        raise CommandError("failed", ended, _("nothing was saved"))
    # Editors add a line end to the last line: if `start` had none, that is no change by the person.
    return text.removesuffix("\n") if not start.endswith("\n") else text


def _read_text(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return decode_utf8(file.read(), path)
    except OSError as error:
        message = _("{file} cannot be read: {reason}").format(file=path, reason=error.strerror)
        raise CommandError("failed", message) from error


def _is_worth_keeping(path: str, start: str) -> bool:
    try:
        with open(path, "rb") as file:
            text = file.read().strip()
    except OSError:
        return False
    return bool(text) and text != start.encode("utf-8", "surrogateescape").strip()


def _editor() -> list[str]:
    import shlex
    from shutil import which

    for name in ("VISUAL", "EDITOR"):
        if wanted := os.environ.get(name, "").strip():
            return shlex.split(wanted)
    # An editor that the person did not choose starts only on a terminal, so that they can see it.
    watched = sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
    fallback = next((name for name in _FALLBACKS if watched and which(name)), None)
    if fallback is None:
        raise CommandError("usage", _("no editor is set"), _("set EDITOR, or give the text as an argument"))
    return [fallback]


def _run(command: list[str]) -> int:
    """Run the editor on this terminal and return its status; Ctrl-C goes only to the editor."""
    import signal
    import subprocess

    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        # The command comes from the person's own environment. The editor would inherit an ignored signal.
        return subprocess.call(command, preexec_fn=_heed_interrupts)
    except OSError as error:
        message = _("the editor {name!r} cannot be run: {reason}").format(
            name=command[0], reason=error.strerror
        )
        raise CommandError("failed", message, _("set EDITOR")) from error
    finally:
        signal.signal(signal.SIGINT, before)


def _heed_interrupts() -> None:
    import signal

    signal.signal(signal.SIGINT, signal.SIG_DFL)
