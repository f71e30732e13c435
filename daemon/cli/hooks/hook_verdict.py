"""Asks a person about one call of a tool, waits, and uses a yes once.

Never answers "allow" without a use that the daemon granted for the arguments that are answered.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from daemon.cli.hooks.hook_protocol import (
    HookCall,
    allow_answer,
    can_edit,
    deny_answer,
    fallback_answer,
    is_same,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    Answer = dict[str, Any]
    CallDoor = Callable[[str, Answer], Answer]

ATTEMPTS_MAX: Final = 20
"""How many calls that the client cannot tell apart are asked about in one session or turn."""
_OPEN: Final = frozenset({"pending", "deferred", "disputed"})
_OVER: Final = frozenset({"used", "withdrawn", "expired", "too_late"})


class HookAsk:
    """The ask about one call. `call_door` is `Door.call`; `new_execution` is an id that was never used."""

    def __init__(self, call: HookCall, call_door: CallDoor, new_execution: str) -> None:
        self._call = call
        self._call_door = call_door
        # A retry of a call that has an id is the same execution; any other one is its own.
        self._execution_id = call.call_id or new_execution
        self.open_ask: str | None = None
        """The ask that waits for a person, which is withdrawn if nobody waits for its verdict any more."""

    def answer(self, wait_s: int) -> tuple[Answer | None, str]:
        """Return the answer to the client (None is no output), and words for people about a fallback."""
        for attempt in range(ATTEMPTS_MAX):
            ask = self._ask(attempt, wait_s)
            if "refused" in ask:
                self.withdraw("the wait for it broke off")
                return self._fall_back(ask["refused"]["message"])
            if ask["state"] in _OPEN:
                self.withdraw("nobody decided in time")
                return self._fall_back("nobody decided in time")
            was_open, self.open_ask = self.open_ask is not None, None
            if ask["state"] == "refused" and not was_open and self._call.call_id is None:
                # An earlier call like this one was refused: the person may think otherwise by now.
                continue
            if ask["state"] == "refused":
                return deny_answer(self._call, (ask.get("verdict") or {}).get("reason") or ""), ""
            is_edited = not is_same(ask["args"], ask["asked_args"])
            if ask["state"] == "permitted" and is_edited and not can_edit(self._call):
                words = "The person edited the arguments. Call again with exactly these: "
                return deny_answer(self._call, words + json.dumps(ask["args"], ensure_ascii=False)), ""
            use = self._use(ask)
            if use.get("result") == "granted":
                edited = None if is_same(use["args"], self._call.args) else use["args"]
                return allow_answer(self._call, edited), ""
            if ask["state"] not in _OVER and use.get("result") != "already_used":
                return self._fall_back(use.get("note", "the permission was not granted"))
            if self._call.call_id is not None:
                return self._fall_back("this call was asked about before, and that ask is over")
        return self._fall_back("this call was asked about too often")

    def withdraw(self, reason: str) -> None:
        """Take the ask back, if one waits. A daemon that is away forgets it at its end of validity."""
        if self.open_ask is not None:
            self._call_door("withdraw", {"ask": self.open_ask, "reason": reason})
            self.open_ask = None

    def _ask(self, attempt: int, wait_s: int) -> Answer:
        request = {
            "action": {"name": self._call.tool, "args": self._call.args},
            "title": self._call.title(),
            "key": self._call.key(attempt),
            "valid_minutes": wait_s // 60 + 2,
        }
        made = self._call_door("ask_permission", request)
        if "refused" in made or made["state"] not in _OPEN:
            return made
        self.open_ask = made["ask_id"]
        return self._call_door("ask_permission", request | {"wait_s": wait_s})

    def _use(self, ask: Answer) -> Answer:
        request = {"ask": ask["ask_id"], "args_hash": ask["args_hash"], "execution_id": self._execution_id}
        return self._call_door("use_permission", request)

    def _fall_back(self, why: str) -> tuple[Answer | None, str]:
        return fallback_answer(self._call, f"Placet: {why}"), why
