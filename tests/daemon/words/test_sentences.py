"""The daemon's sentences by id: in every language, with what fills them.

Never judges a translation by its meaning.
"""

import json
from collections.abc import Iterator

import pytest

from daemon.cli.api.command_error import CommandError, error_from_response
from daemon.cli.framework.error_lines import detail_lines, error_line
from daemon.control.error_body import error_body
from daemon.control.health.check import duration_sentence
from daemon.refusal import Detail, RefusalCode, Refused, not_found_refusal
from daemon.words import translation
from daemon.words.sentences import answer_words, sentence_words
from store.sentence import foreign_text, json_params, sentence, sentence_fields

ABSENT = sentence("not-found", "no {kind} matches {ref!r}", kind="checklist_item", ref="{0} matches")


@pytest.fixture(autouse=True)
def _english_again() -> Iterator[None]:
    yield
    translation.use_language("en")


def as_client(refused: Refused) -> CommandError:
    """Return what the command line makes of a refusal."""
    return error_from_response(400, json.loads(error_body(refused)))


def test_a_title_with_the_words_of_a_template_is_carried_over_whole():
    error = as_client(not_found_refusal("task", "a 'b' matches {c}"))
    assert error_line(error) == "no task matches \"a 'b' matches {c}\""
    translation.use_language("de")
    assert error_line(error) == "nichts passt zu \"a 'b' matches {c}\" (Aufgabe)"


def test_scripts_get_the_english_text_and_the_id():
    translation.use_language("de")
    error = as_client(not_found_refusal("task", "x")).as_json()["error"]
    assert error["message"] == "no task matches 'x'"
    assert (error["id"], error["params"]) == ("not-found", {"kind": "task", "ref": "x"})


def test_sentences_within_sentences_and_details_are_translated_too():
    outer = sentence("edit-not-applicable", "cannot be applied: {fault}", fault=ABSENT)
    error = as_client(Refused(RefusalCode.USAGE, outer, ABSENT, details=[Detail(3, ABSENT)]))
    translation.use_language("de")
    words = sentence_words({"id": "not-found", "params": json_params(ABSENT)}, "")
    assert words.startswith("nichts passt zu '{0} matches'")
    assert words in error_line(error).split("; ")[0]
    assert error_line(error).split("; ")[1] == words
    assert detail_lines(error) == [f"Zeile 3: {words}"]


@pytest.mark.parametrize("params", [{}, {"kind": "task"}])
def test_a_sentence_of_another_version_is_shown_in_english(params: dict[str, str]):
    translation.use_language("fr")
    assert sentence_words({"id": "not-found", "params": params}, "no such") == "no such"
    assert sentence_words({"id": "of-a-newer-daemon", "params": {}}, "the wind") == "the wind"


def test_a_time_is_shown_on_the_persons_own_calendar():
    params = {"time": "2026-11-20T12:00:00.000Z", "now": "2026-11-21T12:08:18.466Z"}
    assert "Nov 2026" in sentence_words({"id": "timer-has-passed", "params": params}, "")


def test_the_words_of_a_conflict_are_translated_and_a_title_in_them_is_not():
    after = sentence("place-after", "after “{title}”", title="with it")
    translation.use_language("de")
    assert answer_words(sentence_fields("words", after), "words") == "hinter „with it“"
    assert answer_words({"words": "after “Tea”"}, "words") == "after “Tea”"
    assert answer_words(sentence_fields("words", foreign_text("with it")), "words") == "with it"


def test_how_long_something_is_has_the_plural_of_the_language():
    translation.use_language("ro")
    lengths = [duration_sentence(minutes * 60_000) for minutes in (1, 2, 20)]
    words = [answer_words(sentence_fields("found", length), "found") for length in lengths]
    assert words == ["1 minut", "2 minute", "20 de minute"]
