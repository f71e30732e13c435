"""What `placet search` asks, and how it shows what was found.

Never searches: answers are scripted.
"""

from typing import Any

from tests.daemon.cli.examples import OTHER, TASK
from tests.daemon.cli.fake_control import FakeControl
from tests.support.commands import Placet

SEARCH = "GET /v1/search"


def place(kind: str, field: str, *pieces: str) -> dict[str, Any]:
    """Make a place; every other piece of the snippet is a hit."""
    snippet = [{"text": text, "hit": bool(moment % 2)} for moment, text in enumerate(pieces) if text]
    return {"id": "e1" * 16, "kind": kind, "field": field, "snippet": snippet, "removed": False}


def search_answer(after: int | None = None) -> dict[str, Any]:
    passport = {
        "id": TASK,
        "title": "Renew the passport",
        "status": "OPEN",
        "removed": False,
        "places": [
            place("task", "title", "Renew the ", "passport"),
            place("entry", "text", "… bring the old ", "passport", " and two photos of it to the office …"),
        ],
    }
    other = {
        "id": OTHER,
        "title": "Journey",
        "status": "DONE",
        "removed": False,
        "places": [
            place("checklist_item", "title", "Look for the ", "passport"),
            place("label", "name", "", "pass"),
        ],
    }
    return {"tasks": [passport, other], "next": after}


def test_each_task_is_a_line_and_each_place_below_it(placet: Placet, control: FakeControl):
    control.answers(SEARCH, search_answer())
    assert placet("search", "passport", COLUMNS="60").out == (
        "3f2a  Renew the passport\n"
        "      note:\n"
        "        … bring the old passport and two photos of it to the\n"
        "        office …\n"
        "77ab  Journey  done\n"
        "      item: Look for the passport\n"
        "      label: pass\n"
    )


def test_what_matched_is_marked_where_there_are_colours(placet: Placet, control: FakeControl):
    control.answers(SEARCH, search_answer())
    assert "Renew the \x1b[1;33mpassport\x1b[0m\n" in placet("search", "passport", FORCE_COLOR="1").out


def test_the_words_of_a_search_need_no_quotes_and_go_as_they_are(placet: Placet, control: FakeControl):
    control.answers(SEARCH, search_answer())
    placet("search", "--removed", "--limit", "3", "--", "red", "-car", '"a b"')
    assert control.requests[-1].target == "/v1/search?q=red%20-car%20%22a%20b%22&removed=1&limit=3"


def test_the_plain_form_has_a_row_for_each_place(placet: Placet, control: FakeControl):
    control.answers(SEARCH, search_answer())
    rows = placet("search", "passport", "--plain").out.splitlines()
    assert len(rows) == 4
    assert rows[2].split("\t") == [
        OTHER,
        "Journey",
        "checklist_item",
        "title",
        "e1" * 16,
        "Look for the passport",
    ]


def test_it_is_said_where_there_is_more_and_where_there_is_nothing(placet: Placet, control: FakeControl):
    control.answers(SEARCH, search_answer(after=40))
    control.answers(SEARCH, {"tasks": [], "next": None})
    assert placet("search", "x").err == "There is more: --after 40\n"
    result = placet("search", "x")
    assert (result.status, result.out, result.err) == (0, "", "Nothing found.\n")


def test_a_search_leaves_out_what_has_not_begun_unless_it_is_asked_for(placet: Placet, control: FakeControl):
    control.answers(SEARCH, search_answer() | {"begin_later": 1})
    assert placet("search", "passport").err == "1 begins later: --later\n"
    assert control.requests[-1].target == "/v1/search?q=passport&begun=1"
    placet("search", "passport", "--later")
    assert control.requests[-1].target == "/v1/search?q=passport"
