"""Taking a note apart: clauses, list lines, and whether a cue is meant or taken back.

Never decides what a clause is about.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from daemon.agents.models.cues import Cues

NOTE_CHARS_MAX = 16 * 1024
CLAUSE_CHARS_MAX = 500
_BULLET = re.compile(r"^\s*(?:[-*•+]|\d{1,2}[.)])\s+(?:\[(?P<box>[ xX])\]\s*)?(?P<title>\S.*?)\s*$")
_STOP = re.compile(r"[.!?;]+(?=\s|$)")
_PART = re.compile(r"[,;:()—–]|\s-\s")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class ListLine:
    """A line of a list, under the line of prose that it follows. `box` is empty where it has none."""

    title: str
    box: str
    heading: str


@dataclass(frozen=True, slots=True)
class Note:
    """A note taken apart."""

    lines: tuple[ListLine, ...]
    clauses: tuple[str, ...]


def taken_apart(written: str, cues: Cues) -> Note:
    """Separate list lines from clauses of prose. What stands between fences is code, and left out."""
    lines: list[ListLine] = []
    clauses: list[str] = []
    heading, fenced = "", False
    for line in written[:NOTE_CHARS_MAX].replace("’", "'").splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif fenced or line.lstrip().startswith(">"):
            continue
        elif found := _BULLET.match(line):
            lines.append(ListLine(found["title"], found["box"] or "", heading))
        elif line.strip():
            heading = line.strip()
            clauses.extend(_clauses(heading, cues))
    return Note(tuple(lines), tuple(clauses))


def _clauses(line: str, cues: Cues) -> list[str]:
    """Split a line after stops, those of abbreviations aside."""
    found, start = [], 0
    for stop in _STOP.finditer(line):
        word = line[start : stop.start()].rsplit(maxsplit=1)
        if stop.group() == "." and word and word[-1].lower().lstrip("(") in cues.abbreviations:
            continue
        found.append(line[start : stop.end()])
        start = stop.end()
    found.append(line[start:])
    return [clause.strip()[:CLAUSE_CHARS_MAX] for clause in found if clause.strip()]


def words(written: str) -> list[str]:
    """Return the words of a text, lower case."""
    return _WORD.findall(written.lower())


def is_question(clause: str) -> bool:
    """Say whether a clause asks."""
    return clause.endswith("?")


def before(clause: str, at: int, cues: Cues) -> list[str]:
    """Return the words of the segment that leads up to a place in a clause."""
    parts = _PART.split(clause[:at])
    found = words(parts[-1])
    for place in range(len(found) - 1, -1, -1):
        if found[place] in cues.segment_words:
            return found[place + 1 :]
    return found


def is_meant(clause: str, at: int, cues: Cues) -> bool:
    """Say whether what stands at a place is stated: not denied, not past, not a condition, not asked."""
    taken_back = cues.negations | cues.past | cues.conditions
    return not is_question(clause) and not taken_back.intersection(before(clause, at, cues))


@lru_cache(maxsize=256)
def phrases(written: tuple[str, ...]) -> re.Pattern[str]:
    """Compile phrases to one pattern, the longest first, on word boundaries."""
    ordered = sorted(written, key=len, reverse=True)
    return re.compile(rf"(?<![\w'-])(?:{'|'.join(map(_spaced, ordered))})(?![\w'])", re.IGNORECASE)


def alternatives(written: Iterable[str]) -> str:
    """Return a pattern for any of these phrases, the longest first."""
    return "|".join(_spaced(one) for one in sorted(written, key=len, reverse=True))


def _spaced(phrase: str) -> str:
    return r"\s+".join(re.escape(word) for word in phrase.split())
