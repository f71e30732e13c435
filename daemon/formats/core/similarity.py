"""Which things of a file were in its last version too, judged by their words alone.

Never takes one thing for another that only stands in its place: what went out and what is new in its stead
must not become one.
"""

import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

from syncproto.codec import Redacted, redaction_of

# The smallest likeness of two texts that counts as one thing: the share of three-letter groups that both have
# (Dice). A corrected typing error or an added word stays above it, another thing with a like word below. Two
# things that were made at the same moment are likely one.
_LIKE_MIN = 0.6
_LIKE_SAME_MOMENT_MIN = 0.4
# Letters that stand in more texts than this tell nothing, and would make a long list slow.
_TEXTS_MAX = 16
_CLOSEST_MAX = 16
_AHEAD_MAX = 8
# How a long text begins tells enough, and keeps what is compared small.
_CHARS_MAX = 1000
_WORD = re.compile(r"\w+")

Key = TypeVar("Key", bound=Hashable)


class TextElement(NamedTuple):
    """A thing of a file: its keys, its words, and when it was made if the file has that time.

    Of what the journal has, the words are those that the file last said. Of words that are dropped, or not to
    be compared, there is only what tells whether others are the same. It has the one key under which it came.
    A thing of the file has each key under which it may have come (`keys_of`), and shares none with another.
    """

    keys: Sequence[Hashable]
    words: str | Redacted
    made_ms: int | None = None


def keys_of(own: Key, nth_key: Callable[[int], Key], is_taken: Callable[[Key], bool]) -> list[Key]:
    """Return the keys under which a thing of a file may be in the journal, and last the one that is free.

    `own` may be the key of a thing that was reworded since. Then the next is `nth_key(2)`, and so on: none of
    them is the key of another thing of the file, so the same file finds each thing under its key again.
    """
    keys = [own]
    while is_taken(keys[-1]):
        keys.append(nth_key(len(keys) + 1))
    return keys


def pair_similar(
    new: Sequence[TextElement],
    text_elements: Sequence[TextElement],
    by_content: Callable[[Mapping[int, int]], Mapping[int, int]] = lambda _: {},
) -> dict[int, int]:
    """Map places in `new` to places in `text_elements` of the same things; both are in file order.

    `by_content` maps more of them, given the pairs that words tell. Once the things have the words of the
    file, the same file gives the same pairs again.
    """
    # From certain to likely: each step pairs only what the steps before left over, so a guess never takes the
    # partner of an exact match.
    pairs = _same_key(new, text_elements)
    pairs |= _same_words(new, text_elements, pairs)
    pairs |= _in_order(new, text_elements, pairs)
    pairs |= _like(new, text_elements, pairs)
    pairs |= _in_place(new, text_elements, pairs)
    pairs |= by_content(pairs)
    return _as_found_again(new, text_elements, pairs)


def _same_key(new: Sequence[TextElement], text_elements: Sequence[TextElement]) -> dict[int, int]:
    places = {key: place for place, text_element in enumerate(text_elements) for key in text_element.keys}
    pairs: dict[int, int] = {}
    for index, text_element in enumerate(new):
        spellings = _spellings(text_element)
        own = (places[key] for key in text_element.keys if key in places)
        place = next((place for place in own if text_elements[place].words in spellings), None)
        if place is not None:
            pairs[index] = place
    return pairs


def _as_found_again(
    new: Sequence[TextElement], text_elements: Sequence[TextElement], pairs: dict[int, int]
) -> dict[int, int]:
    """Return the pairs among equal words as `_same_key` and `_same_words` will find them the next time.

    A guess paired a thing by the words that it had until now. From now on it has those of the file. So has
    each other thing of which the file says the same; only their keys and their order then tell them apart.
    """
    equal: dict[str | Redacted, list[int]] = defaultdict(list)
    for index, text_element in enumerate(new):
        equal[text_element.words].append(index)
    settled = dict(pairs)
    for indexes in equal.values():
        partners = sorted(pairs[index] for index in indexes if index in pairs)
        if len(indexes) == 1 or not partners:
            continue
        # What had no partner gets one last: it is new, and has a key of its own.
        partner_elements = [text_elements[place]._replace(words=new[indexes[0]].words) for place in partners]
        same = [new[index] for index in indexes]
        by_key = _same_key(same, partner_elements)
        paired_first = sorted(_unmatched_indices(same, by_key), key=lambda n: indexes[n] not in pairs)
        places = _unmatched_indices(partner_elements, by_key.values())
        by_order = zip(sorted(paired_first[: len(places)]), places, strict=True)
        for index in indexes:
            settled.pop(index, None)
        settled |= {indexes[n]: partners[place] for n, place in (*by_key.items(), *by_order)}
    return settled


def _same_words(
    new: Sequence[TextElement], text_elements: Sequence[TextElement], pairs: Mapping[int, int]
) -> dict[int, int]:
    waiting: dict[str | Redacted, deque[int]] = defaultdict(deque)
    for n in _unmatched_indices(text_elements, pairs.values()):
        waiting[text_elements[n].words].append(n)
    pairs_found: dict[int, int] = {}
    for index in _unmatched_indices(new, pairs):
        if queue := next(
            (waiting[spelling] for spelling in _spellings(new[index]) if waiting.get(spelling)), None
        ):
            pairs_found[index] = queue.popleft()
    return pairs_found


def _spellings(text_element: TextElement) -> tuple[str | Redacted, ...]:
    return (
        # A compaction may have dropped the old text; then its digest is all that can be compared.
        (text_element.words, redaction_of(text_element.words))
        if isinstance(text_element.words, str)
        else (text_element.words,)
    )


