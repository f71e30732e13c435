"""What a verdict needs in order to count: another device than the agent's, or a passkey."""

import random
from collections.abc import Callable

import pytest

from store.fold.item_name import ItemName, Presence, Requirement, ask_id, fields_of_name
from store.fold.verdicts import DecisionStatus, ItemStatus
from store.store import Store
from store.transaction import EntityWrite
from syncproto.assertion import ASSERTION_FIELD, assertion_value, decision_challenge
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId
from syncproto.vector_clock import EMPTY_CLOCK
from tests.support.authenticator import Authenticator
from tests.support.stores import (
    NOW_MS,
    StoreBench,
    assert_store_is_whole,
    entity_id,
    exchange,
    log_and_state,
    signer_of,
)

TASK = entity_id(1)
HOME = signer_of("home").device
EXPIRES_MS = NOW_MS + 1000
PASSKEY = Authenticator.with_p256(1)
STRANGE = Authenticator.with_ed25519(2)


def name_of(presence: Presence | None) -> ItemName:
    requirement = None if presence is None else Requirement(presence, HOME)
    return ItemName(bytes(range(32)), None, TASK, requirement)


def item_of(presence: Presence | None) -> EntityId:
    return name_of(presence).item_id(time_of=TASK)


def proposal(presence: Presence | None, number: int = 1) -> EntityWrite:
    """Return a change set that proposes the item."""
    item: dict[str, Value] = {"item_id": item_of(presence), "tool": "set_task_title", "args": {"title": "b"}}
    fields: dict[str, Value] = {
        "task_id": TASK,
        "expires_at": EXPIRES_MS,
        "items": [item | fields_of_name(name_of(presence))],
    }
    return EntityWrite(entity_id(800 + number), "change_set", fields, base=EMPTY_CLOCK, by=AuthorKind.AGENT)


def decision(
    presence: Presence | None,
    number: int,
    verdict: str = "confirmed",
    *overruled: int,
    by: AuthorKind = AuthorKind.USER,
    shows: bool = False,
    authenticator: Authenticator | None = None,
    ask: EntityId | None = None,
) -> EntityWrite:
    fields: dict[str, Value] = {
        "item_id": ask or item_of(presence),
        "verdict": verdict,
        "seen": [entity_id(900 + other) for other in overruled],
    }
    if shows:
        fields |= fields_of_name(name_of(presence))
    if authenticator is not None:
        fields[ASSERTION_FIELD] = assertion_value(authenticator.answer(decision_challenge(fields)))
    return EntityWrite(entity_id(900 + number), "decision", fields, base=EMPTY_CLOCK, by=by)


def passkey_entity(authenticator: Authenticator = PASSKEY, by: AuthorKind = AuthorKind.USER) -> EntityWrite:
    passkey = authenticator.passkey
    fields: dict[str, Value] = {"key": passkey.key, "rp_id": passkey.rp_id}
    return EntityWrite(passkey.id, "passkey", fields, base=EMPTY_CLOCK, by=by)


def effect(presence: Presence | None) -> EntityWrite:
    return EntityWrite(TASK, "task", {"title": "b"}, effect=item_of(presence), by=AuthorKind.AGENT)


def write(store: Store, *writes: EntityWrite) -> None:
    with store.write() as tx:
        tx.commit(writes)


def outcome(store: Store, presence: Presence | None) -> tuple[DecisionStatus, object]:
    """Return the status of the item, and the title that it would set."""
    with store.read() as snapshot:
        assert_store_is_whole(snapshot)
        task = snapshot.entity(TASK)
        return snapshot.item_status(item_of(presence)).status, None if task is None else task.value("title")


APPLIED = (DecisionStatus.CONFIRMED, "b")
UNTOUCHED = (DecisionStatus.PENDING, "a")


def a_task(store: Store) -> None:
    write(store, EntityWrite(TASK, "task", {"title": "a"}, base=EMPTY_CLOCK))


def test_without_a_requirement_every_verdict_of_a_person_counts(bench: StoreBench) -> None:
    home = bench.store("home")
    a_task(home)
    write(home, proposal(None))
    write(home, decision(None, 1), effect(None))
    assert outcome(home, None) == APPLIED


def test_a_verdict_of_the_agents_own_device_does_not_count(bench: StoreBench) -> None:
    home, other = bench.store("home"), bench.store("other")
    a_task(home)
    write(home, proposal(Presence.OTHER_DEVICE))
    write(home, decision(Presence.OTHER_DEVICE, 1), effect(Presence.OTHER_DEVICE))
    assert outcome(home, Presence.OTHER_DEVICE) == UNTOUCHED
    exchange(home, other)
    assert outcome(other, Presence.OTHER_DEVICE) == UNTOUCHED
    write(other, decision(Presence.OTHER_DEVICE, 2, "confirmed", 1))
    exchange(other, home)
    assert outcome(other, Presence.OTHER_DEVICE) == outcome(home, Presence.OTHER_DEVICE) == APPLIED


