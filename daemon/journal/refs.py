"""What a person's reference means: a full id, a short prefix of one, or part of a task's title.

Never guesses: what could mean two things is refused with both of them named.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from daemon.journal.errors import Candidate, Code, Refused, not_found, usage
from daemon.journal.values import folded
from store.entity import Entity
from store.finding import Finder
from store.glance import titles
from store.shown import clock_shown
from store.snapshot import PREFIX_MIN, Snapshot
from syncproto.heads import Clock
from syncproto.ids import EntityId, ReplicaId, from_text, text

_WHERE = "`placet list --all` shows what there is, --removed what was removed"
CANDIDATES_MAX = 8
TITLES_MAX = 50
ID_IN_WORDS = "an id is up to 32 of the characters 0-9 and a-f"
_DIGITS = frozenset("0123456789abcdef")
_HEX = re.compile(r"[0-9a-f]{3,32}")
assert PREFIX_MIN == 3


def task(snapshot: Snapshot, ref: str, *, removed: bool = False) -> Entity:
    """Find the task that `ref` names; `removed` looks among those out of sight too, if none is in sight.

    Raises Refused: usage for an empty or too short reference, not_found, ambiguous.
    """
    by_id = _by_id(snapshot, ("task",), ref)
    if by_id is not None and by_id.id == _full(ref):
        return _in_sight(by_id, "task", removed)
    found = _by_title(snapshot, ref, removed)
    prefixed = _prefixed(snapshot, ("task",), ref)
    together = _meant([*prefixed, *found], removed) or _meant(_by_letters(snapshot, ref, removed), removed)
    if not together and prefixed:
        return _in_sight(prefixed[0], "task", removed)
    return _only(list(together.values()), "task", ref)


def entity(
    snapshot: Snapshot, kinds: Sequence[str], ref: str, *, removed: bool = False, what: str = ""
) -> Entity:
    """Find the entity of one of these kinds whose id begins with `ref`. Raises Refused as `task` does."""
    what = what or kinds[0].replace("_", " ")
    if not is_prefix(ref):
        raise not_found(what, ref, ID_IN_WORDS)
    found = _by_id(snapshot, kinds, ref)
    if found is None:
        prefixed = _prefixed(snapshot, kinds, ref)
        found = _only([one for one in prefixed if one.visible or removed] or prefixed, what, ref)
    return _in_sight(found, what, removed)


def full(snapshot: Snapshot, kind: str, ref: str) -> Entity:
    """Find the entity of a kind that has this whole id, in sight or not. Raises Refused (not_found)."""
    held = _by_id(snapshot, (kind,), ref)
    if held is None:
        raise not_found(kind, ref, "give the whole id")
    return held


def known_by_full_id(snapshot: Snapshot, ref: str) -> Entity | None:
    """Return the entity of that full id, of whatever kind, also one that this version does not know."""
    full = _full(ref)
    return None if full is None else snapshot.entity(full)


def is_prefix(ref: str) -> bool:
    """Say whether `ref` can be the beginning of an id. Raises Refused (usage) where it is one too short."""
    prefix = ref.strip().lower()
    if len(prefix) < PREFIX_MIN and all(letter in _DIGITS for letter in prefix):
        raise usage(f"{ref!r} is too short for an id", f"give at least {PREFIX_MIN} characters")
    return _HEX.fullmatch(prefix) is not None


def base_shown(snapshot: Snapshot, seen: Entity, shown: Mapping[str, int] | None) -> Clock | None:
    """Turn the clock that a page or script was shown back into heads; None where none was given.

    Raises Refused: usage for what is no clock, stale for one of commits that are not held.
    """
    if shown is None:
        return None
    try:
        counters = {ReplicaId(from_text(replica)): counter for replica, counter in shown.items()}
    except ValueError as error:
        raise usage(f"not a vector clock: {error}") from None
    clock = clock_shown(snapshot, seen.clock, counters) if counters else None
    if not clock:
        raise Refused(Code.STALE, "the given vector clock is not one that was shown here", "read it again")
    return clock


def candidate(found: Entity) -> Candidate:
    """Name an entity so that a person can tell it from others."""
    return Candidate(text(found.id), found.text("title") or found.text("name") or found.kind)


def _full(ref: str) -> EntityId | None:
    try:
        return from_text(ref.strip().lower())
    except ValueError:
        return None


def _by_id(snapshot: Snapshot, kinds: Sequence[str], ref: str) -> Entity | None:
    full = _full(ref)
    found = None if full is None else snapshot.entity(full)
    return found if found is not None and found.kind in kinds and found.exists else None


def _prefixed(snapshot: Snapshot, kinds: Sequence[str], ref: str) -> list[Entity]:
    prefix = ref.strip().lower()
    if not _HEX.fullmatch(prefix):
        return []
    return _existing(snapshot, snapshot.with_prefix(kinds, prefix, CANDIDATES_MAX + 1))


def _existing(snapshot: Snapshot, ids: Iterable[EntityId]) -> list[Entity]:
    found = (snapshot.entity(one) for one in ids)
    return [one for one in found if one is not None and one.exists]


def _by_title(snapshot: Snapshot, ref: str, removed: bool) -> list[Entity]:
    """Return the tasks whose title is `ref`, or else those that hold its words in a row.

    The last word may be the beginning of one.
    """
    wanted = folded(ref)
    if not wanted:
        raise usage("a reference cannot be empty")
    found = Finder(snapshot).titled(ref, TITLES_MAX, removed=removed)
    return [one for one in found if folded(one.text("title")) == wanted] or found


def _by_letters(snapshot: Snapshot, ref: str, removed: bool) -> list[Entity]:
    """Return the tasks of whose title `ref` is a part, be it inside a word. Reads every title."""
    wanted = folded(ref)
    held = (one for one, title in titles(snapshot, removed=removed) if wanted in folded(title))
    return _existing(snapshot, islice(held, TITLES_MAX))


def _meant(found: Iterable[Entity], removed: bool) -> dict[EntityId, Entity]:
    """Return those in sight; where there are none, and `removed`, the others."""
    held = {one.id: one for one in found}
    return {name: one for name, one in held.items() if one.visible} or (held if removed else {})


def _only(found: list[Entity], what: str, ref: str) -> Entity:
    if len(found) == 1:
        return found[0]
    if not found:
        raise not_found(what, ref, _WHERE if what == "task" else "")
    more = " or more" if len(found) > CANDIDATES_MAX else ""
    raise Refused(
        Code.AMBIGUOUS,
        f"{ref[:80]!r} could mean {min(len(found), CANDIDATES_MAX)}{more} of them",
        "give more of the id or of the title",
        [candidate(one) for one in found[:CANDIDATES_MAX]],
    )


def _in_sight(found: Entity, what: str, removed: bool) -> Entity:
    if found.visible or removed:
        return found
    raise Refused(Code.NOT_FOUND, f"the {what} {candidate(found).title!r} was removed", "restore it first")
