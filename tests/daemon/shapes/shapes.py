"""The shapes of the control API's answers for the command line, generated from the daemon's structures.

`make shapes` writes them. Never invents a key: what a structure lacks, no view can read.
"""

import dataclasses
import keyword
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date, datetime
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Final, Literal, NewType, Union, get_args, get_origin, get_type_hints
from unittest.mock import MagicMock

from msgspec import Struct, UnsetType
from msgspec.structs import fields

from daemon.agents.deciding.decision_history import DecisionRecord
from daemon.agents.deciding.decision_result import DecisionResult
from daemon.agents.deciding.waiting_items import NoteEvidence, PendingItem
from daemon.agents.person.agent_overview import AgentDetails
from daemon.agents.person.external_agents import ExternalAgentDetails
from daemon.app.composition import Daemon
from daemon.control.error_body import Fault, Meant
from daemon.control.routes import self_description
from daemon.control.routes.status import Status
from daemon.journal.views.structures import (
    Change,
    Checklist,
    ChecklistItem,
    Conflict,
    Entry,
    Link,
    Task,
    TimeRecord,
)
from daemon.peers.linking.device_states import DeviceState
from tests.daemon.cli.mcp import answer_schemas
from tests.support.source_tree import ROOT

FILE: Final = ROOT / "daemon" / "shapes" / "answers.py"
OTHERS_FILE: Final = ROOT / "daemon" / "shapes" / "others.py"
REQUESTS_FILE: Final = ROOT / "daemon" / "shapes" / "requests.py"
UNDO_FILE: Final = ROOT / "daemon" / "shapes" / "undo.py"
_OF_REQUESTS: Final = tuple(
    f"daemon.agents.{room}" for room in ("asks.", "outside.", "person.external_agents")
)
"""Where structures come from that say what programs are, ask and propose, and how it stands."""
TIMES_FILE: Final = ROOT / "daemon" / "shapes" / "times.py"
_OF_TIMES: Final = ("daemon.journal.time_records", "daemon.journal.time_totals", "daemon.dates.")
"""Where structures come from that say what timers did, what time comes to, and when words are."""
_OF_UNDO: Final = ("daemon.journal.undo.", "daemon.journal.removed", "daemon.agents.person.undo_of_change")
"""Where structures come from that say what an undo did, and what was removed."""

SHAPES: Final[Mapping[str, type[Struct]]] = {
    "CandidateJson": Meant,
    "DetailJson": Fault,
    "ChecklistItemJson": ChecklistItem,
    "ChecklistJson": Checklist,
    "EntryJson": Entry,
    "ConflictJson": Conflict,
    "TimeRecordJson": TimeRecord,
    "LinkJson": Link,
    "TaskJson": Task,
    "NoteEvidenceJson": NoteEvidence,
    "PendingItemJson": PendingItem,
    "DecisionJson": DecisionRecord,
    "DecisionResultJson": DecisionResult,
    "PeerJson": DeviceState,
    "StatusJson": Status,
    "ChangeJson": Change,
    "AgentJson": AgentDetails,
    "ExternalAgentJson": ExternalAgentDetails,
}
"""Names of structures that views know by other names than the daemon; the others keep their own."""

_HEAD: Final = '''"""The JSON of the control API as the command line reads it; only type checkers import it.

Generated from the daemon's structures by `make shapes`, and never edited by hand. Keys may be missing from an
older daemon and added by a newer one, so views read with `get`.
"""

from __future__ import annotations

from typing import Any, TypedDict
'''
_SENTENCE: Final = '''

class SentenceJson(TypedDict):
    """The id of one of the daemon's sentences, and what fills its template."""

    id: str
    params: dict[str, Any]
'''


def shapes_modules() -> dict[Path, str]:
    """Return the texts of the generated modules: what views read, programs ask, an undo did, and others."""
    names: dict[type, str] = {struct: name for name, struct in SHAPES.items()}
    document: dict[str, str] = {}
    for struct in SHAPES.values():
        _write(struct, names, document)
    shown = document.keys() - _names_from(_OF_REQUESTS, names)
    for struct in answered_structures():
        _write(struct, names, document)
    requests = _names_from(_OF_REQUESTS, names) & document.keys()
    undo = _names_from(_OF_UNDO, names) & document.keys()
    times = (_names_from(_OF_TIMES, names) & document.keys()) - shown - requests
    others = document.keys() - shown - requests - undo - times
    return {
        FILE: _module(document, shown, _SENTENCE),
        REQUESTS_FILE: _module(document, requests, _imports(document, requests, shown)),
        UNDO_FILE: _module(document, undo, _imports(document, undo, shown)),
        TIMES_FILE: _module(document, times, _imports(document, times, shown)),
        OTHERS_FILE: _module(document, others, _imports(document, others, shown)),
    }


