"""Asks a person about one call of a tool, waits, and uses a yes once.

Never answers "allow" without a use that the daemon granted for the arguments that are answered.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from daemon.cli.api.placet_asks import OPEN_STATES
from daemon.cli.hooks.hook_protocol import (
    FOLDER,
    HookCall,
    allow_answer,
    can_edit,
    deny_answer,
    fallback_answer,
    is_same,
)

_CANNOT_BE_ASKED: Final = frozenset({"usage", "forbidden"})
"""Refusals that follow from the call: its arguments cannot be kept, or a person denied the action."""

if TYPE_CHECKING:
    from collections.abc import Callable

    Answer = dict[str, Any]
    CallDoor = Callable[[str, Answer], Answer]


class HookAsk:
    """The ask about one call. `call_door` is `Door.call`; `key` is `new_key()`.

    So each run of the hook asks anew: a client runs it once for a call, and its own ids of calls repeat.
    """

    def __init__(self, call: HookCall, call_door: CallDoor, key: str) -> None:
        self._call = call
        self._call_door = call_door
        self._key = key
        self.open_ask: str | None = None
        """The ask that waits for a person, which is withdrawn if nobody waits for its verdict any more."""

    def answer(self, wait_s: float) -> tuple[Answer | None, str]:
        """Return the answer to the client (None is no output), and words for people about a fallback."""
        ask = self._ask(wait_s)
        if "refused" in ask:
            self.withdraw("the wait for it broke off")
            if ask["refused"]["code"] in _CANNOT_BE_ASKED:
                return deny_answer(self._call, f"Placet: {ask['refused']['message']}"), ""
            return self.fall_back(ask["refused"]["message"])
        if ask["state"] in OPEN_STATES:
            self.withdraw("nobody decided in time")
            return self.fall_back("nobody decided in time")
        self.open_ask = None
        if ask["state"] == "refused":
            return deny_answer(self._call, (ask.get("verdict") or {}).get("reason") or ""), ""
        is_edited = not is_same(ask["args"], ask["asked_args"])
        if ask["state"] == "permitted" and is_edited and not can_edit(self._call):
            words = "The person edited the arguments. Call again with exactly these: "
            own_args = self._call.own_args(ask["args"])
            return deny_answer(self._call, words + json.dumps(own_args, ensure_ascii=False)), ""
        if ask["state"] == "permitted" and ask["args"].get(FOLDER) != ask["asked_args"].get(FOLDER):
            words = "The person chose another folder, in which a hook cannot run it: "
            return deny_answer(self._call, words + str(ask["args"].get(FOLDER))), ""
        use = self._use(ask)
        if use.get("result") != "granted":
            return self.fall_back(use.get("note", "the permission was not granted"))
        args = self._call.own_args(use["args"])
        edited = None if is_same(args, self._call.args) else args
        return allow_answer(self._call, edited), ""

    def fall_back(self, why: str) -> tuple[Answer | None, str]:
        """Return the answer without a verdict, and why there is none."""
        return fallback_answer(self._call, f"Placet: {why}"), why

    def withdraw(self, reason: str) -> None:
        """Take the ask back, if one waits. A daemon that is away forgets it at its end of validity."""
        if self.open_ask is not None:
            self._call_door("withdraw", {"ask": self.open_ask, "reason": reason})
            self.open_ask = None

    def _ask(self, wait_s: float) -> Answer:
        request = {
            "action": {"name": self._call.tool, "args": self._call.asked_args()},
            "title": self._call.title(),
            "why": self._call.place,
            "key": self._key,
            "valid_minutes": int(wait_s) // 60 + 2,
        }
        made = self._call_door("ask_permission", request)
        if "refused" in made or made["state"] not in OPEN_STATES:
            return made
        self.open_ask = made["ask_id"]
        return self._call_door("ask_permission", request | {"wait_s": wait_s})

    def _use(self, ask: Answer) -> Answer:
        request = {"ask": ask["ask_id"], "args_hash": ask["args_hash"], "execution_id": self._key}
        return self._call_door("use_permission", request)
