"""Whole screens in other languages: nothing of them is left in English, and they fit a terminal.

Never judges a translation: what is found is English of the catalog, said as it is written.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import click
import pytest

from daemon.cli.main import program, run
from daemon.words import translation
from daemon.words.terminal_text import display_width
from tests.daemon.cli import examples
from tests.daemon.cli.examples import AGENT, ITEM, OTHER, TASK
from tests.daemon.cli.fake_control import FakeControl
from tests.locale import catalogs
from tests.support.commands import command_environment

COLUMNS = 80
_WORDS_OF_PEOPLE = {
    "title",
    "text",
    "tldr",
    "remaining",
    "summary",
    "rationale",
    "note",
    "task_title",
    "name",
    "device_name",
    "description",
    "labels",
    "category",
    "categories",
    "correction_examples",
    "error",
    "next_wake_why",
    "reason",
    "display_name",
    "message",
    "what",
    "why",
}
_LABEL, _CATEGORY, _LINK = examples.LABEL["id"], examples.CATEGORY["id"], examples.LINK["id"]
_ITEM = examples.task()["checklists"][0]["items"][0]
_LISTS: list[dict[str, Any]] = [
    examples.task()["checklists"][0] | {"items": [_ITEM, _ITEM | {"id": "9d" * 16, "is_archived": True}]}
]
_CONFLICT: dict[str, Any] = {
    "entity": TASK,
    "kind": "task",
    "field": "title",
    "task_id": TASK,
    "versions": [
        {"value": "Q", "by": "user", "device": "de" * 32, "device_name": "Q", "at": "2026-03-04T11:00:00Z"},
        {"value": "QQ", "by": "agent", "device": "f0" * 32, "device_name": "Q", "at": "2026-03-04T11:00:00Z"},
    ],
}
_FULL = examples.task(
    status="BLOCKED",
    reason="Q",
    time_spent_minutes=70,
    times=[examples.TIME_RECORD, examples.RUNNING],
    links=[examples.LINK],
    conflicts=[_CONFLICT],
    provenance={"due": {"by": "agent", "at": "2026-03-04T11:00:00Z", "device": "de", "device_name": "Q"}},
)
_STATUSES = ("OPEN", "GROOMED", "IN PROGRESS", "BLOCKED", "ON HOLD", "DONE", "REJECTED")
_EACH_STATUS = [
    examples.task(id=f"{moment}{moment}" * 16, status=text) for moment, text in enumerate(_STATUSES)
]
_RESULTS = ("applied", "already", "stale", "obsolete", "expired", "conflict", "not_found", "failed")

_ON_ITEM = {"isChecked": True, "isArchived": True, "title": "Q"}
_PROPOSED = [
    examples.pending(item_id=f"{moment}e" * 16, tool=tool, args=args, subject="Q")
    for moment, (tool, args) in enumerate(
        [
            ("set_task_status", {"status": "BLOCKED", "reason": "Q"}),
            ("set_task_status", {"status": "IN PROGRESS"}),
            ("set_task_language", {"languageCode": "de"}),
            ("assign_task_label", {"id": OTHER}),
            ("update_checklist_item", {"id": OTHER, **_ON_ITEM}),
            ("update_checklist_item", {"id": OTHER, "isChecked": False, "isArchived": False}),
        ]
    )
]

_ASLEEP = examples.AGENT_JSON | {
    "lifecycle": "dormant",
    "lifecycle_reason": "it is paused",
    "lifecycle_reason_id": "agent-paused",
    "lifecycle_reason_params": {},
    "confirmed_without_effect": [ITEM],
    "report_decisions_since": 2,
    "report_changes_since": 3,
}

SCREENS: dict[tuple[str, ...], dict[str, Any]] = {
    ("list", "--all"): {"GET /v1/task-lines": _EACH_STATUS},
    ("show", TASK): {f"GET /v1/tasks/{TASK}": _FULL, f"GET /v1/agents/{AGENT}": _ASLEEP},
    ("add", "Q"): {"POST /v1/tasks": examples.task()},
    ("done", TASK): {f"POST /v1/tasks/{TASK}/done": examples.task()},
    ("task", "edit", TASK, "--due", "q"): {f"PATCH /v1/tasks/{TASK}": examples.task()},
    ("task", "remove", TASK): {f"DELETE /v1/tasks/{TASK}": examples.task(removed=True)},
    ("pending",): {
        "GET /v1/pending": [
            examples.pending(stale=True, edited=True),
            examples.pending(item_id=OTHER, disputed=True),
            *_PROPOSED,
        ],
        "GET /v1/tasks": [examples.task()],
    },
    ("confirm", ITEM): {"POST /v1/decisions": [examples.verdict(text) for text in _RESULTS]},
    ("decisions",): {
        "GET /v1/decisions": [
            examples.DECISION | {"verdict": element, "status": "confirmed", "disputed": element == "rejected"}
            for element in ("confirmed", "rejected", "deferred", "undone", "reopened", "retracted")
        ]
    },
    ("decisions", "--limit", "1"): {"GET /v1/decisions": [examples.DECISION | {"without_effect": True}]},
    ("review",): {"GET /v1/pending": [examples.pending()]},
    ("status",): {"GET /v1/status": examples.STATUS},
    ("devices",): {"GET /v1/devices": examples.DEVICES},
    ("agent", "list"): {
        "GET /v1/agents": [examples.AGENT_JSON],
        "GET /v1/external-agents": [examples.EXTERNAL_AGENT_JSON],
    },
    ("agent", "show", AGENT): {f"GET /v1/agents/{AGENT}": examples.AGENT_JSON},
    ("agent", "create", "Q"): {"POST /v1/agents": examples.AGENT_JSON},
    ("label", "list"): {"GET /v1/labels": [examples.LABEL]},
    ("label", "remove", _LABEL): {f"DELETE /v1/labels/{_LABEL}": examples.LABEL | {"removed": True}},
    ("category", "list"): {"GET /v1/categories": [examples.CATEGORY]},
    ("category", "add", "Q"): {"POST /v1/categories": examples.CATEGORY},
    ("link", "list", TASK): {f"GET /v1/tasks/{TASK}/links": [examples.LINK]},
    ("link", "remove", _LINK): {f"DELETE /v1/links/{_LINK}": examples.LINK | {"removed": True}},
    ("check", "list", TASK): {f"GET /v1/tasks/{TASK}/checklists": _LISTS},
    ("check", "new-list", TASK, "Q"): {f"POST /v1/tasks/{TASK}/checklists": _LISTS[0]},
    ("conflicts",): {"GET /v1/conflicts": [_CONFLICT]},
    ("log",): {"GET /v1/log": [examples.CHANGE]},
    ("log", "--where", "42"): {"GET /v1/where": examples.WHERE},
    ("timer", "list"): {"GET /v1/times": [examples.TIME_RECORD, examples.RUNNING]},
    ("import", "todotxt", "/dev/null"): {},
    ("import", "todotxt", __file__): {"POST /v1/import": examples.IMPORTED},
    ("search", "Q"): {"GET /v1/search": {"tasks": [], "next": None}},
    ("timer", "status"): {"GET /v1/timers": [examples.RUNNING]},
    ("entry", "remove"): {},
    ("pair", "--now"): {},
    ("config", "get"): {},
    ("compact", "--dry-run"): {"POST /v1/compact": {"values": 0, "bytes": 0, "commits": 0, "unheard": []}},
    ("label", "edit", "Q"): {},
    ("add",): {},
    ("lisst",): {},
    ("link", "remove", "Q", "Q"): {},
    ("confirm",): {},
    ("confirm", ITEM, "--edit", "[]"): {},
    ("check", "move", "Q"): {},
    ("conflicts", "keep"): {},
    ("label", "list", "--task"): {},
}


def _opaque(answer: Any, key: str = "") -> Any:
    """Take the words of people out of an answer, which are in whatever language they are."""
    if isinstance(answer, dict):
        return {name: _opaque(value, name) for name, value in answer.items()}
    if isinstance(answer, list):
        return [_opaque(element, key) for element in answer]
    return re.sub(r"[^\W\d_]", "Q", answer) if isinstance(answer, str) and key in _WORDS_OF_PEOPLE else answer


@cache
def _english(language: str) -> tuple[str, ...]:
    """Return what the catalog has in English alone, in the pieces between placeholders."""
    catalog = catalogs.read(language)
    theirs = " | ".join(text for message in catalog for text in _texts(message.string))
    pieces = {
        piece for message in catalog if message.id for text in _texts(message.id) for piece in _pieces(text)
    }
    return tuple(piece for piece in pieces if not _holds(theirs, piece))


def _texts(words: Any) -> tuple[str, ...]:
    return tuple(words) if isinstance(words, tuple | list) else (words or "",)


def _pieces(text: str) -> Iterator[str]:
    for part in re.split(r"\{[^}]*\}|`[^`]*`|\n\n|\bplacet\b", _without_commands(text)):
        piece = part.strip(" .,:;()“”\n")
        if len(re.findall(r"[^\W\d_]", piece)) >= 3:
            yield piece


def _holds(text: str, piece: str) -> bool:
    # Most are not there at all, and that is said at once.
    return piece in text and re.search(rf"(?<![\w-]){re.escape(piece)}(?![\w-])", text) is not None


def _without_commands(text: str) -> str:
    """Leave out what is to be typed, which is the same in every language."""
    return re.sub(r"\bplacet( --?[a-z-]+| [a-z-]+\b| [A-Z]+\b)+|'\{[^']*\}'", "placet", text)


def _too_wide(text: str) -> list[str]:
    return [line for line in text.splitlines() if display_width(line) > COLUMNS]


@pytest.fixture
def spoken(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Let this very process be a command line in some language: one for each screen would take long."""
    for name, value in command_environment(home, COLUMNS=str(COLUMNS), LANGUAGE="").items():
        monkeypatch.setenv(name, value)

    def speak(language: str) -> None:
        monkeypatch.setenv("PLACET_LANGUAGE", language)
        translation.use_language(language)

    yield speak
    translation.use_language("en")