def _names_from(modules: tuple[str, ...], names: Mapping[type, str]) -> set[str]:
    return {name for struct, name in names.items() if struct.__module__.startswith(modules)}


def _module(document: Mapping[str, str], members: AbstractSet[str], beginning: str) -> str:
    shapes = [document[name] for name in document if name in members]
    needs_any = any(re.search(r"\bAny\b", text) for text in (beginning, *shapes))
    head = _HEAD if needs_any else _HEAD.replace("import Any, TypedDict", "import TypedDict")
    return "\n\n".join([f"{head}{beginning}", *shapes])


def _imports(document: Mapping[str, str], members: AbstractSet[str], shown: AbstractSet[str]) -> str:
    """Return what the structures of a module need from those that views read."""
    words = set(re.findall(r"\w+", "".join(document[name] for name in members)))
    imported = "".join(f"    {name},\n" for name in sorted(shown & words))
    return f"\nfrom daemon.shapes.answers import (\n{imported})\n" if imported else ""


def answered_structures() -> list[type]:
    """Return the structures that the answers of all routes consist of, each once; not what streams mix in."""
    # The table is the daemon's own; what its handlers would work on is not asked for anything.
    table = [*Daemon._routes(MagicMock()), *self_description.routes(MagicMock(), [])]
    answers = [route.response for route in table]
    return list(dict.fromkeys(struct for answer in answers for struct in _structures(answer)))


def _field_names(struct: type) -> list[tuple[str, str]]:
    """Return the fields of a structure: their names in Python and in JSON."""
    if dataclasses.is_dataclass(struct):
        return [(field.name, field.name) for field in dataclasses.fields(struct)]
    assert issubclass(struct, Struct)
    return [(field.name, field.encode_name) for field in fields(struct)]


def _write(struct: type, names: dict[type, str], document: dict[str, str]) -> None:
    """Write a structure after those that it contains; each once."""
    name = names.setdefault(struct, f"{struct.__name__}Json")
    assert list(names.values()).count(name) == 1, f"two structures would be called {name}"
    if name in document:
        return
    document[name] = ""  # A structure that contains itself is under way.
    types = get_type_hints(struct)
    for field, _ in _field_names(struct):
        for inner in _structures(types[field]):
            _write(inner, names, document)
    del document[name]
    annotations = {key: _annotation(types[field], names) for field, key in _field_names(struct)}
    if any(map(keyword.iskeyword, annotations)):
        # A class has no field of such a name.
        lines = [f'        "{key}": {annotation},\n' for key, annotation in annotations.items()]
        document[name] = (
            f'{name} = TypedDict(\n    "{name}",\n    {{\n{"".join(lines)}    }},\n    total=False,\n)\n'
        )
        return
    lines = [f"    {key}: {annotation}\n" for key, annotation in annotations.items()]
    document[name] = f"class {name}(TypedDict, total=False):\n" + "".join(lines)


def _structures(type_: Any) -> Iterator[type]:
    if isinstance(type_, type) and (issubclass(type_, Struct) or dataclasses.is_dataclass(type_)):
        yield type_
    for argument in get_args(type_):
        yield from _structures(argument)


def _annotation(type_: Any, names: Mapping[type, str]) -> str:
    """Write the type of a value as JSON has it."""
    origin, arguments = get_origin(type_), get_args(type_)
    if origin in (Union, UnionType):
        parts = [_annotation(part, names) for part in arguments if part is not UnsetType]
        return "Any" if "Any" in parts else " | ".join(dict.fromkeys(parts))
    if origin is Literal:
        return " | ".join(dict.fromkeys(type(value).__name__ for value in arguments))
    if isinstance(origin, type):
        return _container(origin, [_annotation(part, names) for part in arguments if part is not Ellipsis])
    if isinstance(type_, NewType):
        return _annotation(type_.__supertype__, names)
    return names[type_] if type_ in names else _scalar(type_)


def _container(origin: type, parts: Sequence[str]) -> str:
    if issubclass(origin, Mapping):
        return f"dict[{', '.join(parts)}]"
    assert len(set(parts)) == 1, f"an array of one type was expected: {parts}"
    return f"list[{parts[0]}]"


def _scalar(type_: Any) -> str:
    if type_ is Any:
        return "Any"
    if type_ is NoneType:
        return "None"
    if issubclass(type_, Enum | datetime | date):
        return "str"
    assert type_ in (str, int, float, bool, dict), f"no JSON type is known for {type_}"
    return "dict[str, Any]" if type_ is dict else str(type_.__name__)


def main() -> int:
    """Write the modules, and the schemas of what the door answers."""
    answer_schemas.FILE.write_text(answer_schemas.answer_schemas(), encoding="utf-8")
    for file, text in shapes_modules().items():
        file.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
