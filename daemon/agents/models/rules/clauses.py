"""A note's parts: list lines and clauses of prose, and whether what a clause mentions is asserted.

Never decides what a clause is about.
"""

import re
import unicodedata
from dataclasses import dataclass, replace
from functools import lru_cache

from daemon.agents.models.rules.lexicon.cue_table import CueTable
from daemon.agents.models.rules.lexicon.plain_text import phrase_pattern, to_plain
from daemon.agents.models.rules.speakers import spoken_lines

NOTE_CHARS_MAX = 32 * 1024
CLAUSE_CHARS_MAX = 500
LINES_MAX = 2000
CLAUSES_MAX = 2000
MATCHES_MAX = 8  # of one cue's kind in one clause: nobody means more, and a hostile note must stay cheap

ACCENT_MARK = "´"

_BULLET = re.compile(r"^\s*(?:[-*•+–‣◦]|\d{1,2}[.)])\s+(?:\[(?P<box>[ xX✓]?)\]\s*)?(?P<title>\S.*?)\s*$")
_BOX = re.compile(r"^\s*(?:\[(?P<box>[ xX✓]?)\]|(?P<open>☐)|(?P<ticked>[☑✅✔]))\s*(?P<title>\S.*?)\s*$")
# Braces, a call that is a whole statement, and comparisons stand in no sentence of a person's.
_CODE = re.compile(r"[{}]\s*$|\)\s*\{|^\s*(?:def|function|SELECT)\s.*[(=*;]|\w\s*(?:===?|!=|=>)\s*\w")
_STOP = re.compile(r"(?<![.!?;])[.!?;]+(?=\s|$)")
_ORDINAL = re.compile(r"\d{1,2}(?:\.\d{1,2})?$")
_ENDS_IN_UNIT = re.compile(r"\d\s?[a-z]{1,3}$")
_MINUTES = re.compile(r"\.\s?\d{1,2}\s?(?:m|mn|mins?)\b")
_PART = re.compile(r"[,;:()—–✓✔✅☑]|\s-\s")
_UP_TO_STOP = re.compile(r"[^;:()—–]*")
_WORD = re.compile(r"(?:qu|jusqu|lorsqu|quelqu|[cdjlmnst])'(?=\w)|[^\W_]+(?:['-][^\W_]+)*")
_SAID = re.compile(r"\"[^\"]{1,300}\"|“[^“”]{1,300}”|«[^«»]{1,300}»|„[^„“”\"]{1,300}[“”\"]")


@dataclass(frozen=True, slots=True)
class Clause:
    """A sentence of a note: `text` as written, `plain_text`, and `unquoted`, with its quotes blanked out.

    All three have the same length, so that a position in one is valid in the others. `is_others` means that
    a transcript names somebody else as its speaker.
    """

    text: str
    unquoted: str
    plain_text: str
    is_others: bool = False

    @property
    def is_question(self) -> bool:
        """Return whether the clause is a question."""
        return self.text.rstrip(" )\"'”»").endswith("?")


@dataclass(frozen=True, slots=True)
class ListLine:
    """A line of a list, with the line of prose that it follows. `box` is empty if the line has none."""

    title: str
    box: str
    heading: str


@dataclass(frozen=True, slots=True)
class SplitNote:
    """The parts of a note."""

    lines: tuple[ListLine, ...]
    clauses: tuple[Clause, ...]


def split_note(text: str, cues: CueTable) -> SplitNote:
    """Separate list lines from clauses of prose. Code between fences, and quoted lines, are left out."""
    lines: list[ListLine] = []
    clauses: list[Clause] = []
    heading, fenced = "", False
    written = unicodedata.normalize("NFC", text[:NOTE_CHARS_MAX]).splitlines()[:LINES_MAX]
    for line, is_others in spoken_lines(written, cues):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif fenced or line.lstrip().startswith(">") or _CODE.search(line):
            continue
        elif match := _BULLET.match(line) or _BOX.match(line):
            lines.append(ListLine(match["title"], _box(match), heading))
        elif line.strip():
            heading = line.strip()
            found_clauses = split_clauses(heading, cues) if len(clauses) < CLAUSES_MAX else []
            clauses += [replace(clause, is_others=is_others) for clause in found_clauses]
    return SplitNote(tuple(lines), tuple(clauses[:CLAUSES_MAX]))


def _box(match: re.Match[str]) -> str:
    """Return "x" for a ticked box, a blank for an open one, and an empty text if there is none."""
    groups = match.groupdict()
    if groups.get("ticked"):
        return "x"
    box = groups["box"]
    return " " if groups.get("open") or box == "" else (box or "").lower().replace("✓", "x")


def split_clauses(line: str, cues: CueTable) -> list[Clause]:
    """Split a line after stops, those of abbreviations and ordinals aside."""
    bare = to_plain(line)
    own = _SAID.sub(lambda match: "·" * len(match.group()), bare)
    spans, start = [], 0
    for stop in _STOP.finditer(own):
        if stop.group() != "." or not (
            _is_abbreviation(own[start : stop.start()][-12:], cues) or _is_in_length(own, stop.start())
        ):
            spans.append((start, stop.end()))
            start = stop.end()
    spans.append((start, len(line)))
    matching_spans = [span for span in spans[:CLAUSES_MAX] if _WORD.search(bare, *span)]
    return [_clause(line, own, bare, *_trim_span(line, *span)) for span in matching_spans]


