"""What the hooks of Claude Code and Codex say and understand, as values: pure.

Never turns a doubt into an "allow": without a verdict the client asks by itself where it is known to do that,
and makes no call where it is not.
"""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any, Final, NamedTuple

from daemon.cli.mcp.tool_table import NAME_CHARS_MAX, TITLE_CHARS_MAX

INPUT_BYTES_MAX: Final = 16 * 1024 * 1024
"""What is beyond names no event that could be read: the call is blocked."""
ARGS_BYTES_MAX: Final = 16 * 1024
_ID_CHARS_MAX: Final = 200
_FOLDER_CHARS_MAX: Final = 1000
FOLDER: Final = "cwd"
"""The argument of an ask that says in which folder a call is made; clients send it beside the tool's own."""
EXIT_ANSWERED: Final = 0
EXIT_BLOCKED: Final = 2
"""To a client, this status means that the call must not be made; the words are on standard error."""
EXIT_NO_VERDICT: Final = 1
"""To a client, this status means that the hook failed: its own rules decide."""


class Client(StrEnum):
    """The programs whose hooks are known."""

    CLAUDE_CODE = "claude-code"
    CODEX = "codex"


class Event(StrEnum):
    """The events on which a verdict is wanted."""

    PRE_TOOL_USE = "PreToolUse"
    PERMISSION_REQUEST = "PermissionRequest"


MODES: Final = ("default", "plan", "acceptEdits", "auto", "dontAsk", "bypassPermissions")
"""What clients call their permission modes. There may be others."""
MODES_THAT_ASK: Final[dict[tuple[Client, Event], frozenset[str]]] = {
    (Client.CLAUDE_CODE, Event.PRE_TOOL_USE): frozenset({"default"}),
    (Client.CLAUDE_CODE, Event.PERMISSION_REQUEST): frozenset({"default"}),
    # Before a tool, Codex knows no "ask", and makes a call on which a hook is silent.
    (Client.CODEX, Event.PRE_TOOL_USE): frozenset(),
    (Client.CODEX, Event.PERMISSION_REQUEST): frozenset({"default"}),
}
"""The modes in which a client without a verdict is known to ask by itself, and to wait for the person."""
_EVENTS_OF_NO_CALL: Final = frozenset(
    {
        "Notification",
        "PostToolUse",
        "PreCompact",
        "SessionEnd",
        "SessionStart",
        "Stop",
        "SubagentStop",
        "UserPromptSubmit",
    }
)


class HookFault(Exception):
    """What a client sent cannot be asked; the words say why. `event` is its event, None if it names none."""

    def __init__(self, words: str, event: str | None = None) -> None:
        super().__init__(words)
        self.event = event


class HookCall(NamedTuple):
    """A call of a tool on which a client wants a verdict. `mode` is the client's permission mode, if any.

    `folder` is the one in which it is made, "" if the client names none that can be kept; `place` says the
    session, and the folder if the arguments that are asked for have no room for it.

    The ids that clients give to calls are not read: they repeat.
    """

    client: Client
    event: Event
    tool: str
    args: dict[str, Any]
    mode: str | None
    place: str = ""
    folder: str = ""

    def asked_args(self) -> dict[str, Any]:
        """Return what a person is asked for: the tool's arguments and the folder, to which a yes is bound.

        A tool that has such an argument of its own is asked about as it is.
        """
        return {FOLDER: self.folder, **self.args} if self.folder else self.args

    def own_args(self, args: dict[str, Any]) -> dict[str, Any]:
        """Return arguments that were asked for as the tool takes them: without a folder that was added."""
        return args if FOLDER in self.args else {name: args[name] for name in args if name != FOLDER}

    def title(self) -> str:
        """Return a heading: the tool and the beginning of its command or file."""
        subject = next((self.args[name] for name in ("command", "file_path", "url") if name in self.args), "")
        words = f"{self.tool}: {subject}" if subject else self.tool
        line = " ".join(str(words).split())
        return line if len(line) <= TITLE_CHARS_MAX else line[: TITLE_CHARS_MAX - 1] + "…"


def parse_call(raw: bytes, client: Client) -> HookCall:
    """Read what a client wrote. Raises `HookFault` for what is malformed, unknown or beyond a bound."""
    if len(raw) > INPUT_BYTES_MAX:
        raise HookFault(f"the input has more than {INPUT_BYTES_MAX} bytes")
    try:
        # Decoded here: by itself, `loads` guesses among encodings, and passes over a byte-order mark.
        fields = json.loads(raw.decode(), parse_constant=_refuse_constant, object_pairs_hook=_named_once)
    except (ValueError, RecursionError) as fault:
        raise HookFault("the input is not JSON in UTF-8, or repeats a name") from fault
    if not isinstance(fields, dict):
        raise HookFault("the input is not an object")
    event = fields.get("hook_event_name")
    try:
        return _call_in(fields, client)
    except HookFault as fault:
        raise HookFault(str(fault), event if isinstance(event, str) else None) from fault


