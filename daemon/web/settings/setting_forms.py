"""How a setting is asked for, by its declared type, and whether a browser may change it.

Never lets a browser change what could weaken a defence: a table that is not named here is shown, and no more.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple, get_args, get_origin

from msgspec import Meta

from daemon import config

Kind = Literal["choice", "number", "text", "list", "table"]

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

    `default` is as it is written outside of the file, empty for nothing.
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
        _kind(hint, inner, choices),
        tuple(dict.fromkeys(choices)),
        next((meta.ge for meta in bounds if meta.ge is not None), None),
        next((meta.le for meta in bounds if meta.le is not None), None),
        written_value(config.value_of(config.Settings(), key)),
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


def written_value(value: object) -> str:
    """Return a value as it is written outside of the file; of a table, which may hold secrets, its names."""
    if value is None or isinstance(value, bool):
        return "" if value is None else str(value).lower()
    if isinstance(value, float):
        return f"{value:.10g}"
    return ", ".join(value) if isinstance(value, tuple | list | dict) else str(value)