@pytest.mark.parametrize("verdict", ["rejected", "undone", "deferred", "reopened"])
def test_no_verdict_of_the_agents_own_device_touches_one_that_counts(bench: StoreBench, verdict: str) -> None:
    home, other = bench.store("home"), bench.store("other")
    a_task(home)
    write(home, proposal(Presence.OTHER_DEVICE))
    exchange(home, other)
    write(other, decision(Presence.OTHER_DEVICE, 1), effect(Presence.OTHER_DEVICE))
    exchange(other, home)
    write(home, decision(Presence.OTHER_DEVICE, 2, verdict, 1))
    assert outcome(home, Presence.OTHER_DEVICE) == APPLIED


def test_the_agent_may_take_back_and_not_confirm(bench: StoreBench) -> None:
    home = bench.store("home")
    a_task(home)
    write(home, proposal(Presence.OTHER_DEVICE))
    confirmed = decision(Presence.OTHER_DEVICE, 1, by=AuthorKind.AGENT)
    write(home, confirmed, effect(Presence.OTHER_DEVICE))
    assert outcome(home, Presence.OTHER_DEVICE) == UNTOUCHED
    write(home, decision(Presence.OTHER_DEVICE, 2, "retracted", by=AuthorKind.AGENT))
    assert outcome(home, Presence.OTHER_DEVICE) == (DecisionStatus.RETRACTED, "a")


@pytest.mark.parametrize(
    ("authenticator", "registered"), [(None, PASSKEY), (STRANGE, PASSKEY), (PASSKEY, STRANGE)]
)
def test_a_verdict_without_a_known_passkey_does_not_count(
    bench: StoreBench, authenticator: Authenticator | None, registered: Authenticator
) -> None:
    home = bench.store("home")
    a_task(home)
    write(home, passkey_entity(registered), proposal(Presence.PASSKEY))
    write(home, decision(Presence.PASSKEY, 1, authenticator=authenticator), effect(Presence.PASSKEY))
    assert outcome(home, Presence.PASSKEY) == UNTOUCHED


def test_a_verdict_with_a_known_passkey_counts(bench: StoreBench) -> None:
    home = bench.store("home")
    a_task(home)
    write(home, passkey_entity(), proposal(Presence.PASSKEY))
    write(home, decision(Presence.PASSKEY, 1, authenticator=PASSKEY), effect(Presence.PASSKEY))
    assert outcome(home, Presence.PASSKEY) == APPLIED


def test_an_assertion_for_another_item_does_not_count(bench: StoreBench) -> None:
    home = bench.store("home")
    a_task(home)
    write(home, passkey_entity(), proposal(Presence.PASSKEY))
    asserted = decision(Presence.OTHER_DEVICE, 1, authenticator=PASSKEY)
    fields = asserted.fields | {"item_id": item_of(Presence.PASSKEY)}
    write(home, EntityWrite(asserted.entity, "decision", fields, base=EMPTY_CLOCK), effect(Presence.PASSKEY))
    assert outcome(home, Presence.PASSKEY) == UNTOUCHED


def test_an_agent_makes_no_passkey(bench: StoreBench) -> None:
    home = bench.store("home")
    a_task(home)
    write(home, passkey_entity(by=AuthorKind.AGENT), proposal(Presence.PASSKEY))
    write(home, decision(Presence.PASSKEY, 1, authenticator=PASSKEY), effect(Presence.PASSKEY))
    assert outcome(home, Presence.PASSKEY) == UNTOUCHED


def test_a_passkey_that_comes_later_lets_earlier_verdicts_count(bench: StoreBench) -> None:
    home = bench.store("home")
    a_task(home)
    write(home, proposal(Presence.PASSKEY))
    write(home, decision(Presence.PASSKEY, 1, authenticator=PASSKEY), effect(Presence.PASSKEY))
    assert outcome(home, Presence.PASSKEY) == UNTOUCHED
    write(home, passkey_entity())
    assert outcome(home, Presence.PASSKEY) == APPLIED


def test_what_an_item_needs_holds_from_when_it_is_shown(bench: StoreBench) -> None:
    home = bench.store("home")
    a_task(home)
    write(home, decision(Presence.OTHER_DEVICE, 1), effect(Presence.OTHER_DEVICE))
    assert outcome(home, Presence.OTHER_DEVICE) == APPLIED
    write(home, proposal(Presence.OTHER_DEVICE))
    assert outcome(home, Presence.OTHER_DEVICE) == UNTOUCHED
    with home.read() as snapshot:
        item = snapshot.item(item_of(Presence.OTHER_DEVICE))
        assert item is not None
        assert [decided.counts for decided in item.all_decisions] == [False]
        assert not item.decisions
        assert snapshot.open_items(EXPIRES_MS - 1)
        assert not snapshot.open_items(EXPIRES_MS)


@pytest.mark.parametrize(
    "change", [{"home": signer_of("other").device}, {"presence": "passkey"}, {"entity": entity_id(2)}]
)
def test_another_requirement_does_not_fit_an_id(bench: StoreBench, change: dict[str, Value]) -> None:
    home = bench.store("home")
    a_task(home)
    forged = proposal(Presence.OTHER_DEVICE)
    items = forged.fields["items"]
    assert isinstance(items, list)
    assert isinstance(items[0], dict)
    items[0] |= change
    write(home, forged)
    write(home, decision(Presence.OTHER_DEVICE, 1), effect(Presence.OTHER_DEVICE))
    assert outcome(home, Presence.OTHER_DEVICE) == APPLIED


