"""The declared settings as rows of the page: what is set, what set it, what a browser may change.

Never holds a key of a model, and never leaves a declared setting out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from daemon import config, config_file
from daemon.config import Settings
from daemon.web.settings.model_key import KEY_SETTING
from daemon.web.settings.setting_forms import SettingForm, is_changeable, setting_form, shown_value
from daemon.web.settings.setting_words import choice_words, section_title, setting_label, unset_words
from daemon.words.translation import _

FIELD: Final = "set."
"""Before the key of a setting: the field in which it is typed."""
SHOWN: Final = "shown."
"""Before the key of a setting: what the page showed in its field."""
_TOGETHER: Final[Mapping[str, str]] = {"wake": "agents", "proposals": "agents", "budget": "agents"}
"""The tables that are shown within another one."""
_FOLDED: Final = ("wake", "proposals")
_MODEL_IN_FRONT: Final = ("model.kind", "model.base_url", "model.name")
"""Of the many of a model these come first; the rest is folded."""
_ORDER: Final = ("language", "model", "agents", "history", "device", "mailbox")


@dataclass(frozen=True, slots=True)
class SettingRow:
    """A setting that can be changed. `fault` is what is wrong with what was typed, `value` what was typed.

    `usual` is what counts while the field is empty. `set_by` names a variable that decides in place of the
    file. `waits` is true if the running daemon uses another value than the one that is set.
    """

    form: SettingForm
    label: str
    value: str
    shown: str
    options: list[tuple[str, str]]
    usual: str
    fault: str
    set_by: str
    waits: bool

    @property
    def key(self) -> str:
        """Return the key of the setting."""
        return self.form.key


@dataclass(frozen=True, slots=True)
class SettingSection:
    """A table of settings; `folded` are those that few people need."""

    name: str
    title: str
    rows: list[SettingRow]
    folded: list[SettingRow]

    @property
    def is_open(self) -> bool:
        """Return whether something is wrong among what is folded."""
        return any(row.fault for row in self.folded)

    @property
    def can_be_saved(self) -> bool:
        """Return whether a form changes any of them; variables may decide on all."""
        return not all(row.set_by for row in (*self.rows, *self.folded))


@dataclass(frozen=True, slots=True)
class GuardedRow:
    """A setting that a command alone changes."""

    key: str
    value: str
    command: str


@dataclass(frozen=True, slots=True)
class Typed:
    """What was sent, by field, and what is wrong with it, by key."""

    fields: Mapping[str, str]
    faults: Mapping[str, str]


NOTHING_TYPED: Final = Typed({}, {})


def section_of(key: str) -> str:
    """Return the name of the part of the page that a setting is in."""
    table = key.rpartition(".")[0] or key
    return _TOGETHER.get(table, table)


def setting_sections(
    settings: Settings, origins: Mapping[str, str], running: Settings, typed: Typed = NOTHING_TYPED
) -> list[SettingSection]:
    """Return all settings that a browser may change; `running` are those that the daemon uses."""
    keys = sorted(filter(is_changeable, config_file.KEYS), key=lambda key: key != _MODEL_IN_FRONT[0])
    rows = {key: _row(key, settings, origins, running, typed) for key in keys}
    names = dict.fromkeys([*_ORDER, *map(section_of, keys)])
    return [
        SettingSection(
            name,
            section_title(name),
            [row for key, row in rows.items() if section_of(key) == name and not _is_folded(key)],
            [row for key, row in rows.items() if section_of(key) == name and _is_folded(key)],
        )
        for name in names
        if any(section_of(key) == name for key in keys)
    ]


def guarded_rows(settings: Settings) -> list[GuardedRow]:
    """Return what a command alone changes."""
    return [
        GuardedRow(key, shown_value(key, config.value_of(settings, key)), f"placet config set {key} …")
        for key in config_file.KEYS
        if not is_changeable(key) and key != KEY_SETTING
    ]


def _is_folded(key: str) -> bool:
    table = key.rpartition(".")[0]
    return table in _FOLDED or (table == "model" and key not in _MODEL_IN_FRONT)


def _row(
    key: str, settings: Settings, origins: Mapping[str, str], running: Settings, typed: Typed
) -> SettingRow:
    form, origin = setting_form(key), origins.get(key, "")
    shown = shown_value(key, config.value_of(settings, key))
    return SettingRow(
        form,
        setting_label(key),
        typed.fields.get(f"{FIELD}{key}", shown),
        shown,
        [(choice, choice_words(key, choice)) for choice in form.choices],
        form.default or unset_words(key),
        typed.faults.get(key, ""),
        origin if origin.startswith(config.VARIABLE_PREFIX) else "",
        # The page speaks another language at once.
        key != "language" and config.value_of(running, key) != config.value_of(settings, key),
    )


def bounds_words(form: SettingForm) -> str:
    """Return which numbers, or which lengths of time, a setting takes."""
    least, most = (shown_value(form.key, bound) for bound in (form.least, form.most))
    if form.kind == "length":
        words = _("a length of time from {least} to {most} is needed, such as 45 s, 10 min or 7 days")
        return words.format(least=least, most=most)
    if least and most:
        return _("a number from {least} to {most} is needed").format(least=least, most=most)
    return _("a number is needed")
