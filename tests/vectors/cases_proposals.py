"""Cases for proposals: what is hashed of them, whose they are, and the whole commit of a confirmation.

Never imports what they check.
"""

from typing import Any

from tests.vectors import wire
from tests.vectors.commit_writer import CommitWriter, WrittenCommit, name_id, operation
from tests.vectors.semantics import AGENT, USER

Case = dict[str, Any]
TASK, LABEL = name_id("a task"), name_id("a label")
_NO_ID = bytes(16)
_ARGUED = {"reason", "evidenceIds", "confidence", "rationale", "humanSummary", "human_summary"}
_EXPIRES_MS = 2**47
_NAME = "Cläude"

_ESTIMATE = ("update_task_estimate", {"minutes": 90})
_STEP = ("add_checklist_item", {"title": "Book the room", "isChecked": False})
_LABELLED = ("assign_task_label", {"id": wire.text(LABEL), "confidence": "high"})

_CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("set_task_title", {"title": 'Fix the "login" bug'}),
    ("set_task_status", {"status": "BLOCKED", "reason": "Waits for Ana"}),
    ("clear_task_due_date", {}),
    _ESTIMATE,
    _STEP,
    _LABELLED,
    ("add_task", {"title": "Call Ana", "dueDate": "2026-03-01", "priority": "P1", "minutes": 15}),
    (
        "answer_question",
        {
            "question": "How long?",
            "answers": [
                {"text": "An hour", "tool": "update_task_estimate", "arguments": {"minutes": 60}},
                {"text": "I do not know"},
            ],
            "number": 1,
        },
    ),
)


def _fingerprint(tool: str, args: dict[str, Any]) -> bytes:
    effective = {name: value for name, value in args.items() if name not in _ARGUED}
    return wire.digest("fp", [wire.text(TASK), tool, args.get("id"), effective])


def _args_hash(tool: str, args: dict[str, Any]) -> bytes:
    return wire.digest("args", [tool, args])


def args_hashes() -> list[Case]:
    """Return calls with the hash of what a person is shown, and of what the proposal comes down to."""
    return [
        {
            "tool": tool,
            "args": args,
            "args_hash": _args_hash(tool, args).hex(),
            "task": TASK.hex(),
            "fingerprint": _fingerprint(tool, args).hex(),
        }
        for tool, args in _CALLS
    ]


# -- proposals and their confirmations ---------------------------------------------------------------------


def _item(tool: str, args: dict[str, Any]) -> bytes:
    # The id of an item that makes its entity does not name it: that id follows from the item's.
    written = [] if tool == "add_checklist_item" else [wire.text(TASK)]
    return wire.derived_id("item", [_fingerprint(tool, args).hex(), None, *written], TASK)


def _own_agent() -> bytes:
    return wire.derived_id("agent", [wire.text(TASK)], TASK)


def _foreign_agent(home: bytes) -> bytes:
    # The case-folded name, in Unicode's form NFC.
    return wire.derived_id("external agent", [home.hex(), "cläude"], _NO_ID)


def _let_in(home: bytes, lifecycle: str = "active", by: int = USER) -> list[Any]:
    fields = {
        "kind": "external", "name": _NAME, "home_device_id": home, "lifecycle": lifecycle, "scope": "all",
    }  # fmt: skip
    return operation(_foreign_agent(home), fields, kind="agent", by=by)


def _set(agent: bytes, first: WrittenCommit, tool: str, args: dict[str, Any]) -> list[Any]:
    values = {"position": "V"} if tool == "add_checklist_item" else {"estimate_minutes": None}
    clock = [] if tool == "add_checklist_item" else [list(first.head)]
    change = {
        "item_id": _item(tool, args), "fingerprint": _fingerprint(tool, args), "tool": tool, "args": args,
        "base": {"clock": clock, "value": values}, "rationale": "The mail of Ana says so.",
    }  # fmt: skip
    fields = {
        "agent_id": agent, "task_id": TASK, "thread_id": "thread", "run_key": "run",
        "expires_at": _EXPIRES_MS, "items": [change],
    }  # fmt: skip
    return operation(wire.derived_id("set", ["run", 0], TASK), fields, kind="change_set", by=AGENT)


