"""The translations: complete, with every placeholder in its place, and compiled as gettext reads them.

Never judges a translation by its meaning.
"""

import ast
import io
import re
import string
from gettext import GNUTranslations
from pathlib import Path

import click
import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from hypothesis import given
from hypothesis import strategies as st

import hatch_build
from tests.locale import catalogs
from tests.support.source_tree import ROOT

_COMMANDS = re.compile(r"`[^`]+`")
_FAMILIAR = {
    "de": r"du|dich|dir|dein(e[mnrs]?)?|gib|lass|lege|nenne|öffne|schreib|sieh|starte|trage|tu|verlange",
    "es": r"tú|te|tus?|ti|tuy[oa]s?|contigo|haz|pon|hazlo|créalo|puedes|quieres",
    "fr": r"tu|te|toi|ta|tes|tiens?|tiennes?|fais-le|demandes-en|nommes-en|laisses-en|t['’]\w+",
    "ro": r"tu|tine|te|ție|îți|ta|tău|tale|tăi|ești|poți|adu|fă|mergi|introdu|vezi",
}
"""Words that speak to a reader as to a friend: the catalogs say Sie, usted, vous and dumneavoastră."""


def texts(message: Message) -> list[str]:
    """Return the forms of a translation."""
    forms = message.string if isinstance(message.string, tuple | list) else [message.string]
    return [form or "" for form in forms]


def originals(message: Message) -> list[str]:
    return list(message.id) if isinstance(message.id, tuple | list) else [message.id]


def placeholders(text: str) -> set[tuple[str, str]]:
    """Return the names between braces, each with how it is shown."""
    result = string.Formatter().parse(text)
    return {(name, conversion or "") for _, name, _, conversion in result if name is not None}


def typed(text: str) -> list[str]:
    """Return the commands between backticks, wherever their line was broken."""
    return [" ".join(command.split()) for command in _COMMANDS.findall(text)]


def faults(message: Message, plural_forms: int) -> list[str]:
    """Say what is wrong with a translation."""
    originals_, forms = originals(message), texts(message)
    result = [f"not translated: {message.id}"] * (not all(forms)) + [f"fuzzy: {message.id}"] * message.fuzzy
    if len(originals_) > 1 and len(forms) != plural_forms:
        result.append(f"{len(forms)} forms: {message.id}")
    for index, form in enumerate(filter(None, forms)):
        original = originals_[min(index, len(originals_) - 1)]
        if placeholders(form) != placeholders(original):
            result.append(f"placeholders: {original!r}: {form!r}")
        if typed(form) != typed(original):
            result.append(f"what is typed: {original!r}: {form!r}")
        if (form[:1].isspace(), form[-1:].isspace()) != (original[:1].isspace(), original[-1:].isspace()):
            result.append(f"blanks: {original!r}: {form!r}")
    return result


@pytest.mark.parametrize("language", catalogs.TRANSLATED)
def test_every_message_is_translated_with_its_placeholders(language: str):
    catalog = catalogs.updated(language)
    assert [
        fault for message in catalog if message.id for fault in faults(message, catalog.num_plurals)
    ] == []


@pytest.mark.parametrize("language", catalogs.TRANSLATED)
def test_the_catalog_holds_what_the_source_says_now(language: str):
    """If this fails, run `make words`, translate what it names, and run it again."""
    file = catalogs.po_file(language)
    assert file.read_bytes() == catalogs.catalog_bytes(catalogs.updated(language))


def test_the_list_for_translators_gives_each_central_word_as_the_catalogs_have_it():
    table = (ROOT / "docs/translating.md").read_text("utf-8").partition("| English |")[2].splitlines()
    heading, _line, *rows = ([cell.strip() for cell in row.strip("|").split("|")] for row in table if row)
    assert len(rows) > 15
    by_language = [catalogs.read(language) for language in heading]
    for word, *translations in rows:
        messages = [catalog.get(word) for catalog in by_language]
        assert translations == [message and message.string for message in messages], word


@pytest.mark.parametrize("language", catalogs.TRANSLATED)
def test_a_reader_is_spoken_to_politely(language: str):
    familiar = re.compile(rf"(?<![\w-])({_FAMILIAR[language]})(?![\w-])", re.IGNORECASE)
    forms = [form for message in catalogs.read(language) if message.id for form in texts(message)]
    assert [form for form in forms if familiar.search(form)] == []


def test_the_name_of_each_check_of_the_daemon_is_translated():
    """If this fails, name the check in `_CHECKS` of daemon/cli/commands/operation/status.py."""
    calls = [
        call
        for file in (ROOT / "daemon/control/health").glob("*.py")
        for call in ast.walk(ast.parse(file.read_text()))
        if isinstance(call, ast.Call) and ast.unparse(call.func) in ("make_check", "_DeviceFinding")
    ]
    names = {call.args[0].value for call in calls if isinstance(call.args[0], ast.Constant)}
    assert {"copies", "mailboxes"} <= names
    messages = {message.id for message in catalogs.read("de") if message.string}
    assert names - messages == set()


