"""What hooks say is read strictly, and what they are answered is what the clients document."""

import json
from typing import Any

import pytest

from daemon.cli.hooks.hook_protocol import (
    ARGS_BYTES_MAX,
    INPUT_BYTES_MAX,
    Client,
    HookCall,
    HookFault,
    allow_answer,
    can_edit,
    deny_answer,
    fallback_answer,
    fault_answer,
    is_same,
    parse_call,
)

SAID: dict[str, Any] = {
    "session_id": "s1",
    "hook_event_name": "PreToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "rm -r build"},
    "tool_use_id": "toolu_1",
}


def call_of(client: Client = Client.CLAUDE_CODE, **changes: Any) -> HookCall:
    return parse_call(json.dumps(SAID | changes).encode(), client)


NAN = float("nan")
BAD_FIELDS: list[dict[str, Any]] = [
    {"hook_event_name": "Stop"},
    {"hook_event_name": None},
    {"hook_event_name": []},
    {"tool_name": 3},
    {"tool_name": ""},
    {"tool_input": "x"},
    {"tool_input": {"command": NAN}},
    {"tool_input": {"command": "\ud800"}},
    {"tool_input": {"command": "x" * ARGS_BYTES_MAX}},
    {"session_id": None},
    {"tool_use_id": 7},
    {"tool_use_id": "x" * 201},
    {"tool_use_id": "\ud800"},
    {"tool_name": "Bash\ud800"},
    {"session_id": "\udfff"},
]
BAD_INPUTS = [b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000, b" " * (INPUT_BYTES_MAX + 1)]


@pytest.mark.parametrize("raw", BAD_INPUTS + [json.dumps(SAID | fields).encode() for fields in BAD_FIELDS])
def test_bad_input_is_a_fault(raw: bytes) -> None:
    with pytest.raises(HookFault):
        parse_call(raw, Client.CLAUDE_CODE)


def test_what_cannot_be_asked_is_never_left_to_rules_that_may_allow_it() -> None:
    """A model that pads its command beyond what can be asked is not past the hook."""
    for fields in BAD_FIELDS[3:]:
        if fields.get("tool_input") == {"command": NAN}:
            continue  # Python writes it, but it is not JSON.
        with pytest.raises(HookFault) as refused:
            call_of(**fields)
        status, answer = fault_answer(Client.CLAUDE_CODE, refused.value.event, str(refused.value))
        assert answer is not None
        assert (status, answer["hookSpecificOutput"]["permissionDecision"]) == (0, "ask")
        assert fault_answer(Client.CODEX, refused.value.event, "") == (2, None)
    for raw in BAD_INPUTS:
        with pytest.raises(HookFault) as refused:
            parse_call(raw, Client.CLAUDE_CODE)
        assert fault_answer(Client.CLAUDE_CODE, refused.value.event, "") == (2, None)
    # These ask by themselves, or decide on no call.
    for event in ("PermissionRequest", "Stop"):
        assert fault_answer(Client.CLAUDE_CODE, event, "") == (1, None)


def test_values_are_compared_as_json() -> None:
    assert is_same({"a": 1, "b": [1.5]}, {"b": [1.5], "a": 1})
    assert not is_same({"force": 1}, {"force": True})
    assert not is_same([1], [1.0])


def test_a_retry_has_the_key_of_its_call_and_no_other_call_has_it() -> None:
    base = call_of().key(0)
    assert call_of(cwd="/elsewhere").key(0) == base
    others = [
        call_of(tool_use_id="toolu_2").key(0),
        call_of(turn_id="t2").key(0),
        call_of(session_id="s2").key(0),
        call_of(tool_name="Write").key(0),
        call_of(tool_input={"command": "rm -r dist"}).key(0),
        call_of(Client.CODEX).key(0),
        call_of().key(1),
    ]
    assert len({base, *others}) == len(others) + 1


def test_claude_code_is_answered_as_it_documents() -> None:
    before, wanted = call_of(), call_of(hook_event_name="PermissionRequest")
    name = {"hookEventName": "PreToolUse"}
    assert allow_answer(before, None) == {"hookSpecificOutput": name | {"permissionDecision": "allow"}}
    edited = name | {"permissionDecision": "allow", "updatedInput": {"command": "ls"}}
    assert allow_answer(before, {"command": "ls"}) == {"hookSpecificOutput": edited}
    refused = name | {"permissionDecision": "deny", "permissionDecisionReason": "not today"}
    assert deny_answer(before, "not today") == {"hookSpecificOutput": refused}
    fallback = fallback_answer(before, "Placet is away.")
    assert fallback is not None
    assert fallback["hookSpecificOutput"]["permissionDecision"] == "ask"
    decision = {"behavior": "allow", "updatedInput": {"command": "ls"}}
    assert allow_answer(wanted, {"command": "ls"}) == {
        "hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}
    }
    assert fallback_answer(wanted, "Placet is away.") is None


def test_codex_is_never_answered_what_it_calls_unsupported() -> None:
    before = call_of(Client.CODEX)
    wanted = call_of(Client.CODEX, hook_event_name="PermissionRequest")
    assert allow_answer(before, None) is None
    assert can_edit(before)
    assert not can_edit(wanted)
    assert allow_answer(wanted, None) == {
        "hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}
    }
    assert fallback_answer(before, "away") == deny_answer(before, "away")
    assert fallback_answer(wanted, "away") is None


@pytest.mark.parametrize("reason", ["", "  \n"])
def test_a_no_without_a_reason_has_words(reason: str) -> None:
    answer = deny_answer(call_of(), reason)
    assert answer["hookSpecificOutput"]["permissionDecisionReason"] == "The person refused."
