"""Arguments that change after a verdict: whatever the change is, the use is answered `changed`.

Never asks the program which arguments are the same: `spelled` compares what JSON can say, and nothing else.
"""

import json
import unicodedata
from collections.abc import Callable
from typing import Any, Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from daemon.agents.asks.ask_record import hash_of_args, read_ask
from daemon.agents.asks.use_rule import UseResult
from daemon.agents.person import external_agents
from daemon.agents.receipts.receipt_builder import make_receipt
from daemon.agents.receipts.receipt_check import check_receipt
from daemon.agents.receipts.receipt_form import ReceiptFault
from daemon.refusal import Refused
from store.fold.verdicts import Verdict
from syncproto.ids import EntityId, ReplicaId
from tests.support import asks, outside
from tests.support.fleet import Home

NAME: Final = "send_mail"
FORMS: Final = ("NFC", "NFD", "NFKC", "NFKD")
SAFE: Final = (1 << 53) - 1

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6) | st.sampled_from(
    ["é", "e\u0301", "ﬁ", "Å", "\u212b", "1", "true", "null", "", "a\u200bb", "\u202e"]
)
numbers = st.integers(-SAFE, SAFE) | st.floats(allow_nan=False, allow_infinity=False).filter(
    lambda number: abs(number) <= SAFE
)
leaves = st.none() | st.booleans() | st.sampled_from([0, 1, 0.0, 1.0, -0.0]) | numbers | texts
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
arguments = st.dictionaries(texts, values, max_size=4)


def spelled(value: Any) -> Any:
    """Return a value so that two are equal if JSON says the same by them, in whatever order of names."""
    match value:
        case bool():
            return "boolean", value
        case int() | float():
            return "number", float(value) + 0.0
        case dict():
            return "object", sorted((name, spelled(member)) for name, member in value.items())
        case list():
            return "array", [spelled(member) for member in value]
    return type(value).__name__, value


def reordered(value: Any) -> Any:
    """Return a value with the names of all its objects in the opposite order."""
    if isinstance(value, dict):
        return {name: reordered(value[name]) for name in reversed(value)}
    return [reordered(member) for member in value] if isinstance(value, list) else value


def of_other_type(leaf: Any) -> list[Any]:
    """Return values that look like this one, and are of another type, or not there."""
    as_text = leaf if isinstance(leaf, str) else json.dumps(leaf)
    number = float(leaf) if isinstance(leaf, bool | int | float) else 0.0
    normal_forms = [unicodedata.normalize(form, as_text) for form in FORMS]
    return [None, bool(leaf), int(number), number, as_text, [leaf], {"": leaf}, *normal_forms]


@st.composite
def changed(draw: st.DrawFn, value: Any) -> Any:
    """Draw a change somewhere in a value: a member that is added, lost, moved, or of another type or form."""
    if not isinstance(value, dict | list) or draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from(of_other_type(value)) | values)
    members = dict(value) if isinstance(value, dict) else dict(enumerate(value))
    match draw(st.sampled_from(["inside", "inside", "added", "lost", "renamed", "swapped"])):
        case "added":
            members[draw(texts) if isinstance(value, dict) else len(members)] = draw(leaves)
        case how if members:
            key = draw(st.sampled_from(list(members)))
            other = draw(st.sampled_from(list(members)))
            if how == "lost":
                del members[key]
            elif how == "swapped":
                members[key], members[other] = members[other], members[key]
            elif how == "renamed" and isinstance(key, str):
                member = members.pop(key)
                members[unicodedata.normalize(draw(st.sampled_from(FORMS)), key + draw(texts))] = member
            else:
                members[key] = draw(changed(members[key]))
    return members if isinstance(value, dict) else list(members.values())