@pytest.mark.parametrize("presence", Presence)
def test_an_ask_says_what_its_verdicts_need(bench: StoreBench, presence: Presence) -> None:
    home = bench.store("home")
    agent = entity_id(7)
    ask = ask_id(agent, "mail 1", HOME, presence)
    fields: dict[str, Value] = {"agent_id": agent, "key": "mail 1", "home": HOME, "presence": presence.value}
    confirmed: dict[str, Value] = {"item_id": ask, "verdict": "confirmed", "seen": []}
    write(home, EntityWrite(ask, "ask", fields, base=EMPTY_CLOCK, by=AuthorKind.AGENT))
    write(home, EntityWrite(entity_id(901), "decision", confirmed, base=EMPTY_CLOCK))
    with home.read() as snapshot:
        assert_store_is_whole(snapshot)
        assert snapshot.item_status(ask).status is DecisionStatus.PENDING


@pytest.mark.parametrize("presence", Presence)
@pytest.mark.parametrize("seed", range(12))
def test_in_which_order_all_of_it_comes_makes_no_difference(
    bench: StoreBench, presence: Presence, seed: int
) -> None:
    stores = [bench.store(name) for name in ("home", "other", "third")]
    dice = random.Random(seed)
    a_task(stores[0])
    made: list[Callable[[], EntityWrite]] = [
        lambda: proposal(presence),
        passkey_entity,
        lambda: effect(presence),
        lambda: decision(presence, 1, authenticator=dice.choice((None, PASSKEY))),
        lambda: decision(presence, 2, "rejected", 1, shows=dice.random() < 0.5),
        lambda: decision(presence, 3, "confirmed", 1, 2, authenticator=dice.choice((PASSKEY, STRANGE))),
        lambda: decision(presence, 4, "undone", 3, by=dice.choice((AuthorKind.USER, AuthorKind.AGENT))),
        lambda: decision(presence, 5, "retracted", by=AuthorKind.AGENT, shows=True),
    ]
    dice.shuffle(made)
    for make in made[: dice.randint(3, len(made))]:
        write(dice.choice(stores), make())
    for receiver in stores * 2:
        for another in dice.sample(stores, len(stores)):
            if receiver is not another:
                exchange(receiver, another, page_bytes=dice.choice((100, 1 << 20)))
    outcomes = {outcome(store, presence) for store in stores}
    assert len(outcomes) == 1
    assert len({log_and_state(store)[:2] for store in stores}) == 1


@pytest.mark.parametrize("presence", Presence)
@pytest.mark.parametrize("seed", range(12))
def test_verdicts_on_an_ask_count_alike_on_every_device_in_whatever_order_they_come(
    bench: StoreBench, presence: Presence, seed: int
) -> None:
    """What counts is said by who signed a verdict, and with which passkey: the fold is not asked."""
    stores = [bench.store(name) for name in ("home", "other", "third")]
    dice = random.Random(seed)
    ask = ask_id(entity_id(7), "mail 1", HOME, presence)
    fields: dict[str, Value] = {"agent_id": entity_id(7), "key": "mail 1", "home": HOME}
    creation = EntityWrite(
        ask, "ask", fields | {"presence": presence.value}, base=EMPTY_CLOCK, by=AuthorKind.AGENT
    )
    made = [(dice.choice(stores), creation), (dice.choice(stores), passkey_entity())]
    expected: dict[EntityId, bool] = {}
    for number in range(1, 9):
        place, by = dice.randrange(3), dice.choice((AuthorKind.USER, AuthorKind.USER, AuthorKind.AGENT))
        verdict = dice.choice(("confirmed", "rejected", "undone", "deferred", "reopened", "retracted"))
        passkey = dice.choice((None, PASSKEY, STRANGE))
        overruled = dice.sample(range(1, number), dice.randrange(number))
        written = decision(presence, number, verdict, *overruled, by=by, authenticator=passkey, ask=ask)
        is_fulfilled = place != 0 if presence is Presence.OTHER_DEVICE else passkey is PASSKEY
        expected[written.entity] = is_fulfilled if by is AuthorKind.USER else verdict == "retracted"
        made.append((stores[place], written))
    dice.shuffle(made)
    for store, written in made:
        write(store, written)
    for receiver in stores * 2:
        for another in dice.sample(stores, len(stores)):
            if receiver is not another:
                exchange(receiver, another, page_bytes=dice.choice((100, 1 << 20)))
    statuses: set[ItemStatus] = set()
    for store in stores:
        with store.read() as snapshot:
            assert_store_is_whole(snapshot)
            assert {heard.id: heard.counts for heard in snapshot.decisions_on(ask)} == expected
            statuses.add(snapshot.item_status(ask))
    assert len(statuses) == 1
    assert len({log_and_state(store)[:2] for store in stores}) == 1
