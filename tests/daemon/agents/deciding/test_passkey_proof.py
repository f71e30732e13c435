"""Verdicts with a passkey: what has to be signed, and that no other assertion will do."""

from collections.abc import Callable
from functools import partial

import pytest

from daemon.agents.deciding import decisions
from daemon.agents.deciding.decision_result import DecisionOutcome, DecisionResult
from daemon.agents.deciding.passkey_proof import PasskeyNeeded, PasskeyProof
from daemon.agents.person import lifecycle, passkeys, presence_edits
from daemon.refusal import Refused
from store.fold.verdicts import DecisionStatus
from store.transaction import Transaction
from syncproto.ids import EntityId, derived_id, id_to_text
from tests.support.authenticator import Authenticator
from tests.support.fleet import Fleet, Home
from tests.support.questions import asked

FINGER = Authenticator.with_p256(1)
OTHER = Authenticator.with_ed25519(2)


def add(home: Home, authenticator: Authenticator, proof: PasskeyProof | None = None) -> EntityId:
    return home.write(
        lambda tx: passkeys.add_passkey(tx, authenticator.passkey, b"c", "Finger", proof or PasskeyProof())
    )


@pytest.fixture
def guarded(fleet: Fleet, a: Home, task: EntityId) -> EntityId:
    """A task whose agent works on `a`, and whose proposals need a passkey."""
    a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules"))
    add(a, FINGER)
    agent = derived_id("agent", id_to_text(task), time_of=task)
    a.write(lambda tx: presence_edits.set_presence(tx, agent, "all", "passkey", has_other_devices=False))
    fleet.sync()
    return task


def needed_by(
    home: Home, verb: Callable[..., DecisionResult], item: EntityId, proof: PasskeyProof | None = None
) -> tuple[bytes, ...]:
    """Return what a verdict needs signed."""
    with pytest.raises(PasskeyNeeded) as needed:
        home.write(partial(verb, item=item, via="web", proof=proof or PasskeyProof()))
    return needed.value.challenges


def signed(challenges: tuple[bytes, ...], authenticator: Authenticator = FINGER) -> PasskeyProof:
    return PasskeyProof({challenge: authenticator.answer(challenge) for challenge in challenges})


def confirm(home: Home, item: EntityId, proof: PasskeyProof) -> DecisionOutcome:
    return home.write(partial(decisions.confirm, item=item, via="web", proof=proof)).result


def test_a_signed_verdict_counts_on_every_device(fleet: Fleet, a: Home, b: Home, guarded: EntityId):
    item = a.estimate(guarded, 120)
    before = a.read(lambda snapshot: snapshot.counts().commits)
    challenges = needed_by(a, decisions.confirm, item)
    assert a.read(lambda snapshot: snapshot.counts().commits) == before
    assert confirm(a, item, signed(challenges)) is DecisionOutcome.APPLIED
    fleet.sync()
    for home in (a, b):
        assert home.value(guarded, "estimate_minutes") == 120
        assert home.item(item).status is DecisionStatus.CONFIRMED


def test_no_other_signature_will_do(fleet: Fleet, a: Home, guarded: EntityId):
    first, second = a.estimate(guarded, 120), a.add(guarded, "Buy paper", "another run")
    challenges = needed_by(a, decisions.confirm, first)
    stranger = Authenticator.with_p256(9)
    for proof in (
        signed(challenges, stranger),
        PasskeyProof({challenges[0]: FINGER.answer(b"x" * 32)}),
        PasskeyProof({challenges[0]: FINGER.answer(challenges[0], flags=1)}),
        PasskeyProof({challenges[0]: FINGER.answer(challenges[0], rp_id="elsewhere.example")}),
        signed(needed_by(a, decisions.confirm, second)),
        signed(needed_by(a, decisions.reject, first)),
    ):
        assert needed_by(a, decisions.confirm, first, proof) == challenges
    assert a.value(guarded, "estimate_minutes") == 60
    fleet.sync()


def test_a_signature_is_for_one_verdict_and_cannot_be_played_again(
    fleet: Fleet, a: Home, b: Home, guarded: EntityId
):
    item = a.estimate(guarded, 120)
    proof = signed(needed_by(a, decisions.confirm, item))
    assert confirm(a, item, proof) is DecisionOutcome.APPLIED
    undo = signed(needed_by(a, decisions.undo, item))
    assert (
        a.write(partial(decisions.undo, item=item, via="web", proof=undo)).result is DecisionOutcome.APPLIED
    )
    reopened = signed(needed_by(a, decisions.reopen, item))
    a.write(partial(decisions.reopen, item=item, via="web", proof=reopened))
    assert a.item(item).status is DecisionStatus.PENDING
    assert needed_by(a, decisions.confirm, item, proof)
    fleet.sync()
    # Nor on another device: it is signed for the device that decides.
    assert needed_by(b, decisions.confirm, item, proof)