@pytest.mark.parametrize("language", catalogs.TRANSLATED)
def test_no_english_is_left_and_every_screen_fits_a_terminal(
    language: str,
    spoken: Callable[[str], None],
    control: FakeControl,
    capsys: pytest.CaptureFixture[str],
):
    spoken(language)
    left = []
    for args, answers in SCREENS.items():
        for line, answer in answers.items():
            control.answers(line, _opaque(answer))
        run(args)
        capture_result = capsys.readouterr()
        assert capture_result.out or capture_result.err
        text = _without_commands(capture_result.out + capture_result.err)
        left += [f"{' '.join(args)}: {piece}" for piece in _english(language) if _holds(text, piece)]
        left += [f"{' '.join(args)}: too wide: {element}" for element in _too_wide(capture_result.out)]
    assert not left, "\n".join(left)


def _helps(command: click.Command, path: str, above: click.Context | None) -> Iterator[tuple[str, str]]:
    """Return the help of a command and of all beneath it."""
    context = click.Context(command, above, path.rpartition(" ")[2], terminal_width=COLUMNS)
    yield path, command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            beneath = command.get_command(context, name)
            assert beneath is not None
            yield from _helps(beneath, f"{path} {name}", context)


@pytest.mark.parametrize("language", catalogs.TRANSLATED)
def test_all_help_is_in_one_language_and_fits_a_terminal(language: str, spoken: Callable[[str], None]):
    spoken(language)
    sentences = [piece for piece in _english(language) if piece.count(" ") >= 2]
    left = []
    for path, text in _helps(program(), "placet", None):
        flat = " ".join(text.split())
        left += [f"{path}: {piece}" for piece in sentences if _holds(flat, " ".join(piece.split()))]
        left += [f"{path}: too wide: {element}" for element in _too_wide(text)]
    assert not left, "\n".join(left)


def test_english_that_is_left_is_found():
    assert {"Nothing removed", "No categories. Add one"} <= set(_english("de"))
    assert _holds("vor 2 min  you on laptop", "you on")
    assert not _holds("fällig, your-own", "your")
