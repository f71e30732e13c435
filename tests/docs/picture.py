"""The moving picture of the README: a terminal in which the real demonstration runs.

`make picture` plays `python -m daemon.demo` in a pseudo terminal and draws what it printed. Never draws a
line that the demonstration did not print; only the pace is for reading.
"""

import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from html import escape, unescape
from itertools import accumulate
from pathlib import Path
from typing import Final

from tests.support.source_tree import ROOT

FILE: Final = ROOT / "docs" / "pictures" / "demo.svg"
EXCERPTS: Final = (("4 · ", "undone:"), ("7 · ", "sign-up form  set by"), ("8 · ", "equal$"))
"""What is shown: from the line that begins so to the next one that matches."""

COLUMNS, ROWS = 108, 28
_WIDTH, _HEIGHT, _MARGIN = 8.0, 18, 16
_COMMAND_S, _SCENE_S, _LINE_S, _READING_S, _END_S = 0.9, 1.2, 0.05, 0.16, 4.0

_SGR = re.compile(r"\x1b\[([0-9;]*)m")
_CLASS = {"1": "title", "2": "dim", "32": "good", "36": "prompt"}
_STYLE = """\
:root{color-scheme:light dark}
.back{fill:#fbfaf7;stroke:#d8d4ca}.line{fill:#26241f}.title{font-weight:bold}.dim{fill:#77726a}
.good{fill:#1a7f37}.prompt{fill:#0550ae}
@media(prefers-color-scheme:dark){.back{fill:#16181d;stroke:#343841}.line{fill:#e4e2dc}.dim{fill:#969aa3}
.good{fill:#57c26f}.prompt{fill:#79b8ff}}
text{font:13.3px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}
"""


def recorded() -> list[str]:
    """Play the demonstration on a terminal and return its lines, with the codes of their styles."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "COLUMNS": str(COLUMNS)}
    environment.pop("NO_COLOR", None)
    played = subprocess.Popen(
        [sys.executable, "-m", "daemon.demo"],
        cwd=ROOT,
        env=environment,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    pieces = []
    try:
        while piece := os.read(ours, 1 << 16):
            pieces.append(piece)
    except OSError:  # the terminal has no other side any more
        pass
    finally:
        os.close(ours)
    if played.wait() != 0:
        raise SystemExit(b"".join(pieces).decode())
    return b"".join(pieces).decode().replace("\r\n", "\n").splitlines()


def plain(line: str) -> str:
    """Return a line without its styles."""
    return _SGR.sub("", line).rstrip()


def excerpt(lines: list[str]) -> list[str]:
    """Return the scenes that are shown. A line of `--json` is left out: the story reads it, not a person."""
    texts = []
    for start, end in EXCERPTS:
        first = next(index for index, line in enumerate(lines) if plain(line).startswith(start))
        last = next(index for index in range(first, len(lines)) if re.search(end, plain(lines[index])))
        texts += [line for line in lines[first : last + 1] if "--json" not in plain(line)] + [""]
    return texts[:-1]


def drawn(lines: list[str]) -> str:
    """Return the picture of these lines."""
    width, height = COLUMNS * _WIDTH + 2 * _MARGIN, ROWS * _HEIGHT + 2 * _MARGIN
    rows = "\n".join(_row(line, index) for index, line in enumerate(lines))
    screen = f'<rect x="0" y="{_MARGIN}" width="{width:g}" height="{ROWS * _HEIGHT}"/>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" role="img">\n'
        "<title>Two devices: an agent proposes, a person decides on either, and both end up alike</title>\n"
        f"<style>\n{_STYLE}{_motion(lines)}</style>\n"
        f'<clipPath id="screen">{screen}</clipPath>\n'
        f'<rect class="back" x=".5" y=".5" width="{width - 1:g}" height="{height - 1}" rx="10"/>\n'
        f'<g clip-path="url(#screen)"><g class="roll">\n{rows}\n</g></g>\n</svg>\n'
    )


def _row(line: str, index: int) -> str:
    pieces, style = [], ""
    for no, piece in enumerate(_SGR.split(line)):
        if no % 2:
            style = _CLASS.get(piece, "")
        elif piece:
            pieces.append(f'<tspan class="{style}">{escape(piece)}</tspan>' if style else escape(piece))
    return (
        f'<text class="line" x="{_MARGIN}" y="{_MARGIN + (index + 1) * _HEIGHT - 5}">{"".join(pieces)}</text>'
    )


def _motion(lines: list[str]) -> str:
    """Roll the lines up from below, one after the other; who wants no motion sees the end."""
    times = list(accumulate(_pauses_s(lines)))
    whole_s = times[-1] + _END_S
    steps = []
    for index, time_s in enumerate(times):
        if index + 1 < len(times) and times[index + 1] - time_s <= _LINE_S:
            continue  # what comes at once is one step
        steps.append(
            f"{time_s / whole_s * 100:.2f}%{{transform:translateY({(ROWS - 1 - index) * _HEIGHT}px)}}"
        )
    end = (ROWS - len(lines)) * _HEIGHT
    return (
        f".roll{{animation:roll {whole_s:.1f}s step-end infinite;transform:translateY({end}px)}}\n"
        f"@keyframes roll{{0%{{transform:translateY({ROWS * _HEIGHT}px)}}\n" + "\n".join(steps) + "}\n"
        "@media(prefers-reduced-motion:reduce){.roll{animation:none}}\n"
    )


def _pauses_s(lines: list[str]) -> Iterator[float]:
    """Yield the pause before each line: time to read what came before, then an answer at once."""
    unread = 0
    for line in lines:
        is_scene = re.match(r"\d · ", plain(line)) is not None
        if is_scene or "$ placet" in line:
            yield (_SCENE_S if is_scene else _COMMAND_S) + unread * _READING_S
            unread = 0
        else:
            yield _LINE_S
            unread += 1


def lines_of(picture: str) -> Iterator[str]:
    """Yield the lines of a picture, as the terminal showed them."""
    for row in re.findall(r'<text class="line"[^>]*>(.*)</text>', picture):
        yield unescape(re.sub(r"</?tspan[^>]*>", "", row)).rstrip()


def main() -> int:
    """Record the demonstration and write the picture."""
    Path(FILE).parent.mkdir(parents=True, exist_ok=True)
    Path(FILE).write_text(drawn(excerpt(recorded())), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
