"""A tool for Claude Code's --permission-prompt-tool that asks you in Placet.

claude -p "..." --mcp-config '{"mcpServers": {"ask": {"command": "python", "args": ["prompt_tool.py"]}}}' \
    --permission-prompt-tool mcp__ask__permission

Needs Placet with its extra `mcp`, and the agent: placet agent add Claude --scope none
"""

import asyncio
import json
from typing import Any
from uuid import uuid4

from mcp.server import MCPServer

SESSION = f"prompt tool {uuid4()}"

server = MCPServer("ask")


@server.tool()
async def permission(tool_name: str, input: dict[str, Any], tool_use_id: str = "") -> str:  # noqa: A002
    """Ask the person whether a tool may be called."""
    call = {
        "hook_event_name": "PermissionRequest",
        "session_id": SESSION,
        "tool_name": tool_name,
        "tool_input": input,
        **({"tool_use_id": tool_use_id} if tool_use_id else {}),
    }
    hook = await asyncio.create_subprocess_exec(
        *("placet", "ask", "--hook", "Claude", "--wait", "540"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        out, _ = await hook.communicate(json.dumps(call).encode())
    finally:
        if hook.returncode is None:
            hook.terminate()
    # There is no window in which Claude Code could ask by itself: without a verdict the answer is no.
    verdict = json.loads(out)["hookSpecificOutput"]["decision"] if out else {"behavior": "deny"}
    if verdict["behavior"] == "allow":
        return json.dumps({"behavior": "allow", "updatedInput": verdict.get("updatedInput", input)})
    return json.dumps({"behavior": "deny", "message": verdict.get("message", "Nobody decided in time.")})


if __name__ == "__main__":
    server.run()
