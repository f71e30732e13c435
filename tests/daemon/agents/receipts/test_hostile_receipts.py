"""Receipts of what an attacker signed with a key of its own: any content, and never a fault of ours."""

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.agents.asks.ask_record import use_id
from daemon.agents.receipts.receipt_check import check_receipt
from daemon.agents.receipts.receipt_form import FORMAT, VERSION, Fact, ReceiptFault
from daemon.agents.receipts.statement import statement_of
from store.fold.item_name import ask_id
from syncproto.commit import Author, AuthorKind, Commit, Operation, encode_commit, sign_commit
from syncproto.errors import LocalProtocolError
from syncproto.hlc import Stamp
from syncproto.ids import EntityId, id_to_text, replica_id
from syncproto.keys import Signer
from syncproto.vector_clock import EMPTY_CLOCK, Head
from tests.support.growth import assert_linear

SIGNER, NONCE = Signer(bytes(range(32))), bytes(32)
REPLICA = replica_id(1_700_000_000_000, SIGNER.public_key, NONCE)
AGENT = EntityId(bytes([1]) * 16)
ASK = ask_id(AGENT, "k", SIGNER.device, None)
NAMES = [ASK, use_id(ASK, REPLICA), AGENT, EntityId(bytes(16))]
FIELDS = (
    *("agent_id", "args", "args_hash", "begins", "device", "edited_args", "entity", "exact", "execution_id"),
    *("expires_at", "fingerprint", "follows", "home", "item_id", "items", "key", "maker", "name", "nonce"),
    *("not_after", "option", "options", "presence", "reason", "rp_id", "rule", "run_key", "seen", "task_id"),
    *("title", "tool", "until", "uses_a_day", "verdict", "via", "why", "assertion"),
)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(1 << 63), (1 << 64) - 1),
    st.sampled_from([*NAMES, SIGNER.device, SIGNER.public_key, bytes(32), b""]),
    st.sampled_from(
        ["confirmed", "rejected", "other_device", "passkey", "add_task", "update_task_estimate", "k"]
    ),
    st.text(max_size=5),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from([*FIELDS, "minutes"]), inner, max_size=4),
    ),
    max_leaves=8,
)
GENUINE: dict[str, dict[str, Any]] = {
    "ask": {"agent_id": AGENT, "key": "k", "home": SIGNER.device, "name": "run", "args": {}, "not_after": 1},
    "change_set": {"task_id": AGENT, "agent_id": AGENT, "items": [{"item_id": ASK, "tool": "add_task"}]},
    "decision": {"item_id": ASK, "verdict": "confirmed", "seen": []},
    "standing_rule": {"agent_id": AGENT, "name": "run", "maker": SIGNER.device},
    "use": {"ask_id": ASK, "execution_id": "x"},
    "passkey": {"key": bytes(32), "rp_id": "localhost"},
}


@st.composite
def operations(draw: st.DrawFn) -> list[Operation]:
    entities = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True))
    made = []
    for entity in entities:
        kind = draw(st.sampled_from(sorted(GENUINE)))
        fields = GENUINE[kind] | draw(st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=4))
        by = draw(st.sampled_from(list(AuthorKind)))
        made.append(Operation(entity, kind, EMPTY_CLOCK, fields, None, by, None))
    return made


def receipt_of(signed: list[Operation], name: EntityId) -> bytes:
    """Return a receipt with one first commit of the attacker's replica, which is signed as it should be."""
    author = Author(AuthorKind.USER)
    stamp = Stamp(1_700_000_000_000, 0)
    commit = encode_commit(Commit(2, REPLICA, 1, NONCE, stamp, author, SIGNER.public_key, signed))
    proof = {
        "key": SIGNER.public_key.hex(),
        "nonce": NONCE.hex(),
        "commits": [base64.b64encode(commit.signed.body).decode()],
        "signature": sign_commit(commit, SIGNER).hex(),
    }
    parts: dict[str, Any] = {"id": id_to_text(name), "follows": None, "statement": {}, "proofs": [proof]}
    return json.dumps({"format": FORMAT, "version": VERSION, **parts}).encode()


@given(operations(), st.sampled_from(NAMES))
def test_any_signed_content_is_stated_or_refused_in_words(signed: list[Operation], name: EntityId) -> None:
    try:
        text = receipt_of(signed, name)
    except LocalProtocolError:
        return
    with pytest.raises(ReceiptFault):
        check_receipt(text)


def test_what_an_attacker_signs_as_it_should_be_is_refused_for_its_statement_alone() -> None:
    """The property above means something only if some of its receipts are read to their end."""
    genuine = Operation(ASK, "ask", EMPTY_CLOCK, GENUINE["ask"], None, AuthorKind.AGENT, None)
    with pytest.raises(ReceiptFault) as refused:
        check_receipt(receipt_of([genuine], ASK))
    assert refused.value.sentence.id == "receipt-statement"


def test_what_a_receipt_costs_grows_with_its_length() -> None:
    """Decisions that name as many rules, and as many uses: an attacker signs whatever it likes."""

    def stating(count: int) -> Callable[[], object]:
        names = [EntityId(number.to_bytes(16, "big")) for number in range(1, 2 * count + 1)]
        verdict = GENUINE["decision"] | {"verdict": "rejected"}
        signed = [
            *[(ASK, "ask", GENUINE["ask"]), (use_id(ASK, REPLICA), "use", GENUINE["use"])],
            *[(name, "standing_rule", {"x": 1}) for name in names[:count]],
            *[(use_id(ASK, REPLICA), "use", GENUINE["use"] | {"x": place}) for place in range(count)],
            *[
                (name, "decision", verdict | {"rule": rule})
                for name, rule in zip(names[count:], names[:count], strict=True)
            ],
        ]
        facts = [
            Fact(
                Operation(entity, kind, EMPTY_CLOCK, fields, None, AuthorKind(place % 3), None),
                Head(REPLICA, place, bytes(32)),
                place,
                0,
                SIGNER.device,
            )
            for place, (entity, kind, fields) in enumerate(signed)
        ]
        return lambda: statement_of(ASK, None, facts)

    assert_linear(stating, 400)
