"""How a length of time is put together: "3 hours and 20 minutes", "an hour and a quarter", "2 to 3 hours".

Never decides which words there are, nor whether a text means a length at all.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

from daemon.dates.date_language import unit_words
from daemon.dates.spelling import normalized_words, typed_spellings
from daemon.dates.vocabulary import DateWords

HOUR_MINUTES: Final = 60
WORKDAY_MINUTES: Final = 480
_TEN: Final = 10
_SIGNS: Final = {"½": 0.5, "¼": 0.25, "¾": 0.75}
_FIGURES: Final = (
    r"\d{1,4}:[0-5]\d|(?:\d{1,4}\s+)?[1-9]/[2-9](?![\d/])"
    r"|\d{0,4}\s?[½¼¾]|\d{1,15}(?:[.,]\d{1,2})?|[.,]\d{1,2}"
)
_PARTED: Final = re.compile(r"[.,:/½¼¾]")
_DIGIT: Final = re.compile(r"[.\s]*\d")
_BARE: Final = re.compile(r"\s*(\d{1,2})(?![\d½¼¾]|[.,:/-]\d)(?!\s*[€$£%])")
_NEXT_WORD: Final = re.compile(r"\s*([^\W\d_]*)")
_NEW_SENTENCE: Final = re.compile(r"\s+\d+\s+[^\W\d_]")
# "2 Std. mehr" is one phrase, and "2 hours. More tomorrow" is two.
_ABBREVIATION: Final = re.compile(r"(?<![^\W\d_])(?:mins?|[^\W\d_aeiouy]+)\.$")


@dataclass(frozen=True, eq=False)
class LengthWordTable:
    """The words of lengths, normalized.

    `units` and `amounts` map words to minutes, `numbers` to their number, and `fractions` what stands with a
    number and its unit, such as "and a half", to a part of the unit. `joined_numbers` are patterns of two
    numbers in one. `joiners` stand between the parts of a
    sum, `range_words` between the ends of a range. `unread` are words that go on with a length and have no
    size here, such as "weeks" and "seconds", and `vague` what changes it by no known size: "and a bit".
    Behind a number without a unit, as in "1 hour 30", only words of `tails` may follow; None: any word.
    """

    units: Mapping[str, int]
    numbers: Mapping[str, float]
    joined_numbers: frozenset[str]
    amounts: Mapping[str, int]
    fractions: Mapping[str, float]
    joiners: frozenset[str]
    range_words: frozenset[str] = frozenset()
    unread: frozenset[str] = frozenset()
    vague: frozenset[str] = frozenset()
    tails: frozenset[str] = field(default=frozenset())

    @property
    def _number(self) -> str:
        joined = "".join(f"{pattern}|" for pattern in sorted(self.joined_numbers))
        return rf"(?:{_FIGURES}|(?:{joined}{words_pattern(self.numbers)})(?![^\W\d_]))"

    @property
    def _unit(self) -> str:
        # Romanian has "de" between a number and its unit: "20 de minute".
        return rf"[\s-]*(?:de\s+)?(?P<unit>{words_pattern(self.units)})(?![^\W\d_]|')\.?"

    @cached_property
    def part(self) -> re.Pattern[str]:
        """Return the pattern of one part of a sum; with range words, its number may be a range."""
        upto = rf"(?:\s*(?:{self._between_ends})\s*(?P<upto>{self._number}))?" if self.range_words else ""
        fractions = words_pattern(self.fractions)
        some = rf"(?P<n>{self._number}){upto}(?:\s+(?P<early>{fractions})(?=[\s-]))?{self._unit}"
        late = rf"(?:\s+(?P<late>{fractions})(?![^\W\d_]|'))?"
        whole = rf"(?P<amount>{words_pattern(self.amounts)})(?![^\W\d_]|')"
        # "An hour and a half day" has no half hour.
        return re.compile(rf"(?:{whole}|{some}){late}(?!\s+(?:{self._any_unit})(?!\w))")

    @cached_property
    def beginning(self) -> re.Pattern[str]:
        """Return the pattern of a place in a text at which a length begins, be it one that is not read."""
        return re.compile(rf"(?<![\w.,:/-])(?={self.part.pattern}|{self._some})")

    @property
    def _between_ends(self) -> str:
        return rf"-|–|(?<!\w)(?:{words_pattern(self.range_words)})\b"

    @property
    def _any_unit(self) -> str:
        # English has "y" for years, and Spanish joins with it.
        return words_pattern((*self.units, *(self.unread - self.joiners)))

    @property
    def _some(self) -> str:
        unit = rf"[\s-]*(?:de\s+)?(?:{self._any_unit})(?!\w)\.?"
        return rf"{self._number}(?:\s+(?:{words_pattern(self.fractions)}))?{unit}"

    @cached_property
    def between_ends(self) -> re.Pattern[str]:
        """Return the pattern of what stands between the ends of a range."""
        return re.compile(rf"\s*(?:{self._between_ends})\s*" if self.range_words else r"(?!)")

    @cached_property
    def joint(self) -> re.Pattern[str]:
        """Return the pattern of what stands between two parts."""
        return re.compile(rf"\s*(?:(?:,\s*)?(?:{words_pattern(self.joiners)})\s+|[,&+]\s*)?")

    @cached_property
    def goes_on(self) -> re.Pattern[str]:
        """Return the pattern of what belongs to a length that ended before it."""
        joiner = words_pattern(self.joiners)
        join = rf"\s*(?:(?:,\s*)?(?:{joiner})\s+|[,&+]\s*|(?:{self._between_ends})\s*)?"
        end = rf"(?:{self._between_ends})\s*{self._number}(?:[\s.,;!]|$)" if self.range_words else r"(?!)"
        whole = rf"(?:{words_pattern((*self.amounts, *self.fractions))})(?!\w)"
        return re.compile(rf"{join}(?:{self._some}|{whole})|\s*{end}|\s*/\s*\w")

    @cached_property
    def change(self) -> re.Pattern[str]:
        """Return the pattern of words that change a length before them by no known size."""
        return re.compile(rf"\s*(?:{words_pattern(self.vague)})(?!\w)")

    @cached_property
    def bare(self) -> re.Pattern[str]:
        """Return the pattern of a number in letters without its unit, as in "une heure trente"."""
        joined = "".join(f"{pattern}|" for pattern in sorted(self.joined_numbers))
        tens = words_pattern(word for word, number in self.numbers.items() if number >= _TEN)
        return re.compile(rf"\s+(?:{joined}{tens})(?!\w)")


class Length(NamedTuple):
    """Minutes, not rounded, and where the words of a length end."""

    minutes: float
    end: int


def words_pattern(words: Iterable[str]) -> str:
    """Return a pattern of any of the words, the longest first, whatever blanks stand in them."""
    patterns = (re.escape(word).replace(r"\ ", r"\s+") for word in sorted(words, key=len, reverse=True))
    return "|".join(patterns) or r"(?!)"


def all_spellings(words: Iterable[str]) -> frozenset[str]:
    """Return words of a file as they look in normalized and in plain text."""
    return frozenset(typed for word in words for typed in typed_spellings(word))


def sizes_of_units(words: DateWords) -> dict[str, int]:
    """Return the minutes of each word for a unit of one language; a day is one of work."""
    sizes = {"day": WORKDAY_MINUTES, "hour": HOUR_MINUTES, "minute": 1}
    listed = {name: [*unit_words(words.units, name), *getattr(words.length, name, ())] for name in sizes}
    return {typed: sizes[name] for name, units in listed.items() for typed in all_spellings(units)}


def numbers_of(words: DateWords) -> dict[str, float]:
    """Return the single words for numbers of one language, "zweieinhalb" among them."""
    listed = (*words.length.numbers.items(), *words.numbers.items())
    return {typed: number for word, number in listed for typed in typed_spellings(word)}


def joined_numbers_of(words: DateWords) -> frozenset[str]:
    """Return the patterns of the numbers between tens of one language, such as "twenty-five"."""
    tens = all_spellings(word for word, number in words.numbers.items() if number in range(20, 100, 10))
    ones = all_spellings(word for word, number in words.numbers.items() if number < 10)
    return frozenset(
        normalized_words(template).format(
            tens=f"(?:{words_pattern(tens)})", ones=f"(?:{words_pattern(ones)})"
        )
        for template in words.length.joined_numbers
    )


def fractions_of(words: DateWords) -> dict[str, float]:
    """Return what adds a part of a unit to a number of it, in one language."""
    return {
        typed: part for phrase, part in words.length.fractions.items() for typed in typed_spellings(phrase)
    }


def unread_units(words: DateWords) -> frozenset[str]:
    """Return the words of one language for lengths that are counted in no minutes, hours or days of work."""
    names = ("week", "fortnight", "month", "year")
    longer = (word for name in names for word in unit_words(words.units, name))
    return all_spellings((*longer, *words.length.unread))


def length_at(text: str, start: int, table: LengthWordTable) -> Length | None:
    """Read the length that begins at a place of a text; of a range, its upper end.

    A phrase is read whole or not at all: None if what follows belongs to the length and cannot be read.
    """
    length = _sum_at(text, start, table)
    while length is not None and (between := table.between_ends.match(text, length.end)):
        upper = _sum_at(text, between.end(), table)
        if upper is None:
            break
        length = upper
    if length is None or _continuation(text, length.end, table):
        return None
    return length if _DIGIT.match(text, length.end) is None or _is_new_sentence(text, length.end) else None


def end_of_length(text: str, start: int, table: LengthWordTable) -> int:
    """Return where that ends which belongs to a length that is not read; it begins at `start`."""
    part = table.part.match(text, start)
    end = part.end() if part else start
    while more := _continuation(text, end, table) or _BARE.match(text, end):
        end = more.end()
    return max(end, start + 1)


def _continuation(text: str, end: int, table: LengthWordTable) -> re.Match[str] | None:
    """Match what belongs to a length that ended before it."""
    if more := table.goes_on.match(text, end):
        return more
    if text[end - 1 : end + 1] == ". " and not _ABBREVIATION.search(text, 0, end):
        return None
    bare = table.bare.match(text, end)
    return table.change.match(text, end) or (bare if bare and _is_last(text, bare.end(), table) else None)


def _is_last(text: str, end: int, table: LengthWordTable) -> bool:
    """Return whether a number that ends here counts no word behind it: "20 people" does."""
    following = _NEXT_WORD.match(text, end)
    return following is None or not following[1] or following[1] in table.tails


def _is_new_sentence(text: str, end: int) -> bool:
    """Return whether figures behind the full stop of an abbreviated unit begin a sentence."""
    return text[end - 1 : end] == "." and _NEW_SENTENCE.match(text, end) is not None


def _sum_at(text: str, start: int, table: LengthWordTable) -> Length | None:
    """Add parts up, each of a smaller unit than the one before. The last may leave its unit out."""
    total, end, last_size = 0.0, start, 0
    while True:
        joint = table.joint.match(text, end) if last_size else None
        part = table.part.match(text, joint.end() if joint else end)
        if part is None:
            break
        minutes, size = _minutes(part, table)
        # "30 min 2 h" is more likely a slip than a sum; and no minute has a half: "1.5" may mean hours.
        if (last_size and size >= last_size) or (size == 1 and _PARTED.search(part["n"] or "")):
            break
        total, end, last_size = total + minutes, part.end(), size
    if last_size == HOUR_MINUTES and (bare := _bare_minutes(text, end, table)):
        total, end = total + int(bare[1]), bare.end()
    return Length(total, end) if last_size else None


def _bare_minutes(text: str, end: int, table: LengthWordTable) -> re.Match[str] | None:
    """Match the minutes of "1 hour 30": "1 hour 30 people" has none."""
    bare = _BARE.match(text, end)
    if bare is None:
        return None
    is_joined = bare.start(1) == end and text[end - 1 : end] != "."
    return bare if is_joined or _is_last(text, bare.end(), table) else None


def _minutes(part: re.Match[str], table: LengthWordTable) -> tuple[float, int]:
    """Return the minutes of one part, and those of its unit."""
    if part["amount"]:
        minutes: float = table.amounts[_single_blanks(part["amount"])]
        size = next(size for size in (WORKDAY_MINUTES, HOUR_MINUTES, 1) if minutes >= size)
        return minutes + size * _fraction(part["late"], table), size
    size = table.units[_single_blanks(part["unit"])]
    groups = part.groupdict()
    number = _number(groups.get("upto") or part["n"], table)
    number += _fraction(part["early"], table) + _fraction(part["late"], table)
    return number * size, size


def _fraction(phrase: str | None, table: LengthWordTable) -> float:
    return table.fractions[_single_blanks(phrase)] if phrase else 0.0


def _number(text: str, table: LengthWordTable) -> float:
    """Return what a number in letters or figures is: "1,5", "1 1/2", "½", "1:30" (of hours)."""
    if text[0].isalpha():
        return _number_in_letters(_single_blanks(text), table)
    if ":" in text:
        hours, minutes = text.split(":")
        return int(hours) + int(minutes) / HOUR_MINUTES
    total = 0.0
    for figures in text.replace(text[-1], f" {text[-1]}").split() if text[-1] in _SIGNS else text.split():
        above, _, below = figures.partition("/")
        total += int(above) / int(below) if below else _SIGNS.get(figures) or float(figures.replace(",", "."))
    return total


def _number_in_letters(text: str, table: LengthWordTable) -> float:
    """Return a number of one word, or of two that are joined in either order: "funfundzwanzig"."""
    if text in table.numbers:
        return table.numbers[text]
    longest_first = sorted(table.numbers, key=len, reverse=True)
    ends = (next(filter(test, longest_first)) for test in (text.startswith, text.endswith))
    return sum(table.numbers[word] for word in ends)


def _single_blanks(phrase: str) -> str:
    return " ".join(phrase.split())
