"""What each tool of the door asks of the daemon, and what it answers.

Never decides, never acts under another name than the one that the door was started with, and never fails: a
refusal is an answer in words.
"""

from __future__ import annotations

import hashlib
import time
from typing import TYPE_CHECKING, Any, Final

from daemon.cli.api import client
from daemon.cli.api.client import percent_encode
from daemon.cli.api.command_error import CommandError
from daemon.cli.api.placet_asks import OPEN_STATES, new_key
from daemon.cli.mcp.tool_table import MARK_CHARS

if TYPE_CHECKING:
    from collections.abc import Callable

    Answer = dict[str, Any]

AGENTS: Final = "/v1/external-agents"
_SLACK_S: Final = 30.0
_PART_S: Final = 1.0
"""A client that has gone is noticed after this part of a wait."""
_ID_CHARS: Final = 32
_ID_DIGITS: Final = frozenset("0123456789abcdef")
_USES_OF_A_KEY_MAX: Final = 50
_WAITS: Final = (
    "Nothing is done yet: the person decides later. End your turn, "
    "and call get_decisions when you begin again."
)


class DoorRefusal(Exception):
    """What the door itself refuses. Its words are English, because a model reads them."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message, self.hint = code, message, ""


class Door:
    """The tools for one agent, by its name on this device.

    Models repeat the names that they give executions, so a name here is one of this door alone: of two doors
    that use one yes under one name, one is granted. A retry by another door is not.
    `check_ended` raises if the client has gone: it is called before each part of a wait.
    """

    def __init__(self, name: str, check_ended: Callable[[], object] = lambda: None) -> None:
        self._name = name
        self._check_ended = check_ended
        self._is_registered = False
        self._mark = new_key()[:MARK_CHARS]
        self._calls: dict[str, Callable[[Answer], Answer]] = {
            "find_tasks": self._find_tasks,
            "show_task": self._show_task,
            "read_dates": self._read_dates,
            "propose_changes": self._propose_changes,
            "ask_permission": self._ask_permission,
            "use_permission": self._use_permission,
            "get_decisions": self._get_decisions,
            "withdraw": self._withdraw,
        }

    def call(self, tool: str, args: Answer) -> Answer:
        """Carry a call out; the answer has `refused` if the daemon refuses it, or is away."""
        try:
            self._register()
            return self._calls[tool](args)
        except (CommandError, DoorRefusal) as error:
            refusal = {"code": error.code, "message": error.message, "hint": error.hint}
            return {"refused": refusal, "note": " ".join(filter(None, (error.message, error.hint)))}

    def callable_tools(self) -> list[Answer]:
        """Return the tools that a change may call; none if the daemon is away or does not know the agent."""
        try:
            self._register()
            tools: list[Answer] = client.get(f"{AGENTS}/{percent_encode(self._name)}/tools").json
        except CommandError:
            return []
        return tools

    def read(self, kind: str, name: str) -> Answer:
        """Read a resource: a set, an ask, a task, or a list, which has no name.

        Raises `CommandError` and `DoorRefusal`.
        """
        self._register()
        if kind in ("inbox", "decisions"):
            query = {"agent": self._name, "decided": "true" if kind == "decisions" else "false"}
            listed: Answer = client.get("/v1/proposals", query).json
            return listed
        readers = {"sets": self._set, "asks": self._ask, "tasks": self._task, "receipts": self._receipt}
        return readers[kind](name)

    def position_after(self, position: int | None) -> int:
        """Wait a second at most for a verdict; return where the feed then ends. Raises `CommandError`.

        Without a position, return at once. It is another one if and only if anything was written since.
        """
        self._register()
        query = {"agent": self._name, "after": position, "wait_s": str(0.0 if position is None else _PART_S)}
        end: int = client.get("/v1/verdicts", query, _PART_S + _SLACK_S).json["next"]
        return end

    def _register(self) -> None:
        """Name this program to the daemon, once; a person then lets it in."""
        if not self._is_registered:
            client.post(f"{AGENTS}/register", {"name": self._name})
            self._is_registered = True

    # -- reading --------------------------------------------------------------------------------------

    def _find_tasks(self, args: Answer) -> Answer:
        query = {"agent": self._name, "q": args.get("query", ""), "limit": args.get("limit", 20)}
        return {"tasks": client.get("/v1/readable-tasks", query).json}

    def _show_task(self, args: Answer) -> Answer:
        return self._task(args["task"])

    def _read_dates(self, args: Answer) -> Answer:
        return dict(client.get("/v1/dates", args).json)

    def _task(self, ref: str) -> Answer:
        path = f"/v1/readable-tasks/{percent_encode(ref)}"
        return {"task": client.get(path, {"agent": self._name}).json}

    def _set(self, ref: str) -> Answer:
        """Return a set of this agent's. Raises `DoorRefusal` for any other."""
        return self._read_own("set", f"/v1/proposals/{_whole_id('set', ref)}")

    def _ask(self, ref: str) -> Answer:
        """Return an ask of this agent's. Raises `DoorRefusal` for any other."""
        return self._read_own("ask", f"/v1/asks/{_whole_id('ask', ref)}")

    def _receipt(self, ref: str) -> Answer:
        """Return the receipt of an ask of this agent's. Raises `DoorRefusal` for any other."""
        name = self._ask(ref)["ask_id"]
        return self._read_own("ask", f"/v1/receipts/{percent_encode(name)}")

    def _read_own(self, kind: str, path: str) -> Answer:
        """Read what should be this agent's; that there is none, and that it is another's, read alike."""
        try:
            answer: Answer = client.get(path, {"agent": self._name}).json
        except CommandError as refusal:
            raise (_unknown_refusal(kind) if refusal.code == "not_found" else refusal) from None
        return answer

    def _get_decisions(self, args: Answer) -> Answer:
        wait_s = args.get("wait_s", 0)
        if args.get("sets") or args.get("asks"):
            answer = self._state_of(args)
            if wait_s and _is_all_open(answer):
                self._wait(self._position(), wait_s, lambda: not _is_all_open(self._state_of(args)))
                answer = self._state_of(args)
            return answer
        answer = self._verdicts(args.get("since", 0), wait_s)
        if not answer["sets"] and not answer["asks"]:
            answer["note"] = "Nothing was decided since. Ask again later."
        return answer

    def _state_of(self, args: Answer) -> Answer:
        return {
            "sets": [self._set(name) for name in args.get("sets", ())],
            "asks": [self._ask(name) for name in args.get("asks", ())],
        }

    # -- waiting --------------------------------------------------------------------------------------

    def _verdicts(self, after: int | None, wait_s: float) -> Answer:
        """Return what was decided after a position; if there is nothing, wait for it in parts."""
        deadline_s = time.monotonic() + wait_s
        while True:
            self._check_ended()
            part_s = max(0.0, min(deadline_s - time.monotonic(), _PART_S))
            query = {"agent": self._name, "after": after, "wait_s": str(part_s)}
            answer: Answer = client.get("/v1/verdicts", query, part_s + _SLACK_S).json
            if answer["sets"] or answer["asks"] or answer["more"] or time.monotonic() >= deadline_s:
                return answer
            after = answer["next"]

    def _position(self) -> int:
        position: int = self._verdicts(None, 0)["next"]
        return position

    def _wait(self, position: int, wait_s: float, is_decided: Callable[[], bool]) -> None:
        """Wait until what this agent waits for is decided, `wait_s` seconds at most."""
        deadline_s = time.monotonic() + wait_s
        while not is_decided() and (left_s := deadline_s - time.monotonic()) > 0:
            position = self._verdicts(position, min(left_s, wait_s))["next"]

    # -- proposing and asking -------------------------------------------------------------------------

    def _propose_changes(self, args: Answer) -> Answer:
        position, wait_s = self._position(), args.get("wait_s", 0)
        body = {"agent": self._name, "task": args.get("task"), "changes": args["changes"], "key": args["key"]}
        answer: Answer = client.post("/v1/proposals", body).json
        if wait_s:
            name = answer["set"]
            self._wait(position, wait_s, lambda: self._set(name)["state"] != "pending")
            answer = self._set(name)
        return answer | ({"note": _WAITS} if answer["state"] == "pending" else {})

    def _ask_permission(self, args: Answer) -> Answer:
        now = client.get("/v1/verdicts", {"agent": self._name})
        position, wait_s = now.json["next"], args.get("wait_s", 0)
        # The daemon's clock: this one may be wrong by more than the permission is valid.
        not_after_s = (now.now_s or 0) + args["valid_minutes"] * 60
        optional = {key: args[key] for key in ("why", "options") if key in args}
        body: Answer = optional | {
            "agent": self._name,
            "name": args["action"]["name"],
            "args": args["action"]["args"],
            "title": args["title"],
            "key": args["key"],
            "not_after": int(not_after_s * 1000),
        }
        answer = _ask_anew(body)
        if wait_s:
            name = answer["ask_id"]
            self._wait(position, wait_s, lambda: self._ask(name)["state"] not in OPEN_STATES)
            answer = self._ask(name)
        return answer | ({"note": _WAITS} if answer["state"] in OPEN_STATES else {})

    def _use_permission(self, args: Answer) -> Answer:
        ask = self._ask(args["ask"])
        body = {
            "agent": self._name,
            "args_hash": args["args_hash"],
            "execution_id": f"{args['execution_id']} {self._mark}",
        }
        answer: Answer = client.post(f"/v1/asks/{percent_encode(ask['ask_id'])}/use", body).json
        if answer["result"] != "granted":
            return answer | {"note": "The permission was not granted: do not act."}
        return answer | {"receipt": receipt_address(ask["ask_id"])}

    def _withdraw(self, args: Answer) -> Answer:
        reason = args.get("reason", "")
        if ("set" in args) == ("ask" in args):
            raise DoorRefusal("usage", "name a set or an ask, and not both")
        if "ask" in args:
            ask = self._ask(args["ask"])
            path = f"/v1/asks/{percent_encode(ask['ask_id'])}/withdraw"
            return dict(client.post(path, {"agent": self._name, "reason": reason}).json)
        name = self._set(args["set"])["set"]
        body = {"agent": self._name, "items": args.get("items", []), "reason": reason}
        return dict(client.post(f"/v1/proposals/{name}/withdraw", body).json)


