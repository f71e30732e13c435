"""The door as a server of the Model Context Protocol on standard input and output.

Never writes anything else to standard output, and never keeps a client waiting beyond a minute.
"""

from __future__ import annotations

import json
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
from daemon.cli.mcp.resource_notices import ResourceNotices
from daemon.cli.mcp.tool_calls import Door, DoorRefusal
from daemon.cli.mcp.tool_table import INSTRUCTIONS, TOOLS, ToolEntry, input_schema

_FAULT_CHARS_MAX: Final = 300
_ANYTHING: Final = {"type": "object"}


def serve(name: str) -> None:
    """Serve one client, which proposes and asks as `name`, until it closes standard input."""
    anyio.run(_serve, Door(name, anyio.from_thread.check_cancelled))


async def _serve(door: Door) -> None:
    server = make_server(door)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def make_server(door: Door) -> Server[Any]:
    """Make the server of a door, for any transport."""
    handlers, notices = _Handlers(door), ResourceNotices(door)
    return Server(
        "placet",
        version=__version__,
        instructions=INSTRUCTIONS,
        lifespan=notices.watch_while_served,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_subscribe_resource=notices.subscribe,
        on_unsubscribe_resource=notices.unsubscribe,
        on_subscriptions_listen=notices.listen,
    )


class _Handlers:
    """What the SDK calls: the context of a request is never needed."""

    def __init__(self, door: Door) -> None:
        self._door = door

    async def list_tools(self, _context: Any, _params: Any) -> types.ListToolsResult:
        callable_tools = await _in_thread(self._door.callable_tools)
        return types.ListToolsResult(tools=[_tool_description(tool, callable_tools) for tool in TOOLS])

    async def call_tool(self, _context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = next((tool for tool in TOOLS if tool.name == params.name), None)
        if tool is None:
            raise MCPError(code=types.INVALID_PARAMS, message=f"there is no tool {params.name[:80]!r}")
        args = params.arguments or {}
        fault = next(iter(Draft202012Validator(input_schema(tool, [])).iter_errors(args)), None)
        if fault is not None:
            words = f"{fault.json_path}: {fault.message}"[:_FAULT_CHARS_MAX]
            return _result({"refused": {"code": "usage", "message": words, "hint": ""}, "note": words})
        return _result(await _in_thread(partial(self._door.call, tool.name, args)))

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
        output_schema=_ANYTHING,
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


def _result(answer: dict[str, Any]) -> types.CallToolResult:
    """Return an answer as structure, and as text with its note in front for clients that read only that."""
    note = answer.get("note")
    text = json.dumps(answer, ensure_ascii=False)
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text if note is None else f"{note}\n{text}")],
        structured_content=answer,
    )
