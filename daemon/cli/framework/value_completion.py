"""What a shell may complete beyond commands and options: ids, names, keys of settings.

Never says a word, whatever goes wrong, and never waits long: a person is in the middle of a line.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import click

from daemon.cli.api.command_error import CommandError
from daemon.words.short_ids import short_ids_of
from daemon.words.terminal_text import escape
from daemon.words.translation import _

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from click.shell_completion import CompletionItem

_WAIT_S: Final = 1.0
_HELP_CHARS_MAX: Final = 60
_SET_SHORT: Final = 8


class DaemonValueType(click.types.StringParamType):
    """Text of which the daemon knows what it may be."""

    def __init__(self, find: Callable[[], Iterable[tuple[str, str]]]) -> None:
        self._find = find

    def shell_complete(
        self, _context: click.Context, _param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[Any]]:
        from click.shell_completion import CompletionItem

        try:
            candidates = list(self._find())
        except Exception:  # noqa: BLE001 - nothing may be said here: it would land in the line being typed
            return []
        return [
            CompletionItem(escape(value), help=escape(" ".join(words.split()))[:_HELP_CHARS_MAX])
            for value, words in _matching_candidates(candidates, incomplete)
        ]


class FileNameType(click.types.StringParamType):
    """The name of a file, which the shell itself completes."""

    def shell_complete(
        self, _context: click.Context, _param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[Any]]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type="file")]


def _matching_candidates(candidates: Sequence[tuple[str, str]], typed: str) -> Sequence[tuple[str, str]]:
    """Return those that begin as typed; if none does, the only one whose words contain it."""
    begin = [candidate for candidate in candidates if candidate[0].casefold().startswith(typed.casefold())]
    hold = [candidate for candidate in candidates if typed.casefold() in candidate[1].casefold()]
    return begin or (hold if len(hold) == 1 else [])


def _get_list(path: str, **query: Any) -> list[dict[str, Any]]:
    from daemon.cli.api import client

    try:
        answer = client.get(path, query, _WAIT_S).json
    except CommandError:
        return []
    return answer if isinstance(answer, list) else []


def _get_pages(path: str, **query: Any) -> list[dict[str, Any]]:
    """Read a list that comes in pages, as far as it comes in time."""
    import time

    from daemon.cli.api.client import PAGE_SIZE

    ends_s = time.monotonic() + _WAIT_S
    all_entries = page = _get_list(path, **query)
    while len(page) == PAGE_SIZE and time.monotonic() < ends_s:
        page = _get_list(path, **query, after=page[-1]["id"])
        all_entries = all_entries + page
    return all_entries


def _by_id(path: str, key: str, words: str) -> list[tuple[str, str]]:
    return _short(_get_list(path), key, words)


def _short(entries: list[dict[str, Any]], key: str, words: str) -> list[tuple[str, str]]:
    ids = short_ids_of(entries, key)
    return [(ids[str(entry[key])], str(entry.get(words) or "")) for entry in entries]


def _tasks() -> list[tuple[str, str]]:
    return _short(_get_pages("/v1/task-lines"), "id", "title")


def _removed_tasks() -> list[tuple[str, str]]:
    return _short(_get_pages("/v1/task-lines", removed=True), "id", "title")


def _open_items() -> list[tuple[str, str]]:
    listed = _get_list("/v1/pending")
    ids = short_ids_of(listed, "item_id")
    return [(ids[fields["item_id"]], _summary(fields)) for fields in listed]


def _open_sets() -> list[tuple[str, str]]:
    """Give each set with what is the first of it, so that a person knows it again."""
    first: dict[str, str] = {}
    for fields in _get_list("/v1/pending"):
        first.setdefault(str(fields.get("set_id") or ""), _summary(fields))
    return [(set_id[:_SET_SHORT], words) for set_id, words in first.items()]


def _items_decided(*statuses: str) -> list[tuple[str, str]]:
    """Give the items that stand so, the one decided last first."""
    listed = [fields for fields in _get_list("/v1/decisions") if fields.get("status") in statuses]
    ids = short_ids_of(listed, "item_id")
    return list({ids[fields["item_id"]]: _summary(fields) for fields in listed}.items())


def _summary(item: Any) -> str:
    from daemon.words.proposals import summary_words

    return summary_words(item)


def _names(path: str) -> list[tuple[str, str]]:
    return [(str(fields.get("name") or ""), "") for fields in _get_list(path)]


_STATUSES: Final = ("open", "groomed", "in-progress", "blocked", "on-hold", "done", "rejected")
_FIND: Final[dict[str, Callable[[], Iterable[tuple[str, str]]]]] = {
    "task": _tasks,
    "tasks": _tasks,
    "other": _tasks,
    "agent": lambda: _by_id("/v1/agents", "id", "task_title"),
    "device": lambda: _by_id("/v1/devices", "device_id", "name"),
    "record": lambda: _by_id("/v1/times", "id", "task_title"),
    "records": lambda: _by_id("/v1/times", "id", "task_title"),
    "label": lambda: _names("/v1/labels"),
    "labels": lambda: _names("/v1/labels"),
    "category": lambda: _names("/v1/categories"),
    "categories": lambda: _names("/v1/categories"),
    "key": lambda: [(key, "") for key in import_module("daemon.config").keys()],  # noqa: SIM118 - a function
    "status": lambda: [(status, "") for status in _STATUSES],
    "priority": lambda: [("p0", _("now")), ("p1", ""), ("p2", ""), ("p3", _("some day"))],
}
_OF_COMMAND: Final[dict[str, dict[str, Callable[[], Iterable[tuple[str, str]]]]]] = {
    **{verb: {"items": _open_items, "whole": _open_sets} for verb in ("confirm", "reject", "defer")},
    "undo": {"items": lambda: _items_decided("confirmed")},
    "reopen": {"items": lambda: _items_decided("confirmed", "rejected", "deferred")},
    "restore": {"task": _removed_tasks},
}


def enable_value_completion(command: str | None, params: Iterable[click.Parameter]) -> None:
    """Let the values of parameters be completed that go by a known name and are plain text."""
    finds = {**_FIND, **_OF_COMMAND.get(command or "", {})}
    for param in params:
        if param.type is click.STRING and param.name in finds:
            param.type = DaemonValueType(finds[param.name])
        elif param.type is click.STRING and param.name == "file":
            param.type = FileNameType()
