"""Values that a member dropped in passing although they count: what devices that took them do about it.

Never stands in for the conversation: `tests/syncproto/test_wanted_commits.py` and
`tests/daemon/peers/linking/test_dropped_values.py` do that.
"""

from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.log.commit_log import CommitLog
from store.queries.dropped_values import heads_of_dropped_values
from store.store import Store
from store.transaction import AcceptedPage, EntityWrite
from syncproto import commit as commits
from syncproto.codec import Redacted
from syncproto.commit import COMMIT_BYTES_MAX, Author, AuthorKind, Commit, DecodedCommit, SignedCommit
from syncproto.hlc import Stamp
from syncproto.messages import WANTED_HEADS_MAX
from syncproto.vector_clock import EMPTY_CLOCK, Head
from tests.support.sqlite_steps import steps_to_read
from tests.support.stores import (
    NONCE,
    NOW_MS,
    StoreBench,
    assert_store_is_whole,
    entity_id,
    exchange,
    feed,
    log_and_state,
    operation,
    replica_of,
    signer_of,
    write,
)

TASK, OTHER, ITEM = entity_id(1), entity_id(2), entity_id(3)
FIELDS = ("title", "reason", "note")


def author_log(bench: StoreBench, **fields: Any) -> list[DecodedCommit]:
    """Return a log in which all long values of the first commit count, but for one that was written over."""
    author = bench.store("author")
    with author.write() as tx:
        writes: list[Any] = [
            EntityWrite(TASK, "task", fields),
            EntityWrite(OTHER, "task", {"title": "o" * 200}),
        ]
        head = tx.commit(writes)
    write(author, TASK, base=(head,), note="short")
    return commits.decode_page(feed(author))


def without(received: DecodedCommit, dropped: frozenset[str]) -> SignedCommit:
    """Return a commit as a member passes it on that drops values of a task."""
    body = commits.redact_values(received.commit, {TASK: dropped})
    return SignedCommit(body, received.signed.signature)


def ask(asking: Store, holder: Store) -> None:
    """Do what two devices do whose states differ: one asks for commits again, and takes what comes."""
    with asking.read() as snapshot:
        wanted = heads_of_dropped_values(snapshot, WANTED_HEADS_MAX)
    while wanted:
        with holder.read() as snapshot:
            page = snapshot.page_again(wanted, 0, COMMIT_BYTES_MAX)
        assert page.left is not None
        wanted = page.left
        if page.commits:
            with asking.write() as tx:
                assert tx.accept_page(page.commits).new_commits == 0


def in_new_folder(run: Callable[[StoreBench], None]) -> None:
    with TemporaryDirectory() as folder:
        bench = StoreBench(Path(folder))
        try:
            run(bench)
        finally:
            bench.close()


drops = st.frozensets(st.sampled_from(FIELDS))


@given(st.lists(drops, min_size=2, max_size=4), st.randoms(use_true_random=False))
def test_devices_that_ask_each_other_come_to_one_state_whatever_was_dropped_and_in_any_order(
    spellings: list[frozenset[str]], random: Any
) -> None:
    def run(bench: StoreBench) -> None:
        first, second = author_log(bench, title="t" * 200, reason="r" * 200, note="n" * 200)
        stores = [bench.store(f"device {number}") for number in range(len(spellings))]
        for store, dropped in zip(stores, spellings, strict=True):
            pages = [[without(first, dropped)], [second.signed]]
            # The same commit comes once more in another spelling, before or after what rests on it.
            pages.insert(random.randint(1, 2), [without(first, random.choice(spellings))])
            for page in pages:
                with store.write() as tx:
                    tx.accept_page(page)
        pairs = [(a, b) for a in stores for b in stores if a is not b]
        for _ in range(2):
            random.shuffle(pairs)
            for asking, holder in pairs:
                ask(asking, holder)
        standings = [log_and_state(store) for store in stores]
        assert {vector for vector, *_ in standings} == {standings[0][0]}
        assert {state_hash for _, state_hash, *_ in standings} == {standings[0][1]}

    in_new_folder(run)


def test_what_a_persons_own_words_cover_is_not_asked_for(bench: StoreBench) -> None:
    first, second = author_log(bench, title="t" * 200, note="n" * 200)
    store = bench.store("a")
    with store.write() as tx:
        tx.accept_page([without(first, frozenset({"note"})), second.signed])
    with store.read() as snapshot:
        assert heads_of_dropped_values(snapshot, WANTED_HEADS_MAX) == ()


