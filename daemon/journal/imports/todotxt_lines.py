"""A line of a todo.txt file, taken apart and put together by the format's rules.

Never decides what a mark means to the journal.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

_DONE = re.compile(r"x\s+")
_PRIORITY = re.compile(r"\(([A-Z])\)\s+")
_DATE = re.compile(r"(\d{4}-\d{2}-\d{2})(?:\s+|$)", re.ASCII)
# Not a link (http://…) and not a time of day (10:30): a key begins with a letter, a value not with slashes.
_PAIR = re.compile(r"([^\W\d_][\w.-]*):(?!//)(\S+)")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)

KNOWN_KEYS = frozenset({"due", "pri", "status", "reason", "estimate", "lang"})
"""Keys that have a place in the journal, so that they never stay in a title."""


class Unreadable(Exception):
    """A line that says something which cannot be; the message says what was seen."""


@dataclass(frozen=True, slots=True)
class Line:
    """One task: `title` without the marks at its end, and all marks, also those that stay in the title."""

    title: str
    is_done: bool = False
    priority: str | None = None
    done_on: date | None = None
    made_on: date | None = None
    projects: tuple[str, ...] = ()
    contexts: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()


def read_line(written: str) -> Line:
    """Take a line apart. Raises Unreadable where a date does not exist or there is no text."""
    rest = written.strip()
    is_done = (start := _DONE.match(rest)) is not None
    rest = rest[start.end() :] if start else rest
    letter = _PRIORITY.match(rest)
    rest = rest[letter.end() :] if letter else rest
    dates: list[date] = []
    while len(dates) < 1 + is_done and (found := _DATE.match(rest)):
        dates.append(day(found[1], "a date"))
        rest = rest[found.end() :]
    made_on = dates.pop() if len(dates) > is_done else None
    words = rest.split()
    title, marks = split_marks(words)
    if not title:
        raise Unreadable("there is no text beside the marks")
    return Line(
        title=title,
        is_done=is_done,
        priority=letter[1] if letter else None,
        done_on=dates[0] if dates else None,
        made_on=made_on,
        projects=named(words, "+"),
        contexts=named(words, "@"),
        pairs=marks,
    )


def day(written: str, what: str) -> date:
    """Read a date that exists."""
    if not _DAY.fullmatch(written):
        raise Unreadable(f"{what} is {written[:40]!r}, not a date like 2026-12-01")
    try:
        return date.fromisoformat(written)
    except ValueError:
        raise Unreadable(f"{what} is {written!r}, a day that does not exist") from None


def split_marks(words: list[str]) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the title, and the pairs that are no part of it.

    Marks at the end are no part of the title; within a sentence they are its words. Where there are nothing
    but marks, they are the title.
    """
    kept = [word for word in words if not is_known(word)]
    known = [pair(word) for word in words if is_known(word)]
    end = len(kept)
    while end and is_mark(kept[end - 1]):
        end -= 1
    if not end:
        return " ".join(kept), tuple(one for one in known if one)
    loose = (pair(word) for word in kept[end:])
    return " ".join(kept[:end]), tuple(one for one in [*known, *loose] if one)


def named(words: Iterable[str], sign: str) -> tuple[str, ...]:
    """Return the names behind a sign, each once, in order."""
    return tuple(dict.fromkeys(word[1:] for word in words if len(word) > 1 and word[0] == sign))


def pair(word: str) -> tuple[str, str] | None:
    """Return key and value of a `key:value`, None where a word is none."""
    found = _PAIR.fullmatch(word)
    return (found[1], found[2]) if found else None


def is_known(word: str) -> bool:
    """Say whether a word is a pair whose key has a place in the journal."""
    found = pair(word)
    return found is not None and found[0] in KNOWN_KEYS


def is_mark(word: str) -> bool:
    """Say whether a word is a project, a context or a pair."""
    return (len(word) > 1 and word[0] in "+@") or pair(word) is not None


def is_prefixed(text: str) -> bool:
    """Say whether a text begins with what a line may have before its words."""
    return any(pattern.match(text) for pattern in (_DONE, _PRIORITY, _DATE))
