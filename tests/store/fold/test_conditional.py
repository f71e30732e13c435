"""What verdicts change without a history read again, compared with the fold by its definition; its cost.

Never compares with a number of seconds.
"""

import random
from functools import partial
from itertools import combinations

import pytest

from store.fold import field_versions
from store.fold.conditional import ConditionalFold
from store.fold.entity_state import EntityState, SourcedOperation, dump_state
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId
from syncproto.vector_clock import Chains, NoForks, covers
from tests.support.drawn_histories import OneFork, drawn_head, drawn_history, sourced_write
from tests.support.growth import Work, assert_at_most, assert_linear
from tests.support.reference_fold import reference_fold
from tests.support.stores import entity_id

ITEMS = [entity_id(50 + number) for number in range(3)]
VERDICTS = [set(confirmed) for size in range(4) for confirmed in combinations(ITEMS, size)]
CHAINS = NoForks()


def after(history: list[SourcedOperation], chains: Chains, dice: random.Random) -> ConditionalFold:
    """Fold in pages of any length, and keep the form between two of them."""
    fold = ConditionalFold(EntityState())
    for write in history:
        fold.apply_operation(write, chains)
        if dice.random() < 0.3:
            fold.row(dice.choice(VERDICTS).__contains__, chains)
            fold = ConditionalFold.load(fold.dump())
    return fold


def other_order(
    history: list[SourcedOperation], chains: Chains, dice: random.Random
) -> list[SourcedOperation]:
    """Return the same operations in another order that keeps causes, and each chain, first."""
    waiting, order = list(history), []
    landed: set[object] = set()
    while waiting:
        ready = [
            write
            for write in waiting
            if all(head in landed for head in write.operation.base)
            and not any(other is not write and covers((write.head,), other.head, chains) for other in waiting)
        ]
        chosen = dice.choice(ready)
        waiting.remove(chosen)
        landed.add(chosen.head)
        order.append(chosen)
    return order


@pytest.mark.parametrize("few", [0, 64])
@pytest.mark.parametrize("chains", [CHAINS, OneFork()])
@pytest.mark.parametrize("seed", range(40))
def test_whatever_is_in_effect_the_fold_is_that_of_the_definition(
    seed: int, chains: Chains, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(field_versions, "_FEW_PARTS", few)
    monkeypatch.setattr(field_versions, "_SCANS_MAX", few)
    dice = random.Random(seed)
    history = drawn_history(dice, dice.choice((5, 12, 40)), chains, ITEMS)
    folds = [after(order, chains, dice) for order in (history, other_order(history, chains, dice))]
    for confirmed in VERDICTS:
        meant = reference_fold(history, confirmed.__contains__, chains)
        for fold in folds:
            assert dump_state(fold.row(confirmed.__contains__, chains)) == dump_state(meant)
    assert folds[0].dump() == folds[1].dump(), "the form is the same in whatever order the operations came"


def effect(counter: int, *base: int, item: EntityId = ITEMS[0], **fields: str) -> SourcedOperation:
    heads = (drawn_head(1, number) for number in base)
    return sourced_write(
        drawn_head(1, counter), *heads, by=AuthorKind.AGENT, effect=item, values=dict(fields)
    )


def own(counter: int, *base: int, **fields: str) -> SourcedOperation:
    heads = (drawn_head(1, number) for number in base)
    return sourced_write(drawn_head(1, counter), *heads, values=dict(fields))


def folded(*history: SourcedOperation) -> ConditionalFold:
    fold = ConditionalFold(EntityState())
    for write in history:
        fold.apply_operation(write, CHAINS)
    fold.row(lambda item: False, CHAINS)
    return fold


def test_what_a_person_wrote_over_is_not_kept() -> None:
    assert not folded(own(1, title="a"), effect(2, 1, title="b")).is_certain
    assert folded(own(1, title="a"), effect(2, 1, title="b"), own(3, 2, title="c")).is_certain


def test_a_creation_that_a_person_touched_is_certain() -> None:
    assert not folded(effect(1, title="made")).is_certain
    fold = folded(effect(1, title="made"), own(2, 1, note="mine"))
    assert fold.is_certain
    assert fold.certain.value("title") == "made"


def turned(fold: ConditionalFold) -> Work:
    """Return what turning a verdict takes: to read the form, to fold, and to write both."""
    form = fold.dump()

    def turn() -> None:
        loaded = ConditionalFold.load(form)
        dump_state(loaded.row(ITEMS.__contains__, CHAINS))
        loaded.dump()

    return turn


@pytest.mark.parametrize("by", [AuthorKind.USER, AuthorKind.AGENT])
def test_a_turned_verdict_costs_alike_however_long_the_history_is(by: AuthorKind) -> None:
    def work(size: int) -> Work:
        later = [
            sourced_write(drawn_head(1, n), drawn_head(1, n - 1), by=by, title=n, note=n)
            for n in range(2, size + 2)
        ]
        return turned(folded(effect(1, title="made"), *later))

    assert_at_most(3, work(100), work(3_000))


def many_items(size: int) -> Work:
    """Every operation names an item of its own."""
    effects = [effect(n, 1, item=entity_id(1000 + n), title=f"{n}") for n in range(2, size + 2)]
    return turned(folded(own(1, title="a"), *effects))


def many_fields(size: int) -> Work:
    first, second = ({f"f{n}": value for n in range(size)} for value in "ab")
    confirmed = sourced_write(drawn_head(1, 2), drawn_head(1, 1), effect=ITEMS[0], values=second)
    return turned(folded(own(1, **first), confirmed))


def many_versions(size: int) -> Work:
    """Versions that nothing covers, and as many that cover one of them if their item is in effect."""
    blind = [sourced_write(drawn_head(n, 1), title=n) for n in range(10, 10 + size)]
    over = [
        sourced_write(drawn_head(n, 2), drawn_head(n, 1), effect=ITEMS[0], title=-n)
        for n in range(10, 10 + size)
    ]
    return turned(folded(*blind, *over))


@pytest.mark.parametrize("work", [many_items, many_fields, many_versions])
def test_a_turned_verdict_costs_what_the_row_has(work: partial[Work]) -> None:
    assert_linear(work, 200)


def test_persons_writes_beside_creations_that_nobody_confirmed_cost_alike() -> None:
    def work(size: int) -> Work:
        made = [effect(n, title="made") for n in range(1, size + 1)]
        later = [
            sourced_write(drawn_head(2, n), *([drawn_head(2, n - 1)] if n > 1 else []), note=n)
            for n in range(1, size + 1)
        ]
        form = folded(*made).dump()

        def apply() -> None:
            fold = ConditionalFold.load(form)
            for write in later:
                fold.apply_operation(write, CHAINS)
            fold.row(lambda item: False, CHAINS)

        return apply

    assert_linear(work, 200)
