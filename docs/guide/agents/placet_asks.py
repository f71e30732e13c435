"""Asks you in Placet whether actions may be done, for programs that stop and go on later.

Never takes an id of a framework or a model for a name, because those repeat: names of asks are drawn here.
Imports nothing of Placet, so a program may have a copy. Its agent: placet agent add NAME --scope none
"""

from __future__ import annotations

import fcntl
import http.client
import json
import os
import secrets
import socket
import subprocess
import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

OPEN_STATES: Final = frozenset({"pending", "deferred", "disputed"})
"""The states in which an ask waits for a person."""
_LIFETIME_S: Final = 7 * 86_400 - 3600


_held: Final[dict[str, tuple[int, int]]] = {}
"""The files from which a process alone goes on: its id, and its lock. A child that it forks has neither."""


class Stop(NamedTuple):
    """Where a run waits for a person: a key that nothing else has, and the state from which it goes on."""

    key: str
    state: Any


def new_key() -> str:
    """Return a name that nothing had before: 32 hexadecimal digits."""
    return secrets.token_hex(16)


def keep_stop(file: Path, state: Any) -> Stop:
    """Keep the state in which a run stopped, a value of JSON, under a key of its own; return both.

    Call this whenever the run stops, and never for one stop twice: a program that ends and starts again reads
    `kept_stop`, and so finds what it asked.
    """
    # A link to the file stays one: both names have to lead to one stop and one lock.
    file = file.resolve()
    stop, part = Stop(new_key(), state), file.with_name(f"{file.name}.part")
    with part.open("w", encoding="utf-8") as written:
        json.dump(stop._asdict(), written)
        written.flush()
        os.fsync(written.fileno())
    part.replace(file)
    return stop


def hold_alone(file: Path) -> None:
    """Let no other process go on from a file while this one lives. Raises RuntimeError if one does.

    A child that was forked is another process. Raises OSError if the file system can lock nothing.
    Two that went on from one stop would have one key, and each would take the yes for its own.
    """
    lock = os.path.realpath(f"{os.path.realpath(file)}.lock")
    if lock in _held:
        holder, descriptor = _held[lock]
        if holder == os.getpid():
            return
        del _held[lock]
        os.close(descriptor)
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as fault:
        os.close(descriptor)
        raise RuntimeError(f"another process goes on from {file}") from fault
    except OSError:
        os.close(descriptor)
        raise
    _held[lock] = os.getpid(), descriptor


def kept_stop(file: Path) -> Stop | None:
    """Return where a run stopped; None if there is no such file. Raises ValueError if it is another file.

    No other process can go on from it while this one lives; see `hold_alone`.
    """
    hold_alone(file)
    if not file.exists():
        return None
    kept = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(kept, dict) or kept.keys() != set(Stop._fields) or not kept["key"]:
        raise ValueError(f"{file} is not what a run of this program kept: move it away to start anew")
    return Stop(**kept)


def verdicts_on(
    agent: str, key: str, calls: Sequence[tuple[str, str, dict[str, Any]]]
) -> list[dict[str, Any]] | None:
    """Ask about the calls at one stop, or read the verdicts, in their order; None while one is missing.

    `key` is that of the stop. A call is its id in the framework, the name of an action, and arguments. Each
    yes is used here, once: then `allowed` is true, and `args` are what may be done, which the person may have
    edited. Otherwise `reason` says why not. Whoever calls this again with the same key gets the same answer.
    Calls with one id are not allowed: a framework would take a yes to one for a yes to all.
    """
    ids = [call[0] for call in calls]
    asks = {
        number: _ask(agent, f"{key} {number}", action, args)
        for number, (call_id, action, args) in enumerate(calls)
        if ids.count(call_id) == 1
    }
    if any(ask["state"] in OPEN_STATES for ask in asks.values()):
        return None
    alike: dict[str, Any] = {"allowed": False, "reason": "Calls at once need ids of their own."}
    return [
        _verdict(agent, f"{key} {number}", asks[number]) if number in asks else alike
        for number in range(len(calls))
    ]


def _ask(agent: str, key: str, action: str, args: dict[str, Any]) -> Any:
    fields = {
        "agent": agent,
        "key": key,
        "name": action,
        "args": args,
        "title": f"{action} {json.dumps(args)}"[:200],
        "not_after": int((time.time() + _LIFETIME_S) * 1000),
    }
    return _send("/v1/asks", fields)


def _verdict(agent: str, key: str, ask: Any) -> dict[str, Any]:
    fields = {"agent": agent, "args_hash": ask["args_hash"], "execution_id": key}
    use = _send(f"/v1/asks/{ask['ask_id']}/use", fields)
    if use["result"] == "granted":
        return {"allowed": True, "args": use["args"]}
    reason = (ask["verdict"] or {}).get("reason") or f"it is {ask['state']}"
    return {"allowed": False, "reason": f"The person did not allow it: {reason}"}


def _send(path: str, body: dict[str, Any]) -> Any:
    paths = json.loads(subprocess.check_output(["placet", "paths", "--json"]))
    connection = http.client.HTTPConnection("placet")
    connection.sock = socket.socket(socket.AF_UNIX)
    try:
        connection.sock.connect(paths["socket"])
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        response = connection.getresponse()
        answer = json.loads(response.read())
    finally:
        connection.close()
    if response.status >= 400:
        raise RuntimeError(answer["error"]["message"])
    return answer
