"""The schemas of what the door's tools answer, generated from the daemon's structures by `make shapes`.

Never requires a key: one may be missing from an older daemon, or added by a newer one.
"""

import json
from typing import Any, Final

import msgspec
from msgspec import Struct

from daemon.agents.asks.ask_requests import UsedPermission
from daemon.agents.asks.ask_views import AskDetails
from daemon.agents.outside.proposal_views import ProposedSet
from daemon.agents.outside.readable_tasks import ReadableTask, TaskHead
from daemon.agents.outside.verdicts import Verdicts
from daemon.dates.day_reckoner import DatesRead
from tests.support.source_tree import ROOT

FILE: Final = ROOT / "daemon" / "cli" / "mcp" / "answer_schemas.json"


class FoundTasks(Struct):
    tasks: list[TaskHead]


class ShownTask(Struct):
    task: ReadableTask


class Receipted(Struct):
    receipt: str


class Refusal(Struct):
    code: str
    message: str
    hint: str


class Remarks(Struct):
    """What each answer may have: words for the model, and why the call was refused."""

    note: str
    refused: Refusal


ANSWERS: Final[dict[str, tuple[type[Struct], ...]]] = {
    "find_tasks": (FoundTasks,),
    "show_task": (ShownTask,),
    "read_dates": (DatesRead,),
    "propose_changes": (ProposedSet,),
    "ask_permission": (AskDetails,),
    "use_permission": (UsedPermission, Receipted),
    "get_decisions": (Verdicts,),
    "withdraw": (ProposedSet, AskDetails),
}
"""What each tool answers; one that answers in two ways has the keys of both."""


def answer_schemas() -> str:
    """Return the text of the file."""
    schemas = {tool: _schema((*structures, Remarks)) for tool, structures in ANSWERS.items()}
    return json.dumps(schemas, indent=1) + "\n"


def _schema(structures: tuple[type[Struct], ...]) -> dict[str, Any]:
    roots, definitions = msgspec.json.schema_components(structures, ref_template="#/$defs/{name}")
    names = [root["$ref"].rpartition("/")[2] for root in roots]
    properties = {key: part for name in names for key, part in definitions[name]["properties"].items()}
    inner = {name: part for name, part in definitions.items() if name not in names}
    return _plain({"type": "object", "properties": properties, "$defs": inner})


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema without words and without keys that have to be there.

    Each part has one type, because some clients read no list of types: what may be null is `anyOf`.
    """
    if "enum" in schema:
        # A newer daemon may know another value.
        return {"type": "string"}
    kept: dict[str, Any] = {}
    for key, value in schema.items():
        if key in ("properties", "$defs"):
            kept[key] = {name: _plain(part) for name, part in value.items()}
        elif key in ("items", "additionalProperties") and isinstance(value, dict):
            kept[key] = _plain(value)
        elif key == "anyOf":
            kept[key] = [_plain(option) for option in value]
        elif key in ("type", "$ref"):
            kept[key] = value
    return kept
