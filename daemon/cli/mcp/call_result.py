"""An answer of the door as the result of a call.

Never shortens an answer.
"""

from __future__ import annotations

import json
from typing import Any

import mcp_types as types


def call_result(answer: dict[str, Any]) -> types.CallToolResult:
    """Return an answer as structure, and as text with its note in front for clients that read only that.

    It is an error if the call was malformed, so that a model tries again: not if the daemon is away, or if
    what was asked for is in a state that does not allow it.
    """
    note = answer.get("note")
    text = json.dumps(answer, ensure_ascii=False)
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text if note is None else f"{note}\n{text}")],
        structured_content=answer,
        is_error=answer.get("refused", {}).get("code") == "usage",
    )
