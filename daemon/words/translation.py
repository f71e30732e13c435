"""The words of people, in the language that they read.

Never speaks to scripts: what `--json` and `--plain` print stays English, and so does what is stored.
"""

from __future__ import annotations

import os
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from daemon.language import DEFAULT_LANGUAGE, LANGUAGES, chosen_language
from daemon.paths import find_paths

if TYPE_CHECKING:
    from collections.abc import Mapping
    from gettext import NullTranslations

    from daemon.shapes.answers import SentenceJson

CATALOG_DOMAIN: Final = "placet"
CATALOG_FOLDER: Final = os.path.join(os.path.dirname(os.path.dirname(__file__)), "locale")


_SENTENCE_CONTEXT: Final = "sentence"
_CONFIG_BYTES_MAX: Final = 64 << 10


class _Voice:
    """The catalog in use; none for English, in which everything is written.

    English has a catalog of its own for the sentences of the daemon, which are looked up by id. It is read
    only when such a sentence is shown.
    """

    __slots__ = ("catalog", "english", "language")

    def __init__(self) -> None:
        self.catalog: NullTranslations | None = None
        self.english: NullTranslations | None = None
        self.language: str = DEFAULT_LANGUAGE


_VOICE: Final = _Voice()


class _Spoken(NamedTuple):
    """A language, and its catalog, if it is not English."""

    language: str
    catalog: NullTranslations | None


_IN_THIS_CONTEXT: Final[ContextVar[_Spoken | None]] = ContextVar("placet_language", default=None)
"""The language of one request, if its browser reads another than the process."""
_CATALOGS: Final[dict[str, NullTranslations | None]] = {}


def use_language(language: str) -> None:
    """Use this language from now on, in click's own words too."""
    import gettext

    _VOICE.language = language
    if language == DEFAULT_LANGUAGE:
        _VOICE.catalog = None
        gettext.textdomain("messages")
        return
    _VOICE.catalog = gettext.translation(CATALOG_DOMAIN, CATALOG_FOLDER, [language], fallback=True)
    # click asks gettext's global functions, which look for the language nowhere else.
    os.environ["LANGUAGE"] = language
    gettext.bindtextdomain(CATALOG_DOMAIN, CATALOG_FOLDER)
    gettext.textdomain(CATALOG_DOMAIN)


def use_language_here(language: str) -> None:
    """Use a language in this context alone, such as one request, and in what it starts."""
    if language not in _CATALOGS:
        import gettext

        is_english = language == DEFAULT_LANGUAGE
        _CATALOGS[language] = (
            None
            if is_english
            else gettext.translation(CATALOG_DOMAIN, CATALOG_FOLDER, [language], fallback=True)
        )
    _IN_THIS_CONTEXT.set(_Spoken(language, _CATALOGS[language]))


def language_of_process() -> str:
    """Return the language in which words are said where no request asks for another."""
    return _VOICE.language


def language_in_use() -> str:
    """Return the language in which words are said here."""
    here = _IN_THIS_CONTEXT.get()
    return _VOICE.language if here is None else here.language


def _catalog() -> NullTranslations | None:
    here = _IN_THIS_CONTEXT.get()
    return _VOICE.catalog if here is None else here.catalog


def _(message: str) -> str:
    """Say a message in the language in use; its {placeholders} are filled in afterwards."""
    catalog = _catalog()
    # Under the empty message a catalog has its own description.
    return message if catalog is None or not message else catalog.gettext(message)


def ngettext(singular: str, plural: str, count: int) -> str:
    """Say a message in the form that its language has for this count."""
    catalog = _catalog()
    if catalog is None:
        return singular if count == 1 else plural
    return catalog.ngettext(singular, plural, count)


def pgettext(what: str, message: str) -> str:
    """Say a word that depends on what it is said of: a task is not "removed" as a device is."""
    catalog = _catalog()
    return message if catalog is None else catalog.pgettext(what, message)


def sentence_template(sentence_id: str) -> str | None:
    """Return the template of one of the daemon's sentences; None for an unknown id."""
    catalog = _catalog() or _english_sentences()
    template = catalog.pgettext(_SENTENCE_CONTEXT, sentence_id)
    return None if template == sentence_id else template


def _english_sentences() -> NullTranslations:
    import gettext

    if _VOICE.english is None:
        _VOICE.english = gettext.translation(
            CATALOG_DOMAIN, CATALOG_FOLDER, [DEFAULT_LANGUAGE], fallback=True
        )
    return _VOICE.english


def pgettext_noop(_what: str, *messages: str) -> tuple[str, ...]:
    """Mark words that are translated elsewhere, by `pgettext`."""
    return messages


def gettext_noop(message: str) -> str:
    """Mark a message that is said elsewhere, by `_`."""
    return message


def preferred_language(environment: Mapping[str, str] = os.environ) -> str:
    """Find the language: PLACET_LANGUAGE, `language` in config.toml, the locale.

    A value that is no language is passed over here; the daemon refuses it.
    """
    wanted_language = environment.get("PLACET_LANGUAGE") or _configured_language(
        find_paths(environment).config_file
    )
    return chosen_language(wanted_language if wanted_language in LANGUAGES else "", environment)


def _configured_language(file: str) -> str:
    """Read the one key that stands before the first table: a TOML parser would take longer than the rest."""
    try:
        # Neither waiting for a pipe nor reading on and on: this is done at the start of every command.
        with open(file, "rb", opener=lambda path, flags: os.open(path, flags | os.O_NONBLOCK)) as opened:
            beginning = opened.read(_CONFIG_BYTES_MAX) or b""
    except OSError:
        return ""
    for line in beginning.decode("utf-8", "replace").splitlines():
        key, _found, value = line.partition("=")
        if key.strip() == "language":
            return value.partition("#")[0].strip().strip("\"'")
        if line.lstrip().startswith("["):
            break
    return ""


def sentence_of(answer: Mapping[str, Any], prefix: str = "") -> SentenceJson | None:
    """Return the sentence that an object of an answer names by `id` and `params`, if it does."""
    sentence_id, params = answer.get(f"{prefix}id"), answer.get(f"{prefix}params")
    if not isinstance(sentence_id, str) or not sentence_id:
        return None
    return {"id": sentence_id, "params": params if isinstance(params, dict) else {}}
