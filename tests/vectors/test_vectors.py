"""Holds syncproto and store to the vector files, and the files to the second implementation.

Never skips a case: each has a class of outcome, and what is not `ok` must be refused where its class says.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from store import proposals
from store.store import Store
from store.transaction import Transaction
from store.verdicts import Opinion, Verdict, fold_verdicts
from syncproto import codec, commit, heads, hlc, ids, keys, messages
from syncproto.commit import By, SignedCommit
from syncproto.faults import RemoteProtocolError
from syncproto.heads import Head
from tests.syncproto.chains import ModelChains
from tests.vectors import generate, portable

_any = msgspec.msgpack.Decoder()


def cases(name: str, *, ok: bool | None = None) -> Callable[[Any], Any]:
    """Run a test for each case of a file; `ok` leaves out those of the other outcome."""
    held = json.loads(generate.path(name).read_text("utf-8"))
    chosen = [case for case in held if ok is None or (case["outcome"] == "ok") is ok]
    assert chosen
    return pytest.mark.parametrize(
        "case", [pytest.param(case, id=str(case.get("name", place))) for place, case in enumerate(chosen)]
    )


@pytest.mark.parametrize("name", generate.FILES)
def test_the_second_implementation_writes_the_same_file_again(name):
    assert generate.text(name) == generate.path(name).read_text("utf-8")


# -- ids, keys, stamps --------------------------------------------------------------------------------


@cases("ids", ok=True)
def test_an_id_is_made_and_written_as_specified(case):
    made = ids.uuid7(case["ms"], bytes.fromhex(case["randomness"]))
    assert made.hex() == case["id"]
    assert ids.text(made) == case["text"]
    assert ids.from_text(case["text"]) == made


@cases("ids", ok=False)
def test_a_text_that_is_no_id_is_refused(case):
    with pytest.raises(ValueError, match="not an id"):
        ids.from_text(case["text"])


@cases("derived_ids")
def test_an_id_is_derived_as_specified(case):
    time_of = ids.EntityId(bytes.fromhex(case["time_of"]))
    assert ids.digest(case["tag"], *case["parts"]).hex() == case["digest"]
    assert ids.derived_id(case["tag"], *case["parts"], time_of=time_of).hex() == case["id"]


@cases("replica_ids")
def test_a_replica_is_named_by_its_key_and_nonce_as_specified(case):
    key, nonce = bytes.fromhex(case["public_key"]), bytes.fromhex(case["nonce"])
    assert ids.replica_id(case["ms"], key, nonce).hex() == case["id"]


@cases("devices")
def test_a_device_is_named_by_its_key_as_specified(case):
    signer = keys.Signer(bytes.fromhex(case["seed"]))
    assert signer.public_key.hex() == case["public_key"]
    assert signer.device.hex() == keys.device_id(signer.public_key).hex() == case["device"]


@cases("stamps")
def test_a_stamp_goes_on_as_specified(case):
    last, now_ms = hlc.Stamp(*case["last"]), case["now_ms"]
    if case["op"] == "tick":
        found = hlc.tick(last, now_ms)
    else:
        found = hlc.follow(last, [hlc.Stamp(*case["seen"])], now_ms)
    assert list(found) == case["stamp"]


# -- bytes --------------------------------------------------------------------------------------------


@cases("values", ok=True)
def test_a_value_has_its_one_form(case):
    raw = portable.from_raw(case["bytes"])
    value = codec.decode(raw, _any, commit.ITEMS_MAX)
    codec.check_value(value)
    assert codec.encode(value) == raw
    if "value" in case:
        expected = portable.from_value(case["value"])
        assert codec.encode(expected) == raw
        assert repr(value) == repr(expected) or value == expected


@cases("values", ok=False)
def test_bytes_that_are_no_value_are_refused(case):
    raw = portable.from_raw(case["bytes"])
    with pytest.raises(RemoteProtocolError):
        codec.check_value(codec.decode(raw, _any, commit.ITEMS_MAX))


def _read_commit(case: dict[str, Any]) -> commit.Received:
    signature = bytes.fromhex(case.get("signature", ""))
    return commit.read(SignedCommit(portable.from_raw(case["body"]), signature))


@cases("commits", ok=True)
def test_a_commit_is_read_hashed_and_verified_as_specified(case):
    received = _read_commit(case)
    assert received.hash.hex() == case["hash"]
    assert list(received.head) == portable.from_value(case["head"])
    assert commit.signature_holds(received, bytes.fromhex(case["public_key"]))
    assert codec.encode(received.commit) == received.signed.body
    if case["commit"] is not None:
        layout = portable.from_value(case["commit"])
        plain = msgspec.to_builtins(received.commit, builtin_types=(bytes,), enc_hook=_dropped)
        assert plain == _with_tuples(layout)


def _dropped(value: codec.Redacted) -> dict[str, str]:
    return {"$dropped": value.digest.hex()}


@cases("commits", ok=True)
def test_a_commit_that_lost_values_is_the_same_commit(case):
    whole = portable.from_raw(case.get("whole", case["body"]))
    received = commit.read(SignedCommit(whole, b""))
    assert received.hash.hex() == case["hash"]
    if case["name"] != "a dropped value of which nobody ever saw more":
        assert commit.seal(received.commit).hash == received.hash
    names = {one.entity: _shrunk(one, _read_commit(case)) for one in received.commit.operations}
    assert commit.redact(received.commit, names) == portable.from_raw(case["body"])


def _shrunk(whole: commit.Operation, received: commit.Received) -> set[str]:
    """Return the fields of an operation that another form of its commit lacks."""
    (left,) = [one for one in received.commit.operations if one.entity == whole.entity]
    return {name for name, value in left.fields.items() if value != whole.fields[name]}


def _with_tuples(layout: list[Any]) -> list[Any]:
    """Lay out a commit's stamp and bases as msgspec does: as tuples."""
    *head, stamp, author, key, operations = layout
    written = [[one[0], one[1], tuple(map(tuple, one[2])), *one[3:]] for one in operations]
    return [*head, tuple(stamp), author, key, written]