def _unmatched_indices(all_: Sequence[TextElement], taken_indices: Collection[int]) -> list[int]:
    taken_set = set(taken_indices)
    return [place for place in range(len(all_)) if place not in taken_set]


def _in_order(
    new: Sequence[TextElement], text_elements: Sequence[TextElement], pairs: Mapping[int, int]
) -> dict[int, int]:
    """Pair what is new with what went out behind the same thing, in the same order."""
    paired = set(pairs.values())
    fresh = _group_by_predecessor((index, pairs.get(index)) for index in range(len(new)))
    missing = _group_by_predecessor((n, n if n in paired else None) for n in range(len(text_elements)))
    pairs_found: dict[int, int] = {}
    for anchor, unknown in fresh.items():
        waiting = deque(missing.get(anchor, ()))
        for new_index in unknown:
            ahead = [waiting[n] for n in range(min(_AHEAD_MAX, len(waiting)))]
            likely = [
                (likeness, -skipped)
                for skipped, place in enumerate(ahead)
                if (likeness := _likeness(new[new_index], text_elements[place]))
            ]
            if likely:
                skipped = -max(likely)[1]
                pairs_found[new_index] = ahead[skipped]
                # Those passed over are given up: pairs of one gap never cross, since both sides are in file
                # order.
                for _ in range(skipped + 1):
                    waiting.popleft()
    return pairs_found


def _in_place(
    new: Sequence[TextElement], text_elements: Sequence[TextElement], pairs: Mapping[int, int]
) -> dict[int, int]:
    """Pair what only gained or lost words where a gap has as many new things as went out of it.

    Likeness in letters does not tell "Sweep" and "Sweep the floor" from "Call Ann" and "Call Ben".
    """
    paired = set(pairs.values())
    fresh = _group_by_predecessor((index, pairs.get(index)) for index in range(len(new)))
    missing = _group_by_predecessor((n, n if n in paired else None) for n in range(len(text_elements)))
    return {
        index: place
        for anchor, indexes in fresh.items()
        if len(indexes) == len(places := missing.get(anchor, ()))
        for index, place in zip(indexes, places, strict=True)
        if _has_words_of(new[index], text_elements[place])
    }


def _has_words_of(text_element: TextElement, other: TextElement) -> bool:
    """Say whether each word of one is in the other; a time that differs tells them apart."""
    if not isinstance(text_element.words, str) or not isinstance(other.words, str):
        return False
    mine, theirs = (
        Counter(_WORD.findall(words[:_CHARS_MAX].casefold())) for words in (text_element.words, other.words)
    )
    same_time = None in (text_element.made_ms, other.made_ms) or text_element.made_ms == other.made_ms
    return same_time and bool(mine and theirs) and (mine <= theirs or theirs <= mine)


def _group_by_predecessor(places: Iterable[tuple[int, int | None]]) -> dict[int | None, list[int]]:
    """Group the places that belong to nothing known by the known thing that stands before them."""
    groups: dict[int | None, list[int]] = defaultdict(list)
    anchor = None
    for place, known_place in places:
        if known_place is None:
            groups[anchor].append(place)
        else:
            anchor = known_place
    return groups


def _like(
    new: Sequence[TextElement], text_elements: Sequence[TextElement], pairs: Mapping[int, int]
) -> dict[int, int]:
    """Pair what is new with what went out anywhere and reads nearly alike."""
    fresh, missing = _unmatched_indices(new, pairs), _unmatched_indices(text_elements, pairs.values())
    if not fresh or not missing:
        return {}
    index: dict[str, list[int]] = defaultdict(list)
    for n in missing:
        for trigram in _trigrams(text_elements[n].words):
            index[trigram].append(n)
    pairs_found: dict[int, int] = {}
    used: set[int] = set()
    for new_index in fresh:
        if (best := _closest(new[new_index], text_elements, index, used)) is not None:
            used.add(best)
            pairs_found[new_index] = best
    return pairs_found


def _closest(
    text_element: TextElement,
    text_elements: Sequence[TextElement],
    index: Mapping[str, list[int]],
    used: set[int],
) -> int | None:
    rare = (
        text_numbers
        for trigram in _trigrams(text_element.words)
        if len(text_numbers := index.get(trigram, ())) <= _TEXTS_MAX
    )
    shared = Counter(n for numbers in rare for n in numbers if n not in used)
    closest = sorted(shared.items(), key=lambda pair: (-pair[1], pair[0]))[:_CLOSEST_MAX]
    likely = [(likeness, -n) for n, _ in closest if (likeness := _likeness(text_element, text_elements[n]))]
    return -max(likely)[1] if likely else None


def _likeness(text_element: TextElement, other: TextElement) -> float:
    """Return how alike two things read, 0 if that is not enough to treat them as one."""
    if (
        text_element.made_ms is not None
        and other.made_ms is not None
        and text_element.made_ms != other.made_ms
    ):
        return 0.0
    same_moment = text_element.made_ms is not None and text_element.made_ms == other.made_ms
    mine, theirs = _trigrams(text_element.words), _trigrams(other.words)
    likeness = 2 * len(mine & theirs) / ((len(mine) + len(theirs)) or 1)
    return likeness if likeness >= (_LIKE_SAME_MOMENT_MIN if same_moment else _LIKE_MIN) else 0.0


def _trigrams(words: str | Redacted) -> frozenset[str]:
    return _cut(words[:_CHARS_MAX]) if isinstance(words, str) else frozenset()


@lru_cache(maxsize=1024)
def _cut(words: str) -> frozenset[str]:
    padded = f"  {words.casefold()} "
    return frozenset(padded[index : index + 3] for index in range(len(padded) - 2))
