"""Taking a note apart: list lines, clauses of prose, and whether what stands in a clause is meant.

Never decides what a clause is about.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from daemon.agents.models.cues import Cues
from daemon.agents.models.plain import plain

NOTE_CHARS_MAX = 32 * 1024
CLAUSE_CHARS_MAX = 500
LINES_MAX = 2000
CLAUSES_MAX = 2000
FINDS_MAX = 8  # of one cue's kind in one clause: nobody means more, and a hostile note must stay cheap

ACCENTED = "´"

_BULLET = re.compile(r"^\s*(?:[-*•+–‣◦]|\d{1,2}[.)])\s+(?:\[(?P<box>[ xX✓]?)\]\s*)?(?P<title>\S.*?)\s*$")
_BOX = re.compile(r"^\s*(?:\[(?P<box>[ xX✓]?)\]|(?P<open>☐)|(?P<ticked>[☑✅✔]))\s*(?P<title>\S.*?)\s*$")
_STOP = re.compile(r"(?<![.!?;])[.!?;]+(?=\s|$)")
_ORDINAL = re.compile(r"\d{1,2}(?:\.\d{1,2})?$")
_PART = re.compile(r"[,;:()—–✓✔✅☑]|\s-\s")
_WORD = re.compile(r"(?:qu|jusqu|lorsqu|quelqu|[cdjlmnst])'(?=\w)|[^\W_]+(?:['-][^\W_]+)*")
_SAID = re.compile(r"\"[^\"]{1,300}\"|“[^“”]{1,300}”|«[^«»]{1,300}»|„[^„“”\"]{1,300}[“”\"]")


@dataclass(frozen=True, slots=True)
class Clause:
    """A sentence of a note: as it was written, and plain. In `own`, what it quotes is blanked out.

    All three are of one length, so a place in one is the place in the others.
    """

    text: str
    own: str
    bare: str

    @property
    def asks(self) -> bool:
        """Say whether the clause is a question."""
        return self.text.rstrip(" )\"'”»").endswith("?")


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
    clauses: tuple[Clause, ...]


def taken_apart(written: str, cues: Cues) -> Note:
    """Separate list lines from clauses of prose. What stands between fences is code, and left out."""
    lines: list[ListLine] = []
    clauses: list[Clause] = []
    heading, fenced = "", False
    for line in unicodedata.normalize("NFC", written[:NOTE_CHARS_MAX]).splitlines()[:LINES_MAX]:
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif fenced or line.lstrip().startswith(">"):
            continue
        elif found := _BULLET.match(line) or _BOX.match(line):
            lines.append(ListLine(found["title"], _box(found), heading))
        elif line.strip():
            heading = line.strip()
            clauses += clauses_of(heading, cues) if len(clauses) < CLAUSES_MAX else []
    return Note(tuple(lines), tuple(clauses[:CLAUSES_MAX]))


def _box(found: re.Match[str]) -> str:
    """Return "x" for a ticked box, a blank for an open one, and nothing where there is none."""
    groups = found.groupdict()
    if groups.get("ticked"):
        return "x"
    box = groups["box"]
    return " " if groups.get("open") or box == "" else (box or "").lower().replace("✓", "x")


def clauses_of(line: str, cues: Cues) -> list[Clause]:
    """Split a line after stops, those of abbreviations and ordinals aside."""
    bare = plain(line)
    own = _SAID.sub(lambda said: "·" * len(said.group()), bare)
    found, start = [], 0
    for stop in _STOP.finditer(own):
        if stop.group() != "." or not _is_abbreviation(own[start : stop.start()][-12:], cues):
            found.append((start, stop.end()))
            start = stop.end()
    found.append((start, len(line)))
    told = [span for span in found[:CLAUSES_MAX] if _WORD.search(bare, *span)]
    return [_clause(line, own, bare, *_trimmed(line, *span)) for span in told]


def _is_abbreviation(before_stop: str, cues: Cues) -> bool:
    last = before_stop.rsplit(maxsplit=1)[-1:]
    return bool(last) and (
        last[0].lstrip("(") in cues.abbreviations or _ORDINAL.fullmatch(last[0]) is not None
    )


def _trimmed(line: str, start: int, end: int) -> tuple[int, int]:
    start += len(line[start:end]) - len(line[start:end].lstrip())
    return start, min(start + len(line[start:end].rstrip()), start + CLAUSE_CHARS_MAX)


def _clause(line: str, own: str, bare: str, start: int, end: int) -> Clause:
    return Clause(line[start:end], own[start:end], bare[start:end])


def words(text: str) -> list[str]:
    """Return the words of a plain text; French elisions are words of their own."""
    return _WORD.findall(text)


def words_as_written(part: str, text: str) -> list[str]:
    """Return the words of a plain text, marked with an accent where the last letter was written with one."""
    spans = (match.span() for match in _WORD.finditer(part))
    return [part[start:end] + ACCENTED * (part[end - 1] != text[end - 1].lower()) for start, end in spans]


def before(own: str, at: int, cues: Cues) -> list[str]:
    """Return the words of the segment that leads up to a place in a clause."""
    return _last_segment(words(_PART.split(own[:at])[-1]), cues)


def after(own: str, at: int, cues: Cues) -> list[str]:
    """Return the words of the segment that follow a place in a clause."""
    found = words(_PART.split(own[at:], maxsplit=1)[0])
    ends = (place for place, word in enumerate(found) if word in cues.segment_words)
    return found[: next(ends, len(found))]


def _last_segment(found: list[str], cues: Cues) -> list[str]:
    for place in range(len(found) - 1, -1, -1):
        if found[place] in cues.segment_words:
            return found[place + 1 :]
    return found


def segments(clause: Clause, cues: Cues) -> list[tuple[int, int]]:
    """Return where the segments of a clause begin and end."""
    breaks = [match.span() for match in _PART.finditer(clause.own) if match.group() not in "✓✔✅☑"]
    breaks += [match.span() for match in _joins(cues).finditer(clause.own)]
    edges = [0, *(edge for span in sorted(breaks) for edge in span), len(clause.own)]
    return [(edges[at], edges[at + 1]) for at in range(0, len(edges), 2) if edges[at] < edges[at + 1]]


@lru_cache(maxsize=16)
def _joins(cues: Cues) -> re.Pattern[str]:
    joins = "|".join(sorted({*cues.segment_words, *(plain(word) for word in cues.and_words)} - {"&"}))
    return re.compile(rf"(?<=\s)(?:{joins})(?=\s)")


def is_meant(clause: Clause, at: int, cues: Cues) -> bool:
    """Say whether what stands at a place is stated: not denied, not past, not a condition, not asked."""
    return is_stated(clause, at, cues) and not cues.past.intersection(before(clause.own, at, cues))


def is_stated(clause: Clause, at: int, cues: Cues) -> bool:
    """Say whether what stands at a place is neither denied nor a condition nor asked."""
    taken_back = cues.negations | cues.conditions
    return not clause.asks and not taken_back.intersection(before(clause.own, at, cues))
