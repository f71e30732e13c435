"""What a note says about its task: a date, a duration, an urgency, a state, a name, things to do and done.

Never guesses: nothing is read without a cue, and a cue that is denied, past or conditional does not count.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import lru_cache

from daemon.agents.models.rules.clauses import (
    Clause,
    ListLine,
    is_asserted_now,
    split_clauses,
    split_note,
    words_after,
    words_before,
    words_in,
)
from daemon.agents.models.rules.due_dates import DueDay, due_dates
from daemon.agents.models.rules.due_roles import role_days
from daemon.agents.models.rules.durations import stated_durations
from daemon.agents.models.rules.duties import duties
from daemon.agents.models.rules.effort_mentions import efforts
from daemon.agents.models.rules.finished_items import (
    ItemPattern,
    finished_item_of_line,
    finished_items,
    is_item_named,
)
from daemon.agents.models.rules.label_mentions import LabelMention, mentioned_labels, removed_labels
from daemon.agents.models.rules.lexicon.cue_table import CueTable
from daemon.agents.models.rules.lexicon.plain_text import (
    alternation,
    phrase_pattern,
    plain_spellings,
    to_plain,
)
from daemon.agents.models.rules.promises import is_promise_of_another
from daemon.agents.models.rules.reopened_items import denial_start, reopened_item_of_line, reopened_items
from daemon.agents.models.rules.status_mentions import ON_HOLD, status_mention
from daemon.agents.models.rules.to_do_items import (
    is_list_member,
    is_to_do_line,
    journal_title,
    listed_member,
    listed_titles,
)
from daemon.agents.models.rules.unread_times import unread_times
from daemon.agents.tools.arguments import TITLE_CHARS_MAX
from daemon.agents.tools.model_interface import LabelView

QUOTE_CHARS_MAX = 160
_QUOTED = re.compile(r"\s*[:=,]?\s*(?:\"([^\"]+)\"|[“„]([^“”\"]+)[“”\"]|'([^']+)'|«\s*([^»]+?)\s*»)")


@dataclass(frozen=True, slots=True)
class QuotedValue:
    """A value from a note, with the words that say it, and the id of the note once that is known.

    `is_exact` is False if the value was only implied.
    """

    value: str
    quote: str
    is_exact: bool = True
    note: str = ""


@dataclass(slots=True)
class NoteFindings:
    """What one note says. Of several dates, durations or names, the last one counts.

    `asked_due` is a due date that may lie behind: the person is asked. `finished_quotes` maps the id of a
    checklist item to the words that say that it is done, `reopened_quotes` that of a ticked item to those
    that say that it is not, `removed_labels` the id of a label to those that take it away. `unread` are the
    words of days and lengths of which nothing was made.
    """

    due: QuotedValue | None = None
    asked_due: QuotedValue | None = None
    minutes: QuotedValue | None = None
    priority: QuotedValue | None = None
    title: QuotedValue | None = None
    status: QuotedValue | None = None
    new_items: list[tuple[str, bool]] = field(default_factory=list)
    finished_quotes: dict[str, str] = field(default_factory=dict)
    reopened_quotes: dict[str, str] = field(default_factory=dict)
    labels: list[LabelMention] = field(default_factory=list)
    removed_labels: dict[str, str] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)

    def merge(self, other: "NoteFindings") -> None:
        """Add what another table reads in the same note. Values that were read already are kept."""
        for name in ("due", "asked_due", "minutes", "priority", "title", "status"):
            if getattr(self, name) is None:
                setattr(self, name, getattr(other, name))
        self.new_items += other.new_items
        self.finished_quotes = {**other.finished_quotes, **self.finished_quotes}
        self.reopened_quotes = {**other.reopened_quotes, **self.reopened_quotes}
        self.labels += other.labels
        self.removed_labels = {**other.removed_labels, **self.removed_labels}


@dataclass(frozen=True, slots=True)
class MentionCandidates:
    """What a note may speak of: items that are open and ticked, the labels that there are, the task's day."""

    items: Sequence[ItemPattern] = ()
    labels: Sequence[LabelView] = ()
    ticked: Sequence[ItemPattern] = ()
    due: date | None = None


NO_CANDIDATES = MentionCandidates()


