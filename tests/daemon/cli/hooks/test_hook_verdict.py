"""A hook says "allow" only after a use that was granted, and leaves no ask behind that nobody waits for."""

import json
from itertools import count
from typing import Any

from daemon.cli.hooks.hook_protocol import Client, HookCall, parse_call
from daemon.cli.hooks.hook_verdict import HookAsk

ARGS = {"command": "rm -r build"}
WAIT_S = 5


class FakeDoor:
    """The door with one person, who says `verdict` to each ask; a yes is used once."""

    def __init__(self, verdict: str, args: dict[str, Any] | None = None) -> None:
        self._verdict, self._args = verdict, args or ARGS
        self.states: dict[str, str] = {}
        self.uses: dict[str, str] = {}
        self.calls: list[str] = []

    def call(self, tool: str, args: dict[str, Any]) -> dict[str, Any]:
        self.calls.append(tool)
        return {"ask_permission": self._ask, "use_permission": self._use, "withdraw": self._withdraw}[tool](
            args
        )

    def _ask(self, args: dict[str, Any]) -> dict[str, Any]:
        state = self.states.setdefault(args["key"], "pending")
        if "wait_s" in args and state == "pending":
            state = self.states[args["key"]] = self._verdict
        verdict = {"reason": "not today"}
        shown = {"args": self._args, "asked_args": ARGS, "args_hash": "0" * 64, "verdict": verdict}
        return {"ask_id": args["key"], "state": state} | shown

    def _use(self, args: dict[str, Any]) -> dict[str, Any]:
        if self.uses.setdefault(args["ask"], args["execution_id"]) != args["execution_id"]:
            return {"result": "already_used"}
        self.states[args["ask"]] = "used"
        return {"result": "granted", "args": self._args}

    def _withdraw(self, args: dict[str, Any]) -> dict[str, Any]:
        self.states[args["ask"]] = "withdrawn"
        return {}


def call_of(event: str = "PreToolUse", client: Client = Client.CLAUDE_CODE, **more: str) -> HookCall:
    sent = {"session_id": "s", "hook_event_name": event, "tool_name": "Bash", "tool_input": ARGS}
    return parse_call(json.dumps(sent | more).encode(), client)


def ask_of(call: HookCall, door: FakeDoor) -> HookAsk:
    numbers = count()
    return HookAsk(call, door.call, f"{id(numbers)}-{next(numbers)}")


def decision(answer: dict[str, Any] | None) -> Any:
    assert answer is not None
    output = answer["hookSpecificOutput"]
    return output.get("permissionDecision") or output["decision"]["behavior"]


def test_a_yes_is_used_and_then_allows() -> None:
    door = FakeDoor("permitted")
    answer, _ = ask_of(call_of(tool_use_id="t1"), door).answer(WAIT_S)
    assert decision(answer) == "allow"
    assert door.calls[-1] == "use_permission"


def test_a_retry_of_a_call_is_granted_again_without_another_ask() -> None:
    door = FakeDoor("permitted")
    for _ in range(2):
        answer, _ = ask_of(call_of(tool_use_id="t1"), door).answer(WAIT_S)
        assert decision(answer) == "allow"
    assert len(door.states) == 1


def test_a_yes_never_serves_two_calls_that_the_client_cannot_tell_apart() -> None:
    door, numbers = FakeDoor("permitted"), count()
    for _ in range(3):
        ask = HookAsk(call_of("PermissionRequest"), door.call, str(next(numbers)))
        assert decision(ask.answer(WAIT_S)[0]) == "allow"
    assert len(door.uses) == len(door.states) == 3


def test_what_a_person_edited_is_answered() -> None:
    door = FakeDoor("permitted", {"command": "ls"})
    answer, _ = ask_of(call_of(tool_use_id="t1"), door).answer(WAIT_S)
    assert answer is not None
    assert answer["hookSpecificOutput"]["updatedInput"] == {"command": "ls"}


def test_an_edit_that_the_client_ignores_is_no_yes_to_what_it_asked() -> None:
    door = FakeDoor("permitted", {"command": "ls"})
    answer, _ = ask_of(call_of("PermissionRequest", Client.CODEX), door).answer(WAIT_S)
    assert decision(answer) == "deny"
    assert not door.uses


def test_a_no_is_denied_with_its_reason() -> None:
    answer, _ = ask_of(call_of(tool_use_id="t1"), FakeDoor("refused")).answer(WAIT_S)
    assert answer is not None
    assert answer["hookSpecificOutput"]["permissionDecisionReason"] == "not today"


def test_a_no_to_an_earlier_call_is_none_to_the_next_one_like_it() -> None:
    """Old: the client was denied for the rest of its session, without anybody being asked."""
    door, numbers = FakeDoor("refused"), count()
    for asks in (1, 2):
        ask = HookAsk(call_of("PermissionRequest"), door.call, str(next(numbers)))
        assert decision(ask.answer(WAIT_S)[0]) == "deny"
        assert len(door.states) == asks


def test_a_no_to_a_call_is_a_no_to_its_retry() -> None:
    door = FakeDoor("refused")
    for _ in range(2):
        assert decision(ask_of(call_of(tool_use_id="t1"), door).answer(WAIT_S)[0]) == "deny"
    assert len(door.states) == 1


def test_without_a_verdict_in_time_the_client_asks_and_the_ask_is_withdrawn() -> None:
    door = FakeDoor("pending")
    answer, why = ask_of(call_of(tool_use_id="t1"), door).answer(WAIT_S)
    assert decision(answer) == "ask"
    assert why
    assert set(door.states.values()) == {"withdrawn"}


def test_a_daemon_that_is_away_leaves_the_question_to_the_client() -> None:
    refusal = {"refused": {"code": "unavailable", "message": "the daemon is away", "hint": ""}}
    for event, expected in (("PreToolUse", "ask"), ("PermissionRequest", None)):
        answer, why = HookAsk(call_of(event), lambda _tool, _args: refusal, "x").answer(WAIT_S)
        assert why == "the daemon is away"
        assert answer is None if expected is None else decision(answer) == expected
