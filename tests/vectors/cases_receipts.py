"""Cases for receipts: files of JSON that prove what they state, and files that do not.

Never imports what they check.
"""

import base64
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from tests.vectors import wire
from tests.vectors.commit_writer import START_MS, CommitWriter, WrittenCommit, decision, name_id, operation
from tests.vectors.semantics import AGENT

Case = dict[str, Any]
_ARGS = {"command": "npm test", "limit": 7, "share": 0.5}


def _time(ms: int) -> str:
    moment = datetime.fromtimestamp(ms // 1000, UTC).replace(microsecond=ms % 1000 * 1000)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _origin(writer: CommitWriter, ms: int) -> Case:
    return {"at": _time(ms), "device": writer.device.id.hex()}


def _proof(writer: CommitWriter, *commits: WrittenCommit) -> Case:
    return {
        "key": writer.device.public_key.hex(),
        "nonce": writer.nonce.hex(),
        "commits": [base64.b64encode(commit.body).decode() for commit in commits],
        "signature": commits[-1].signature.hex(),
    }


def _receipt(identifier: bytes, follows: bytes | None, statement: Case, proofs: list[Case]) -> Case:
    return {
        "follows": None if follows is None else wire.text(follows),
        "format": "placet-receipt",
        "id": wire.text(identifier),
        "proofs": proofs,
        "statement": statement,
        "version": 1,
    }


def _verdict(writer: CommitWriter, ms: int, word: str, args_hash: bytes | None, reason: str) -> Case:
    return {
        "verdict": word,
        "by": "user",
        "counts": True,
        **_origin(writer, ms),
        "args_hash": None if args_hash is None else args_hash.hex(),
        "reason": reason,
        "edited_args": None,
        "option": None,
        "rule": None,
        "passkey": None,
    }


def _ask() -> Case:
    """Return the receipt of an ask that another device permitted, and that was used."""
    anna, bea = CommitWriter("anna"), CommitWriter("bea")
    agent = name_id("the agent")
    name = wire.derived_id("ask", [wire.text(agent), "k", anna.device.id.hex(), None], agent)
    args_hash = wire.digest("ask args", ["run", _ARGS, anna.replica.hex()])
    until = START_MS + 86_400_000
    fields = {
        "agent_id": agent,
        "key": "k",
        "home": anna.device.id,
        "name": "run",
        "args": _ARGS,
        "title": "Run the tests",
        "why": "",
        "options": [],
        "not_after": until,
    }
    asking = anna.write(operation(name, fields, kind="ask", by=AGENT), by=AGENT)
    asked_ms = anna.ms
    yes = bea.write(decision(name, "confirmed", "yes", args_hash=args_hash, reason="fine"), ms=anna.ms + 1000)
    use = wire.derived_id("use", [wire.text(name), anna.replica.hex()], name)
    spent = {"ask_id": name, "execution_id": "once", "args_hash": args_hash, "home": anna.device.id}
    used = anna.write(operation(use, spent, kind="use", by=AGENT), ms=bea.ms + 1000, by=AGENT)
    statement = {
        "kind": "ask",
        "action": "run",
        "args": _ARGS,
        "args_hash": args_hash.hex(),
        "title": "Run the tests",
        "why": "",
        "options": [],
        "presence": "any",
        "not_after": _time(until),
        "agent": wire.text(agent),
        **_origin(anna, asked_ms),
        "verdicts": [_verdict(bea, bea.ms, "confirmed", args_hash, "fine")],
        "status": "used",
        "rules": [],
        "passkeys": [],
        "uses": [
            _origin(anna, anna.ms) | {"args_hash": args_hash.hex(), "execution_id": "once", "permitted": True}
        ],
    }
    # The ask is shown by the signature at the end of a run: that of the use, the next commit of its replica.
    proofs = [_proof(anna, asking, used), _proof(bea, yes), _proof(anna, used)]
    return _receipt(name, None, statement, proofs)


def _proposal() -> Case:
    """Return the receipt of a proposal that follows one that was decided, and was rejected."""
    anna, task, agent = CommitWriter("anna"), name_id("a task"), name_id("the agent")
    args = {"minutes": 120}
    follows = name_id("an item that was decided")
    fingerprint = wire.digest("fp", [wire.text(task), "update_task_estimate", None, args])
    parts = [fingerprint.hex(), wire.text(follows), wire.text(task)]
    item = wire.derived_id("item", parts, task)
    named = {"item_id": item, "fingerprint": fingerprint, "tool": "update_task_estimate", "args": args}
    listed = {
        **named,
        "base": {"clock": [], "value": {"estimate_minutes": None}},
        "rationale": "the note says so",
    }
    fields = {
        "agent_id": agent,
        "task_id": task,
        "run_key": "r",
        "expires_at": START_MS * 2,
        "items": [listed],
    }
    proposed = anna.write(operation(name_id("a set"), fields, kind="change_set", by=AGENT), by=AGENT)
    proposed_ms = anna.ms
    no = anna.write(decision(item, "rejected", "no", reason="too long"))
    statement = {
        "kind": "proposal",
        "tool": "update_task_estimate",
        "args": args,
        "args_hash": wire.digest("args", ["update_task_estimate", args]).hex(),
        "task": wire.text(task),
        "why": "the note says so",
        "presence": "any",
        "agent": wire.text(agent),
        **_origin(anna, proposed_ms),
        "verdicts": [_verdict(anna, anna.ms, "rejected", None, "too long")],
        "status": "rejected",
        "rules": [],
        "passkeys": [],
        "uses": [],
    }
    return _receipt(item, follows, statement, [_proof(anna, proposed), _proof(anna, no)])


def _text(receipt: Case) -> str:
    return json.dumps(receipt, indent=1, sort_keys=True) + "\n"


def _case(name: str, outcome: str, text: str | bytes) -> Case:
    shown = {"hex": text.hex()} if isinstance(text, bytes) else {"text": text}
    return {"name": name, "outcome": outcome, **shown}


def receipts() -> list[Case]:
    """Return files, each with `ok` or the first thing that is wrong with it."""
    ask, proposal = _ask(), _proposal()
    text = _text(ask)
    lie = '"status": "rejected",'
    spelt: tuple[tuple[str, str, Callable[[str], str | bytes]], ...] = (
        ("an ask", "ok", str),
        ("without blanks", "ok", lambda _: json.dumps(ask, separators=(",", ":"))),
        ("signs written as escapes", "ok", lambda whole: whole.replace('"fine"', '"\\u0066ine"')),
        (
            "a lie before the truth",
            "repeats",
            lambda whole: whole.replace('"status":', f'{lie}\n  "status":'),
        ),
        (
            "a lie after the truth",
            "repeats",
            lambda whole: whole.replace('"title":', f'{lie}\n  "title":', 1),
        ),
        (
            "a second statement",
            "repeats",
            lambda whole: whole.replace('"statement":', '"statement": {"status": "rejected"}, "statement":'),
        ),
        (
            "a name twice, once as an escape",
            "repeats",
            lambda whole: whole.replace('"status":', '"\\u0073tatus": "rejected",\n  "status":'),
        ),
        (
            "an argument twice",
            "repeats",
            lambda whole: whole.replace('"limit": 7', '"limit": 70, "limit": 7'),
        ),
        ("a proof's key twice", "repeats", lambda whole: whole.replace('"nonce":', '"nonce": "", "nonce":')),
        ("a byte-order mark", "mark", lambda whole: "\ufeff" + whole),
        ("UTF-16", "json", lambda whole: whole.encode("utf-16")),
        ("UTF-16 without a mark", "json", lambda whole: whole.encode("utf-16-le")),
        ("bytes that are no UTF-8", "json", lambda whole: whole.encode().replace(b"fine", b"fin\xe9")),
        ("more after it", "json", lambda whole: whole + whole),
        ("a comment", "json", lambda whole: "// a receipt\n" + whole),
        ("a number with a fraction of nothing", "statement", lambda whole: whole.replace(": 7,", ": 7.0,")),
        ("minus nothing", "number", lambda whole: whole.replace(": 7,", ": -0,")),
        ("more digits than are kept", "number", lambda whole: whole.replace(": 0.5", f": 0.5{'0' * 30}1")),
        ("beyond all numbers", "number", lambda whole: whole.replace(": 0.5", ": 1e999")),
        ("no number", "number", lambda whole: whole.replace(": 0.5", ": NaN")),
    )
    altered = (
        ("a proposal that follows another", "ok", proposal),
        ("follows what no id shows", "subject", proposal | {"follows": wire.text(name_id("another"))}),
        ("follows nothing", "subject", proposal | {"follows": None}),
        ("follows no id", "id", proposal | {"follows": "x"}),
        ("an ask follows nothing else", "subject", ask | {"follows": proposal["id"]}),
        ("an id in capitals", "id", proposal | {"id": str(proposal["id"]).upper()}),
        ("another id", "subject", ask | {"id": proposal["id"]}),
        ("something beside it", "version", ask | {"note": "rejected"}),
        ("another version", "version", ask | {"version": 2}),
        ("another format", "none", ask | {"format": "placet"}),
        ("another status", "statement", ask | {"statement": ask["statement"] | {"status": "rejected"}}),
        ("more is stated", "statement", ask | {"statement": ask["statement"] | {"note": "rejected"}}),
        ("the use cut away", "statement", ask | {"proofs": ask["proofs"][:2]}),
        ("no proofs", "malformed", ask | {"proofs": []}),
        ("a proof twice", "malformed", ask | {"proofs": [*ask["proofs"], ask["proofs"][0]]}),
        ("a proof by another key", "signature", ask | {"proofs": _exchanged(ask)}),
    )
    return [_case(name, outcome, change(text)) for name, outcome, change in spelt] + [
        _case(name, outcome, _text(receipt)) for name, outcome, receipt in altered
    ]


def _exchanged(receipt: Case) -> list[Case]:
    first, second, *others = receipt["proofs"]
    return [first | {"key": second["key"]}, second, *others]
