"""Which of the things that a file says are those that it said before, where nothing but their words tells.

Never takes one thing for another that only stands in its place: what went out and what is new in its stead
must not become one.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from syncproto.codec import Redacted, redacted

# Likeness of two texts, as the share of their letters in threes that both have (Dice): a mended slip or an
# added word stays above, another thing with a word alike stays below. What began on one day is likely one.
_LIKE_MIN = 0.6
_LIKE_SAME_DAY_MIN = 0.4
# Letters that stand in more texts than this tell nothing, and would make a long list slow.
_TEXTS_MAX = 16
_CLOSEST_MAX = 16
_AHEAD_MAX = 8
# How a long text begins tells enough, and keeps what is compared small.
_CHARS_MAX = 1000


class Said(NamedTuple):
    """A thing of a file: its key, its words, and when it was made where the file says so.

    Of what the journal has, the words are those that the file last said. Of words that are dropped, or not to
    be compared, there is only what tells whether others are the same.
    """

    key: Hashable
    words: str | Redacted
    made_ms: int | None = None


def paired(new: Sequence[Said], known: Sequence[Said]) -> dict[int, int]:
    """Return places in `new` with those in `known` of the same things; both in the order of the file."""
    pairs = _same_key(new, known)
    pairs |= _same_words(new, known, pairs)
    pairs |= _in_order(new, known, pairs)
    return pairs | _like(new, known, pairs)


def _same_key(new: Sequence[Said], known: Sequence[Said]) -> dict[int, int]:
    places = {one.key: place for place, one in enumerate(known)}
    found = ((at, places.get(one.key)) for at, one in enumerate(new))
    return {at: n for at, n in found if n is not None and known[n].words in _spellings(new[at])}


def _same_words(new: Sequence[Said], known: Sequence[Said], pairs: Mapping[int, int]) -> dict[int, int]:
    waiting: dict[str | Redacted, deque[int]] = defaultdict(deque)
    for n in _left(known, pairs.values()):
        waiting[known[n].words].append(n)
    found: dict[int, int] = {}
    for at in _left(new, pairs):
        if queue := next((waiting[one] for one in _spellings(new[at]) if waiting.get(one)), None):
            found[at] = queue.popleft()
    return found


def _spellings(one: Said) -> tuple[str | Redacted, ...]:
    return (one.words, redacted(one.words)) if isinstance(one.words, str) else (one.words,)


def _left(all_: Sequence[Said], taken: Collection[int]) -> list[int]:
    found = set(taken)
    return [place for place in range(len(all_)) if place not in found]


def _in_order(new: Sequence[Said], known: Sequence[Said], pairs: Mapping[int, int]) -> dict[int, int]:
    """Pair what is new with what went out behind the same thing, in the same order."""
    there = set(pairs.values())
    fresh = _behind((at, pairs.get(at)) for at in range(len(new)))
    gone = _behind((n, n if n in there else None) for n in range(len(known)))
    found: dict[int, int] = {}
    for anchor, unknown in fresh.items():
        waiting = deque(gone.get(anchor, ()))
        for at in unknown:
            ahead = [waiting[n] for n in range(min(_AHEAD_MAX, len(waiting)))]
            likely = [
                (likeness, -n) for n, one in enumerate(ahead) if (likeness := _likeness(new[at], known[one]))
            ]
            if likely:
                taken = -max(likely)[1]
                found[at] = ahead[taken]
                for _ in range(taken + 1):
                    waiting.popleft()
    return found


def _behind(places: Iterable[tuple[int, int | None]]) -> dict[int | None, list[int]]:
    """Group the places that belong to nothing known by the known thing that stands before them."""
    groups: dict[int | None, list[int]] = defaultdict(list)
    anchor = None
    for at, known in places:
        if known is None:
            groups[anchor].append(at)
        else:
            anchor = known
    return groups


def _like(new: Sequence[Said], known: Sequence[Said], pairs: Mapping[int, int]) -> dict[int, int]:
    """Pair what is new with what went out anywhere and reads nearly alike."""
    fresh, gone = _left(new, pairs), _left(known, pairs.values())
    if not fresh or not gone:
        return {}
    index: dict[str, list[int]] = defaultdict(list)
    for n in gone:
        for three in _threes(known[n].words):
            index[three].append(n)
    found: dict[int, int] = {}
    used: set[int] = set()
    for at in fresh:
        if (best := _closest(new[at], known, index, used)) is not None:
            used.add(best)
            found[at] = best
    return found


def _closest(one: Said, known: Sequence[Said], index: Mapping[str, list[int]], used: set[int]) -> int | None:
    rare = (where for three in _threes(one.words) if len(where := index.get(three, ())) <= _TEXTS_MAX)
    shared = Counter(n for where in rare for n in where if n not in used)
    closest = sorted(shared.items(), key=lambda pair: (-pair[1], pair[0]))[:_CLOSEST_MAX]
    likely = [(likeness, -n) for n, _ in closest if (likeness := _likeness(one, known[n]))]
    return -max(likely)[1] if likely else None


def _likeness(one: Said, other: Said) -> float:
    """Return how alike two things read, 0 where that is not enough to take them for one."""
    if one.made_ms is not None and other.made_ms is not None and one.made_ms != other.made_ms:
        return 0.0
    same_day = one.made_ms is not None and one.made_ms == other.made_ms
    mine, theirs = _threes(one.words), _threes(other.words)
    likeness = 2 * len(mine & theirs) / ((len(mine) + len(theirs)) or 1)
    return likeness if likeness >= (_LIKE_SAME_DAY_MIN if same_day else _LIKE_MIN) else 0.0


def _threes(words: str | Redacted) -> frozenset[str]:
    return _cut(words[:_CHARS_MAX]) if isinstance(words, str) else frozenset()


@lru_cache(maxsize=1024)
def _cut(words: str) -> frozenset[str]:
    padded = f"  {words.casefold()} "
    return frozenset(padded[at : at + 3] for at in range(len(padded) - 2))
