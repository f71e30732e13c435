"""Writing in the person's own editor.

Never loses what was written: the file is taken away only once the daemon has the text, and its place is told
wherever something goes wrong.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from daemon.cli.refusals import Refusal
from daemon.cli.stdin import decoded
from daemon.cli.text import shown
from daemon.cli.words import _
from daemon.paths import find_paths

if TYPE_CHECKING:
    from collections.abc import Iterator

_FOLDER_MODE: Final = 0o700
_FILE_MODE: Final = 0o600
_FALLBACKS: Final = ("editor", "nano", "vi")


@contextmanager
def written(start: str, name: str = "note", ending: str = ".md") -> Iterator[str]:
    """Let a person write, beginning with `start`; its text is forgotten only once the block ends well."""
    path = _draft(start, name, ending)
    try:
        yield _edited(path, start)
    except KeyboardInterrupt:
        if _is_worth_keeping(path, start):
            print(f"placet: {shown(_kept(path))}", file=sys.stderr)
        else:
            os.unlink(path)
        raise
    except Refusal as refusal:
        if _is_worth_keeping(path, start):
            kept = _kept(path)
            hint = f"{refusal.hint}; {kept}" if refusal.hint else kept
            raise Refusal(refusal.code, refusal.message, hint, refusal.candidates) from refusal
        os.unlink(path)
        raise
    os.unlink(path)


def _kept(path: str) -> str:
    return _("your text is kept in {path}").format(path=path)


def _draft(start: str, name: str, ending: str) -> str:
    """Make a file of this user's own that is in nobody's way."""
    folder = os.path.join(find_paths().data, "drafts")
    # What lies above may have to be made too, and is as private.
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


def _edited(path: str, start: str) -> str:
    status = _run([*_editor(), path])
    text = _read(path)
    if status:
        ended = _("the editor ended with status {status}").format(status=status)
        raise Refusal("failed", ended, _("nothing was saved"))
    # Editors end the last line; a text that did not end with one is not changed by that.
    return text.removesuffix("\n") if not start.endswith("\n") else text


def _read(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return decoded(file.read(), path)
    except OSError as error:
        seen = _("{file} cannot be read: {reason}").format(file=path, reason=error.strerror)
        raise Refusal("failed", seen) from error


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
    # An editor that nobody chose needs somebody who sees it.
    watched = sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
    found = next((name for name in _FALLBACKS if watched and which(name)), None)
    if found is None:
        raise Refusal("usage", _("no editor is known"), _("set EDITOR, or give the text as an argument"))
    return [found]


def _run(command: list[str]) -> int:
    """Run the editor on this terminal; an interrupt is the editor's own."""
    import signal
    import subprocess

    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        # The command is the person's own, from their environment. An ignored signal would be inherited.
        return subprocess.call(command, preexec_fn=_heed_interrupts)
    except OSError as error:
        seen = _("the editor {name!r} cannot be run: {reason}").format(name=command[0], reason=error.strerror)
        raise Refusal("failed", seen, _("set EDITOR")) from error
    finally:
        signal.signal(signal.SIGINT, before)


def _heed_interrupts() -> None:
    import signal

    signal.signal(signal.SIGINT, signal.SIG_DFL)
