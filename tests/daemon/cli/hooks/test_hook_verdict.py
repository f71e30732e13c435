"""A hook says "allow" only after a use that was granted, and leaves no ask behind that nobody waits for."""

import json
from functools import partial
from typing import Any

import pytest

from daemon.cli.api.placet_asks import new_key
from daemon.cli.hooks.hook_protocol import Client, HookCall, parse_call
from daemon.cli.hooks.hook_verdict import HookAsk

ARGS = {"command": "rm -r build"}
WAIT_S = 5


class FakeDoor:
    """The door with one person, who says `verdict` to each ask; a yes is used once."""

    def __init__(self, verdict: str, args: dict[str, Any] | None = None) -> None:
        self._verdict, self._edits = verdict, args
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
        wanted = args["action"]["args"]
        self._given = wanted | (self._edits or {})
        shown = {"args": self._given, "asked_args": wanted, "args_hash": "0" * 64, "verdict": verdict}
        return {"ask_id": args["key"], "state": state} | shown

    def _use(self, args: dict[str, Any]) -> dict[str, Any]:
        if self.uses.setdefault(args["ask"], args["execution_id"]) != args["execution_id"]:
            return {"result": "already_used"}
        self.states[args["ask"]] = "used"
        return {"result": "granted", "args": self._given}

    def _withdraw(self, args: dict[str, Any]) -> dict[str, Any]:
        self.states[args["ask"]] = "withdrawn"
        return {}


def call_of(event: str = "PreToolUse", client: Client = Client.CLAUDE_CODE, **more: str) -> HookCall:
    sent = {
        "session_id": "s",
        "permission_mode": "default",
        "hook_event_name": event,
        "tool_name": "Bash",
        "tool_input": ARGS,
    }
    return parse_call(json.dumps(sent | more).encode(), client)


def ask_of(call: HookCall, door: FakeDoor) -> HookAsk:
    return HookAsk(call, door.call, new_key())


def decision(answer: dict[str, Any] | None) -> Any:
    assert answer is not None
    output = answer["hookSpecificOutput"]
    return output.get("permissionDecision") or output["decision"]["behavior"]


def test_a_yes_is_used_and_then_allows() -> None:
    door = FakeDoor("permitted")
    answer, _ = ask_of(call_of(tool_use_id="t1"), door).answer(WAIT_S)
    assert decision(answer) == "allow"
    assert door.calls[-1] == "use_permission"


@pytest.mark.parametrize("verdict", ["permitted", "refused"])
def test_each_run_of_a_hook_asks_anew_whatever_ids_its_call_has(verdict: str) -> None:
    """Old: a call with the ids and arguments of an earlier one was let through by its yes, unasked."""
    door, expected = FakeDoor(verdict), {"permitted": "allow", "refused": "deny"}[verdict]
    for asks, event in enumerate(("PreToolUse", "PreToolUse", "PermissionRequest", "PermissionRequest"), 1):
        call = call_of(event, tool_use_id="call_0", turn_id="1")
        assert decision(ask_of(call, door).answer(WAIT_S)[0]) == expected
        assert len(door.states) == asks
        assert len(door.uses) == (asks if verdict == "permitted" else 0)


def test_what_a_person_edited_is_answered() -> None:
    door = FakeDoor("permitted", {"command": "ls"})
    answer, _ = ask_of(call_of(tool_use_id="t1"), door).answer(WAIT_S)
    assert answer is not None
    assert answer["hookSpecificOutput"]["updatedInput"] == {"command": "ls"}


def test_a_yes_is_bound_to_the_folder_which_the_client_is_never_answered() -> None:
    door = FakeDoor("permitted")
    answer, _ = ask_of(call_of(cwd="/home/ana/shop"), door).answer(WAIT_S)
    assert decision(answer) == "allow"
    assert answer is not None
    assert "updatedInput" not in answer["hookSpecificOutput"]
    door = FakeDoor("permitted", {"command": "ls"})
    answer, _ = ask_of(call_of(cwd="/home/ana/shop"), door).answer(WAIT_S)
    assert answer is not None
    assert answer["hookSpecificOutput"]["updatedInput"] == {"command": "ls"}


def test_a_yes_for_another_folder_is_a_no_and_is_not_used() -> None:
    door = FakeDoor("permitted", {"cwd": "/tmp"})
    answer, _ = ask_of(call_of(cwd="/home/ana/shop"), door).answer(WAIT_S)
    assert decision(answer) == "deny"
    assert not door.uses


def test_an_edit_that_the_client_ignores_is_no_yes_to_what_it_asked() -> None:
    door = FakeDoor("permitted", {"command": "ls"})
    answer, _ = ask_of(call_of("PermissionRequest", Client.CODEX), door).answer(WAIT_S)
    assert decision(answer) == "deny"
    assert not door.uses


def test_a_no_is_denied_with_its_reason() -> None:
    answer, _ = ask_of(call_of(tool_use_id="t1"), FakeDoor("refused")).answer(WAIT_S)
    assert answer is not None
    assert answer["hookSpecificOutput"]["permissionDecisionReason"] == "not today"


def test_without_a_verdict_in_time_the_client_asks_and_the_ask_is_withdrawn() -> None:
    door = FakeDoor("pending")
    answer, why = ask_of(call_of(tool_use_id="t1"), door).answer(WAIT_S)
    assert decision(answer) == "ask"
    assert why
    assert set(door.states.values()) == {"withdrawn"}


def test_a_daemon_that_is_away_leaves_the_question_to_the_client() -> None:
    refusal = {"refused": {"code": "unavailable", "message": "the daemon is away", "hint": ""}}
    for event, expected in (("PreToolUse", "ask"), ("PermissionRequest", None)):
        answer, why = HookAsk(call_of(event), lambda _tool, _args: refusal, new_key()).answer(WAIT_S)
        assert why == "the daemon is away"
        assert answer is None if expected is None else decision(answer) == expected


def test_a_call_that_nobody_can_be_asked_about_is_a_no_in_every_mode() -> None:
    """Old: arguments that are too deep or too large a number, or a denied action, were left to the client."""
    for code, expected in (("usage", "deny"), ("forbidden", "deny"), ("conflict", "ask")):
        refusal = {"refused": {"code": code, "message": "not so", "hint": ""}}
        answer, _ = HookAsk(call_of(), partial(_refuse, refusal), new_key()).answer(WAIT_S)
        assert decision(answer) == expected
        assert "not so" in json.dumps(answer)


def _refuse(refusal: dict[str, Any], _tool: str, _args: dict[str, Any]) -> dict[str, Any]:
    return refusal
