"""Holds syncproto and store to the vector files, and the files to the second implementation.

Never skips a case: each has a class of outcome, and what is not `ok` must be refused where its class says.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from store.fold import proposal_index
from store.fold.verdicts import Opinion, Verdict
from store.store import Store
from store.transaction import Transaction
from syncproto import codec, commit, hlc, ids, keys, messages, vector_clock
from syncproto.commit import AuthorKind, SignedCommit
from syncproto.errors import RemoteProtocolError
from syncproto.vector_clock import Head
from tests.support.counted_verdicts import counted_status
from tests.support.model_chains import ModelChains
from tests.vectors import generate, known_folds, portable

_any = msgspec.msgpack.Decoder()


def cases(name: str, *, ok: bool | None = None) -> Callable[[Any], Any]:
    """Run a test for each case of a file; `ok` leaves out those of the other outcome."""
    document = json.loads(generate.path(name).read_text("utf-8"))
    chosen = [case for case in document if ok is None or (case["outcome"] == "ok") is ok]
    assert chosen
    return pytest.mark.parametrize(
        "case", [pytest.param(case, id=str(case.get("name", place))) for place, case in enumerate(chosen)]
    )


@pytest.mark.parametrize("name", generate.FILES)
def test_the_second_implementation_writes_the_same_file_again(name):
    assert generate.text(name) == generate.path(name).read_text("utf-8")


def test_what_changes_a_fold_has_a_new_protocol_version():
    remembered = known_folds.read()
    assert (remembered["version"], known_folds.VERSION) == (messages.VERSIONS[-1],) * 2
    assert not known_folds.changed_cases(remembered, generate.present_folds()), (
        "raise the version: PROTOCOL.md §11"
    )
    assert remembered["cases"] == generate.present_folds(), "run `python -m tests.vectors.generate`"


# -- ids, keys, stamps --------------------------------------------------------------------------------


@cases("ids", ok=True)
def test_an_id_is_made_and_written_as_specified(case):
    identifier = ids.uuid7(case["ms"], bytes.fromhex(case["randomness"]))
    assert identifier.hex() == case["id"]
    assert ids.id_to_text(identifier) == case["text"]
    assert ids.id_from_text(case["text"]) == identifier


@cases("ids", ok=False)
def test_a_text_that_is_no_id_is_refused(case):
    with pytest.raises(ValueError, match="not an id"):
        ids.id_from_text(case["text"])


@cases("derived_ids")
def test_an_id_is_derived_as_specified(case):
    time_of = ids.EntityId(bytes.fromhex(case["time_of"]))
    assert ids.tagged_digest(case["tag"], *case["parts"]).hex() == case["digest"]
    assert ids.derived_id(case["tag"], *case["parts"], time_of=time_of).hex() == case["id"]


@cases("replica_ids")
def test_a_replica_is_named_by_its_key_and_nonce_as_specified(case):
    key, nonce = bytes.fromhex(case["public_key"]), bytes.fromhex(case["nonce"])
    assert ids.replica_id(case["ms"], key, nonce).hex() == case["id"]


@cases("devices")
def test_a_device_is_named_by_its_key_as_specified(case):
    signer = keys.Signer(bytes.fromhex(case["seed"]))
    assert signer.public_key.hex() == case["public_key"]
    assert signer.device.hex() == keys.device_id_of_key(signer.public_key).hex() == case["device"]


@cases("stamps")
def test_a_stamp_goes_on_as_specified(case):
    last, now_ms = hlc.Stamp(*case["last"]), case["now_ms"]
    if case["op"] == "tick":
        stamp = hlc.tick(last, now_ms)
    else:
        stamp = hlc.follow(last, [hlc.Stamp(*case["seen"])], now_ms)
    assert list(stamp) == case["stamp"]


# -- bytes --------------------------------------------------------------------------------------------


@cases("values", ok=True)
def test_a_value_has_its_one_form(case):
    raw = portable.from_raw(case["bytes"])
    value = codec.decode(raw, _any, commit.COMMIT_ITEMS_MAX)
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
        codec.check_value(codec.decode(raw, _any, commit.COMMIT_ITEMS_MAX))


def _read_commit(case: dict[str, Any]) -> commit.DecodedCommit:
    signature = bytes.fromhex(case.get("signature", ""))
    return commit.decode_commit(SignedCommit(portable.from_raw(case["body"]), signature))


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
    raw = portable.from_raw(case.get("whole", case["body"]))
    received = commit.decode_commit(SignedCommit(raw, b""))
    assert received.hash.hex() == case["hash"]
    if case["name"] != "a dropped value of which nobody ever saw more":
        assert commit.encode_commit(received.commit).hash == received.hash
    names = {
        operation.entity: _shrunk(operation, _read_commit(case)) for operation in received.commit.operations
    }
    assert commit.redact_values(received.commit, names) == portable.from_raw(case["body"])


def _shrunk(operation: commit.Operation, received: commit.DecodedCommit) -> set[str]:
    """Return the fields of an operation that another form of its commit lacks."""
    (left,) = [
        listed_operation
        for listed_operation in received.commit.operations
        if listed_operation.entity == operation.entity
    ]
    return {name for name, value in left.fields.items() if value != operation.fields[name]}


def _with_tuples(layout: list[Any]) -> list[Any]:
    """Lay out a commit's stamp and bases as msgspec does: as tuples."""
    *head, stamp, author, key, operations = layout
    document = [
        [operation[0], operation[1], tuple(map(tuple, operation[2])), *operation[3:]]
        for operation in operations
    ]
    return [*head, tuple(stamp), author, key, document]


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
    message = messages.decode_message(raw)
    assert messages.encode_message(message) == raw
    plain = codec.decode_trusted(codec.encode(message))
    assert plain == portable.from_value(case["frame"])


