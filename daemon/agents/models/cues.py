"""The words by which the `rules` model knows that a note says something about its task, one table a language.

Data alone: no rule is decided here, and another language is another table.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Cues:
    """One language's words, all lower case. A phrase matches whole words, whatever blanks lie between.

    `guards` are words before a cue, in its own segment, that take it back: negation, past, condition.
    """

    language: str
    date_order: str
    abbreviations: frozenset[str]
    segment_words: frozenset[str]
    negations: frozenset[str]
    past: frozenset[str]
    conditions: frozenset[str]

    due: tuple[str, ...]
    due_not_after: Mapping[str, frozenset[str]]
    due_fillers: frozenset[str]
    today: Mapping[str, int]
    end_of_month: tuple[str, ...]
    end_of_year: tuple[str, ...]
    end_of: tuple[str, ...]
    weekdays: frozenset[str]
    weekdays_short: frozenset[str]
    weekday_not_before: frozenset[str]
    months: Mapping[str, int]
    date_joins: frozenset[str]
    ahead: str
    ahead_units: frozenset[str]

    takes: tuple[str, ...]
    about: tuple[str, ...]
    take_fillers: frozenset[str]
    duration_not_after: frozenset[str]
    duration_not_before: tuple[str, ...]
    numbers: Mapping[str, int]
    a: frozenset[str]
    half: tuple[str, ...]
    couple: tuple[str, ...]
    and_a_half: str
    units: Mapping[str, int]

    to_do: tuple[str, ...]
    and_words: tuple[str, ...]
    done_first_words: frozenset[str]

    urgent: Mapping[str, str]
    urgent_not_before: frozenset[str]
    urgent_not_after: frozenset[str]

    rename: tuple[str, ...]
    rename_quoted: tuple[str, ...]


def _words(written: str) -> frozenset[str]:
    return frozenset(written.split())


def _phrases(written: str) -> tuple[str, ...]:
    return tuple(phrase.strip() for phrase in written.split("|"))


def _numbered(written: str) -> dict[str, int]:
    return {word: number for number, word in enumerate(written.split(), 1)}


_MONTHS = _numbered("january february march april may june july august september october november december")

ENGLISH = Cues(
    language="en",
    date_order="DMY",
    abbreviations=_words(
        "approx est ca e.g i.e min mins hr hrs no vs mr mrs jan feb apr jun jul aug sep sept oct nov dec"
    ),
    segment_words=_words("but and however so because though"),
    negations=_words(
        "not no never none without isnt isn't dont don't doesnt doesn't wont won't cant can't cannot"
        " shouldnt shouldn't wasnt wasn't aint ain't neither nor hardly non"
    ),
    past=_words("was were had did took spent lasted ended yesterday ago already worked used been"),
    conditions=_words("if whether unless maybe perhaps might could would've"),
    due=_phrases(
        "due date is | due date | due on | due by | due | deadline is | deadline | no later than"
        " | not later than | by | until | till | before"
    ),
    due_not_after={
        "until": _words(
            "away out off closed hold wait waiting blocked vacation holiday leave sick busy paused"
        ),
        "till": _words(
            "away out off closed hold wait waiting blocked vacation holiday leave sick busy paused"
        ),
        "before": _words("day days week weeks night evening month hours minutes met seen"),
        "by": _words("standing stand close"),
    },
    due_fillers=_words("is on by the at this coming of for latest no later than"),
    today={"today": 0, "tonight": 0, "eod": 0, "tomorrow": 1},
    end_of_month=_phrases(
        "end of the month | end of month | end of this month | eom | month end | month's end"
    ),
    end_of_year=_phrases("end of the year | end of year | end of this year | eoy | year end | year's end"),
    end_of=_phrases("end of | the end of"),
    weekdays=_words("monday tuesday wednesday thursday friday saturday sunday"),
    weekdays_short=_words("mon tue tues wed thu thur thurs fri sat sun"),
    weekday_not_before=_words("next after in week"),
    months={**_MONTHS, **{name[:3]: number for name, number in _MONTHS.items()}, "sept": 9},
    date_joins=_words("of the"),
    ahead="in",
    ahead_units=_words("day days week weeks month months"),
    takes=_phrases(
        "takes | will take | should take | would take | going to take | can take | to take | needs"
        " | will need | should need | estimate is | estimated at | estimated | estimate | est | effort"
    ),
    about=_phrases("about | around | roughly | approximately | approx | circa | ca | up to | at most"),
    take_fillers=_words("me us you about around roughly approximately approx some up to at most only is of"),
    duration_not_after=_words(
        "in for after within every since over last past next another during wait waited costs"
    ),
    duration_not_before=_phrases(
        "ago | late | later | away | from | drive | walk | flight | old | before | after | per | each | daily"
        " | weekly | a day | a week | a month | every | into | behind | ahead | early | earlier | notice"
    ),
    numbers={
        **_numbered("one two three four five six seven eight nine ten eleven twelve"),
        "fifteen": 15,
        "twenty": 20,
        "thirty": 30,
        "forty": 40,
        "forty-five": 45,
        "sixty": 60,
        "ninety": 90,
    },
    a=_words("a an"),
    half=_phrases("half an | half a | half"),
    couple=_phrases("a couple of | couple of | a couple"),
    and_a_half="and a half",
    units={
        **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 1),
        **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 60),
        **dict.fromkeys(("day", "days", "workday", "workdays"), 480),
    },
    to_do=_phrases(
        "todo | to do | to-do | todos | need to | needs to | have to | must | remember to | next steps"
        " | next step | steps | tasks | action items | still to do | remaining | still missing"
    ),
    and_words=_phrases("and | &"),
    done_first_words=_words("done finished took spent completed was were did"),
    urgent={
        **dict.fromkeys(("drop everything", "emergency", "critical"), "P0"),
        **dict.fromkeys(
            _phrases("urgent | urgently | asap | as soon as possible | high priority | top priority"), "P1"
        ),
    },
    urgent_not_before=_words(
        "path paths section sections mass thinking review reviews acclaim care role room"
    ),
    urgent_not_after=_words("less self more most"),
    rename=_phrases(
        "rename it to | rename this to | rename the task to | rename this task to | rename to | retitle to"
        " | retitle it to | let's call it | let's call this | call this task | call the task"
    ),
    rename_quoted=_phrases("call it | call this | title should be | new title | better title | title"),
)

TABLES: Mapping[str, Cues] = {ENGLISH.language: ENGLISH}
FALLBACK = ENGLISH
