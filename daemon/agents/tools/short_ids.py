"""The short ids by which a model names items, notes, labels and proposals: i1, n2, l3, p4.

Never outlives a run: the ids follow from the run's context alone, and nothing stores them.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from daemon.agents.tools.argument_recovery import recover_arguments
from daemon.agents.tools.arguments import ArgumentFault, Arguments
from daemon.agents.tools.model_interface import RunContext, ToolCall
from daemon.agents.tools.table import LABEL_TOOLS
from store.sentence import sentence

ITEM: Final = "i"
NOTE: Final = "n"
LABEL: Final = "l"
PROPOSAL: Final = "p"

_FULL = re.compile("[0-9a-f]{32}")
_ID_ARGUMENTS = frozenset({"id", "itemIds", "evidenceIds"})
_SHOWN_CHARS_MAX = 60


class ShortIds:
    """The short ids of one run. Each kind is numbered from 1, in the order of the run's context."""

    def __init__(self, full_ids: Mapping[str, Iterable[str]]) -> None:
        self._full: dict[str, str] = {}
        self._short: dict[tuple[str, str], str] = {}
        self._counts: dict[str, int] = {}
        for kind, identifiers in full_ids.items():
            for number, full in enumerate(dict.fromkeys(identifiers), 1):
                self._full[f"{kind}{number}"] = full
                self._short[kind, full] = f"{kind}{number}"
                self._counts[kind] = number

    def short_id(self, kind: str, full: str) -> str:
        """Return the short id of an item, a note, a label or a proposal; its full id if it has none."""
        return self._short.get((kind, full), full)

    def with_full_ids(self, arguments: Any) -> Any:
        """Return arguments with a full id for each short one. An unknown one is left as it is."""
        if isinstance(arguments, list):
            return [self.with_full_ids(member) for member in arguments]
        if not isinstance(arguments, dict):
            return arguments
        return {
            name: self._expand(value) if name in _ID_ARGUMENTS else self.with_full_ids(value)
            for name, value in arguments.items()
        }

    def call_with_full_ids(self, call: ToolCall) -> ToolCall:
        """Return a call with full ids, as a person reads it later; one without any short id as it is."""
        try:
            arguments = recover_arguments(call.arguments)
        except ArgumentFault:
            return call
        expanded = self.with_full_ids(arguments)
        return call if expanded == arguments else replace(call, arguments=expanded)

    def _expand(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._expand(member) for member in value]
        return self._full.get(value.strip().lower(), value) if isinstance(value, str) else value

    def require_known_ids(self, tool: str, arguments: Arguments) -> None:
        """Raise ArgumentFault for a text in place of an id, which names the short ids that there are.

        `arguments` are those of one call or of one element of a batch, with full ids. Without any short id,
        as for a model that was not shown a task, nothing is checked here.
        """
        if not self._full:
            return
        kinds = {"id": LABEL if tool in LABEL_TOOLS else ITEM, "itemIds": PROPOSAL, "evidenceIds": NOTE}
        for name, kind in kinds.items():
            value = arguments.get(name)
            for identifier in value if isinstance(value, list) else [value]:
                if isinstance(identifier, str) and not _FULL.fullmatch(identifier.strip().lower()):
                    self._refuse(name, kind, identifier)

    def _refuse(self, name: str, kind: str, identifier: str) -> None:
        count, written = self._counts.get(kind, 0), identifier[:_SHOWN_CHARS_MAX]
        if not identifier.strip():
            return
        if count:
            raise ArgumentFault(
                sentence(
                    "short-id-unknown",
                    "{argument}: there is no {seen!r}; there are {first} to {last}",
                    argument=name,
                    seen=written,
                    first=f"{kind}1",
                    last=f"{kind}{count}",
                )
            )
        raise ArgumentFault(
            sentence(
                "short-id-of-nothing",
                "{argument}: there is no {seen!r}; this task has nothing of the kind",
                argument=name,
                seen=written,
            )
        )

    def abbreviate(self, text: str) -> str:
        """Return an answer to the model with short ids for the full ones in it."""
        by_full = {full: short for short, full in self._full.items()}
        return _FULL.sub(lambda match: by_full.get(match.group(), match.group()), text)


def short_ids_of(context: RunContext) -> ShortIds:
    """Return the short ids of a run: the same for each of its turns, as its context keeps its parts."""
    notes = {note.id: note for note in (*context.entries, *context.new_entries)}
    in_order = sorted(notes.values(), key=lambda note: note.written_at)
    return ShortIds(
        {
            ITEM: (item.id for item in context.task.items),
            NOTE: (note.id for note in in_order),
            LABEL: (label.id for label in (*context.labels, *context.task.labels)),
            PROPOSAL: (proposal.id for proposal in context.proposals),
        }
    )


NO_SHORT_IDS: Final = ShortIds({})