def read_note(
    text: str, written_at: datetime, cues: CueTable, mention_candidates: MentionCandidates = NO_CANDIDATES
) -> NoteFindings:
    """Read one note; `written_at` is what "tomorrow" counts from."""
    note = split_note(text, cues)
    note_findings = NoteFindings()
    clauses = list(note.clauses)
    for line in note.lines:
        clauses += _read_line(line, written_at, cues, mention_candidates, note_findings)
    in_list = False
    for clause in clauses:
        is_member = in_list and _is_next_member(clause, written_at, cues)
        if is_member:
            note_findings.new_items.append((journal_title(listed_member(clause)), False))
        else:
            _read_clause(clause, written_at, cues, mention_candidates, note_findings)
        in_list = clause.text.endswith(";") and (is_member or bool(listed_titles(clause, cues)))
    note_findings.labels = mentioned_labels(note.clauses, mention_candidates.labels, cues)
    return note_findings


def _is_next_member(clause: Clause, written_at: datetime, cues: CueTable) -> bool:
    """Return whether a clause behind a semicolon goes on with a list, and is neither sentence nor value."""
    if not is_list_member(clause, cues) or listed_titles(clause, cues):
        return False
    return not (due_dates(clause, written_at.date(), cues) or stated_durations(clause, cues))


def _read_line(
    line: ListLine,
    written_at: datetime,
    cues: CueTable,
    mention_candidates: MentionCandidates,
    note_findings: NoteFindings,
) -> list[Clause]:
    """Read a list line as something to do or done; return the clauses of one that is neither."""
    finished_item = finished_item_of_line(line, mention_candidates.items, cues)
    if finished_item is not None:
        note_findings.finished_quotes[finished_item.id] = _quote(line.title)
        return []
    denial = denial_start(to_plain(line.title), cues) if line.box != "x" else None
    if denial is not None:
        reopened = reopened_item_of_line(line.title, mention_candidates.ticked, cues)
        if reopened is not None:
            note_findings.reopened_quotes[reopened.id] = _quote(line.title)
            return []
        # "Torch (not yet)" is a torch that is still to be found.
        line = replace(line, title=line.title[:denial].strip())
    clauses = split_clauses(line.title, cues)
    if is_to_do_line(line, cues) and (line.box or not _begins_with_a_value(clauses, written_at, cues)):
        if line.box or not any(finished_items(clause, mention_candidates.items, cues) for clause in clauses):
            is_there = denial is not None and is_item_named(line.title, mention_candidates.items, cues)
            if not is_there:
                note_findings.new_items.append((journal_title(line.title), line.box == "x"))
            return []
    elif line.box:
        return []
    denied = (cues.negations | cues.past_words).intersection(words_in(to_plain(line.heading)))
    return [] if denied else clauses


def _begins_with_a_value(clauses: Sequence[Clause], written_at: datetime, cues: CueTable) -> bool:
    """Return whether a line is not an item but begins with a value of the task: "- due: Friday"."""
    if not clauses:
        return False
    starts = [due_day.start for due_day in due_dates(clauses[0], written_at.date(), cues)]
    return 0 in (*starts, *(stated_duration.start for stated_duration in stated_durations(clauses[0], cues)))


def _read_clause(
    clause: Clause,
    written_at: datetime,
    cues: CueTable,
    mention_candidates: MentionCandidates,
    note_findings: NoteFindings,
) -> None:
    titles = listed_titles(clause, cues)
    if titles:
        note_findings.new_items.extend((journal_title(title), False) for title in titles)
        return
    found_duties = duties(clause, cues)
    quote = _quote(clause.text)
    if labels := removed_labels(clause, mention_candidates.labels, cues):
        note_findings.removed_labels.update((label.id, quote) for label in labels)
        return
    title = _new_title(clause, cues)
    if title:
        note_findings.title = QuotedValue(title, quote)
        return
    for item in finished_items(clause, mention_candidates.items, cues):
        note_findings.finished_quotes[item.id] = quote
    if reopened := reopened_items(clause, mention_candidates.ticked, cues):
        note_findings.reopened_quotes.update((item.id, quote) for item in reopened)
        return
    mention = status_mention(clause, cues)
    note_findings.priority = _priority(clause, cues, quote) or note_findings.priority
    due_days = _read_times(clause, written_at, cues, mention_candidates, note_findings)
    # A deadline that was put off does not put the task on hold, and what others wait for does not block it.
    if mention and not clause.is_others and not (due_days and mention.status == ON_HOLD):
        note_findings.status = QuotedValue(mention.status, quote)
    # "We have to hand it in by Friday" says when the task is due: it is not a part of the task.
    if due_days and len(found_duties) == 1:
        return
    for duty in found_duties:
        if not is_item_named(duty, mention_candidates.items, cues):
            note_findings.new_items.append((journal_title(duty), False))


