"""The tasks extension of the protocol: a set of changes, or an ask, that waits is a task of its client.

Never keeps a task: its id is that of the set or the ask, which the journal has. Never answers so to a client
that did not say, with the same request, that it knows the extension.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import anyio.to_thread
import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from daemon.cli.api.command_error import CommandError
from daemon.cli.mcp.call_result import call_result
from daemon.cli.mcp.tool_calls import Door, DoorRefusal, is_open

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

EXTENSION: Final = "io.modelcontextprotocol/tasks"
POLL_MS: Final = 5_000
_REQUIRED: Final[dict[str, Any]] = {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}
_TAKEN_BACK: Final = frozenset({"withdrawn", "retracted"})
_UNKNOWN: Final = frozenset({"not_found"})


class TaskParams(types.RequestParams):
    """The params of a request about one task."""

    task_id: str


class TaskHandles:
    """The tasks of one door: made by its tools, shown, and cancelled by taking back what waits."""

    def __init__(self, door: Door) -> None:
        self._door = door

    def extend(self, server: Server[Any]) -> None:
        """Let a server know the extension and its methods."""
        server.extensions[EXTENSION] = {}
        server.add_request_handler("tasks/get", TaskParams, self.show)
        server.add_request_handler("tasks/cancel", TaskParams, self.cancel)
        server.add_request_handler("tasks/update", TaskParams, self.update)

    def handle_of(self, context: Any, answer: dict[str, Any]) -> dict[str, Any] | None:
        """Return a task in place of a call's answer; None if nothing waits, or the client knows no tasks."""
        if "refused" in answer or not is_open(answer) or not knows_tasks(context):
            return None
        return {"resultType": "task", **_task_of(answer)}

    async def show(self, context: Any, params: TaskParams) -> dict[str, Any]:
        """Serve `tasks/get`. Raises `MCPError` for a task that is none of this agent's."""
        require_tasks(context)
        return _task_of(await self._request(params.task_id))

    async def cancel(self, context: Any, params: TaskParams) -> dict[str, Any]:
        """Serve `tasks/cancel`: take back what nobody decided on. What was decided stays as it is."""
        require_tasks(context)
        answer = await self._request(params.task_id)
        if is_open(answer):
            named = {"ask" if "ask_id" in answer else "set": params.task_id}
            await anyio.to_thread.run_sync(self._door.call, "withdraw", named)
        return {}

    async def update(self, context: Any, params: TaskParams) -> dict[str, Any]:
        """Serve `tasks/update`, by which clients answer what a task asks of them: these ask nothing."""
        require_tasks(context)
        await self._request(params.task_id)
        return {}

    async def _request(self, identifier: str) -> dict[str, Any]:
        """Read a set or an ask. Raises `MCPError` if there is none under this whole id."""
        for kind in ("sets", "asks"):
            try:
                answer = await anyio.to_thread.run_sync(partial(self._door.read, kind, identifier))
            except (CommandError, DoorRefusal) as error:
                if error.code not in _UNKNOWN:
                    raise MCPError(code=types.INTERNAL_ERROR, message=error.message) from error
                continue
            if _id_of(answer) == identifier:
                return answer
        raise MCPError(code=types.INVALID_PARAMS, message=f"there is no task {identifier[:80]!r}")


def knows_tasks(context: Any) -> bool:
    """Report whether a client said with this request that it knows the extension."""
    capabilities = context.session.client_capabilities
    extensions = None if capabilities is None else capabilities.extensions
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS and EXTENSION in (extensions or {})


def require_tasks(context: Any) -> None:
    """Raise the `MCPError` of the specification for a client that did not say that it knows the extension."""
    if not knows_tasks(context):
        raise MCPError(
            code=types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            message=f"the client does not know {EXTENSION}",
            data=_REQUIRED,
        )


def _id_of(answer: dict[str, Any]) -> str:
    return str(answer.get("ask_id") or answer.get("set"))


def _task_of(answer: dict[str, Any]) -> dict[str, Any]:
    """Return a set or an ask as a task; `answer` is what the door's tools say of it."""
    task = {
        "taskId": _id_of(answer),
        "createdAt": answer["made_at"],
        "lastUpdatedAt": answer["changed_at"],
        "ttlMs": None,
        "pollIntervalMs": POLL_MS,
    }
    if is_open(answer):
        return task | {"status": "working", "statusMessage": "It waits for the person, who decides later."}
    states = {item["state"] for item in answer["items"]} if "items" in answer else {answer["state"]}
    if states and states <= _TAKEN_BACK:
        return task | {"status": "cancelled"}
    result = call_result(answer).model_dump(by_alias=True, mode="json", exclude_none=True)
    return task | {"status": "completed", "result": result}
