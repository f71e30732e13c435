"""What the hooks of Claude Code and Codex say and understand, as values: pure.

Never turns a doubt into an "allow": what is not understood has no verdict, and the client asks by itself.
"""

from __future__ import annotations

import hashlib
import json
from enum import StrEnum
from typing import Any, Final, NamedTuple

INPUT_BYTES_MAX: Final = 1024 * 1024
ARGS_BYTES_MAX: Final = 16 * 1024
_TITLE_CHARS_MAX: Final = 200
_NAME_CHARS_MAX: Final = 100


class Client(StrEnum):
    """The programs whose hooks are known."""

    CLAUDE_CODE = "claude-code"
    CODEX = "codex"


class Event(StrEnum):
    """The events on which a verdict is wanted."""

    PRE_TOOL_USE = "PreToolUse"
    PERMISSION_REQUEST = "PermissionRequest"


class HookFault(Exception):
    """What a client sent cannot be asked; the words say why."""


class HookCall(NamedTuple):
    """A call of a tool on which a client wants a verdict.

    `call_id` names this call alone; it is None if the client names none, and then only `turn_id`, or nothing,
    tells the calls of a session apart.
    """

    client: Client
    event: Event
    tool: str
    args: dict[str, Any]
    session: str
    call_id: str | None
    turn_id: str | None

    def key(self, attempt: int) -> str:
        """Return the key of the ask: the same for a retry of this call, another for every other call.

        `attempt` counts the asks of calls that the client cannot tell apart: a yes to one is used once.
        """
        parts = [self.client, self.session, self.turn_id, self.call_id, self.tool, self.args, attempt]
        return hashlib.sha256(_canonical(parts)).hexdigest()

    def title(self) -> str:
        """Return a heading: the tool and the beginning of its command or file."""
        subject = next((self.args[name] for name in ("command", "file_path", "url") if name in self.args), "")
        words = f"{self.tool}: {subject}" if subject else self.tool
        line = " ".join(str(words).split())
        return line if len(line) <= _TITLE_CHARS_MAX else line[: _TITLE_CHARS_MAX - 1] + "…"


def parse_call(raw: bytes, client: Client) -> HookCall:
    """Read what a client wrote. Raises `HookFault` for what is malformed, unknown or beyond a bound."""
    if len(raw) > INPUT_BYTES_MAX:
        raise HookFault(f"the input has more than {INPUT_BYTES_MAX} bytes")
    try:
        fields = json.loads(raw, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as fault:
        raise HookFault("the input is not JSON") from fault
    if not isinstance(fields, dict):
        raise HookFault("the input is not an object")
    if fields.get("hook_event_name") not in tuple(Event):
        raise HookFault("the event is neither PreToolUse nor PermissionRequest")
    tool, session = _text(fields, "tool_name"), _text(fields, "session_id")
    if not tool or not session or len(tool) > _NAME_CHARS_MAX:
        raise HookFault(f"tool_name has 1 to {_NAME_CHARS_MAX} characters, and session_id is not empty")
    event, ids = Event(fields["hook_event_name"]), (_text(fields, "tool_use_id"), _text(fields, "turn_id"))
    return HookCall(client, event, tool, _bounded_args(fields.get("tool_input")), session, *ids)


def _text(fields: dict[str, Any], name: str) -> str | None:
    value = fields.get(name)
    if not isinstance(value, str | None):
        raise HookFault(f"{name} is not a text")
    return value or None


def _bounded_args(args: Any) -> dict[str, Any]:
    if not isinstance(args, dict):
        raise HookFault("tool_input is not an object")
    try:
        size = len(_canonical(args))
    except (ValueError, RecursionError) as fault:
        raise HookFault("tool_input cannot be written as UTF-8") from fault
    if size > ARGS_BYTES_MAX:
        raise HookFault(f"tool_input has more than {ARGS_BYTES_MAX} bytes")
    return args


def can_edit(call: HookCall) -> bool:
    """Return whether the client carries out arguments that a person edited.

    Codex does not for a permission request: it treats `updatedInput` there as a refusal.
    """
    return not (call.client is Client.CODEX and call.event is Event.PERMISSION_REQUEST)


def allow_answer(call: HookCall, edited_args: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the answer to a yes; None is no output at all. `edited_args` only if `can_edit`."""
    if call.event is Event.PERMISSION_REQUEST:
        updated = {} if edited_args is None else {"updatedInput": edited_args}
        return _answer(call, {"decision": {"behavior": "allow"} | updated})
    if edited_args is None and call.client is Client.CODEX:
        # Codex refuses a bare "allow" before a tool: silence lets the call go on to Codex's own rules.
        return None
    updated = {} if edited_args is None else {"updatedInput": edited_args}
    return _answer(call, {"permissionDecision": "allow"} | updated)


def deny_answer(call: HookCall, reason: str) -> dict[str, Any]:
    """Return the answer to a no, with the person's words, which the model reads."""
    words = reason.strip() or "The person refused."
    if call.event is Event.PERMISSION_REQUEST:
        return _answer(call, {"decision": {"behavior": "deny", "message": words}})
    return _answer(call, {"permissionDecision": "deny", "permissionDecisionReason": words})


def fallback_answer(call: HookCall, why: str) -> dict[str, Any] | None:
    """Return the answer without a verdict: the client asks by itself. None is no output at all.

    Before a tool, Codex knows no "ask", and would carry out a call on which a hook is silent: it is denied.
    """
    if call.event is Event.PERMISSION_REQUEST:
        return None
    if call.client is Client.CODEX:
        return deny_answer(call, why)
    return _answer(call, {"permissionDecision": "ask", "permissionDecisionReason": why})


def _answer(call: HookCall, verdict: dict[str, Any]) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": call.event.value} | verdict}


def _canonical(value: Any) -> bytes:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode()


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
