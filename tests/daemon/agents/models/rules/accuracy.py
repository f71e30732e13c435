"""How often the `rules` model is right: notes of real life with what they ask for, and what it proposes.

Never changes the model. `make notes` prints the figures; `test_accuracy.py` holds them. A file of notes
begins with the checklist (`@item`, and `@ticked` what is ticked), the title of the task (`@title`) and the
labels (`@label`) that they may speak of. Notes follow, kept apart by `===`: first the text, after `--` one
line for each proposal that is wanted. A note's language is that of the file unless it says `language none`.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from daemon.agents.models.rules.embedded_model import proposed_calls
from daemon.agents.models.rules.lexicon.plain_text import to_plain
from daemon.agents.tools.model_interface import (
    ChecklistItemView,
    EntryView,
    LabelView,
    RunContext,
    TaskView,
    ToolCall,
)

FOLDER = Path(__file__).parent / "notes"
LANGUAGES = ("en", "de", "es", "fr", "ro")
WEDNESDAY = datetime(2026, 11, 18, 10, tzinfo=UTC)
Wanted = frozenset[tuple[str, str]]

_ARGUMENTS = {
    "update_task_due_date": ("due", "dueDate"),
    "update_task_estimate": ("minutes", "minutes"),
    "update_task_priority": ("priority", "priority"),
    "set_task_title": ("title", "title"),
    "set_task_status": ("status", "status"),
    "set_task_language": ("language", "languageCode"),
}
KINDS = ("due", "minutes", "priority", "title", "status", "item", "tick", "untick", "label", "language")
PARTS = (
    "dev",
    "held",
    "life_dev",
    "life_held",
    "fresh",
    "final",
    "hands_train",
    "hands_dev",
    "hands_fresh",
    "hands_held",
    "folk_dev",
    "folk_held",
    "folk_fresh",
)


class ExpectedNote(NamedTuple):
    """A note, and the proposals that a sensible reader would make of it."""

    text: str
    wanted: Wanted


@dataclass(frozen=True, slots=True)
class Corpus:
    """The notes of a file, and the task that they are about; some of its `items` are `ticked`."""

    items: tuple[str, ...]
    labels: tuple[str, ...]
    notes: tuple[ExpectedNote, ...]
    title: str = "2027"
    ticked: frozenset[str] = frozenset()


class Score(NamedTuple):
    """How many proposals were right, were made, and were wanted."""

    right: int = 0
    made: int = 0
    wanted: int = 0

    @property
    def precision(self) -> float:
        """Return the share of what was made that was right; 1 if nothing was made."""
        return self.right / self.made if self.made else 1.0

    @property
    def recall(self) -> float:
        """Return the share of what was wanted that was made."""
        return self.right / self.wanted if self.wanted else 1.0

    def plus(self, other: "Score") -> "Score":
        """Add another score up with this one."""
        return Score(self.right + other.right, self.made + other.made, self.wanted + other.wanted)


def corpus(name: str) -> Corpus:
    """Read the notes of a file such as "de_dev"."""
    head, *blocks = (FOLDER / f"{name}.txt").read_text("utf-8").split("\n===\n")
    listed = [line.split(" ", 1) for line in head.splitlines()]
    return Corpus(
        title=next((text for mark, text in listed if mark == "@title"), "2027"),
        items=tuple(text for mark, text in listed if mark in ("@item", "@ticked")),
        ticked=frozenset(text for mark, text in listed if mark == "@ticked"),
        labels=tuple(text for mark, text in listed if mark == "@label"),
        notes=tuple(_noted(block, name[:2]) for block in blocks),
    )


def _noted(block: str, language: str) -> ExpectedNote:
    text, _, lines = f"{block}\n".rpartition("\n--\n")
    wanted = {
        (kind, to_plain(value)) for kind, value in (part.split(" ", 1) for part in lines.split("\n") if part)
    }
    if not any(kind == "language" for kind, _ in wanted):
        wanted.add(("language", language))
    return ExpectedNote(text, frozenset(wanted - {("language", "none")}))


def proposed_kinds(note: str, among: Corpus) -> Wanted:
    """Return what the model proposes for one note on a task without language."""
    items = tuple(
        ChecklistItemView(f"i{index}", title, title in among.ticked, False, "user", None)
        for index, title in enumerate(among.items)
    )
    labels = tuple(LabelView(f"l{index}", name) for index, name in enumerate(among.labels))
    task = TaskView("t", among.title, "OPEN", "P2", None, None, None, items)
    notes = (EntryView("n", note, WEDNESDAY, "user"),)
    context = RunContext("run", WEDNESDAY, None, task, notes, (), labels=labels)
    return frozenset(element for call in proposed_calls(context) for element in _said(call, among))


def _said(call: ToolCall, among: Corpus) -> Iterator[tuple[str, str]]:
    arguments: Any = call.arguments
    if call.name in _ARGUMENTS:
        kind, argument = _ARGUMENTS[call.name]
        yield kind, to_plain(str(arguments[argument]))
    elif call.name == "add_multiple_checklist_items":
        yield from (("item", to_plain(item["title"])) for item in arguments["items"])
    elif call.name == "update_checklist_items":
        for item in arguments["items"]:
            title = to_plain(among.items[int(item["id"][1:])])
            yield ("tick" if item["isChecked"] else "untick"), title
    elif call.name == "assign_task_labels":
        yield from (("label", to_plain(among.labels[int(label["id"][1:])])) for label in arguments["labels"])


def scores(name: str) -> dict[str, Score]:
    """Return the score of each kind of proposal on the notes of a file."""
    among = corpus(name)
    right, all_made, wanted = Counter[str](), Counter[str](), Counter[str]()
    for note in among.notes:
        proposals = proposed_kinds(note.text, among)
        right.update(kind for kind, _ in proposals & note.wanted)
        all_made.update(kind for kind, _ in proposals)
        wanted.update(kind for kind, _ in note.wanted)
    return {kind: Score(right[kind], all_made[kind], wanted[kind]) for kind in KINDS}


def total(part_scores: dict[str, Score], *, without: str = "language") -> Score:
    """Add the scores of all kinds up but one: the language, which every note has, would drown the others."""
    summed = Score()
    for kind, score in part_scores.items():
        summed = summed.plus(score) if kind != without else summed
    return summed


class Restraint(NamedTuple):
    """How many notes want nothing, and how many of them were left alone."""

    left_alone: int
    asking_nothing: int


def restraint(name: str) -> Restraint:
    """Return how many notes of a file want nothing, the language aside, and get no proposal."""
    among = corpus(name)
    texts = [note.text for note in among.notes if not _values(note.wanted)]
    return Restraint(sum(not _values(proposed_kinds(text, among)) for text in texts), len(texts))


def _values(proposals: Wanted) -> Wanted:
    return frozenset(element for element in proposals if element[0] != "language")


def misses(name: str) -> Iterator[str]:
    """Tell each note on which the model is wrong."""
    among = corpus(name)
    for note in among.notes:
        proposals = proposed_kinds(note.text, among)
        if _values(proposals) != _values(note.wanted):
            less, more = sorted(note.wanted - proposals), sorted(proposals - note.wanted)
            yield f"{note.text}\n    missed {less}  wrong {more}\n"


def main(arguments: list[str]) -> None:
    """Print precision and recall of each kind and language, or what a file's notes were missed on."""
    for name in arguments:
        sys.stdout.write("\n".join(misses(name)) + "\n")
    if arguments:
        return
    for part in PARTS:
        sys.stdout.write(f"\n{part:10}" + "".join(f"{language:>18}" for language in LANGUAGES) + "\n")
        found_scores = {language: scores(f"{language}_{part}") for language in LANGUAGES}
        for kind in KINDS:
            sys.stdout.write(
                f"{kind:9}"
                + "".join(_cell(found_score[kind]) for found_score in found_scores.values())
                + "\n"
            )
        sys.stdout.write(
            f"{'together':9}"
            + "".join(_cell(total(found_score)) for found_score in found_scores.values())
            + "\n"
        )
        quiet = [restraint(f"{language}_{part}") for language in LANGUAGES]
        sys.stdout.write(
            f"{'alone':9}" + "".join(f"{left_alone:12} of{notes:3}" for left_alone, notes in quiet) + "\n"
        )


def _cell(score: Score) -> str:
    return f"{score.precision:6.0%} {score.recall:5.0%} of{score.wanted:3}"


if __name__ == "__main__":
    main(sys.argv[1:])
