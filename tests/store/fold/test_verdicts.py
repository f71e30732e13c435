"""The fold of verdicts: every set of verdicts, who gave them, and who had seen which.

Never asks a store: decisions are written by hand.
"""

import itertools
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.fold.verdicts import (
    UNDECIDED,
    DecisionStatus,
    ItemStatus,
    Opinion,
    Verdict,
    deciding_opinions,
    maximal_opinions,
)
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId
from tests.support.counted_verdicts import counted_status, empty_tables
from tests.support.growth import Work, assert_linear
from tests.support.stores import entity_id


def opinion(number: int, verdict: Verdict, *observed: int, by: AuthorKind = AuthorKind.USER) -> Opinion:
    return Opinion(entity_id(number), verdict, by, frozenset(map(entity_id, observed)))


def folded(*opinions: Opinion) -> ItemStatus:
    """Fold in every order, which must not matter."""
    item_statuses = {counted_status(order) for order in itertools.permutations(opinions)}
    assert len(item_statuses) == 1
    return item_statuses.pop()


def expected(verdicts: set[Verdict]) -> ItemStatus:
    """Return what concurrent verdicts of people amount to, as the table of verdicts says."""
    if verdicts & {Verdict.REJECTED, Verdict.UNDONE}:
        return ItemStatus(DecisionStatus.REJECTED, Verdict.CONFIRMED in verdicts)
    if Verdict.CONFIRMED in verdicts:
        return ItemStatus(DecisionStatus.CONFIRMED, disputed=False)
    if Verdict.DEFERRED in verdicts:
        return ItemStatus(DecisionStatus.DEFERRED, disputed=False)
    if Verdict.RETRACTED in verdicts:
        return ItemStatus(DecisionStatus.RETRACTED, disputed=False)
    return UNDECIDED


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_concurrent_verdicts_of_up_to_three_devices(count: int) -> None:
    for verdicts in itertools.combinations_with_replacement(Verdict, count):
        opinions = [opinion(number, verdict) for number, verdict in enumerate(verdicts)]
        assert folded(*opinions) == expected(set(verdicts)), verdicts


@pytest.mark.parametrize(("first", "second"), list(itertools.product(Verdict, Verdict)))
def test_a_verdict_replaces_what_it_had_seen(first: Verdict, second: Verdict) -> None:
    assert folded(opinion(1, first), opinion(2, second, 1)) == expected({second})


def test_a_confirmation_settles_a_dispute_only_where_it_had_seen_the_rejection() -> None:
    confirmed, rejected = opinion(1, Verdict.CONFIRMED), opinion(2, Verdict.REJECTED)
    assert folded(confirmed, rejected) == ItemStatus(DecisionStatus.REJECTED, disputed=True)
    assert folded(confirmed, rejected, opinion(3, Verdict.CONFIRMED, 1)).disputed
    assert folded(confirmed, rejected, opinion(3, Verdict.CONFIRMED, 1, 2)).status is DecisionStatus.CONFIRMED
    assert folded(confirmed, rejected, opinion(3, Verdict.REJECTED, 1, 2)) == ItemStatus(
        DecisionStatus.REJECTED, False
    )


@pytest.mark.parametrize("by", [AuthorKind.AGENT, AuthorKind.SYSTEM])
@pytest.mark.parametrize(("persons", "agents"), list(itertools.product(Verdict, Verdict)))
def test_an_agents_decision_counts_only_where_no_person_decided(
    persons: Verdict, agents: Verdict, by: AuthorKind
) -> None:
    assert folded(opinion(1, agents, by=by)) == expected({agents})
    assert folded(opinion(1, agents, by=by), opinion(2, persons)) == expected({persons})
    assert folded(opinion(1, agents, 2, by=by), opinion(2, persons)) == expected({persons})


def test_an_agents_decision_hides_no_persons_from_another() -> None:
    only_opinion, two = opinion(1, Verdict.CONFIRMED), opinion(2, Verdict.RETRACTED, 1, by=AuthorKind.AGENT)
    assert folded(only_opinion, two).status is DecisionStatus.CONFIRMED
    assert deciding_opinions([only_opinion, two]) == [only_opinion]
    assert maximal_opinions([only_opinion, two]) == [two]


def test_what_any_decision_has_seen_is_no_longer_maximal() -> None:
    seen_opinion, seeing, other = (
        opinion(1, Verdict.CONFIRMED),
        opinion(2, Verdict.REJECTED, 1),
        opinion(3, Verdict.DEFERRED),
    )
    for order in itertools.permutations([seen_opinion, seeing, other]):
        assert set(maximal_opinions(order)) == {seeing, other}


def test_what_was_seen_of_other_items_does_not_count() -> None:
    assert folded(opinion(1, Verdict.CONFIRMED, 77)).status is DecisionStatus.CONFIRMED


@given(
    st.lists(
        st.tuples(st.sampled_from(Verdict), st.sampled_from(AuthorKind), st.integers(0, 63)), max_size=5
    ),
    st.randoms(use_true_random=False),
)
def test_the_order_of_decisions_does_not_matter(
    drawn: list[tuple[Verdict, AuthorKind, int]], dice: object
) -> None:
    opinions = [
        opinion(number, verdict, *(index for index in range(number) if count >> index & 1), by=by)
        for number, (verdict, by, count) in enumerate(drawn)
    ]
    shuffled = opinions[:]
    dice.shuffle(shuffled)  # type: ignore[attr-defined]
    assert counted_status(shuffled) == counted_status(opinions)
    assert counted_status(opinions) == expected(
        {deciding_opinion.verdict for deciding_opinion in deciding_opinions(opinions)}
    )
    persons = [listed_opinion for listed_opinion in opinions if listed_opinion.by is AuthorKind.USER]
    if persons:
        assert counted_status(opinions) == counted_status(persons)


def test_ids_are_all_that_a_decision_is_known_by() -> None:
    assert EntityId(entity_id(1)) in opinion(2, Verdict.REJECTED, 1).seen


def test_a_decision_costs_what_it_has_seen_however_many_came_before() -> None:
    def work(size: int) -> Work:
        opinions = [opinion(number, Verdict.DEFERRED, number - 1) for number in range(1, size + 1)]
        return lambda: counted_status(opinions)

    assert_linear(work, 100)


def test_what_an_earlier_version_kept_of_decisions_is_counted_as_they_were() -> None:
    opinions = [
        opinion(1, Verdict.CONFIRMED),
        opinion(2, Verdict.REJECTED, 1, 77),
        opinion(3, Verdict.RETRACTED, *range(100, 120), by=AuthorKind.AGENT),
        opinion(4, Verdict.DEFERRED, 4),
        opinion(5, Verdict.UNDONE, 2, by=AuthorKind.AGENT),
    ]
    counted_status(opinions)
    db = empty_tables()
    counted = [
        list(db.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3")) for table in ("overruled", "tally")
    ]
    for table in ("conditional", "overruled", "tally"):
        db.execute(f"DROP TABLE {table}")
    db.execute("DROP INDEX opinion_by_decision")
    db.execute((resources.files("store") / "migrations" / "0070_verdicts.sql").read_text("utf-8"))
    again = [list(db.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3")) for table in ("overruled", "tally")]
    assert again == counted
