"""The door as a server of the Model Context Protocol on standard input and output.

Never writes anything else to standard output, and never keeps a client waiting beyond a minute.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import anyio
import anyio.from_thread
import mcp_types as types
from jsonschema import Draft202012Validator
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from daemon import __version__
from daemon.cli.api.command_error import CommandError
from daemon.cli.mcp import resources
from daemon.cli.mcp.call_result import call_result
from daemon.cli.mcp.resource_notices import ResourceNotices
from daemon.cli.mcp.sent_arguments import typed_arguments
from daemon.cli.mcp.task_handles import TaskHandles
from daemon.cli.mcp.tool_calls import Door, DoorRefusal
from daemon.cli.mcp.tool_table import INSTRUCTIONS, TOOLS, ToolEntry, input_schema, output_schema

_FAULT_CHARS_MAX: Final = 300


def serve(name: str) -> None:
    """Serve one client, which proposes and asks as `name`, until it closes standard input."""
    anyio.run(_serve, Door(name, anyio.from_thread.check_cancelled))


async def _serve(door: Door) -> None:
    server = make_server(door)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def make_server(door: Door) -> Server[Any]:
    """Make the server of a door, for any transport."""
    tasks, notices = TaskHandles(door), ResourceNotices(door)
    handlers = _Handlers(door, tasks)
    server: Server[Any] = Server(
        "placet",
        version=__version__,
        instructions=INSTRUCTIONS,
        lifespan=notices.watch_while_served,
        on_list_tools=handlers.list_tools,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_subscribe_resource=notices.subscribe,
        on_unsubscribe_resource=notices.unsubscribe,
        on_subscriptions_listen=notices.listen,
    )
    # Typed in the SDK without the results of extensions, which its server passes on.
    server.add_request_handler("tools/call", types.CallToolRequestParams, handlers.call_tool)
    tasks.extend(server)
    return server


class _Handlers:
    """What the SDK calls. The context of a request says which client it is."""

    def __init__(self, door: Door, tasks: TaskHandles) -> None:
        self._door = door
        self._tasks = tasks

    async def list_tools(self, _context: Any, _params: Any) -> types.ListToolsResult:
        callable_tools = await _in_thread(self._door.callable_tools)
        return types.ListToolsResult(tools=[_tool_description(tool, callable_tools) for tool in TOOLS])

    async def call_tool(
        self, context: Any, params: types.CallToolRequestParams
    ) -> types.CallToolResult | dict[str, Any]:
        tool = next((tool for tool in TOOLS if tool.name == params.name), None)
        if tool is None:
            raise MCPError(code=types.INVALID_PARAMS, message=f"there is no tool {params.name[:80]!r}")
        schema = input_schema(tool, [])
        args = typed_arguments(params.arguments or {}, schema)
        fault = next(iter(Draft202012Validator(schema).iter_errors(args)), None)
        if fault is not None:
            words = f"{fault.json_path}: {fault.message}"[:_FAULT_CHARS_MAX]
            return call_result({"refused": {"code": "usage", "message": words, "hint": ""}, "note": words})
        answer = await _in_thread(partial(self._door.call, tool.name, args))
        task = None if tool.reads else self._tasks.handle_of(context, answer)
        return call_result(answer) if task is None else task

    async def list_resources(self, _context: Any, _params: Any) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=resources.list_resources())

    async def list_templates(self, _context: Any, _params: Any) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=resources.list_templates())

    async def read_resource(
        self, _context: Any, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        try:
            text = await _in_thread(partial(resources.read_resource, self._door, uri))
        except (CommandError, DoorRefusal) as error:
            raise MCPError(code=types.INVALID_PARAMS, message=error.message) from error
        content = types.TextResourceContents(uri=uri, mime_type="application/json", text=text)
        return types.ReadResourceResult(contents=[content])


def _tool_description(tool: ToolEntry, callable_tools: list[dict[str, Any]]) -> types.Tool:
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=input_schema(tool, callable_tools),
        output_schema=output_schema(tool),
        annotations=types.ToolAnnotations(
            read_only_hint=tool.reads,
            destructive_hint=False,
            idempotent_hint=True,
            open_world_hint=False,
        ),
    )


async def _in_thread(use: Any) -> Any:
    """Run what asks the daemon, and may wait for it."""
    return await anyio.to_thread.run_sync(use)
