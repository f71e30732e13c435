"""The words by which a day is a deadline, a length an effort, or an item open again, without a word for it.

No rule is decided here. In a template "§" stands for a day, "¤" for a length of time, "…" for up to six
words without a sign between, "~" for up to twelve across commas, "*" for one, "(a|b)" for one of several
phrases, "^" for the beginning of its clause and "$" for its end.
"""

from msgspec import Struct

from daemon.agents.models.rules.lexicon.word_lists import Phrases, WordSet


class DayRoles(Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """What makes a day a deadline, or takes that from it.

    A clause with one day, a phrase of `must` and then one of `states` says that a thing has to be so by that
    day. With one of `moves` it does so only if the clause has one of `determiners` and none of `people`.
    What has to be `being` is a thing; beside one of `copulas`, all but `no_states` and words of grammar do as
    one of `states` if the clause fits as for `moves`.
    `templates` say it by themselves, unless the clause has a word of `not_with`, or one of `writer` before
    them; no word between may be one of `not_between` or have one of `not_between_endings`. `final` do so
    whatever is said beside them.
    A negation takes the first of two days back if one of `but` or `no_more` is between them. The second then
    counts, if the clause has one of `evidence`, or the task is due on the first. `replies` lead a day in that
    replaces the task's. Behind one of `sign_up` and of `lasts`, a day is the last on which one can.
    """

    must: Phrases
    states: Phrases
    moves: Phrases
    determiners: WordSet
    people: WordSet
    templates: Phrases
    final: Phrases
    not_with: WordSet
    writer: WordSet
    being: WordSet
    copulas: WordSet
    no_states: WordSet
    not_between: WordSet
    but: WordSet
    no_more: Phrases
    evidence: WordSet
    replies: Phrases
    sign_up: WordSet
    lasts: WordSet
    not_between_endings: Phrases = ()


class PromiseCues(Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """What says that somebody else does a thing, behind a name or a word for a person.

    `acts` are verbs, `future_endings` endings of others in a future. A verb of `wishes` does so if an
    infinitive ends its clause, and no such word is one of `not_acts`. `third_persons` are pronouns.
    """

    acts: Phrases
    future_endings: Phrases
    wishes: WordSet
    not_acts: WordSet
    third_persons: WordSet


class EffortCues(Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """What says how long a task takes without a word for effort.

    `templates` count unless the clause has a word of `not_with`. `rest` count only for less than a day:
    "three days left" is the time until something.
    """

    templates: Phrases
    rest: Phrases
    not_with: WordSet


class StandstillCues(Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """Idioms of waiting (`stuck`), of putting off, and of having begun, the last as templates of openings."""

    stuck: Phrases
    put_off: Phrases
    begun: Phrases


class ReopenedCues(Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """What says that a ticked item is not done.

    `commands` ask for it at the beginning of a clause. `again` beside a duty says that it is to do anew. An
    item with a negation and a word for done, or its verb, is not done unless the clause has one of
    `not_with`. Behind an item's name, `denials` say the same.
    """

    commands: Phrases
    again: Phrases
    denials: Phrases
    not_with: WordSet


class ListHeads(Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """What makes of a line with a colon or a dash a list of things to do, if all its members are acts.

    A head has a word of `own` (of tasks, or of the time left) and none of `others`; it begins with one of
    them, of `leads` or of grammar. Behind an item,
    `possession` says that it is there already; after `already` any of `settled` does. `dropped` at its
    end, and where no duty is said so at its beginning, means that nobody has to do it any more.
    """

    own: WordSet
    leads: WordSet
    others: WordSet
    possession: Phrases
    settled: WordSet
    dropped: WordSet


class RoleCues(Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """The roles of what a note names."""

    day: DayRoles
    promised: PromiseCues
    effort: EffortCues
    standstill: StandstillCues
    reopened: ReopenedCues
    heads: ListHeads
