"""The words by which the embedded model knows that a note says something: what a language's file has.

No rule is decided here. A file that does not fit these types is a bug and raises.
"""

import string
from typing import Any, Final, Literal

from msgspec import Struct

from daemon.agents.models.rules.lexicon.plain_text import plain_spellings
from daemon.agents.models.rules.lexicon.role_cues import RoleCues
from daemon.agents.models.rules.lexicon.word_lists import Phrases, WordSet

_PLACEHOLDERS: Final = {
    "rationale": {"quote"},
    "listed": set[str](),
    "label": {"name"},
    "evidence": {"day", "quote"},
    "items": {"done", "total"},
    "due": {"due"},
    "ask_due": {"quote"},
    "due_ahead": {"due"},
    "due_over": set[str](),
    "about": {"minutes"},
    "rejected": {"what"},
    "blocked": {"why"},
    "unsure": {"times"},
}


class VerbTable(dict[str, WordSet]):
    """What verbs become when they are done, each by its spellings in a plain text."""

    __slots__ = ()


class Ending(Struct, frozen=True, forbid_unknown_fields=True):
    """How a verb with this ending ends when it is done."""

    verb: str
    done: Phrases


class VerbForms(Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """How a language says that something was done, from the verb by which a checklist item names it.

    `is_last` means that the verb ends the title. `forms` lists what a verb becomes if `endings` do not tell;
    of those, the first one that fits counts. `contact` are verbs that somebody may also have done to the
    writer, and `of_others` are the auxiliaries that say so. `imperatives` and `imperative_endings` know a
    verb that asks for something to be done. `not_imperative` is a regular expression of what only looks so.
    """

    is_last: bool
    forms: VerbTable
    auxiliaries: WordSet
    of_others: WordSet
    contact: WordSet
    imperatives: WordSet
    imperative_endings: Phrases
    endings: tuple[Ending, ...] = ()
    not_imperative: str = r"(?!)"


class DeadlineCues(Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """What says that a task is due.

    `cues` stand before the day and `suffixes` behind it; `fillers` may stand between a cue and its day.
    `until` is a deadline with a word of `until_with` in its clause. If `until_stands`, it is one too
    without a word of `until_not_with`; the name of a place to stay is such a word. A cue behind
    `not_after`, a day before `day_not_before`, and a day without year that may be an amount beside
    `amounts`, are none. A clause with a phrase of `moved` is due on the day behind `moved_to`, if one of
    `moved_things` is what was moved. `within` leads a span in, which is read as if `ahead_prefix` stood
    before it. `day_leads` make a bare number a day, as a cue does that ends with one of `articles`, and
    `day_parts` may be joined with a weekday. If `short_weekdays_stand`, an abbreviation may be a day by
    itself.
    """

    cues: Phrases
    suffixes: Phrases
    day_leads: Phrases
    articles: WordSet
    day_parts: WordSet
    until: Phrases
    until_stands: bool
    until_with: WordSet
    until_not_with: WordSet
    not_after: WordSet
    amounts: WordSet
    moved: Phrases
    moved_to: Phrases
    moved_things: WordSet
    fillers: WordSet
    within: Phrases
    ahead_prefix: str
    short_weekdays_stand: bool
    day_not_before: WordSet


class DurationUnits(Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """Words for units, beside those of `daemon.dates`."""

    minute: Phrases = ()
    hour: Phrases = ()
    day: Phrases = ()


class DurationCues(Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """What says how long a task takes.

    `cues` and `about` stand before the amount, with `fillers` between. Before `about`, only words of
    `about_after` may stand. `not_with`, `not_after` and `not_before` tell other amounts of time.
    `range_words` join the ends of a range. `amounts` (in minutes) and `units` add to the words of
    `daemon.dates`; `units_not_read` are those of its units that count for nothing in a note.
    """

    cues: Phrases
    about: Phrases
    about_after: WordSet
    fillers: Phrases
    not_with: WordSet
    not_after: WordSet
    not_before: Phrases
    range_words: Phrases
    amounts: dict[str, int]
    units: DurationUnits = DurationUnits()
    units_not_read: WordSet = WordSet()


class ToDoCues(Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """What leads a list of things to do in, and what stands between the last two of them.

    Steps under a heading with a phrase of `reproduction` show a fault; nobody has to do them.
    """

    cues: Phrases
    and_words: Phrases
    reproduction: Phrases


class DutyForm(Struct, frozen=True, forbid_unknown_fields=True):
    """One way in which prose says that somebody has to do something.

    `subjects` may be demanded before `cues`, with adverbs between. `is_shared` means that a "we" has to do
    it, which counts whoever says it. `opens_clause` means that the cue counts only at the beginning of a
    clause. The verb of the act has one of `endings`, if there are any, and none of `not_endings`. `repeats`
    lead a further act in.
    """

    cues: Phrases
    subjects: Phrases = ()
    is_shared: bool = False
    opens_clause: bool = False
    endings: Phrases = ()
    not_endings: Phrases = ()
    repeats: Phrases = ()


class DutyCues(Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """What says in prose that the writer has something to do.

    `verbs` begin an act, beside those of `VerbForms`. `adverbs` may stand beside a cue, `openers` before
    one that opens a clause, and `clitics` before the verb. A cue behind `not_after` is none, and `idle`
    verbs are no act. `stops` begin another thought, and `pronouns` another sentence behind a comma. `tails`
    may follow a verb that otherwise ends its clause. What follows `opinions` of others is advice.
    One of `asked` goes on with an act if a word of `asking` is before it: "ask Ola if she comes".
    """

    opinions: WordSet
    asking: WordSet
    asked: WordSet

    forms: tuple[DutyForm, ...]
    verbs: WordSet
    adverbs: Phrases
    openers: WordSet
    clitics: WordSet
    not_after: WordSet
    idle: WordSet
    stops: WordSet
    pronouns: WordSet
    tails: WordSet


class SpeechCues(Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """How transcripts name the writer (`me`), and what leads a line without being a name.

    What somebody else says with one of `promises` or of `speaker`, and none of `wants`, they will do
    themselves.
    """

    me: WordSet
    speaker: WordSet
    not_names: WordSet
    promises: Phrases
    wants: WordSet


class DoneCues(Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """What says that something is done, and the words with which it is not done yet.

    A list line is done if it ends with one of `cues` or `behind_items` behind a sign, with one of `bare`, or
    with one of `already` and a word.
    """

    behind_items: Phrases
    already: WordSet
    bare: WordSet
    cues: Phrases
    unfinished: WordSet


class StatusCues(Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """What says that a task waits, rests, goes on or has begun.

    `blocked` is no such cue beside `blocked_not_before`, or with a word of `blocked_not_with` behind it.
    """

    blocked: Phrases
    blocked_not_before: WordSet
    blocked_not_with: WordSet
    on_hold: Phrases
    resumed: Phrases
    started: Phrases


class PriorityCues(Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """What says how urgent a task is.

    `cues` lead a stated priority in, `low` states the lowest one. `urgent` lists phrases by the priority that
    they suggest, unless they stand before `urgent_not_before` or after `urgent_not_after`.
    """

    cues: Phrases
    low: Phrases
    urgent: dict[Literal["P0", "P1"], Phrases]
    urgent_not_before: WordSet
    urgent_not_after: WordSet

    @property
    def urgent_phrases(self) -> Phrases:
        """Return all phrases of `urgent`."""
        return tuple(phrase for phrases in self.urgent.values() for phrase in phrases)


class TitleCues(Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """What gives a task a new name: the rest of the clause, or only a name in quotes.

    `courtesies` at the end belong to no name.
    """

    courtesies: Phrases

    rename: Phrases
    rename_quoted: Phrases


class LabelCues(Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """What marks a name as that of a label, and what takes such a label away."""

    cues: Phrases
    removals: Phrases


class ModelWording(Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """What the model itself says. `statuses` name those of a task, `tool_nouns` what each tool is about."""

    rationale: str
    listed: str
    label: str
    evidence: str
    items: str
    due: str
    ask_due: str
    due_ahead: str
    due_over: str
    about: str
    rejected: str
    blocked: str
    unsure: str
    statuses: dict[str, str]
    tool_nouns: dict[str, str]

    def __post_init__(self) -> None:
        """Refuse a template that would fail when it is filled in, or would leave something out."""
        for name, expected in _PLACEHOLDERS.items():
            parts = string.Formatter().parse(getattr(self, name))
            if {field for _, field, _, _ in parts if field} != expected:
                raise ValueError(f"wrong placeholders in the wording {name}")


class CueTable(Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """One language's words.

    `function_words` and `letters` tell the language. `segment_words` part a clause. `negations`, `past_words`
    and `conditions` take a cue back that they stand before, in its own segment. `condition_leads` make all of
    their sentence a condition's if they begin it, and what stands before them; `no_conditions` only look so.
    """

    language: str
    function_words: WordSet
    letters: str
    abbreviations: WordSet
    segment_words: WordSet
    negations: WordSet
    past_words: WordSet
    conditions: WordSet
    condition_leads: Phrases
    no_conditions: Phrases
    deadline: DeadlineCues
    duration: DurationCues
    to_do: ToDoCues
    duty: DutyCues
    speech: SpeechCues
    done: DoneCues
    status: StatusCues
    priority: PriorityCues
    title: TitleCues
    label: LabelCues
    verbs: VerbForms
    role: RoleCues
    wording: ModelWording


def decode_words(kind: type, document: Any) -> WordSet | VerbTable:
    """Turn lists of a file into the types of this module. Raises TypeError if they are no lists of words."""
    if kind is WordSet:
        return WordSet.from_words(_require_words(document))
    if kind is VerbTable and isinstance(document, dict):
        return VerbTable(
            (spelled, WordSet.from_words(_require_words(forms)))
            for verb, forms in document.items()
            for spelled in plain_spellings(verb)
        )
    raise TypeError(f"{kind} is not read from a file of words")


def _require_words(words: Any) -> list[str]:
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise TypeError("words are a list of texts")
    names: set[str] = set()
    for word in words:
        spelled = plain_spellings(word)
        if spelled <= names:
            raise ValueError(f"the word {word!r} is listed twice")
        names |= spelled
    return words