def _is_abbreviation(before_stop: str, cues: CueTable) -> bool:
    last = before_stop.rsplit(maxsplit=1)[-1:]
    return bool(last) and (
        last[0].lstrip("(") in cues.abbreviations or _ORDINAL.fullmatch(last[0]) is not None
    )


def _is_in_length(own: str, stop: int) -> bool:
    """Return whether a full stop stands within a length, as in "1 h. 30 min.": no unit has its own list."""
    return (
        _ENDS_IN_UNIT.search(own[max(stop - 12, 0) : stop]) is not None
        and _MINUTES.match(own, stop) is not None
    )


def _trim_span(line: str, start: int, end: int) -> tuple[int, int]:
    start += len(line[start:end]) - len(line[start:end].lstrip())
    return start, min(start + len(line[start:end].rstrip()), start + CLAUSE_CHARS_MAX)


def _clause(line: str, own: str, bare: str, start: int, end: int) -> Clause:
    return Clause(line[start:end], own[start:end], bare[start:end])


def words_in(text: str) -> list[str]:
    """Return the words of a plain text; French elisions are words of their own."""
    return _WORD.findall(text)


def words_with_accents(part: str, text: str) -> list[str]:
    """Return the words of a plain text, with ACCENT_MARK behind those whose last letter had an accent."""
    spans = (match.span() for match in _WORD.finditer(part))
    return [part[start:end] + ACCENT_MARK * (part[end - 1] != text[end - 1].lower()) for start, end in spans]


def words_before(own: str, index: int, cues: CueTable) -> list[str]:
    """Return the words of the segment that leads up to a place in a clause."""
    return _last_segment(words_in(_PART.split(own[:index])[-1]), cues)


def words_after(own: str, index: int, cues: CueTable) -> list[str]:
    """Return the words of the segment that follow a place in a clause."""
    texts = words_in(_PART.split(own[index:], maxsplit=1)[0])
    ends = (place for place, word in enumerate(texts) if word in cues.segment_words)
    return texts[: next(ends, len(texts))]


def _last_segment(texts: list[str], cues: CueTable) -> list[str]:
    for place in range(len(texts) - 1, -1, -1):
        if texts[place] in cues.segment_words:
            return texts[place + 1 :]
    return texts


def segment_spans(clause: Clause, cues: CueTable) -> list[tuple[int, int]]:
    """Return where the segments of a clause begin and end."""
    breaks = [match.span() for match in _PART.finditer(clause.unquoted) if match.group() not in "✓✔✅☑"]
    breaks += [match.span() for match in _joins(cues).finditer(clause.unquoted)]
    edges = [0, *(edge for span in sorted(breaks) for edge in span), len(clause.unquoted)]
    return [
        (edges[index], edges[index + 1])
        for index in range(0, len(edges), 2)
        if edges[index] < edges[index + 1]
    ]


@lru_cache(maxsize=16)
def _joins(cues: CueTable) -> re.Pattern[str]:
    and_words = {to_plain(word) for word in cues.to_do.and_words}
    joins = "|".join(sorted((cues.segment_words | and_words) - {"&"}))
    return re.compile(rf"(?<=\s)(?:{joins})(?=\s)")


def is_asserted_now(clause: Clause, index: int, cues: CueTable) -> bool:
    """Return whether the words at a position are asserted: not denied, past, conditional or asked."""
    return is_asserted(clause, index, cues) and not cues.past_words.intersection(
        words_before(clause.unquoted, index, cues)
    )


def is_asserted(clause: Clause, index: int, cues: CueTable) -> bool:
    """Return whether the words at a position are neither denied nor conditional nor asked."""
    taken_back = (cues.negations | cues.conditions).intersection(words_before(clause.unquoted, index, cues))
    begins = _opening_pattern(cues).match(clause.unquoted)
    return not (clause.is_question or taken_back or (begins and _leads_condition(clause, begins.end(), cues)))


def is_unconditional(clause: Clause, index: int, cues: CueTable) -> bool:
    """Return whether no condition follows a place in a sentence: "by Friday, if Mia joins"."""
    behind = _UP_TO_STOP.match(clause.unquoted, index)
    lead = phrase_pattern(cues.condition_leads).search(clause.unquoted, *behind.span()) if behind else None
    return lead is None or not _leads_condition(clause, lead.start(), cues)


def _leads_condition(clause: Clause, index: int, cues: CueTable) -> bool:
    """Return whether a condition begins at a place, and no courtesy such as "if possible"."""
    lead = phrase_pattern(cues.condition_leads).match(clause.unquoted, index)
    return lead is not None and phrase_pattern(cues.no_conditions).match(clause.unquoted, index) is None


@lru_cache(maxsize=16)
def _opening_pattern(cues: CueTable) -> re.Pattern[str]:
    return re.compile(rf"\W*(?:(?:{'|'.join(sorted(cues.segment_words))})\s+)?")