def test_no_line_ends_within_french_quotation_marks():
    forms = [form for message in catalogs.read("fr") if message.id for form in texts(message)]
    assert [form for form in forms if "« " in form or " »" in form] == []


def ours(catalog: Catalog) -> dict[object, str]:
    """Return what gettext reads from a catalog that our compiler wrote."""
    text = catalogs.catalog_bytes(catalog).decode()
    return _read(hatch_build.mo_bytes(hatch_build.translations(text)))


def babels(catalog: Catalog) -> dict[object, str]:
    """Return what gettext reads from a catalog that Babel wrote, with the sentences of the daemon by id."""
    file = io.BytesIO()
    write_mo(file, catalog)
    return {_key_by_id(key): text for key, text in _read(file.getvalue()).items()}


def _read(compiled: bytes) -> dict[object, str]:
    result: dict[object, str] = vars(GNUTranslations(io.BytesIO(compiled)))["_catalog"]
    return result


def _key_by_id(key: object) -> object:
    context, end, _ = str(key).partition("\x04")
    if not end or not context.startswith(catalogs.ID_CONTEXT):
        return key
    return f"sentence\x04{context.removeprefix(catalogs.ID_CONTEXT)}"


@pytest.mark.parametrize("language", catalogs.TRANSLATED)
def test_our_compiler_writes_what_babels_does(language: str):
    catalog = catalogs.read(language)
    assert len(catalog) > 1000
    assert ours(catalog) == babels(catalog)


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x00\x04\r"), min_size=1, max_size=30)
"""Babel itself reads a carriage return back as a line's end."""
MESSAGES = st.tuples(
    TEXTS | st.tuples(TEXTS, TEXTS),
    st.tuples(TEXTS, TEXTS),
    st.none() | st.sampled_from(["task", "id:no-such-task"]),
    st.booleans(),
)


@given(st.lists(MESSAGES, max_size=5))
def test_any_catalog_is_compiled_as_babel_compiles_it(messages):
    catalog = Catalog("de", "placet", creation_date=catalogs.ALWAYS, revision_date=catalogs.ALWAYS)
    sentences: dict[str, object] = {}
    for message, forms, context, is_fuzzy in messages:
        is_sentence = context is not None and context.startswith(catalogs.ID_CONTEXT)
        words = message[0] if is_sentence and isinstance(message, tuple) else message
        if is_sentence and sentences.setdefault(context, words) != words:
            continue  # An id belongs to one template.
        text = forms if isinstance(words, tuple) else forms[0]
        catalog.add(words, text, context=context, flags=["fuzzy"] * is_fuzzy)
    assert ours(catalog) == babels(catalog)


def test_english_has_a_template_for_each_sentence_of_the_daemon():
    text = catalogs.po_file("de").read_text(encoding="utf-8")
    sentences = {
        message.context.removeprefix(catalogs.ID_CONTEXT): message.id
        for message in catalogs.messages()
        if message.context and message.context.startswith(catalogs.ID_CONTEXT)
    }
    english = GNUTranslations(io.BytesIO(hatch_build.mo_bytes(hatch_build.english_templates(text))))
    assert sentences["not-found"] == "no {kind} matches {ref!r}"
    assert {name: english.pgettext("sentence", name) for name in sentences} == sentences


def test_what_is_said_of_a_decision_names_no_flag_of_the_command_line():
    """Old: the page said "--force applies it anyway" above a button that applies it."""
    for path in catalogs.DAEMON_MODULES:
        if "deciding" in path.parts:
            for message in catalogs.sentences_in(path.read_text(encoding="utf-8")):
                assert "--force" not in str(message.words), path


def test_no_id_belongs_to_two_templates():
    contexts = [message.context for message in catalogs.messages() if message.context]
    ids = [context for context in contexts if context.startswith(catalogs.ID_CONTEXT)]
    assert len(ids) == len(set(ids))


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
    (text,) = faults(Message(original, translation), 2)
    assert text.startswith(fault)


def test_a_guessed_translation_is_not_taken_for_one():
    message = Message("yes", "nein", flags=["fuzzy"])
    assert faults(message, 2) == ["fuzzy: yes"]


def test_the_words_of_click_are_what_click_says():
    folder = Path(click.__file__).parent
    catalogs_found = (catalogs.in_source(file.read_text("utf-8")) for file in folder.glob("*.py"))
    words = {message.words for messages in catalogs_found for message in messages}
    assert set(catalogs.CLICKS_OWN) <= words
