"""The words by which the `rules` model knows that a note says something: what a table of a language holds.

Data alone: no rule is decided here. Tables are written as people spell; umlauts also match as two letters,
and accents also match without them.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from daemon.agents.models.plain import spellings

Phrases = tuple[str, ...]
Words = frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class Verbs:
    """How a language says that something was done, from the verb by which a checklist item names it.

    `last` says that the verb ends the title. `forms` lists what a verb becomes where rules do not tell;
    `endings` are the pairs (ending of the verb, endings of what is done). `contact` are verbs that
    somebody may also have done to the writer, which `of_others` then say. `acts` and
    `act_endings` know a verb that asks for something to be done, `no_acts` is a pattern of what only
    looks so.
    """

    last: bool
    forms: Mapping[str, Words]
    endings: tuple[tuple[str, Phrases], ...]
    auxiliaries: Words
    of_others: Words
    contact: Words
    acts: Words
    act_endings: Phrases = ()
    no_acts: str = r"(?!)"


@dataclass(frozen=True, slots=True)
class Wording:
    """What the model itself says, in one language."""

    says: str
    listed: str
    names: str
    evidence: str
    items: str
    due: str
    about: str
    rejected: str
    blocked: str
    nouns: Mapping[str, str]
    """What each tool is about."""


@dataclass(frozen=True, slots=True, eq=False)
class Cues:
    """One language's words.

    `negations`, `past` and `conditions` take a cue back that they stand before, in its own segment. A phrase
    matches whole words, whatever blanks lie between; "…" in it stands for up to two words.
    """

    language: str
    known_by: Words
    signs: str
    abbreviations: Words
    segment_words: Words
    negations: Words
    past: Words
    conditions: Words

    due: Phrases
    latest: Phrases
    day_leads: Phrases
    day_parts: Words
    until: Phrases
    until_not_with: Words
    due_not_after: Words
    due_fillers: Words
    within: Phrases
    ahead: str
    short_weekdays: Words
    short_weekdays_stand: bool
    day_not_before: Words

    takes: Phrases
    about: Phrases
    about_after: Words
    take_fillers: Phrases
    duration_not_with: Words
    duration_not_after: Words
    duration_not_before: Phrases
    numbers: Mapping[str, float]
    amounts: Mapping[str, int]
    to: Phrases
    and_a_half: Phrases
    minutes: Phrases
    hours: Phrases
    days: Phrases

    to_do: Phrases
    and_words: Phrases
    finished: Phrases
    unfinished: Words
    verbs: Verbs

    blocked: Phrases
    blocked_not_before: Words
    blocked_not_with: Words
    on_hold: Phrases
    resumed: Phrases
    started: Phrases

    urgent: Mapping[str, str]
    urgent_not_before: Words
    urgent_not_after: Words
    priority: Phrases
    low_priority: Phrases

    rename: Phrases
    rename_quoted: Phrases
    label: Phrases
    wording: Wording


def words(written: str) -> Words:
    """Read a table's words, with every way in which each may be spelled."""
    return frozenset().union(*map(spellings, written.split()))


def phrased(written: str) -> Phrases:
    """Read a table's phrases, which bars keep apart."""
    return tuple(phrase.strip() for phrase in written.split("|"))


def valued(**written: str) -> dict[str, str]:
    """Read phrases that stand for a value: `P1="urgent | asap"`."""
    return {phrase: value for value, listed in written.items() for phrase in phrased(listed)}


def counted(written: Mapping[int, str]) -> dict[str, int]:
    """Read phrases that stand for a number."""
    return {phrase: number for number, listed in written.items() for phrase in phrased(listed)}


def forms(written: str) -> dict[str, Words]:
    """Read what verbs become: "buy: bought | write: wrote written"."""
    pairs = (one.split(":") for one in phrased(written))
    return {name: words(made) for verb, made in pairs for name in words(verb)}


_NAMED_TOOLS = (
    "set_task_title",
    "update_task_estimate",
    "update_task_due_date",
    "update_task_priority",
    "set_task_status",
    "assign_task_label",
    "add_checklist_item",
)


def nouns(written: str) -> Mapping[str, str]:
    """Read what each tool is about from one line, in the order of the tools, `|` between."""
    named = dict(zip(_NAMED_TOOLS, written.split(" | "), strict=True))
    return named | {"update_checklist_item": named["add_checklist_item"]}
