"""How a setting is asked for, by its declared type, and whether a browser may change it.

Never lets a browser change what could weaken a defence: a table that is not named here is shown, and no more.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple, get_args, get_origin

from msgspec import Meta

from daemon import config
from daemon.dates.clock_lengths import parse_clock_seconds
from daemon.words.dates import clock_length_words

Kind = Literal["choice", "length", "number", "text", "list", "table"]
_UNIT_SECONDS: Final[Mapping[str, int]] = {"s": 1, "days": 86_400}
"""How many seconds the unit has in which a setting is counted, by the last word of its name."""

_CHANGEABLE: Final[Mapping[str, frozenset[str]]] = {
    "": frozenset({"models"}),
    "device": frozenset(),
    "mailbox": frozenset({"suite", "renew_days"}),
    # A file that is read as a key is sent to the server, and so is `extra`.
    "model": frozenset({"key_file", "extra", "local_only_categories"}),
    "wake": frozenset(),
    "agents": frozenset(),
    "proposals": frozenset({"open_per_day"}),
    "budget": frozenset(),
    "history": frozenset(),
    "notifications": frozenset(),
}
"""The tables that a browser may change, each with what it may not change there."""


class SettingForm(NamedTuple):
    """How a setting is asked for: its kind, what can be chosen, and the bounds of a number.

    `default` is as the page shows it, empty for nothing.
    """

    key: str
    kind: Kind
    choices: tuple[str, ...]
    least: float | None
    most: float | None
    default: str


def setting_form(key: str) -> SettingForm:
    """Return how a known key is asked for."""
    hint = config.TYPES[key]
    parts = [part for part in (hint, *get_args(hint)) if part is not type(None)]
    inner = [deeper for part in parts for deeper in (part, *get_args(part))]
    bounds = [meta for part in parts for meta in getattr(part, "__metadata__", ()) if isinstance(meta, Meta)]
    choices = ("true", "false") if hint is bool else tuple(text for text in inner if isinstance(text, str))
    return SettingForm(
        key,
        "length" if _unit_seconds(key) else _kind(hint, inner, choices),
        tuple(dict.fromkeys(choices)),
        next((meta.ge for meta in bounds if meta.ge is not None), None),
        next((meta.le for meta in bounds if meta.le is not None), None),
        shown_value(key, config.value_of(config.Settings(), key)),
    )


def _kind(hint: Any, inner: list[Any], choices: tuple[str, ...]) -> Kind:
    if get_origin(hint) in (tuple, dict):
        return "list" if get_origin(hint) is tuple else "table"
    if choices:
        return "choice"
    return "number" if int in inner or float in inner else "text"


def is_changeable(key: str) -> bool:
    """Return whether a browser may change a known key."""
    section, _, name = key.rpartition(".")
    return section in _CHANGEABLE and name not in _CHANGEABLE[section]


def shown_value(key: str, value: object) -> str:
    """Return a value of a key as the page shows it: a length of time in words, all else as it is written."""
    unit_s = _unit_seconds(key)
    if unit_s and isinstance(value, int | float):
        return clock_length_words(value * unit_s)
    return written_value(value)


def typed_value(key: str, typed: str) -> str:
    """Return what was typed as it is written; a bare number stays one of the setting's own unit.

    What is no length of time is returned as it is: whoever parses it says so.
    """
    unit_s, seconds = _unit_seconds(key), None
    if unit_s:
        seconds = parse_clock_seconds(typed)
    if seconds is None:
        return typed
    written = seconds / unit_s
    return str(int(written)) if written == int(written) else f"{written:.10g}"


def _unit_seconds(key: str) -> int:
    """Return how many seconds one of a setting's unit has, 0 if it counts no time."""
    return _UNIT_SECONDS.get(key.rpartition("_")[2], 0)


def written_value(value: object) -> str:
    """Return a value as it is written outside of the file; of a table, which may hold secrets, its names."""
    if value is None or isinstance(value, bool):
        return "" if value is None else str(value).lower()
    if isinstance(value, float):
        return f"{value:.10g}"
    return ", ".join(value) if isinstance(value, tuple | list | dict) else str(value)