def _read_times(
    clause: Clause,
    written_at: datetime,
    cues: CueTable,
    mention_candidates: MentionCandidates,
    note_findings: NoteFindings,
) -> list[DueDay]:
    """Read lengths, and then days in what is left; return the days."""
    if is_promise_of_another(clause, cues):
        return []
    quote = _quote(clause.text)
    for amount in stated_durations(clause, cues) or efforts(clause, cues):
        note_findings.minutes = QuotedValue(str(amount.minutes), quote)
        clause = _blank_out(clause, amount.start, amount.end)
    today = written_at.date()
    due_days = due_dates(clause, today, cues) or role_days(clause, today, cues, mention_candidates.due)
    _set_due(note_findings, due_days, quote)
    note_findings.unread += unread_times(clause, today, {due_day.day for due_day in due_days}, cues)
    return due_days


def _set_due(note_findings: NoteFindings, due_days: Sequence[DueDay], quote: str) -> None:
    for due_day in due_days:
        value = QuotedValue(due_day.day.isoformat(), quote)
        if due_day.may_be_past:
            note_findings.asked_due = value
        else:
            note_findings.due = value


def _quote(text: str) -> str:
    """Return the words of a note as a proposal quotes them, cut if they are many."""
    return text.rstrip(";,") if len(text) <= QUOTE_CHARS_MAX else text[: QUOTE_CHARS_MAX - 1] + "…"


def _blank_out(clause: Clause, start: int, end: int) -> Clause:
    return replace(clause, unquoted=clause.unquoted[:start] + " " * (end - start) + clause.unquoted[end:])


def _new_title(clause: Clause, cues: CueTable) -> str:
    """Read a new name: quoted after any cue, to the end of the clause after the plain ones."""
    for phrases, bare in ((cues.title.rename, True), (cues.title.rename_quoted, False)):
        for match in phrase_pattern(phrases).finditer(clause.unquoted):
            name = _name(clause.text[match.end() :], bare, cues)
            if is_asserted_now(clause, match.start(), cues) and 1 <= len(name) <= TITLE_CHARS_MAX:
                return name
    return ""


def _name(rest: str, bare: bool, cues: CueTable) -> str:
    quoted = _QUOTED.match(rest)
    if quoted:
        return next((group for group in quoted.groups() if group), "").strip()
    polite = _courtesy(cues).search(to_plain(rest))
    return rest[: polite.start() if polite else None].strip(" :=.!,") if bare else ""


@lru_cache(maxsize=16)
def _courtesy(cues: CueTable) -> re.Pattern[str]:
    return re.compile(rf"(?<=\S)[\s,–—-]+(?:{alternation(cues.title.courtesies)})[\s.!]*$")


def _priority(clause: Clause, cues: CueTable, quote: str) -> QuotedValue | None:
    """Read a stated priority, or else an urgency, the highest of several."""
    if clause.is_question:
        return None
    for match in _priority_pattern(cues).finditer(clause.unquoted):
        if is_asserted_now(clause, match.start(), cues):
            return QuotedValue((match["value"] or "p3").upper(), quote)
    cried = [
        match
        for match in phrase_pattern(cues.priority.urgent_phrases).finditer(clause.unquoted)
        if _is_urgent(clause, match, cues)
    ]
    values = _urgencies(cues)
    value = min((values[" ".join(match.group().split())] for match in cried), default=None)
    return None if value is None else QuotedValue(value, quote, is_exact=False)


@lru_cache(maxsize=16)
def _priority_pattern(cues: CueTable) -> re.Pattern[str]:
    joins = r"(?:\s+(?:is|to|of|ist|auf|es|est|e|la))?\s*[:=]?\s*"
    text = rf"(?:{alternation(cues.priority.cues)}){joins}(?P<value>p[0-3])"
    return re.compile(rf"(?<![\w-])(?:{text}|(?:{alternation(cues.priority.low)}))(?!\w)")


@lru_cache(maxsize=16)
def _urgencies(cues: CueTable) -> dict[str, str]:
    return {
        spelled: value
        for value, phrases in cues.priority.urgent.items()
        for phrase in phrases
        for spelled in plain_spellings(phrase)
    }


def _is_urgent(clause: Clause, match: re.Match[str], cues: CueTable) -> bool:
    led = words_before(clause.unquoted, match.start(), cues)
    following = words_after(clause.unquoted, match.end(), cues)
    has_other_sense = not (
        cues.priority.urgent_not_after.isdisjoint(led[-1:])
        and cues.priority.urgent_not_before.isdisjoint(following[:1])
    )
    is_denied = not cues.negations.isdisjoint(following[:2])
    return is_asserted_now(clause, match.start(), cues) and not has_other_sense and not is_denied