def test_another_verdict_meanwhile_asks_anew(fleet: Fleet, a: Home, b: Home, guarded: EntityId):
    item = a.estimate(guarded, 120)
    fleet.sync()
    proof = signed(needed_by(a, decisions.confirm, item))
    refusal = signed(needed_by(b, decisions.defer, item))
    b.write(partial(decisions.defer, item=item, via="web", proof=refusal))
    fleet.sync()
    assert needed_by(a, decisions.confirm, item, proof)


def test_an_answer_signs_for_the_answers_that_it_refuses(fleet: Fleet, a: Home, b: Home, guarded: EntityId):
    first, *others = asked(a, guarded)
    challenges = needed_by(a, decisions.confirm, first)
    assert len(challenges) == 1 + len(others)
    first_alone = signed(challenges[:1])
    assert needed_by(a, decisions.confirm, first, first_alone) == challenges[1:]
    assert confirm(a, first, signed(challenges)) is DecisionOutcome.APPLIED
    fleet.sync()
    for home in (a, b):
        assert home.item(first).status is DecisionStatus.CONFIRMED
        assert {home.item(other).status for other in others} == {DecisionStatus.REJECTED}


def test_a_face_that_cannot_ask_keeps_an_idle_verdict(a: Home, guarded: EntityId):
    item = a.estimate(guarded, 120)
    result = a.write(partial(decisions.confirm, item=item, via="cli"))
    assert (result.result, result.challenges) == (DecisionOutcome.NOT_COUNTED, [])
    # The passkey's verdict comes after it, and counts.
    assert confirm(a, item, signed(needed_by(a, decisions.confirm, item))) is DecisionOutcome.APPLIED


def test_a_removed_passkey_is_not_taken_and_its_verdicts_stay(
    fleet: Fleet, a: Home, b: Home, guarded: EntityId
):
    item, later = a.estimate(guarded, 120), a.add(guarded, "Buy paper", "another run")
    confirm(a, item, signed(needed_by(a, decisions.confirm, item)))
    fleet.sync()
    # On the home of the agent it takes a passkey; on another device it does not.
    with pytest.raises(PasskeyNeeded):
        a.write(lambda tx: passkeys.remove_passkey(tx, FINGER.passkey.id, PasskeyProof()))
    b.write(lambda tx: passkeys.remove_passkey(tx, FINGER.passkey.id, PasskeyProof()))
    fleet.sync()
    assert needed_by(a, decisions.confirm, later, signed(needed_by(a, decisions.confirm, later)))
    assert a.item(item).status is DecisionStatus.CONFIRMED
    assert a.read(passkeys.list_passkeys) == []


def test_a_further_passkey_is_vouched_for_on_the_home_of_a_guarded_agent(
    fleet: Fleet, a: Home, b: Home, guarded: EntityId
):
    with pytest.raises(PasskeyNeeded) as needed:
        add(a, OTHER)
    with pytest.raises(PasskeyNeeded):
        add(a, OTHER, signed(needed.value.challenges, OTHER))
    assert add(a, OTHER, signed(needed.value.challenges)) == OTHER.passkey.id
    third_passkey = Authenticator.with_ed25519(3)
    with pytest.raises(PasskeyNeeded):
        add(a, third_passkey, signed(needed.value.challenges))
    assert add(b, third_passkey) == third_passkey.passkey.id
    fleet.sync()
    assert [listed.name for listed in a.read(passkeys.list_passkeys)] == ["Finger"] * 3


def test_a_name_that_nobody_can_read_is_refused(a: Home):
    for name in ("", " ", "x" * 61, "a\nb\u202e"):
        add_named = partial(
            passkeys.add_passkey, passkey=OTHER.passkey, credential=b"c", name=name, proof=PasskeyProof()
        )
        with pytest.raises(Refused):
            a.write(add_named)


def test_one_that_was_removed_can_be_added_again(a: Home):
    def again(tx: Transaction) -> EntityId:
        return passkeys.add_passkey(tx, OTHER.passkey, b"d", "Back", PasskeyProof())

    add(a, OTHER)
    a.write(lambda tx: passkeys.remove_passkey(tx, OTHER.passkey.id, PasskeyProof()))
    with pytest.raises(Refused):
        a.write(lambda tx: passkeys.remove_passkey(tx, OTHER.passkey.id, PasskeyProof()))
    a.write(again)
    (listed,) = a.read(passkeys.list_passkeys)
    assert (listed.name, listed.credential) == ("Back", b"d".hex())
