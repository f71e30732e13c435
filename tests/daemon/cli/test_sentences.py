"""The daemon's sentences in other languages: every one that is known is one that the daemon says.

Never asks for all of them: what is not known is told as it came.
"""

import ast
import re
from collections.abc import Iterator

import pytest

from daemon.cli import sentences, words
from tests.source import ROOT


def _said_by_the_daemon() -> Iterator[str]:
    for folder in ("agents", "journal"):
        for file in (ROOT / "daemon" / folder).glob("*.py"):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield node.value
                elif isinstance(node, ast.JoinedStr):
                    yield "".join(
                        getattr(part, "value", "") if _is_text(part) else "{}" for part in node.values
                    )


def _is_text(part: ast.expr) -> bool:
    return isinstance(part, ast.Constant)


def test_every_sentence_is_one_that_the_daemon_says():
    known = [*sentences._FIXED, *sentences._PARTS, *sentences._FORMED, *sentences._CAUSE]
    said = {_blank(one) for one in _said_by_the_daemon()}
    # Those that the daemon puts together of two.
    said |= {
        _blank(one)
        for one in (
            "undone: {}",
            'Set status to {} (reason: "{}")',
            'Add: "{}" (checked)',
            "proposed by an agent; {}",
        )
    }
    assert [one for one in known if _blank(one) not in said] == []


def _blank(form: str) -> str:
    """Leave out what is filled in, and the marks around a name, which may come with it."""
    return re.sub(r'"\{\}"', "{}", re.sub(r"\{\w*\}", "{}", form))


@pytest.mark.parametrize(
    ("sentence", "german"),
    [
        ("it is confirmed already", "ist schon bestätigt"),
        ("7 changes", "7 Änderungen"),
        ("the changes", "the changes"),
        ('Set title to "a {b} c"', "Titel ändern in „a {b} c“"),
        (
            "confirmed, but overtaken by your edit: --force applies it anyway",
            "bestätigt, aber überholt durch Ihre",
        ),
        ("undone: estimate in minutes is empty", "rückgängig gemacht: Schätzung in Minuten: leer"),
        ("undone: your later edit stays, title is T", "rückgängig gemacht: Ihre spätere Änderung bleibt"),
        (
            "title changed since: it was A, is B, and would be C; --force applies it anyway",
            "seither geändert: Titel war A, ist B und würde C; --force wendet ihn trotzdem an",
        ),
        (
            "checked was set again since: it is no as before, and would be yes; --force applies it anyway",
            "seither neu gesetzt: abgehakt ist nein wie zuvor und würde ja; --force wendet es trotzdem an",
        ),
        ("undone: status is IN PROGRESS", "rückgängig gemacht: Status: in Arbeit"),
        (
            "status changed since: it was OPEN, is empty, and would be BLOCKED; --force applies it anyway",
            "seither geändert: Status war offen, ist leer und würde blockiert",
        ),
        ('Set status to BLOCKED (reason: "no, OPEN")', "Status auf „blockiert“ setzen (Grund: „no, OPEN“)"),
        ('Check off: "a; b"', "Abhaken: „a; b“"),
        ("cannot be applied: Object missing", "kann nicht angewendet werden: Object missing"),
        ("cannot be applied: an edit cannot change what", "kann nicht angewendet werden: an edit cannot"),
        (
            "cannot be applied: an edit cannot change what a proposal is about",
            "kann nicht angewendet werden: eine Änderung darf nicht",
        ),
        ("what a newer daemon says", "what a newer daemon says"),
        ("title is empty", "title is empty"),
        ("", ""),
    ],
)
def test_what_is_between_the_words_is_carried_over(
    sentence: str, german: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LANGUAGE", "")
    # Statuses are written in capitals in the journal, and as other words where people read them.
    assert sentences.retold(sentence).casefold() == sentence.casefold()
    try:
        words.speak("de")
        assert sentences.retold(sentence).startswith(german)
    finally:
        words.speak("en")


def test_the_reason_that_a_person_gave_is_never_touched(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LANGUAGE", "")
    try:
        words.speak("de")
        assert sentences.cause("rejected") == "rejected"
        assert sentences.cause("proposed by an agent: rejected").endswith(": rejected")
        assert sentences.cause("proposed by an agent; no").endswith("vorgeschlagen; no")
        assert sentences.cause("proposed by an agent") == "von einem Agenten vorgeschlagen"
    finally:
        words.speak("en")
