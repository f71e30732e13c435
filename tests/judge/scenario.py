"""The scenarios that a model is judged by: a task with its past, and what a sensible agent would propose.

Never asks a model, and never reads the journal.
"""

import tomllib
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

FOLDER = Path(__file__).parent / "scenarios"
NOW = datetime(2026, 3, 11, 9, tzinfo=UTC)
"""The moment of the run in every scenario: a Wednesday."""

Kind = Literal[
    "first wake",
    "later wake",
    "correction",
    "sovereignty",
    "wants nothing",
    "ambiguous",
    "injected",
    "long history",
]


class _Part(Struct, frozen=True, forbid_unknown_fields=True):
    """A table of a file of scenarios."""


class TaskState(_Part, frozen=True):
    """The task as its person left it. An item with "[x] " before its title is ticked."""

    title: str
    status: str = "OPEN"
    reason: str = ""
    priority: str = "P2"
    estimate: int | None = None
    due: str | None = None
    language: str | None = None
    items: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    """The labels that may be proposed."""


class Note(_Part, frozen=True):
    """A note of the person's, `ago_h` hours before the run; it is new unless an earlier run saw it."""

    text: str
    ago_h: float = 1.0


class Earlier(_Part, frozen=True):
    """A call of the earlier run, and the person's verdict on it: confirmed, rejected, or empty.

    `then` are fields of the task that the person set afterwards.
    """

    tool: str
    arguments: dict[str, Any]
    verdict: Literal["", "confirmed", "rejected"] = ""
    reason: str = ""
    then: dict[str, Any] = {}


class Scenario(_Part, frozen=True):
    """One scenario. `seen` and `earlier` make an earlier run; without any of them the wake is the first.

    `wanted` and `harmless` are claims (`score.py`): what should be proposed, and what may be. Everything
    else that is proposed is wrong. `never` are words that must not stand in the report.
    """

    name: str
    kind: Kind
    language: str
    task: TaskState
    notes: tuple[Note, ...]
    seen: tuple[Note, ...] = ()
    earlier: tuple[Earlier, ...] = ()
    wanted: tuple[str, ...] = ()
    harmless: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    repeat: int = 0
    """How many notes of everyday progress, which ask for nothing, lie before the others."""
    filler: str = ""

    @property
    def is_first_wake(self) -> bool:
        """Return whether no run came before."""
        return not (self.seen or self.earlier)


def load_scenarios(folder: Path = FOLDER) -> list[Scenario]:
    """Read every file of a folder, `LANGUAGE.toml`. Raises ValueError for a table that is no scenario."""
    scenarios: list[Scenario] = []
    for file in sorted(folder.glob("*.toml")):
        for table in tomllib.loads(file.read_text(encoding="utf-8"))["scenario"]:
            try:
                scenarios.append(msgspec.convert({"language": file.stem, **table}, Scenario))
            except msgspec.ValidationError as fault:
                raise ValueError(f"{file.name}: {table.get('name')}: {fault}") from fault
    names = [scenario.name for scenario in scenarios]
    if len(set(names)) != len(names):
        raise ValueError("two scenarios have one name")
    return scenarios


def spread(scenarios: Iterable[Scenario], count: int) -> list[Scenario]:
    """Return so many scenarios, spread over kinds and languages, always the same ones."""
    left, chosen = list(scenarios), list[Scenario]()
    while left and len(chosen) < count:
        kinds = [scenario.kind for scenario in chosen]
        languages = [scenario.language for scenario in chosen]
        rarest = min(left, key=lambda member: (kinds.count(member.kind), languages.count(member.language)))
        left.remove(rarest)
        chosen.append(rarest)
    return chosen
