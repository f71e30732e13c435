"""What a note says about its task: a date, a duration, an urgency, a state, a name, things to do and done.

Never guesses: without a cue nothing is read, and a cue that is denied, past or conditional counts not.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache

from daemon.agents.models.cues import Cues
from daemon.agents.models.dates import dues
from daemon.agents.models.durations import durations
from daemon.agents.models.finished import Sought, finished, finished_line
from daemon.agents.models.interface import LabelView
from daemon.agents.models.label_names import Named, named
from daemon.agents.models.plain import alternatives, phrases, plain
from daemon.agents.models.segments import (
    Clause,
    ListLine,
    after,
    before,
    clauses_of,
    is_meant,
    taken_apart,
    words,
)
from daemon.agents.models.states import state
from daemon.agents.models.todos import is_to_do, listed, shortened
from daemon.agents.tools import TITLE_CHARS_MAX

QUOTE_CHARS_MAX = 160
_QUOTED = re.compile(r"\s*[:=,]?\s*(?:\"([^\"]+)\"|[“„]([^“”\"]+)[“”\"]|'([^']+)'|«\s*([^»]+?)\s*»)")


@dataclass(frozen=True, slots=True)
class Said:
    """Something that a note says, with the words that say it. `is_exact` tells a value from an impression."""

    value: str
    quote: str
    is_exact: bool = True


@dataclass(slots=True)
class Findings:
    """What one note says; of several dates (durations, names) the last one said.

    `ticked` maps the id of a checklist item to the words that say that it is done.
    """

    due: Said | None = None
    minutes: Said | None = None
    priority: Said | None = None
    title: Said | None = None
    status: Said | None = None
    items: list[tuple[str, bool]] = field(default_factory=list)
    ticked: dict[str, str] = field(default_factory=dict)
    labels: list[Named] = field(default_factory=list)

    def add(self, other: "Findings") -> None:
        """Add what another table reads in the same note; what has been read stands."""
        for name in ("due", "minutes", "priority", "title", "status"):
            if getattr(self, name) is None:
                setattr(self, name, getattr(other, name))
        self.items += other.items
        self.ticked = {**other.ticked, **self.ticked}
        self.labels += other.labels


@dataclass(frozen=True, slots=True)
class Known:
    """What a note may speak of: the items that are open, the labels that there are."""

    items: Sequence[Sought] = ()
    labels: Sequence[LabelView] = ()


NOTHING = Known()


def read_note(written: str, written_at: datetime, cues: Cues, known: Known = NOTHING) -> Findings:
    """Read one note; `written_at` is what "tomorrow" counts from."""
    note = taken_apart(written, cues)
    found = Findings()
    told = list(note.clauses)
    for line in note.lines:
        told += _read_line(line, written_at, cues, known, found)
    for clause in told:
        _read_clause(clause, written_at, cues, known, found)
    found.labels = named(note.clauses, known.labels, cues)
    return found


def _read_line(
    line: ListLine, written_at: datetime, cues: Cues, known: Known, found: Findings
) -> list[Clause]:
    """Read a list line as something to do or done; return the clauses of one that is neither."""
    done = finished_line(line, known.items, cues)
    if done is not None:
        found.ticked[done.id] = _quoted(line.title)
        return []
    clauses = clauses_of(line.title, cues)
    if is_to_do(line, cues) and (line.box or not _begins_with_a_value(clauses, written_at, cues)):
        if line.box or not any(finished(clause, known.items, cues) for clause in clauses):
            found.items.append((shortened(line.title), line.box == "x"))
            return []
    elif line.box:
        return []
    denied = (cues.negations | cues.past).intersection(words(plain(line.heading)))
    return [] if denied else clauses


def _begins_with_a_value(clauses: Sequence[Clause], written_at: datetime, cues: Cues) -> bool:
    """Say whether a line is no thing to do but says something of the task: "- due: Friday"."""
    if not clauses:
        return False
    starts = [at for _, at in dues(clauses[0], written_at.date(), cues)]
    return 0 in (*starts, *(one.start for one in durations(clauses[0], cues)))


def _read_clause(clause: Clause, written_at: datetime, cues: Cues, known: Known, found: Findings) -> None:
    titles = listed(clause, cues)
    if titles:
        found.items.extend((shortened(title), False) for title in titles)
        return
    quote = _quoted(clause.text)
    title = _new_title(clause, cues)
    if title:
        found.title = Said(title, quote)
        return
    for item in finished(clause, known.items, cues):
        found.ticked[item.id] = quote
    if told := state(clause, cues):
        found.status = Said(told.status, quote)
    found.priority = _priority(clause, cues, quote) or found.priority
    for amount in durations(clause, cues):
        found.minutes = Said(str(amount.minutes), quote)
        clause = _without(clause, amount.start, amount.end)
    for day, _ in dues(clause, written_at.date(), cues):
        found.due = Said(day.isoformat(), quote)


def _quoted(text: str) -> str:
    """Return the words of a note as they are quoted, cut where they are many."""
    return text.rstrip(";,") if len(text) <= QUOTE_CHARS_MAX else text[: QUOTE_CHARS_MAX - 1] + "…"


def _without(clause: Clause, start: int, end: int) -> Clause:
    return replace(clause, own=clause.own[:start] + " " * (end - start) + clause.own[end:])


def _new_title(clause: Clause, cues: Cues) -> str:
    """Read a new name: quoted after any cue, to the end of the clause after the plain ones."""
    for cue, bare in ((phrases(cues.rename), True), (phrases(cues.rename_quoted), False)):
        for match in cue.finditer(clause.own):
            name = _name(clause.text[match.end() :], bare)
            if is_meant(clause, match.start(), cues) and 1 <= len(name) <= TITLE_CHARS_MAX:
                return name
    return ""


def _name(rest: str, bare: bool) -> str:
    quoted = _QUOTED.match(rest)
    if quoted:
        return next((group for group in quoted.groups() if group), "").strip()
    return rest.strip(" :=.!") if bare else ""


def _priority(clause: Clause, cues: Cues, quote: str) -> Said | None:
    """Read a stated priority, or else an urgency, the highest of several."""
    if clause.asks:
        return None
    for match in _stated_priority(cues).finditer(clause.own):
        if is_meant(clause, match.start(), cues):
            return Said((match["value"] or "p3").upper(), quote)
    cried = [
        match for match in phrases(tuple(cues.urgent)).finditer(clause.own) if _is_urgent(clause, match, cues)
    ]
    values = _urgencies(cues)
    value = min((values[" ".join(match.group().split())] for match in cried), default=None)
    return None if value is None else Said(value, quote, is_exact=False)


@lru_cache(maxsize=16)
def _stated_priority(cues: Cues) -> re.Pattern[str]:
    joins = r"(?:\s+(?:is|to|of|ist|auf|es|est|e|la))?\s*[:=]?\s*"
    said = rf"(?:{alternatives(cues.priority)}){joins}(?P<value>p[0-3])"
    return re.compile(rf"(?<![\w-])(?:{said}|(?:{alternatives(cues.low_priority)}))(?!\w)")


@lru_cache(maxsize=16)
def _urgencies(cues: Cues) -> dict[str, str]:
    return {
        spelled: value
        for phrase, value in cues.urgent.items()
        for spelled in (plain(phrase), plain(phrase.replace("ö", "oe").replace("ä", "ae").replace("ü", "ue")))
    }


def _is_urgent(clause: Clause, match: re.Match[str], cues: Cues) -> bool:
    led, following = before(clause.own, match.start(), cues)[-1:], after(clause.own, match.end(), cues)
    other_sense = cues.urgent_not_after.intersection(led) or cues.urgent_not_before.intersection(
        following[:1]
    )
    denied = cues.negations.intersection(following[:2])
    return is_meant(clause, match.start(), cues) and not other_sense and not denied
