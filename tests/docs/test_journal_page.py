"""The page of the journal's kinds and fields names every tool that writes, with all its arguments.

Never judges what it says of them.
"""

import re
from pathlib import Path

from msgspec.structs import fields

from daemon.agents.tools.table import TOOLS
from tests.support.source_tree import text_of


def test_the_page_of_the_journal_names_every_tool_with_its_arguments() -> None:
    page = text_of(Path("docs/reference/journal.md"))
    table = page.partition("| tool | arguments |")[2].partition("\n\n")[0]
    named = {
        tool: set(re.findall(r"(?:^|· |at least one of |, |and )`(\w+)`", arguments.replace("?", "")))
        for tools, arguments in re.findall(r"^\| (`.*?) \| (.*) \|$", table, re.MULTILINE)
        for tool in re.findall(r"`(\w+)`", tools)
    }
    wanted = {
        tool.name: {field.encode_name for field in fields(tool.arguments)}
        for tool in TOOLS.values()
        if tool.deferrable and tool.mode.value == "deferred"
    }
    assert named.keys() == wanted.keys()
    assert {tool: wanted[tool] - named[tool] for tool in wanted if wanted[tool] - named[tool]} == {}
    assert all(f"`{tool}`" in page.partition("| tool | arguments |")[0] for tool in wanted)