def _ask_anew(body: Answer) -> Answer:
    """Make an ask, or find it again, but none whose permission was used: that was another call.

    Models and programs repeat their keys. After some uses under one, a name is drawn that nothing else has.
    """
    uses = range(1, _USES_OF_A_KEY_MAX)
    names = [hashlib.sha256(f"{body['key']!r} {use}".encode()).hexdigest() for use in uses]
    for name in (body["key"], *names):
        answer: Answer = client.post("/v1/asks", body | {"key": name}).json
        if answer["state"] != "used":
            return answer
    return dict(client.post("/v1/asks", body | {"key": new_key()}).json)


def is_open(answer: Answer) -> bool:
    """Report whether a set or an ask, as the tools show it, waits for the person."""
    return answer.get("state") in OPEN_STATES


def receipt_address(ask: str) -> str:
    """Return the address of the resource that shows how a permission was asked for, given and used."""
    return f"placet://receipts/{ask}"


def _whole_id(kind: str, ref: str) -> str:
    """Return an id as the daemon writes it. A part of one could tell how many others have such ids."""
    name = ref.strip().lower()
    if len(name) != _ID_CHARS or not set(name) <= _ID_DIGITS:
        raise _unknown_refusal(kind)
    return name


def _unknown_refusal(kind: str) -> DoorRefusal:
    return DoorRefusal("not_found", f"this agent has no such {kind}: give its whole id")


def _is_all_open(answer: Answer) -> bool:
    sets, asks = answer["sets"], answer["asks"]
    return all(listed["state"] == "pending" for listed in sets) and all(
        listed["state"] in OPEN_STATES for listed in asks
    )
