"""A line of a todo.txt file, taken apart and put together by the format's rules.

Never decides what a mark means to the journal.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from store.sentence import Sentence, sentence

_DONE = re.compile(r"x\s+")
_PRIORITY = re.compile(r"\(([A-Z])\)\s+")
_DATE = re.compile(r"(\d{4}-\d{2}-\d{2})(?:\s+|$)", re.ASCII)
# Not a link (http://…) and not a time of day (10:30): a key begins with a letter, a value not with slashes.
_PAIR = re.compile(r"([^\W\d_][\w.-]*):(?!//)(\S+)")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)

ID_KEY = "placet"
"""The key by which an exported file names the task that a line was exported from."""

_ID = re.compile(r"[0-9a-f]{32}")
KNOWN_KEYS = frozenset({"due", "pri", "status", "reason", "estimate", "lang"})
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
    rest = text.strip()
    is_done = (start := _DONE.match(rest)) is not None
    rest = rest[start.end() :] if start else rest
    letter = _PRIORITY.match(rest)
    rest = rest[letter.end() :] if letter else rest
    dates: list[date] = []
    # Only a finished task has two dates: when it was done, then when it was made.
    while len(dates) < 1 + is_done and (match := _DATE.match(rest)):
        dates.append(parse_date(match[1], _A_DATE))
        rest = rest[match.end() :]
    made_on = dates.pop() if len(dates) > is_done else None
    words = rest.split()
    title, marks = split_title_and_pairs(words)
    if not title:
        raise MalformedLine(sentence("todotxt-no-text", "there is no text beside the marks"))
    return TodoLine(
        title=title,
        is_done=is_done,
        priority=letter[1] if letter else None,
        done_on=dates[0] if dates else None,
        made_on=made_on,
        projects=names_with_sign(words, "+"),
        contexts=names_with_sign(words, "@"),
        pairs=marks,
    )


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


def split_title_and_pairs(words: list[str]) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the title, and the pairs that are no part of it.

    Marks at the end are no part of the title; within a sentence they are its words. If there are only
    marks, they are the title.
    """
    title_words = [word for word in words if not is_known_pair(word)]
    known_pairs = [split_pair(word) for word in words if is_known_pair(word)]
    end = len(title_words)
    while end and is_mark(title_words[end - 1]):
        end -= 1
    if not end:
        return " ".join(title_words), tuple(pair for pair in known_pairs if pair)
    loose = (split_pair(word) for word in title_words[end:])
    return " ".join(title_words[:end]), tuple(pair for pair in [*known_pairs, *loose] if pair)


def names_with_sign(words: Iterable[str], sign: str) -> tuple[str, ...]:
    """Return the names behind a sign, each once, in order."""
    return tuple(dict.fromkeys(word[1:] for word in words if len(word) > 1 and word[0] == sign))


def split_pair(word: str) -> tuple[str, str] | None:
    """Return key and value of a `key:value`, None if the word is no such pair."""
    match = _PAIR.fullmatch(word)
    return (match[1], match[2]) if match else None


def is_known_pair(word: str) -> bool:
    """Say whether a word is a pair whose key has a place in the journal."""
    pair = split_pair(word)
    return pair is not None and (pair[0] in KNOWN_KEYS or is_id_pair(*pair))


def is_id_pair(key: str, value: str) -> bool:
    """Say whether a pair names a task of a journal."""
    return key == ID_KEY and _ID.fullmatch(value) is not None


def is_mark(word: str) -> bool:
    """Say whether a word is a project, a context or a pair."""
    return (len(word) > 1 and word[0] in "+@") or split_pair(word) is not None


def has_leading_mark(text: str) -> bool:
    """Say whether a text begins with what a line may have before its words."""
    return any(pattern.match(text) for pattern in (_DONE, _PRIORITY, _DATE))
