"""What a note says about its task: a date, a duration, an urgency, a name, things to do.

Never guesses: without a cue nothing is read, and a cue that is denied, past or conditional counts not.
"""

import re
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache

from daemon.agents.models.cues import Cues
from daemon.agents.models.dates import dues
from daemon.agents.models.durations import durations
from daemon.agents.models.segments import (
    ListLine,
    alternatives,
    before,
    is_meant,
    is_question,
    phrases,
    taken_apart,
    words,
)
from daemon.agents.tools import TITLE_CHARS_MAX

QUOTE_CHARS_MAX = 160
_QUOTED = re.compile(r"\s*[:=,]?\s*(?:\"([^\"]+)\"|“([^”]+)”|'([^']+)'|«([^»]+)»)")
_STATED_PRIORITY = re.compile(
    r"(?<![\w-])(?:priority|prio)(?:\s+(?:is|to|of))?\s*[:=]?\s*(P[0-3])(?!\w)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Said:
    """Something that a note says, with the words that say it."""

    value: str
    quote: str


@dataclass(slots=True)
class Findings:
    """What one note says; of several dates (durations, names) the last one said."""

    due: Said | None = None
    minutes: Said | None = None
    priority: Said | None = None
    title: Said | None = None
    items: list[tuple[str, bool]] = field(default_factory=list)


def read_note(written: str, written_at: datetime, cues: Cues) -> Findings:
    """Read one note; `written_at` is what "tomorrow" counts from."""
    note = taken_apart(written, cues)
    found = Findings()
    for line in note.lines:
        if _is_to_do(line, cues):
            found.items.append((_shortened(line.title), line.box in ("x", "X")))
    for clause in note.clauses:
        listed = _listed(clause, cues)
        if listed:
            found.items.extend((title, False) for title in listed)
        else:
            _read_clause(clause, written_at, cues, found)
    return found


def _read_clause(clause: str, written_at: datetime, cues: Cues, found: Findings) -> None:
    quote = clause.rstrip(";,") if len(clause) <= QUOTE_CHARS_MAX else clause[: QUOTE_CHARS_MAX - 1] + "…"
    title = _new_title(clause, cues)
    if title:
        found.title = Said(title, quote)
        return
    amounts = durations(clause, cues)
    for amount in amounts:
        found.minutes = Said(str(amount.minutes), quote)
        clause = clause[: amount.start] + " " * (amount.end - amount.start) + clause[amount.end :]
    for due in dues(clause, written_at, cues):
        found.due = Said(due.day.isoformat(), quote)
    priority = _priority(clause, cues)
    if priority:
        found.priority = Said(priority, quote)


def _shortened(title: str) -> str:
    return title[:TITLE_CHARS_MAX].strip()


def _is_to_do(line: ListLine, cues: Cues) -> bool:
    """Say whether a list line is something to do: not done by its words, nor denied by its heading."""
    first = words(line.title)[:1]
    headed = words(line.heading) if line.heading.endswith(":") else []
    denied = (cues.negations | cues.past).intersection(headed)
    told_done = not line.box and bool(cues.done_first_words.intersection(first))
    return bool(first) and not told_done and not denied


@lru_cache(maxsize=16)
def _listing(cues: Cues) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Compile the lead of a list in a line, and what stands between its members."""
    lead = rf"(?:[^:]*?(?<![\w'-]))?(?:{alternatives(cues.to_do)})\s*:\s*(?P<rest>\S.*)$"
    also = alternatives(cues.and_words)
    between = rf"\s*[,;]\s*(?:(?:{also})\s+)?|\s+(?:{also})\s+"
    return re.compile(lead, re.IGNORECASE), re.compile(between, re.IGNORECASE)


def _listed(clause: str, cues: Cues) -> list[str]:
    """Read "todo: a" and "need to: a, b and c"."""
    leading, between = _listing(cues)
    lead = leading.match(clause)
    if lead is None or _denied(clause[: lead.start("rest")], cues) or is_question(clause):
        return []
    members = between.split(lead["rest"].rstrip(" .!"))
    return [_shortened(member) for member in members if words(member)]


def _denied(lead: str, cues: Cues) -> bool:
    return bool((cues.negations | cues.past).intersection(words(lead)))


def _new_title(clause: str, cues: Cues) -> str:
    """Read a new name: quoted after any cue, to the end of the clause after the plain ones."""
    for cue, bare in ((phrases(cues.rename), True), (phrases(cues.rename_quoted), False)):
        for match in cue.finditer(clause):
            name = _name(clause[match.end() :], bare)
            if is_meant(clause, match.start(), cues) and 1 <= len(name) <= TITLE_CHARS_MAX:
                return name
    return ""


def _name(rest: str, bare: bool) -> str:
    quoted = _QUOTED.match(rest)
    if quoted:
        return next((group for group in quoted.groups() if group), "").strip()
    return rest.strip(" :=.!") if bare else ""


def _priority(clause: str, cues: Cues) -> str:
    """Read a stated priority or an urgency; the highest of several."""
    stated = [match for match in _STATED_PRIORITY.finditer(clause) if is_meant(clause, match.start(), cues)]
    cried = [
        match for match in phrases(tuple(cues.urgent)).finditer(clause) if _is_urgent(clause, match, cues)
    ]
    found = [match[1].upper() for match in stated]
    found += [cues.urgent[" ".join(match.group().lower().split())] for match in cried]
    return min(found, default="")


def _is_urgent(clause: str, match: re.Match[str], cues: Cues) -> bool:
    led, after = before(clause, match.start(), cues)[-1:], words(clause[match.end() :])[:1]
    other_sense = cues.urgent_not_after.intersection(led) or cues.urgent_not_before.intersection(after)
    return is_meant(clause, match.start(), cues) and not other_sense
