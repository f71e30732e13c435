"""Asks you in Placet whether an action may be done, for programs that stop and go on later.

The agent is made once: placet agent add NAME --scope none
"""

import http.client
import json
import socket
import subprocess
import time
from typing import Any

WEEK_S = 7 * 86_400


class _DaemonConnection(http.client.HTTPConnection):
    def connect(self) -> None:
        paths = json.loads(subprocess.check_output(["placet", "paths", "--json"]))
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(paths["socket"])


def _send(path: str, body: dict[str, Any]) -> Any:
    connection = _DaemonConnection("placet")
    connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
    response = connection.getresponse()
    answer = json.loads(response.read())
    if response.status >= 400:
        raise RuntimeError(answer["error"]["message"])
    return answer


def verdict_on(agent: str, key: str, action: str, args: dict[str, Any]) -> dict[str, Any] | None:
    """Ask, or read the verdict on what was asked under this key; None while nobody has decided.

    A yes is used for this key, and once: then `allowed` is true, and `args` are what may be done, which the
    person may have edited. Otherwise `reason` says why not. Whoever calls this again gets the same answer.
    """
    ask = _send(
        "/v1/asks",
        {
            "agent": agent,
            "key": key,
            "name": action,
            "args": args,
            "title": f"{action} {json.dumps(args)}"[:200],
            "not_after": int((time.time() + WEEK_S - 3600) * 1000),
        },
    )
    if ask["state"] in ("pending", "deferred", "disputed"):
        return None
    use = _send(
        f"/v1/asks/{ask['ask_id']}/use",
        {"agent": agent, "args_hash": ask["args_hash"], "execution_id": key},
    )
    if use["result"] == "granted":
        return {"allowed": True, "args": use["args"]}
    reason = (ask["verdict"] or {}).get("reason") or f"it is {ask['state']}"
    return {"allowed": False, "reason": f"The person did not allow it: {reason}"}