def _decision(
    device: bytes, tool: str, shown: dict[str, Any], proposed: dict[str, Any], **more: Any
) -> list[Any]:
    fields: dict[str, Any] = {
        "item_id": _item(tool, proposed), "verdict": "confirmed", "device": device, "seen": [], "via": "cli",
        "args_hash": _args_hash(tool, shown), **more,
    }  # fmt: skip
    if tool != "add_checklist_item":
        fields |= {"entity": TASK, "fingerprint": _fingerprint(tool, proposed), "follows": None}
    return operation(name_id("the decision"), fields, kind="decision", by=USER)


def _confirmed_estimate(anna: CommitWriter, first: WrittenCommit, edited: int | None = None) -> WrittenCommit:
    tool, args = _ESTIMATE
    more = {} if edited is None else {"edited_args": {"minutes": edited}}
    effect = operation(
        TASK, {"estimate_minutes": args["minutes"] if edited is None else edited},
        base=[first.head], effect=_item(tool, args), by=AGENT if edited is None else USER,
    )  # fmt: skip
    return anna.write(_decision(anna.device.id, tool, args, args, **more), effect)


def _confirmed_step(anna: CommitWriter, first: WrittenCommit) -> WrittenCommit:
    tool, args = _STEP
    checklist = wire.derived_id("checklist", [wire.text(TASK)], TASK)
    item = _item(tool, args)
    fields = {
        "title": args["title"], "is_checked": False,
        "checklist_id": checklist, "position": "V", "is_archived": False,
    }  # fmt: skip
    return anna.write(
        _decision(anna.device.id, tool, args, args),
        operation(
            wire.derived_id("entity", [wire.text(item)], item), fields,
            kind="checklist_item", effect=item, by=AGENT,
        ),
        operation(
            checklist, {"task_id": TASK, "title": "Todos", "position": "V"}, kind="checklist", by=AGENT
        ),
        operation(TASK, {}, base=[first.head], by=AGENT),
    )  # fmt: skip


def _log_case(
    name: str, genuine: bool, call: tuple[str, dict[str, Any]], *log: WrittenCommit, confirms: bool
) -> Case:
    return {
        "name": name,
        "genuine": genuine,
        "item": _item(*call).hex(),
        "commits": [[commit.body.hex(), commit.signature.hex()] for commit in log],
        "confirms": confirms,
    }


def proposals() -> list[Case]:
    """Return logs with a proposal each, and whether it is genuine; some end with its confirmation."""
    cases: list[Case] = []

    def begin() -> tuple[CommitWriter, CommitWriter, WrittenCommit]:
        anna, bea = CommitWriter("anna"), CommitWriter("bea")
        return anna, bea, anna.write(operation(TASK, {"title": "a", "status": "OPEN"}))

    for name, call in (("an estimate", _ESTIMATE), ("a checklist item", _STEP)):
        anna, _, first = begin()
        proposed = anna.write(_set(_own_agent(), first, *call))
        confirmed = _confirmed_step(anna, first) if call is _STEP else _confirmed_estimate(anna, first)
        cases.append(_log_case(f"{name}, confirmed", True, call, first, proposed, confirmed, confirms=True))
    anna, _, first = begin()
    proposed = anna.write(_set(_own_agent(), first, *_ESTIMATE))
    edited = _confirmed_estimate(anna, first, edited=45)
    cases.append(_log_case("an estimate, edited", True, _ESTIMATE, first, proposed, edited, confirms=True))
    for name, genuine, signer, lifecycle, by in (
        ("a foreign agent's, signed by its home", True, 1, "active", USER),
        ("a foreign agent's, signed by another device", False, 0, "active", USER),
        ("a foreign agent's that waits to be let in", False, 1, "created", USER),
        ("a foreign agent's that let itself in", False, 1, "active", AGENT),
    ):
        anna, bea, first = begin()
        home = bea.device.id
        let_in = bea.write(_let_in(home, lifecycle, by))
        proposed = (anna, bea)[signer].write(_set(_foreign_agent(home), first, *_ESTIMATE))
        log = [first, let_in, proposed]
        if genuine:
            log.append(_confirmed_estimate(anna, first))
        cases.append(_log_case(name, genuine, _ESTIMATE, *log, confirms=genuine))
    anna, _, first = begin()
    forged = anna.write(_set(name_id("an agent of another task"), first, *_ESTIMATE))
    cases.append(_log_case("an agent of another task", False, _ESTIMATE, first, forged, confirms=False))
    return cases
