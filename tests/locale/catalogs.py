"""The words of the command line and their translations: found in the source, kept up to date, compiled.

`make words` runs it. Never invents a translation: what is missing is named, except the names of days and
months, which CLDR knows.
"""

import ast
import io
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from inspect import cleandoc
from pathlib import Path
from typing import Final, NamedTuple

from babel import Locale
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po, write_po
from jinja2 import Environment
from jinja2.ext import extract_from_ast

from daemon.language import DEFAULT_LANGUAGE, LANGUAGES
from hatch_build import compile_all
from tests.support.source_tree import ROOT

DOMAIN: Final = "placet"
FOLDER: Final = ROOT / "daemon" / "locale"
SOURCES: Final = (ROOT / "daemon" / "cli", ROOT / "daemon" / "words")
TRANSLATED: Final = tuple(text for text in LANGUAGES if text != DEFAULT_LANGUAGE)

MODULES: Final = (
    ROOT / "placet.py",
    ROOT / "daemon" / "task_fields.py",
    *(path for source in SOURCES for path in sorted(source.rglob("*.py"))),
)
"""All that the command line consists of, with the rows that it and the page read."""
_WORDS_OF_ROWS: Final = {"word": "field", "fact": None, "late": None, "asked": None, "label": None}
"""What a row says of a field of a task, and of what each is said."""

PAGE: Final = ROOT / "daemon" / "web"
PAGE_MODULES: Final = tuple(sorted(PAGE.rglob("*.py")))
TEMPLATES: Final = tuple(sorted(PAGE.rglob("*.html")))
"""All that the page consists of: it uses the same catalogs."""

DAEMON_MODULES: Final = tuple(
    path
    for folder in ("daemon", "store")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if not set(SOURCES) & set(path.parents)
)
"""What the sentences come from that reach the command line as ids."""
ID_CONTEXT: Final = "id:"
"""How the context of such a sentence begins in the catalogs; its id follows."""

CLICKS_OWN: Final = (
    "Usage:",
    "Show this message and exit.",
    "Repeat for confirmation",
    "Error: The two entered values do not match.",
    "Missing argument",
    "Missing option",
    "Missing command.",
    "No such option {name!r}.",
    "Invalid value: {message}",
    "Invalid value for {param_hint}: {message}",
    "{value!r} is not a valid {number_type}.",
    "{value} is not in the range {range}.",
    "Option {name!r} does not take a value.",
    "default: {default}",
    ("Got unexpected extra argument ({args})", "Got unexpected extra arguments ({args})"),
    ("Did you mean {possibility}?", "(Did you mean one of: {possibilities}?)"),
    ("{value!r} is not {choice}.", "{value!r} is not one of {choices}."),
    ("Option {name!r} requires an argument.", "Option {name!r} requires {nargs} arguments."),
)
"""What click says to people here; it has no translations of its own."""

_DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
# A date in the file would change it at every run.
ALWAYS: Final = datetime(2026, 1, 1, tzinfo=UTC)


class Found(NamedTuple):
    """A message, or the two that differ by a count; and its context, if that matters."""

    words: str | tuple[str, str]
    said_of: str | None = None


@cache
def messages() -> Catalog:
    """Find every message of the command line, the page and the daemon; never change what this returns."""
    template = _catalog(None)
    for path in MODULES + PAGE_MODULES:
        for message in in_source(path.read_text(encoding="utf-8")):
            template.add(message.words, context=message.said_of)
    for path in TEMPLATES:
        for message in in_template(path.read_text(encoding="utf-8")):
            template.add(message.words, context=message.said_of)
    for path in DAEMON_MODULES:
        for message in sentences_in(path.read_text(encoding="utf-8")):
            template.add(message.words, context=message.said_of)
    for own in CLICKS_OWN:
        template.add(own)
    return template


def _catalog(language: str | None) -> Catalog:
    catalog = Catalog(
        language, DOMAIN, project=DOMAIN, version="1", creation_date=ALWAYS, revision_date=ALWAYS
    )
    catalog.header_comment = f"# Placet's words in {language}; `make words` keeps this file."
    return catalog


