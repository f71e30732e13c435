"""What hooks say is read strictly, and what they are answered is what the clients document."""

import json
import os
import time
from typing import Any

import pytest

from daemon.cli.hooks.hook_input import read_input
from daemon.cli.hooks.hook_protocol import (
    ARGS_BYTES_MAX,
    INPUT_BYTES_MAX,
    MODES,
    Client,
    Event,
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
from tests.support.patience import LIMIT_S
from tests.support.source_tree import ROOT

SAID: dict[str, Any] = {
    "session_id": "s1",
    "permission_mode": "default",
    "hook_event_name": "PreToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "rm -r build"},
    "tool_use_id": "toolu_1",
}


def call_of(client: Client = Client.CLAUDE_CODE, **changes: Any) -> HookCall:
    return parse_call(json.dumps(SAID | changes).encode(), client)


@pytest.mark.parametrize("folder", ["/home/ana/shop", None, 7, "", "x" * 1001, "\ud800"])
def test_a_person_is_asked_about_the_folder_too_and_learns_the_session(folder: Any):
    call = call_of(cwd=folder)
    is_told = folder == "/home/ana/shop"
    assert call.place == "session s1"
    assert call.asked_args() == SAID["tool_input"] | ({"cwd": folder} if is_told else {})
    assert call.own_args(call.asked_args()) == SAID["tool_input"]


def test_a_tool_that_names_a_folder_itself_is_asked_about_as_it_is():
    own = {"command": "ls", "cwd": "/srv"}
    call = call_of(cwd="/home/ana/shop", tool_input=own)
    assert (call.asked_args(), call.own_args(own)) == (own, own)
    assert call.place == "in /home/ana/shop, session s1"


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
    {"permission_mode": 7},
    {"turn_id": []},
    {"tool_input": None},
    {"tool_name": None},
]
WHOLE = json.dumps(SAID).encode()
BAD_INPUTS = [
    *(b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000, b" " * (INPUT_BYTES_MAX + 1)),
    *(WHOLE + WHOLE, WHOLE + b"\0", b"\xef\xbb\xbf" + WHOLE, WHOLE.decode().encode("utf-16")),
    b'{"hook_event_name": "Stop", ' + WHOLE[1:],
    WHOLE[:-1] + b', "hook_event_name": "Stop"}',
    WHOLE[:-1] + b', "permission_mode": "default"}',
    WHOLE.replace(b'{"command":', b'{"command": "ls", "command":'),
]


@pytest.mark.parametrize("raw", BAD_INPUTS + [json.dumps(SAID | fields).encode() for fields in BAD_FIELDS])
def test_bad_input_is_a_fault(raw: bytes) -> None:
    with pytest.raises(HookFault):
        parse_call(raw, Client.CLAUDE_CODE)


def test_what_cannot_be_asked_is_never_left_to_rules_that_may_allow_it() -> None:
    """A model that pads its command beyond what can be asked is not past the hook, in no mode."""
    for fields in BAD_FIELDS[3:]:
        if fields.get("tool_input") == {"command": NAN}:
            continue  # Python writes it, but it is not JSON.
        for event in Event:
            with pytest.raises(HookFault) as refused:
                call_of(**{"hook_event_name": event.value} | fields)
            assert refused.value.event == event
            status, answer = fault_answer(Client.CLAUDE_CODE, refused.value.event, str(refused.value))
            assert (status, kind_of(answer)) == (0, "deny")
            assert fault_answer(Client.CODEX, refused.value.event, "") == (2, None)
    for raw in BAD_INPUTS:
        with pytest.raises(HookFault) as refused:
            parse_call(raw, Client.CLAUDE_CODE)
        assert fault_answer(Client.CLAUDE_CODE, refused.value.event, "") == (2, None)
    # These are about no call. An event that nobody knows may be about one.
    assert fault_answer(Client.CLAUDE_CODE, "Stop", "") == (1, None)
    assert fault_answer(Client.CLAUDE_CODE, "PreToolUse2", "") == (2, None)


def kind_of(answer: dict[str, Any] | None) -> str:
    """Return what an answer says of the call; the empty text if it is none."""
    if answer is None:
        return ""
    output = answer["hookSpecificOutput"]
    return str(output.get("permissionDecision") or output["decision"]["behavior"])


@pytest.mark.parametrize("mode", [*MODES, "default ", "Default", "tomorrow's", None])
def test_without_a_verdict_no_call_is_made_in_a_mode_that_is_not_known_to_ask(mode: str | None) -> None:
    """Old: "ask" in every mode, which some let through in silence."""
    expected = {
        (Client.CLAUDE_CODE, Event.PRE_TOOL_USE): "ask",
        (Client.CLAUDE_CODE, Event.PERMISSION_REQUEST): "",
        (Client.CODEX, Event.PRE_TOOL_USE): "deny",
        (Client.CODEX, Event.PERMISSION_REQUEST): "",
    }
    for (client, event), in_default in expected.items():
        call = call_of(client, hook_event_name=event.value, permission_mode=mode)
        kind = kind_of(fallback_answer(call, "nobody decided in time"))
        assert kind == (in_default if mode == "default" else "deny"), (client, event)


def test_the_table_in_the_guide_says_what_each_client_is_answered_in_each_mode() -> None:
    text = (ROOT / "docs/guide/agents/hooks.md").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith("|")]
    rows = [tuple(cell.strip(" `") for cell in line.split("|")[1:-1]) for line in lines]
    words = {"ask": "ask", "": "nothing: it asks", "deny": "deny"}
    expected = [
        (client, event, mode, words[kind_of(fallback_answer(call, ""))])
        for client in Client
        for event in Event
        for mode in (*MODES, "any other, or none")
        for call in [call_of(client, hook_event_name=event.value, permission_mode=mode)]
    ]
    assert rows[2:] == expected


def parts_later(parts: list[bytes], *, ends: bool) -> int:
    """Return a descriptor from which these parts are read; then it ends, or stays open."""
    readable, writable = os.pipe()
    for part in parts:
        os.write(writable, part)
    if ends:
        os.close(writable)
    return readable


def test_an_input_that_stays_open_is_read_if_it_is_whole_and_refused_in_time_if_not() -> None:
    """Old: the hook hung until its client ended it."""
    whole, now_s = json.dumps(SAID).encode(), time.monotonic()
    assert read_input(parts_later([whole], ends=False), now_s + LIMIT_S) == whole
    assert read_input(parts_later([whole[:9], whole[9:], b"\n"], ends=True), now_s + LIMIT_S) == whole + b"\n"
    assert read_input(parts_later([], ends=True), now_s + LIMIT_S) == b""
    for half in (b"", whole[:-1], b"{}}"):
        with pytest.raises(HookFault, match="not sent whole"):
            read_input(parts_later([half], ends=False), now_s)


def test_values_are_compared_as_json() -> None:
    assert is_same({"a": 1, "b": [1.5]}, {"b": [1.5], "a": 1})
    assert not is_same({"force": 1}, {"force": True})
    assert not is_same([1], [1.0])


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
