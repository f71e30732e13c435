"""What the daemon refuses, in the language of the person; what scripts read stays as it came.

Never judges a translation by its meaning.
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator

import pytest

from daemon.cli import words
from daemon.cli.refusals import Refusal
from daemon.cli.refused import _FORMS, _PARTS, refusal_words
from tests.source import ROOT

_FILLED = {"count": "7", "number": "7", "kind": "task", "noun": "label", "examples": "q, q"}


@pytest.fixture
def speak() -> Iterator[Callable[[str], None]]:
    yield words.speak
    words.speak("en")


def _sentences() -> Iterator[tuple[str, str]]:
    """Find every text in the daemon: how it begins, and a pattern in which anything is filled in."""
    for file in (ROOT / "daemon").rglob("*.py"):
        if (ROOT / "daemon" / "cli") in file.parents:
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value, re.escape(node.value)
            elif isinstance(node, ast.JoinedStr):
                parts = [one.value if isinstance(one, ast.Constant) else None for one in node.values]
                pattern = "".join(".*" if one is None else re.escape(str(one)) for one in parts)
                yield str(parts[0] or ""), pattern


def _is_said(sentence: str, said: Iterable[tuple[str, str]]) -> bool:
    return any(sentence.startswith(begin) and re.fullmatch(text, sentence) for begin, text in said)


def _filled(form: str) -> str:
    return re.sub(r"\{(\w+)\}", lambda name: _FILLED.get(name[1], "q"), form)


def test_every_sentence_that_is_known_is_one_that_the_daemon_says():
    said = [one for one in set(_sentences()) if re.search(r"\w", one[1].replace(".*", ""))]
    assert [one for one in _FORMS if not _is_said(_filled(one), said)] == []


@pytest.mark.parametrize("form", _FORMS)
def test_a_refusal_says_the_same_in_english_and_something_else_in_german(
    form: str, speak: Callable[[str], None]
):
    assert refusal_words(_filled(form)) == _filled(form)
    speak("de")
    assert refusal_words(_filled(form)) != _filled(form)


@pytest.mark.parametrize("sentence", ["", "the wind is too strong", "no status", "{count} {kind!r}"])
def test_a_sentence_that_is_not_known_is_told_as_it_came(sentence: str, speak: Callable[[str], None]):
    speak("ro")
    assert refusal_words(sentence) == sentence


def test_words_of_people_are_carried_over_and_scripts_get_english(speak: Callable[[str], None]):
    speak("de")
    refusal = Refusal("not_found", "the task '{0} one of us' was removed", "restore it first")
    assert refusal.as_line() == "'{0} one of us' wurde entfernt (Aufgabe); holen Sie es zuerst zurück"
    assert refusal.as_json()["error"]["message"] == "the task '{0} one of us' was removed"


def test_what_keeps_devices_from_being_in_step_is_told_part_by_part(speak: Callable[[str], None]):
    parts = [_filled(form) for form in _PARTS]
    said = [one for one in set(_sentences()) if re.search(r"\w", one[1].replace(".*", ""))]
    assert [one for one in parts if not _is_said(one, said)] == []
    for told in ("not in step after 30 s", f"not in step after 0.5 s: {'; '.join(parts)}"):
        assert refusal_words(told) == told
    speak("de")
    assert refusal_words("not in step after 30 s: phone lacks 3; desk; den is still being called") == (
        "nach 30 s nicht im Gleichschritt: phone fehlen 3; desk; den wird noch gerufen"
    )


def test_a_moment_is_told_on_the_persons_own_calendar():
    told = refusal_words("2026-11-20T12:00:00.000Z has passed: it is 2026-11-21T12:08:18.466Z here")
    assert re.fullmatch(
        r"\w+ \d+ Nov 2026, \d\d:\d\d has passed: it is \w+ \d+ Nov 2026, \d\d:\d\d here", told
    )