@st.composite
def pairs(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """Draw arguments, and arguments with one to three changes in them."""
    first = draw(arguments)
    second: Any = first
    for _ in range(draw(st.integers(1, 3))):
        second = draw(changed(second))
    return first, second if isinstance(second, dict) else {"args": second}


@pytest.fixture
def agent(a: Home) -> EntityId:
    """An agent of another maker that only asks, as often as it likes."""
    identifier = outside.added(a, scope="none")
    a.write(lambda tx: external_agents.set_daily_limits(tx, identifier, {"asks": 1 << 20, "bytes": 1 << 30}))
    return identifier


@pytest.fixture
def permitted(a: Home, agent: EntityId) -> Callable[..., tuple[EntityId, str, ReplicaId]]:
    """Ask for the permission to do something with arguments, and permit it, with an edit or without."""
    keys = iter(range(1 << 20))

    def permit(args: dict[str, Any], edit: dict[str, Any] | None = None) -> tuple[EntityId, str, ReplicaId]:
        key = f"key {next(keys)}"
        ask = asks.asked(a, agent, key=key, name=NAME, args=args)
        asks.decided(a, ask, Verdict.CONFIRMED, edit=edit)
        stored = a.read(lambda snapshot: read_ask(snapshot, ask))
        assert stored is not None
        return ask, key, stored.replica

    return permit


def test_whatever_changes_after_a_verdict_is_answered_changed_and_the_same_is_granted(
    a: Home, permitted: Callable[..., tuple[EntityId, str, ReplicaId]]
) -> None:
    @given(pairs())
    @example(({"copies": 1}, {"copies": True}))
    @example(({"copies": 1}, {"copies": "1"}))
    @example(({"copies": 1}, {"copies": 1.0}))
    @example(({"copies": 1}, {"copies": 1, "to": None}))
    @example(({"to": "\u00e9"}, {"to": "e\u0301"}))
    @example(({"to": {"a": [1, 2]}}, {"to": {"a": [2, 1]}}))
    def of_each(pair: tuple[dict[str, Any], dict[str, Any]]) -> None:
        args, other = pair
        ask, _, replica = permitted(args)
        is_same = spelled(other) == spelled(args)
        other_hash = hash_of_args(NAME, other, replica)
        assert (other_hash == hash_of_args(NAME, args, replica)) == is_same
        if not is_same:
            assert asks.used(a, ask, args_hash=other_hash).result is UseResult.CHANGED
        for changed_hash in (hash_of_args("send_mails", args, replica), bytes(32)):
            assert asks.used(a, ask, args_hash=changed_hash).result is UseResult.CHANGED
        same_hash = hash_of_args(NAME, json.loads(json.dumps(reordered(args))), replica)
        granted = asks.used(a, ask, args_hash=same_hash)
        assert granted.result is UseResult.GRANTED
        assert spelled(granted.args) == spelled(args)
        if not is_same:
            assert asks.used(a, ask, args_hash=other_hash).result is UseResult.CHANGED
            assert asks.used(a, ask, "run 2", args_hash=other_hash).result is UseResult.ALREADY_USED

    of_each()


def test_of_edited_arguments_only_those_of_the_person_are_granted(
    a: Home, permitted: Callable[..., tuple[EntityId, str, ReplicaId]]
) -> None:
    @given(arguments, arguments)
    def of_each(args: dict[str, Any], edit: dict[str, Any]) -> None:
        ask, _, replica = permitted(args, edit)
        wanted = {**args, **edit}
        for other in (args, edit):
            if spelled(other) != spelled(wanted):
                other_hash = hash_of_args(NAME, other, replica)
                assert asks.used(a, ask, args_hash=other_hash).result is UseResult.CHANGED
        granted = asks.used(a, ask, args_hash=hash_of_args(NAME, reordered(wanted), replica))
        assert granted.result is UseResult.GRANTED
        assert spelled(granted.args) == spelled(wanted)

    of_each()


def test_a_key_that_was_used_with_other_arguments_is_refused(
    a: Home, agent: EntityId, permitted: Callable[..., tuple[EntityId, str, ReplicaId]]
) -> None:
    """Old: for Python 1 and true are equal, so what said the one passed for the ask that said the other."""

    @given(pairs())
    @example(({"copies": 1}, {"copies": True}))
    @example(({"to": [{"n": False}]}, {"to": [{"n": 0.0}]}))
    def of_each(pair: tuple[dict[str, Any], dict[str, Any]]) -> None:
        args, other = pair
        ask, key, _ = permitted(args)
        assert asks.asked(a, agent, key=key, name=NAME, args=reordered(args)) == ask
        if spelled(other) == spelled(args):
            assert asks.asked(a, agent, key=key, name=NAME, args=other) == ask
        else:
            with pytest.raises(Refused, match="asked something else"):
                asks.asked(a, agent, key=key, name=NAME, args=other)

    of_each()


def test_no_receipt_states_other_arguments(
    a: Home, permitted: Callable[..., tuple[EntityId, str, ReplicaId]]
) -> None:
    @given(pairs())
    @example(({"copies": 1}, {"copies": True}))
    def of_each(pair: tuple[dict[str, Any], dict[str, Any]]) -> None:
        args, other = pair
        ask, _, _ = permitted(args)
        receipt = a.read(lambda snapshot: make_receipt(snapshot, ask))
        assert spelled(check_receipt(json.dumps(receipt).encode())["args"]) == spelled(args)
        if spelled(other) != spelled(args):
            receipt["statement"]["args"] = other
            with pytest.raises(ReceiptFault, match="states something else"):
                check_receipt(json.dumps(receipt).encode())

    of_each()