def _call_in(fields: dict[str, Any], client: Client) -> HookCall:
    if fields.get("hook_event_name") not in tuple(Event):
        raise HookFault("the event is neither PreToolUse nor PermissionRequest")
    tool, session = _text(fields, "tool_name"), _text(fields, "session_id")
    if not tool or not session or len(tool) > NAME_CHARS_MAX:
        raise HookFault(f"tool_name has 1 to {NAME_CHARS_MAX} characters, and session_id is not empty")
    for name in ("tool_use_id", "turn_id"):
        _text(fields, name)
    event, mode = Event(fields["hook_event_name"]), _text(fields, "permission_mode")
    args, folder = _bounded_args(fields.get("tool_input")), _folder_in(fields)
    is_told = bool(folder) and FOLDER in args
    place = f"in {folder}, session {session}" if is_told else f"session {session}"
    return HookCall(client, event, tool, args, mode, place, folder)


def _folder_in(fields: dict[str, Any]) -> str:
    """Return the folder that a client names; "" for none that could be written down."""
    folder = fields.get(FOLDER)
    can_be_told = isinstance(folder, str) and 0 < len(folder) <= _FOLDER_CHARS_MAX and _is_writable(folder)
    return str(folder) if can_be_told else ""


def _text(fields: dict[str, Any], name: str) -> str | None:
    value = fields.get(name)
    if not isinstance(value, str | None):
        raise HookFault(f"{name} is not a text")
    if value is not None and (len(value) > _ID_CHARS_MAX or not _is_writable(value)):
        raise HookFault(f"{name} cannot be written as UTF-8, or has more than {_ID_CHARS_MAX} characters")
    return value or None


def _is_writable(text: str) -> bool:
    # A lone surrogate is JSON, and no text.
    return not any("\ud800" <= sign <= "\udfff" for sign in text)


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
        return _answer(call.event, {"decision": {"behavior": "allow"} | updated})
    if edited_args is None and call.client is Client.CODEX:
        # Codex refuses a bare "allow" before a tool: silence lets the call go on to Codex's own rules.
        return None
    updated = {} if edited_args is None else {"updatedInput": edited_args}
    return _answer(call.event, {"permissionDecision": "allow"} | updated)


def deny_answer(call: HookCall, reason: str) -> dict[str, Any]:
    """Return the answer to a no, with the person's words, which the model reads."""
    return _denial(call.event, reason.strip() or "The person refused.")


def fallback_answer(call: HookCall, why: str) -> dict[str, Any] | None:
    """Return the answer without a verdict; None is no output at all, to a client that is about to ask.

    It is a no unless the client is known to ask by itself in its mode, and to make no call before its answer.
    """
    if call.mode not in MODES_THAT_ASK[call.client, call.event]:
        return deny_answer(call, why)
    if call.event is Event.PERMISSION_REQUEST:
        return None
    return _answer(call.event, {"permissionDecision": "ask", "permissionDecisionReason": why})


def fault_answer(client: Client, event: str | None, why: str) -> tuple[int, dict[str, Any] | None]:
    """Return the exit status, and the answer, if a call cannot be asked about.

    A model writes the arguments of its call, and may write them so that nobody can be asked: then it is no.
    Codex makes a call on which a hook fails: it is blocked, and so is what names no event, or an unknown one.
    """
    if client is Client.CLAUDE_CODE and event in tuple(Event):
        return EXIT_ANSWERED, _denial(Event(event), f"Placet: {why}")
    if client is Client.CLAUDE_CODE and event in _EVENTS_OF_NO_CALL:
        return EXIT_NO_VERDICT, None
    return EXIT_BLOCKED, None


def is_same(value: Any, other: Any) -> bool:
    """Report whether two values are the same as JSON; for Python 1, 1.0 and True are equal."""
    return _canonical(value) == _canonical(other)


def _denial(event: Event, words: str) -> dict[str, Any]:
    if event is Event.PERMISSION_REQUEST:
        return _answer(event, {"decision": {"behavior": "deny", "message": words}})
    return _answer(event, {"permissionDecision": "deny", "permissionDecisionReason": words})


def _answer(event: Event, verdict: dict[str, Any]) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event.value} | verdict}


def _canonical(value: Any) -> bytes:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode()


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; of two values under one name, a client may mean the other."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a name is repeated")
    return fields


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