def in_source(text: str) -> Iterator[Found]:
    """Find what a module says: what is marked, and the help of its commands."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call):
            yield from _in_call(node)
        elif isinstance(node, ast.FunctionDef) and any(map(_declares, node.decorator_list)):
            words = ast.get_docstring(node)
            assert words, f"{node.name} has no help"
            yield Found(words)


def in_template(text: str) -> Iterator[Found]:
    """Find what a template of the page says: the words that it passes to `_` and `ngettext`."""
    for _line, function, words in extract_from_ast(Environment().parse(text), ("_", "ngettext")):
        assert words
        first, *rest = [words] if isinstance(words, str) else [word for word in words if word is not None]
        yield Found((first, rest[0]) if function == "ngettext" else first)


def sentences_in(text: str) -> Iterator[Found]:
    """Find the sentences with ids that a module makes; both id and template have to be literals."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and _name(node) == "sentence":
            sentence_id, template = (ast.literal_eval(argument) for argument in node.args)
            yield Found(template, ID_CONTEXT + sentence_id)


def _declares(decorator: ast.expr) -> bool:
    """Say whether a decorator makes a command of a function."""
    func = decorator.func if isinstance(decorator, ast.Call) else None
    name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
    return name in ("command", "group")


def _name(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _in_call(call: ast.Call) -> Iterator[Found]:
    words = [arg.value for arg in call.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
    match _name(call):
        case (
            "_"
            | "gettext_noop"
            | "joined_words"
            | "prompted_secret"
            | "piped_text"
            | "piped_bytes"
            | "missing_input"
        ):
            yield from map(Found, words)
        case "ngettext":
            yield Found((words[0], words[1]))
        case "pgettext_noop" | "pgettext":
            yield from (Found(word, words[0]) for word in words[1:])
        case "CommandEntry" | "_form" if words:
            yield Found(words[-1])
    for keyword in call.keywords:
        value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
        if keyword.arg in ("help", "epilog") and isinstance(value, str):
            yield Found(cleandoc(value))
        if (
            _name(call) in ("TaskField", "FormField")
            and keyword.arg in _WORDS_OF_ROWS
            and isinstance(value, str)
        ):
            yield Found(value, _WORDS_OF_ROWS[keyword.arg])


def read(language: str) -> Catalog:
    """Read the translations of one language; none if there is no file yet."""
    file = po_file(language)
    if not file.exists():
        return _catalog(language)
    with file.open("rb") as opened:
        return read_po(opened, locale=language, domain=DOMAIN)


def po_file(language: str) -> Path:
    """Return where the translations of a language are written by hand."""
    return FOLDER / language / "LC_MESSAGES" / f"{DOMAIN}.po"


def updated(language: str) -> Catalog:
    """Return the catalog of a language with the messages that there are now, those of CLDR filled in."""
    before, after = read(language), _catalog(language)
    for message in messages():
        if message.id:
            known_message = before.get(message.id[0] if message.pluralizable else message.id, message.context)
            text = (
                known_message.string
                if known_message and not known_message.fuzzy and known_message.id == message.id
                else None
            )
            text = text or _calendar(message, language)
            after.add(message.id, text, context=message.context)
    return after


def _calendar(message: Message, language: str) -> str | None:
    """Return the name of a day or month."""
    locale = Locale.parse(language)
    if message.id in _DAYS:
        return str(locale.days["stand-alone"]["abbreviated"][_DAYS.index(message.id)])
    if message.id in _MONTHS:
        return str(locale.months["format"]["abbreviated"][_MONTHS.index(message.id) + 1])
    return None


def catalog_bytes(catalog: Catalog) -> bytes:
    """Return the text form of a catalog."""
    file = io.BytesIO()
    write_po(file, catalog, width=100, sort_output=True, no_location=True)
    return file.getvalue()


def missing(catalog: Catalog) -> list[str]:
    """Name the messages without a translation."""
    return [str(message.id) for message in catalog if message.id and not all(_texts(message))]


def _texts(message: Message) -> tuple[str, ...]:
    return tuple(message.string) if isinstance(message.string, tuple | list) else (message.string or "",)


def main() -> int:
    """Bring every catalog up to date; fail if a message is not translated."""
    left = 0
    for language in TRANSLATED:
        catalog = updated(language)
        file = po_file(language)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(catalog_bytes(catalog))
        for message in missing(catalog):
            left += 1
            print(f"{file.relative_to(ROOT)}: not translated: {message}")
    compile_all(ROOT)
    if left:
        print(f"Translate these {left} messages in the files named, and run it again.")
    return min(left, 1)


if __name__ == "__main__":
    sys.exit(main())
