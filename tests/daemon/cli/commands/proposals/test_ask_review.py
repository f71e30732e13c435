"""A review of permissions at a terminal: what is shown, what each key sends, and what comes after.

Never checks how the daemon decides: answers are scripted.
"""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.daemon.cli import examples
from tests.daemon.cli.commands.proposals.test_asks import ASK
from tests.daemon.cli.fake_control import FakeControl
from tests.support.commands import Placet
from tests.support.pseudo_terminal import terminal

DECIDE = "POST /v1/decisions"
HASH = "ab" * 32
PLAIN: dict[str, Any] = ASK | {"options": [], "asked_hash": HASH}


@pytest.fixture
def one_ask(control: FakeControl) -> FakeControl:
    control.answers("GET /v1/pending", [])
    control.answers("GET /v1/asks", [PLAIN])
    control.answers(DECIDE, [examples.verdict("applied", message="permitted, once")])
    return control


def sent(control: FakeControl) -> dict[str, Any]:
    (request,) = control.asked(DECIDE)
    assert request.body["items"] == [PLAIN["ask_id"]]
    assert request.body["args_hashes"] == {PLAIN["ask_id"]: HASH}
    return {key: request.body[key] for key in ("verdict", "reason", "option", "edit") if key in request.body}


@pytest.mark.parametrize(("key", "verdict"), [("y", "confirmed"), ("d", "deferred")])
def test_a_key_sends_its_verdict_on_what_was_shown(home: Path, one_ask: FakeControl, key: str, verdict: str):
    with terminal(home, "review") as shown_terminal:
        shown = shown_terminal.until("?] ")
        assert "Permission 1 of 1" in shown
        assert "ana@example.org" in shown
        assert "\u202e" not in shown
        assert "1 permission decided" in shown_terminal.end(key)
    assert sent(one_ask) == {"verdict": verdict}


def test_a_question_mark_explains_that_what_is_deferred_can_expire(home: Path, one_ask: FakeControl):
    """Old: it said that what is deferred does not expire, as a proposal does not."""
    with terminal(home, "review") as shown_terminal:
        shown_terminal.until("?] ")
        assert "it stays until it expires" in shown_terminal.press("?", "?] ")
        shown_terminal.end("q")


def test_a_rejection_says_why(home: Path, one_ask: FakeControl):
    with terminal(home, "review") as shown_terminal:
        shown_terminal.until("?] ")
        shown_terminal.press("n", "no reason) ")
        assert "1 permission decided" in shown_terminal.end("not today\r")
    assert sent(one_ask) == {"verdict": "rejected", "reason": "not today"}


def editor_that_writes(folder: Path, text: str) -> str:
    written = folder / "written"
    written.write_text(text)
    return f"{sys.executable} -c 'import shutil, sys; shutil.copy(\"{written}\", sys.argv[1])'"


@pytest.mark.parametrize("options", [[], ["now", "later"]])
def test_what_was_edited_is_what_is_permitted(
    home: Path, tmp_path: Path, one_ask: FakeControl, options: list[str]
):
    one_ask.forgets("GET /v1/asks")
    one_ask.answers("GET /v1/asks", [PLAIN | {"options": options}])
    editor = editor_that_writes(tmp_path, '# a remark\n{"to": "ben@example.org"}')
    with terminal(home, "review", "--asks", EDITOR=editor, VISUAL="") as shown_terminal:
        shown_terminal.until("?] ")
        if options:
            shown_terminal.press("e", "[1,2] ")
        assert "1 permission decided" in shown_terminal.end("2" if options else "e")
    chosen = {"option": "later"} if options else {}
    assert sent(one_ask) == {"verdict": "confirmed", "edit": {"to": "ben@example.org"}} | chosen


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (json.dumps(PLAIN["args"]), "Nothing was changed."),
        ('{"to": ', "is not JSON"),
        ("[1]", "not an object of arguments"),
    ],
)
def test_what_was_not_edited_or_is_no_json_permits_nothing(
    home: Path, tmp_path: Path, one_ask: FakeControl, text: str, words: str
):
    with terminal(home, "review", EDITOR=editor_that_writes(tmp_path, text), VISUAL="") as shown_terminal:
        shown_terminal.until("?] ")
        assert words in shown_terminal.press("e")
        shown_terminal.end("q")
    assert not one_ask.asked(DECIDE)


def test_the_keys_move_over_what_is_left_and_take_the_last_decision_back(home: Path, one_ask: FakeControl):
    one_ask.forgets("GET /v1/asks")
    asks = [PLAIN | {"ask_id": f"{number}" * 32, "title": f"Mail {number}"} for number in range(3)]
    one_ask.answers("GET /v1/asks", asks)
    one_ask.answers(f"GET /v1/asks/{asks[1]['ask_id']}", asks[1] | {"title": "Mail 1, as it stands"})
    with terminal(home, "review", "--asks") as shown_terminal:
        shown_terminal.until("?] ")
        assert "none before this one" in shown_terminal.press("k")
        assert "Nothing was decided" in shown_terminal.press("u")
        assert "Mail 1" in shown_terminal.press("j")
        assert "Mail 2" in shown_terminal.press("y")
        assert "This is the last one." in shown_terminal.press("j")
        # What is decided is passed over.
        assert "Mail 0" in shown_terminal.press("k")
        assert "Mail 1, as it stands" in shown_terminal.press("u")
        assert "permission decided" not in shown_terminal.end("q")
    verdicts = [(request.body["verdict"], request.body["items"]) for request in one_ask.asked(DECIDE)]
    assert verdicts == [("confirmed", [asks[1]["ask_id"]]), ("reopened", [asks[1]["ask_id"]])]


def test_a_choice_is_sent_by_its_number_and_a_plain_yes_is_none(home: Path, one_ask: FakeControl):
    one_ask.forgets("GET /v1/asks")
    one_ask.answers("GET /v1/asks", [PLAIN | {"options": ["now", "later"]}])
    with terminal(home, "review", "--asks") as shown_terminal:
        assert "2  later" in shown_terminal.until("?] ")
        assert "permit it with this choice" in shown_terminal.press("y")
        shown_terminal.end("2")
    assert sent(one_ask) == {"verdict": "confirmed", "option": "later"}


def test_proposals_follow_and_q_ends_both(home: Path, one_ask: FakeControl):
    one_ask.forgets("GET /v1/pending")
    one_ask.answers("GET /v1/pending", [examples.pending()])
    one_ask.answers(f"GET /v1/tasks/{examples.TASK}", examples.task(checklists=[]))
    with terminal(home, "review") as shown_terminal:
        shown_terminal.until("?] ")
        assert "1 of 1" in shown_terminal.press("s")
        shown_terminal.end("q")
    with terminal(home, "review") as shown_terminal:
        shown_terminal.until("?] ")
        assert "Confirm it?" not in shown_terminal.end("q")
    assert not one_ask.asked(DECIDE)


def test_without_a_terminal_it_says_that_something_waits(placet: Placet, one_ask: FakeControl):
    result = placet("review")
    assert result.status == 5
    assert "1 proposal waits" in result.err


def test_a_review_of_an_agent_asks_for_its_permissions_and_proposals(home: Path, one_ask: FakeControl):
    with terminal(home, "review", "--agent", "Claude Code") as shown_terminal:
        shown_terminal.until("?] ")
        shown_terminal.end("s")
    assert one_ask.asked("GET /v1/pending")[0].target == "/v1/pending?agent=Claude%20Code"
    assert one_ask.asked("GET /v1/asks")[0].target == "/v1/asks?agent=Claude%20Code"
