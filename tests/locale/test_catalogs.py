"""The translations: complete, with every placeholder in its place, and compiled from what is written.

Never judges a translation by its meaning.
"""

import re
import string
from pathlib import Path

import click
import pytest
from babel.messages.catalog import Message

from tests.locale import catalogs

_COMMANDS = re.compile(r"`[^`]+`")


def texts(message: Message) -> list[str]:
    """Return the forms of a translation."""
    forms = message.string if isinstance(message.string, tuple | list) else [message.string]
    return [form or "" for form in forms]


def originals(message: Message) -> list[str]:
    return list(message.id) if isinstance(message.id, tuple | list) else [message.id]


def placeholders(text: str) -> set[tuple[str, str]]:
    """Return the names between braces, each with how it is shown."""
    found = string.Formatter().parse(text)
    return {(name, conversion or "") for _, name, _, conversion in found if name is not None}


def typed(text: str) -> list[str]:
    """Return the commands between backticks, wherever their line was broken."""
    return [" ".join(command.split()) for command in _COMMANDS.findall(text)]


def faults(message: Message, plural_forms: int) -> list[str]:
    """Say what is wrong with a translation."""
    originals_, forms = originals(message), texts(message)
    found = [f"not translated: {message.id}"] * (not all(forms)) + [f"fuzzy: {message.id}"] * message.fuzzy
    if len(originals_) > 1 and len(forms) != plural_forms:
        found.append(f"{len(forms)} forms: {message.id}")
    for at, form in enumerate(filter(None, forms)):
        original = originals_[min(at, len(originals_) - 1)]
        if placeholders(form) != placeholders(original):
            found.append(f"placeholders: {original!r}: {form!r}")
        if typed(form) != typed(original):
            found.append(f"what is typed: {original!r}: {form!r}")
        if (form[:1].isspace(), form[-1:].isspace()) != (original[:1].isspace(), original[-1:].isspace()):
            found.append(f"blanks: {original!r}: {form!r}")
    return found


@pytest.mark.parametrize("language", catalogs.TRANSLATED)
def test_every_message_is_translated_with_its_placeholders(language: str):
    catalog = catalogs.updated(language)
    assert [fault for one in catalog if one.id for fault in faults(one, catalog.num_plurals)] == []


@pytest.mark.parametrize("language", catalogs.TRANSLATED)
def test_the_catalog_holds_what_the_source_says_now(language: str):
    """If this fails, run `make words`, translate what it names, and run it again."""
    file = catalogs.po_file(language)
    assert file.read_bytes() == catalogs.written(catalogs.updated(language))
    assert file.with_suffix(".mo").read_bytes() == catalogs.compiled(catalogs.read(language))


@pytest.mark.parametrize(
    ("original", "translation", "fault"),
    [
        ("{count} of {all}", "{count}", "placeholders"),
        ("{name!r}", "{name}", "placeholders"),
        ("see `placet up`", "siehe `placet los`", "what is typed"),
        ("line: ", "Zeile:", "blanks"),
        ("none", "", "not translated"),
        (("{n} day", "{n} days"), ("{n} Tag",), "1 forms"),
    ],
)
def test_what_is_wrong_with_a_translation_is_found(original, translation, fault: str):
    (found,) = faults(Message(original, translation), 2)
    assert found.startswith(fault)


def test_a_guessed_translation_is_not_taken_for_one():
    message = Message("yes", "nein", flags=["fuzzy"])
    assert faults(message, 2) == ["fuzzy: yes"]


def test_the_words_of_click_are_what_click_says():
    folder = Path(click.__file__).parent
    found = (catalogs.in_source(file.read_text("utf-8")) for file in folder.glob("*.py"))
    said = {message.words for messages in found for message in messages}
    assert set(catalogs.CLICKS_OWN) <= said
