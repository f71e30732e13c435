"""Which language a person here reads and writes.

Never imports what starting Python has not loaded: the command line asks before every answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

LANGUAGES = ("en", "de", "es", "fr", "ro")
DEFAULT_LANGUAGE = "en"


def chosen_language(setting: str, environment: Mapping[str, str]) -> str:
    """Return the language: the setting's, else that of the locale, else English.

    Of the locale the first variable counts that is set, as in POSIX (XBD, 8.2).
    """
    if setting:
        return setting
    names = (environment.get(name, "") for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    spoken = next((name for name in names if name), "").partition("_")[0].partition(".")[0].lower()
    return spoken if spoken in LANGUAGES else DEFAULT_LANGUAGE
