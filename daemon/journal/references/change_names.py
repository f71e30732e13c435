"""The names of changes: `482-a1b2c3d4e5f6` is a commit, `480..482-a1b2c3d4e5f6` it and those before it.

Never a position in the feed, which each device counts by itself: a name holds on every device. It is the
counter of a commit on its chain and the beginning of its hash, so it says nothing of what was written, where,
or by whom.
"""

import re
from collections.abc import Iterable
from typing import Final

from daemon.refusal import RefusalCode, Refused, not_found_refusal, usage_error
from store.queries.commit_names import heads_named, positions_up_to
from store.sentence import sentence
from store.snapshot import Snapshot
from store.transaction import CommitSpan
from syncproto.commit import COUNTER_MAX
from syncproto.vector_clock import Head

CHANGE_HEADER: Final = "Placet-Change"
"""The header of an answer, of the API and of the page, that names what the request wrote, for an undo."""
HASH_DIGITS: Final = 12
COMMITS_MAX: Final = 50_000
"""How many commits one name may stand for: an import of as many tasks."""

_NAME = re.compile(r"(?:([0-9]{1,19})\.\.)?([0-9]{1,19})-([0-9a-f]{4,64})")
_SEVERAL = ", "
_SEE_LOG = sentence("see-log-names", "`placet log` shows the name of each change")


def span_name(span: CommitSpan) -> str:
    """Return the name of a change."""
    own = f"{span.last.counter}-{span.last.hash.hex()[:HASH_DIGITS]}"
    return own if span.first == span.last.counter else f"{span.first}..{own}"


def commit_name(head: Head) -> str:
    """Return the name of the change that one commit is."""
    return span_name(CommitSpan(head.counter, head))


def span_names(spans: Iterable[CommitSpan]) -> str:
    """Return the names of several changes as one text; those that follow one another become one."""
    joined: list[CommitSpan] = []
    for span in spans:
        before = joined[-1] if joined else None
        if (
            before is not None
            and before.last.replica == span.last.replica
            and before.last.counter + 1 == span.first
        ):
            joined[-1] = CommitSpan(before.first, span.last)
        else:
            joined.append(span)
    return _SEVERAL.join(map(span_name, joined))


def find_changes(snapshot: Snapshot, name: str) -> list[CommitSpan]:
    """Return the changes that a name stands for. Raises Refused: usage, not_found, ambiguous."""
    return [_find_change(snapshot, part) for part in _parts(name)]


def positions_of(snapshot: Snapshot, span: CommitSpan) -> list[int]:
    """Return the feed positions of the commits of a change, the newest first. Raises Refused for too many."""
    if span.last.counter - span.first >= COMMITS_MAX:
        raise usage_error(
            sentence(
                "change-too-long",
                "{name} stands for more than {count} commits",
                name=span_name(span),
                count=COMMITS_MAX,
            ),
            sentence("undo-in-parts", "undo it in parts"),
        )
    return list(positions_up_to(snapshot, span.last, span.first))


def _parts(text: str) -> list[str]:
    return [part.strip().lower() for part in text.split(",")]


def _find_change(snapshot: Snapshot, name: str) -> CommitSpan:
    match = _NAME.fullmatch(name)
    if match is None:
        raise usage_error(
            sentence("no-change-name", "{name!r} is not the name of a change", name=name[:80]), _SEE_LOG
        )
    first, counter, digits = match[1], int(match[2]), match[3]
    heads = heads_named(snapshot, counter, digits, 2) if counter <= COUNTER_MAX else []
    if not heads or (first is not None and not 1 <= int(first) <= counter):
        raise not_found_refusal("change", name, _SEE_LOG)
    if len(heads) > 1:
        raise Refused(
            RefusalCode.AMBIGUOUS,
            sentence("ambiguous-change", "{name!r} could mean more than one change", name=name[:80]),
            sentence("more-of-change", "give more of its name"),
        )
    return CommitSpan(counter if first is None else int(first), heads[0])
