"""A line of a todo.txt file, taken apart and put together by the format's rules.

Never decides what a mark means to the journal.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from daemon.formats.core.plan import title_line
from daemon.task_fields import TASK_FIELDS, FieldType
from store.sentence import Sentence, sentence

_DONE = re.compile(r"x\s+")
_PRIORITY = re.compile(r"\(([A-Z])\)\s+")
_DATE = re.compile(r"(\d{4}-\d{2}-\d{2})(?:\s+|$)", re.ASCII)
# Neither a link (http://…), nor a path (C:\…), nor a time of day (10:30): a key begins with a letter.
_PAIR = re.compile(r"(?!(?:mailto|tel|sms|geo|urn|doi|magnet):)([^\W\d_][\w.-]*):(?!//|\\)(\S+)")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_BLANKS = re.compile(r"(\s+)")
_TEXT_SIGN = "\u2060"
"""Before a word that would be a mark, and is text: a word joiner, which nobody sees."""

ID_KEY = "placet"
"""The key by which an exported file names the task that a line was exported from."""

_ID = re.compile(r"[0-9a-f]{32}")
START_KEY = "t"
_KEYS = {"language": "lang", "start": START_KEY}
"""What the format's programs call fields; the others keep our word."""
SPELLED = {_KEYS.get(field.name, field.exported_as): field for field in TASK_FIELDS if field.exported_as}
"""The fields that an export writes as pairs of our own, by the key."""
UNITS: dict[FieldType, str] = {"minutes": "min"}
"""What stands behind a value in such a pair."""
KNOWN_KEYS = frozenset({"due", "pri", "status", "reason", *SPELLED})
"""Keys that have a place in the journal, so that they never stay in a title."""


_A_DATE = sentence("todotxt-a-date", "a date")
DUE_MARK = sentence("todotxt-due", "due")


class MalformedLine(Exception):
    """A line with an impossible value; the words report what was seen."""

    def __init__(self, words: Sentence) -> None:
        self.words = words
        super().__init__(words.text)


@dataclass(frozen=True, slots=True)
class TodoLine:
    """One task: `title` without the marks at its end, and all marks, also those that stay in the title."""

    title: str
    is_done: bool = False
    priority: str | None = None
    done_on: date | None = None
    made_on: date | None = None
    projects: tuple[str, ...] = ()
    contexts: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()


def read_line(text: str) -> TodoLine:
    """Parse a line. Raises MalformedLine if a date does not exist or there is no text."""
    head = _Head()
    rest = text.strip()
    # What a line begins with is a mark only if it is the first thing on the line.
    if not text[:1].isspace():
        rest = head.take(rest)
    title, marks = split_title_and_pairs(rest)
    if not title:
        raise MalformedLine(sentence("todotxt-no-text", "there is no text beside the marks"))
    words = rest.split()
    return TodoLine(
        title=title,
        is_done=head.is_done,
        priority=head.letter,
        done_on=head.dates[0] if head.is_done and head.dates else None,
        made_on=head.dates[-1] if len(head.dates) > head.is_done else None,
        projects=names_with_sign(words, "+"),
        contexts=names_with_sign(words, "@"),
        pairs=marks,
    )


class _Head:
    """What a line has before its text; `dates`: when it was done, if it is, then when it was made."""

    def __init__(self) -> None:
        self.is_done = False
        self.letter: str | None = None
        self.dates: list[date] = []

    def take(self, text: str) -> str:
        """Read the marks, and return the text behind them."""
        if match := _DONE.match(text):
            self.is_done, text = True, text[match.end() :]
        while True:
            if self._may_have_letter and (match := _PRIORITY.match(text)):
                self.letter = match[1]
            # Only a finished task has two dates.
            elif len(self.dates) <= self.is_done and (match := _DATE.match(text)):
                self.dates.append(parse_date(match[1], _A_DATE))
            else:
                return text
            text = text[match.end() :]

    @property
    def _may_have_letter(self) -> bool:
        # Programs that leave a finished task its letter write it before or behind the day of its end.
        return self.letter is None and len(self.dates) <= self.is_done


def parse_date(text: str, noun: Sentence) -> date:
    """Read a date that exists. `what` names it in a fault."""
    if not _DAY.fullmatch(text):
        raise MalformedLine(
            sentence(
                "todotxt-not-a-date",
                "{what} is {seen!r}, not a date like 2026-12-01",
                what=noun,
                seen=text[:40],
            )
        )
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise MalformedLine(
            sentence(
                "todotxt-no-such-day",
                "{what} is {seen!r}, a day that does not exist",
                what=noun,
                seen=text,
            )
        ) from None


def split_title_and_pairs(text: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the title, its runs of blanks as they are, and the pairs that are no part of it.

    Marks at the end are no part of the title; within a sentence they are its words. If there are only
    marks, they are the title.
    """
    words = [(before, word, split_pair(word)) for before, word in words_with_blanks(text)]
    of_title = [triple for triple in words if triple[2] is None or not _is_known(*triple[2])]
    known_pairs = [pair for _, _, pair in words if pair and _is_known(*pair)]
    end = len(of_title)
    while end and (of_title[end - 1][2] or _has_sign(of_title[end - 1][1])):
        end -= 1
    end = end or len(of_title)
    loose = [pair for _, _, pair in of_title[end:] if pair]
    title = title_line("".join(before + _without_sign(word) for before, word, _ in of_title[:end]))
    return title, (*known_pairs, *loose)


def words_with_blanks(text: str) -> list[tuple[str, str]]:
    """Return each word of a stripped text with the blanks before it."""
    first, *others = _BLANKS.split(text)
    pairs = [("", first), *zip(others[::2], others[1::2], strict=True)]
    return [pair for pair in pairs if pair[1]]


def as_text(word: str) -> str:
    """Return a word of a title so that a reader takes it for nothing else."""
    return _TEXT_SIGN + word if is_mark(word) or _without_sign(word) != word else word


def _without_sign(word: str) -> str:
    rest = word[1:]
    is_signed = word.startswith(_TEXT_SIGN) and (rest.startswith(_TEXT_SIGN) or is_mark(rest))
    return rest if is_signed else word


def names_with_sign(words: Iterable[str], sign: str) -> tuple[str, ...]:
    """Return the names behind a sign, each once, in order."""
    return tuple(dict.fromkeys(word[1:] for word in words if len(word) > 1 and word[0] == sign))


def split_pair(word: str) -> tuple[str, str] | None:
    """Return key and value of a `key:value`, None if the word is no such pair."""
    match = _PAIR.fullmatch(word) if ":" in word else None
    return (match[1], match[2]) if match else None


def is_known_pair(word: str) -> bool:
    """Say whether a word is a pair whose key has a place in the journal."""
    pair = split_pair(word)
    return pair is not None and _is_known(*pair)


def is_id_pair(key: str, value: str) -> bool:
    """Say whether a pair names a task of a journal."""
    return key == ID_KEY and _ID.fullmatch(value) is not None


def is_mark(word: str) -> bool:
    """Say whether a word is a project, a context or a pair."""
    return _has_sign(word) or split_pair(word) is not None


def _is_known(key: str, value: str) -> bool:
    return key in KNOWN_KEYS or is_id_pair(key, value)


def _has_sign(word: str) -> bool:
    return len(word) > 1 and word[0] in "+@"


def has_leading_mark(text: str) -> bool:
    """Say whether a text begins with what a line may have before its words."""
    return any(pattern.match(text) for pattern in (_DONE, _PRIORITY, _DATE))