@cases("frames", ok=False)
def test_a_frame_that_breaks_a_rule_is_refused(case):
    with pytest.raises(RemoteProtocolError):
        messages.decode_message(portable.from_raw(case["bytes"]))


# -- meaning ------------------------------------------------------------------------------------------


def _clocks() -> tuple[list[Head], ModelChains, dict[str, Any]]:
    case = json.loads(generate.path("clocks").read_text("utf-8"))
    heads = [Head(*element) for element in portable.from_value(case["heads"])]
    before = [None if place is None else heads[place] for place in case["before"]]
    return heads, ModelChains(dict(zip(heads, before, strict=True))), case


def test_a_clock_covers_what_is_specified():
    heads, chains, case = _clocks()
    for cover in case["covers"]:
        clock = tuple(heads[place] for place in cover["clock"])
        places = [place for place, head in enumerate(heads) if vector_clock.covers(clock, head, chains)]
        assert places == cover["covers"]


def test_clocks_unite_as_specified():
    heads, chains, case = _clocks()
    for union in case["unions"]:
        left, right = (tuple(heads[place] for place in union[side]) for side in ("one", "other"))
        expected = tuple(heads[place] for place in union["union"])
        assert vector_clock.merge_clocks(left, right, chains) == expected
        assert vector_clock.merge_clocks(right, left, chains) == expected
        assert vector_clock.is_covered_by_any(left, [expected], chains)


@cases("verdicts")
def test_decisions_fold_as_specified(case):
    names = {decision["decision"] for decision in case["decisions"]} | {
        observed for decision in case["decisions"] for observed in decision["seen"]
    }
    identifiers = {name: ids.EntityId(name.encode().ljust(ids.ID_BYTES)) for name in names}
    opinions = [
        Opinion(
            identifiers[decision["decision"]],
            Verdict(decision["verdict"]),
            AuthorKind(decision["by"]),
            frozenset(identifiers[observed] for observed in decision["seen"]),
        )
        for decision in case["decisions"]
    ]
    for order in (opinions, opinions[::-1]):
        standing = counted_status(order)
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
                assert transaction.accept_page(_signed(page["commits"])).new_commits == page["new"]
        else:
            with pytest.raises(RemoteProtocolError), store.write() as transaction:
                transaction.accept_page(_signed(page["commits"]))
            assert _standing(store) == before
    with store.write() as transaction:
        assert [list(head) for head in transaction.vector()] == portable.from_value(case["vector"])
        assert _signatures(transaction) == case["signatures"]
    store.close()


def _standing(store: Store) -> tuple[Any, ...]:
    with store.write() as transaction:
        return transaction.vector(), transaction.state_hash(), transaction.counts()


def _signatures(transaction: Transaction) -> dict[str, str]:
    commits = transaction.log.feed_commits(0, 100)
    signed = ((entry.head, entry.signed.signature) for entry in commits if entry.signed.signature)
    return {_head_key(head): signature.hex() for head, signature in signed}


def _head_key(head: Head) -> str:
    return f"{head.replica.hex()}:{head.counter}:{head.hash.hex()}"


@pytest.mark.parametrize("full", [True, False], ids=["in one page", "a commit at a time"])
@cases("states")
def test_a_log_folds_to_the_state_that_is_specified(case, full):
    store, log = memory_store(), _signed(case["commits"])
    for page in [log] if full else [[listed_commit] for listed_commit in log]:
        with store.write() as transaction:
            transaction.accept_page(page)
    with store.write() as transaction:
        assert [list(head) for head in transaction.vector()] == portable.from_value(case["vector"])
        rows: Any = transaction.db.execute("SELECT id, state, visible FROM entity ORDER BY id")
        result = [
            {"id": element.hex(), "state": state.hex(), "visible": bool(observed)}
            for element, state, observed in rows
        ]
        assert result == case["entities"]
        for item in case["items"]:
            standing = proposal_index.read_item_status(
                transaction.db, ids.EntityId(bytes.fromhex(item["id"]))
            )
            assert (standing.status.value, standing.disputed) == (item["status"], item["disputed"])
        assert transaction.state_hash().hex() == case["state_hash"]
    store.close()
