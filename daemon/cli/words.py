"""The words of people, in the language that they read.

Never speaks to scripts: what `--json` and `--plain` print stays English, and so does what is stored.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from daemon.language import DEFAULT, LANGUAGES, language_here
from daemon.paths import find_paths

if TYPE_CHECKING:
    from collections.abc import Mapping
    from gettext import NullTranslations

DOMAIN: Final = "placet"
FOLDER: Final = os.path.join(os.path.dirname(os.path.dirname(__file__)), "locale")


class _Voice:
    """The catalog in use; none for English, in which everything is written."""

    __slots__ = ("catalog",)

    def __init__(self) -> None:
        self.catalog: NullTranslations | None = None


_VOICE: Final = _Voice()


def speak(language: str) -> None:
    """Use this language from now on, in click's own words too."""
    import gettext

    if language == DEFAULT:
        _VOICE.catalog = None
        gettext.textdomain("messages")
        return
    _VOICE.catalog = gettext.translation(DOMAIN, FOLDER, [language], fallback=True)
    # click asks gettext's global functions, which look for the language nowhere else.
    os.environ["LANGUAGE"] = language
    gettext.bindtextdomain(DOMAIN, FOLDER)
    gettext.textdomain(DOMAIN)


def _(message: str) -> str:
    """Say a message in the language in use; its {placeholders} are filled in afterwards."""
    return message if _VOICE.catalog is None else _VOICE.catalog.gettext(message)


def ngettext(one: str, many: str, count: int) -> str:
    """Say a message in the form that its language has for this count."""
    if _VOICE.catalog is None:
        return one if count == 1 else many
    return _VOICE.catalog.ngettext(one, many, count)


def said_of(what: str, message: str) -> str:
    """Say a word that depends on what it is said of: a task is not "removed" as a device is."""
    return message if _VOICE.catalog is None else _VOICE.catalog.pgettext(what, message)


def named(_what: str, *messages: str) -> tuple[str, ...]:
    """Mark words that are said elsewhere, by `said_of`."""
    return messages


def later(message: str) -> str:
    """Mark a message that is said elsewhere, by `_`."""
    return message


def language_of_person(environment: Mapping[str, str] = os.environ) -> str:
    """Find the language: PLACET_LANGUAGE, `language` in config.toml, the locale.

    A value that is no language is passed over here; the daemon refuses it.
    """
    told = environment.get("PLACET_LANGUAGE") or _configured(find_paths(environment).config_file)
    return language_here(told if told in LANGUAGES else "", environment)


def _configured(file: str) -> str:
    """Read the one key that stands before the first table: a TOML parser would take longer than the rest."""
    try:
        with open(file, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                key, _found, value = line.partition("=")
                if key.strip() == "language":
                    return value.partition("#")[0].strip().strip("\"'")
                if line.lstrip().startswith("["):
                    break
    except OSError:
        return ""
    return ""