def test_values_that_come_late_are_shown_beside_what_verdicts_decide(bench: StoreBench) -> None:
    author, store = bench.store("author"), bench.store("a")
    decided: dict[str, Any] = {"item_id": ITEM, "verdict": "confirmed", "seen": []}
    with author.write() as tx:
        tx.commit([EntityWrite(TASK, "task", {"title": "t" * 200})])
        tx.commit([EntityWrite(TASK, "task", {"title": "u" * 200, "note": "n" * 200}, effect=ITEM)])
        tx.commit([EntityWrite(TASK, "task", {"title": "v" * 200}, base=EMPTY_CLOCK)])
        tx.commit([EntityWrite(OTHER, "decision", decided)])
    log = commits.decode_page(feed(author))
    for page in (
        [without(received, frozenset(FIELDS)) for received in log],
        [received.signed for received in log[::-1]],
    ):
        with store.write() as tx:
            tx.accept_page(page)
    assert log_and_state(store)[1] == log_and_state(author)[1]
    with store.read() as snapshot:
        assert_store_is_whole(snapshot)


def test_a_value_that_comes_late_reads_no_history(bench: StoreBench, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = author_log(bench, title="t" * 200)
    store = bench.store("a")
    with store.write() as tx:
        tx.accept_page([without(first, frozenset(FIELDS)), second.signed])

    def noted(log: CommitLog, seq: int) -> tuple[Head, bytes]:
        raise AssertionError(f"commit {seq} of {log} was read")

    monkeypatch.setattr(CommitLog, "body_at", noted)
    with store.write() as tx:
        assert tx.accept_page([first.signed]).regained == (first.head,)
        assert tx.accept_page([first.signed]).regained == ()


def test_only_entities_with_such_values_are_read(bench: StoreBench) -> None:
    first, second = author_log(bench, title="t" * 200)
    store = bench.store("a")
    with store.write() as tx:
        tx.accept_page([without(first, frozenset(FIELDS)), second.signed])

    def ask_once() -> int:
        return steps_to_read(store, lambda snapshot: heads_of_dropped_values(snapshot, 9))

    steps = ask_once()
    for number in range(100, 200):
        write(store, entity_id(number), title="short")
    assert ask_once() <= steps
    with store.read() as snapshot:
        assert heads_of_dropped_values(snapshot, 9) == (first.head,)
        assert heads_of_dropped_values(snapshot, 9, first.head) == ()


def oversized_spellings() -> list[SignedCommit]:
    """Return two spellings of a commit that its author's device made too long, each within the limits."""
    signer = signer_of("patched")
    fields: dict[str, Any] = {
        name: name * (COMMIT_BYTES_MAX // 2 // len(name)) for name in ("title", "reason")
    }
    whole = Commit(
        format=commits.COMMIT_FORMAT,
        replica=replica_of("patched"),
        counter=1,
        previous=NONCE,
        stamp=Stamp(NOW_MS, 0),
        author=Author(AuthorKind.USER),
        key=signer.public_key,
        operations=[operation(TASK, **fields)],
    )
    received = [
        commits.decode_commit(SignedCommit(commits.redact_values(whole, {TASK: {name}}), b""))
        for name in fields
    ]
    return [SignedCommit(part.signed.body, commits.sign_commit(part, signer)) for part in received]


def pass_on(source: Store, target: Store, *heads: Head) -> AcceptedPage:
    """Send commits once more."""
    with source.read() as snapshot:
        page = snapshot.page_again(heads, 0, COMMIT_BYTES_MAX)
    with target.write() as tx:
        return tx.accept_page(page.commits)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_of_a_commit_whose_values_exceed_its_limits_together_none_counts_in_the_end(
    bench: StoreBench, order: tuple[int, ...]
) -> None:
    first, second = oversized_spellings()
    (head,) = {received.head for received in commits.decode_page([first, second])}
    left = without(commits.decode_commit(first), frozenset(FIELDS))
    a, b, c = (bench.store(name) for name in "abc")
    for store, spelling in zip((a, b, c), (first, second, left), strict=True):
        with store.write() as tx:
            tx.accept_page([spelling])
    stores = [(a, b, c)[number] for number in order]
    for _ in range(2):
        for source, target in permutations(stores, 2):
            pass_on(source, target, head)
    new = bench.store("new")
    exchange(a, new)
    assert len({log_and_state(store)[:2] for store in (a, b, c, new)}) == 1
    for store in (a, b, c):
        with store.read() as snapshot:
            assert_store_is_whole(snapshot)
            task = snapshot.entity(TASK)
            assert task is not None
            assert isinstance(task.value("title"), Redacted)
            assert isinstance(task.value("reason"), Redacted)
    # It is known once for all, and passed on to whoever brings a value of it.
    assert pass_on(a, b, head).regained == ()
    with new.write() as tx:
        assert tx.accept_page([first]).regained == (head,)
    brought = pass_on(new, a, head)
    assert (brought.regained, brought.overlong) == ((), (head,))
    assert pass_on(a, new, head).regained == (head,)
    assert log_and_state(new)[:2] == log_and_state(a)[:2]
    write(a, TASK, title="again", reason="again")
    exchange(a, b)
    assert log_and_state(a)[:2] == log_and_state(b)[:2]