@cases("commits", ok=False)
def test_a_commit_that_breaks_a_rule_is_refused(case):
    if case["outcome"] == "bad-signature":
        assert not commit.signature_holds(_read_commit(case), bytes.fromhex(case["public_key"]))
        return
    with pytest.raises(RemoteProtocolError):
        _read_commit(case)


@cases("frames", ok=True)
def test_a_frame_is_read_and_written_as_specified(case):
    raw = bytes.fromhex(case["bytes"])
    message = messages.read(raw)
    assert messages.write(message) == raw
    plain = codec.plain(codec.encode(message))
    assert plain == portable.from_value(case["frame"])


@cases("frames", ok=False)
def test_a_frame_that_breaks_a_rule_is_refused(case):
    with pytest.raises(RemoteProtocolError):
        messages.read(portable.from_raw(case["bytes"]))


# -- meaning ------------------------------------------------------------------------------------------


def _clocks() -> tuple[list[Head], ModelChains, dict[str, Any]]:
    case = json.loads(generate.path("clocks").read_text("utf-8"))
    held = [Head(*one) for one in portable.from_value(case["heads"])]
    before = [None if place is None else held[place] for place in case["before"]]
    return held, ModelChains(dict(zip(held, before, strict=True))), case


def test_a_clock_covers_what_is_specified():
    held, chains, case = _clocks()
    for one in case["covers"]:
        clock = tuple(held[place] for place in one["clock"])
        found = [place for place, head in enumerate(held) if heads.covers(clock, head, chains)]
        assert found == one["covers"]


def test_clocks_unite_as_specified():
    held, chains, case = _clocks()
    for one in case["unions"]:
        left, right = (tuple(held[place] for place in one[side]) for side in ("one", "other"))
        expected = tuple(held[place] for place in one["union"])
        assert heads.union(left, right, chains) == expected
        assert heads.union(right, left, chains) == expected
        assert heads.within(left, [expected], chains)


@cases("verdicts")
def test_decisions_fold_as_specified(case):
    names = {one["decision"] for one in case["decisions"]} | {
        seen for one in case["decisions"] for seen in one["seen"]
    }
    named = {name: ids.EntityId(name.encode().ljust(ids.ID_BYTES)) for name in names}
    opinions = [
        Opinion(
            named[one["decision"]],
            Verdict(one["verdict"]),
            By(one["by"]),
            frozenset(named[seen] for seen in one["seen"]),
        )
        for one in case["decisions"]
    ]
    for order in (opinions, opinions[::-1]):
        standing = fold_verdicts(order)
        assert {"status": standing.status.value, "disputed": standing.disputed} == case["standing"]


def memory_store() -> Store:
    """Open a store that is gone when it is closed."""
    return Store.open(
        Path(":memory:"),
        signer=keys.Signer(bytes(32)),
        now_ms=lambda: 1_750_000_000_000,
        randomness=bytes,
    )


def _signed(commits: list[list[Any]]) -> list[SignedCommit]:
    return [SignedCommit(portable.from_raw(body), bytes.fromhex(signature)) for body, signature in commits]


@cases("pages")
def test_pages_are_taken_or_refused_as_specified(case):
    store = memory_store()
    for page in case["pages"]:
        before = _standing(store)
        if page["outcome"] == "ok":
            with store.write() as transaction:
                assert transaction.take(_signed(page["commits"])).new == page["new"]
        else:
            with pytest.raises(RemoteProtocolError), store.write() as transaction:
                transaction.take(_signed(page["commits"]))
            assert _standing(store) == before
    with store.write() as transaction:
        assert [list(head) for head in transaction.vector()] == portable.from_value(case["vector"])
        assert _signatures(transaction) == case["signatures"]
    store.close()


def _standing(store: Store) -> tuple[Any, ...]:
    with store.write() as transaction:
        return transaction.vector(), transaction.state_hash(), transaction.counts()


def _signatures(transaction: Transaction) -> dict[str, str]:
    kept = transaction.log.commits(0, 100)
    return {
        f"{one.head.replica.hex()}:{one.head.counter}:{one.head.hash8.hex()}": one.signed.signature.hex()
        for one in kept
        if one.signed.signature
    }


@pytest.mark.parametrize("whole", [True, False], ids=["in one page", "a commit at a time"])
@cases("states")
def test_a_log_folds_to_the_state_that_is_specified(case, whole):
    store, log = memory_store(), _signed(case["commits"])
    for page in [log] if whole else [[one] for one in log]:
        with store.write() as transaction:
            transaction.take(page)
    with store.write() as transaction:
        assert [list(head) for head in transaction.vector()] == portable.from_value(case["vector"])
        rows: Any = transaction.db.execute("SELECT id, state, visible FROM entity ORDER BY id")
        found = [{"id": one.hex(), "state": state.hex(), "visible": bool(seen)} for one, state, seen in rows]
        assert found == case["entities"]
        for item in case["items"]:
            standing = proposals.standing(transaction.db, ids.EntityId(bytes.fromhex(item["id"])))
            assert (standing.status.value, standing.disputed) == (item["status"], item["disputed"])
        assert transaction.state_hash().hex() == case["state_hash"]
    store.close()
