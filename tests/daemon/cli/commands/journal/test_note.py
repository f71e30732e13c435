"""Notes at the command line: words, standard input, an editor; and what becomes of them.

Never checks how the daemon decides: answers are scripted. The editors are scripts, on a real terminal.
"""

import json
import sys
from pathlib import Path

import pytest

from tests.daemon.cli import examples
from tests.daemon.cli.examples import TASK
from tests.daemon.cli.fake_control import FakeControl
from tests.support.commands import Placet, command_environment
from tests.support.pseudo_terminal import terminal_of

NOTE = examples.task()["entries"][0] | {"vector_clock": {"4e" * 16: 3}, "source": "note"}
ENTRY = NOTE["id"]
ADD = f"POST /v1/tasks/{TASK}/entries"
LIST = f"GET /v1/tasks/{TASK}/entries"
ONE = f"/v1/entries/{ENTRY}"


def test_a_note_is_words_or_standard_input(placet: Placet, control: FakeControl):
    control.answers(ADD, NOTE, status=201)
    assert placet("note", TASK, "two", "words").out == "✓ Noted e1e1  The photos are\n"
    assert control.requests[-1].body == {"text": "two words"}
    for words in ([], ["-"]):
        placet("note", TASK, *words, typed="from\na pipe ü\n")
        assert control.requests[-1].body == {"text": "from\na pipe ü"}


def test_a_transcript_says_what_it_is_and_when_it_was(placet: Placet, control: FakeControl):
    control.answers(ADD, NOTE, status=201)
    placet("entry", "add", TASK, "um", "--source", "transcript", "--at", "yesterday 14:00")
    assert control.requests[-1].body == {
        "text": "um",
        "source": "transcript",
        "happened_at": "yesterday 14:00",
    }
    assert placet("entry", "add", TASK, "um", "--source", "hearsay").status == 2


def test_a_text_too_long_for_any_request_names_the_limit(placet: Placet):
    result = placet("note", TASK, "-", typed="x" * (1 << 20))
    assert (result.status, "128 KiB (131072 bytes)" in result.err) == (2, True)


def test_notes_are_listed_by_how_they_begin(placet: Placet, control: FakeControl):
    long = NOTE | {"id": "e2" * 16, "text": "a\nb\nc\nd\ne", "source": "transcript", "removed": True}
    control.answers(LIST, [NOTE, long])
    assert placet("entry", "list", TASK, COLUMNS="80").out == (
        "e1e1  2 h ago, you on laptop\n"
        "  The photos are\n"
        "  in the drawer\n"
        "e2e2  2 h ago, you on laptop, transcript  removed\n"
        "  a\n"
        "  b\n"
        "  c\n"
        "  and 2 more lines: placet entry show\n"
    )
    assert placet("entry", "list", TASK, "--plain").out.splitlines()[0] == (
        f"{ENTRY}\t2026-03-04T10:00:00Z\tuser\tThe photos are\\nin the drawer\tnote"
    )
    placet("entry", "list", TASK, "--removed")
    assert control.requests[-1].target == f"/v1/tasks/{TASK}/entries?removed=1"


def test_a_note_is_shown_whole(placet: Placet, control: FakeControl):
    control.answers(f"GET {ONE}", NOTE)
    assert placet("entry", "show", ENTRY).out == (
        "e1e1  2 h ago, you on laptop\n  The photos are\n  in the drawer\n"
    )


def test_an_edit_sends_what_was_given(placet: Placet, control: FakeControl):
    control.answers(f"PATCH {ONE}", NOTE)
    assert placet("entry", "edit", ENTRY, "new", "words").out == "✓ Changed e1e1  The photos are\n"
    placet("entry", "edit", ENTRY, "--at", "monday")
    placet("entry", "edit", ENTRY, "-", "--source", "note", typed="piped")
    assert [request.body for request in control.requests] == [
        {"text": "new words"},
        {"happened_at": "monday"},
        {"text": "piped", "source": "note"},
    ]


@pytest.mark.parametrize(("verb", "line"), [("remove", f"DELETE {ONE}"), ("restore", f"POST {ONE}/restore")])
def test_several_notes_go_and_come_back(verb: str, line: str, placet: Placet, control: FakeControl):
    control.answers(line, NOTE)
    result = placet("entry", verb, ENTRY, "ffff")
    assert (result.status, result.out) == (8, f"✓ {verb.capitalize()}d e1e1  The photos are\n")
    assert result.err.startswith("placet: ffff: ")


def test_a_list_that_comes_in_several_answers_is_shown_whole(placet: Placet, control: FakeControl):
    line = f"GET /v1/tasks/{TASK}/entries"
    control.answers(line, [NOTE, NOTE], Placet_Left_Out="2")
    control.answers(line, [NOTE], Placet_Left_Out="1")
    control.answers(line, [NOTE])
    result = placet("entry", "list", TASK, "--plain")
    assert (len(result.out.splitlines()), result.err) == (4, "")
    assert [request.target.partition("?")[2] for request in control.requests] == ["", "from=2", "from=3"]


def test_what_is_left_out_of_a_list_without_end_is_said_to_scripts_too(placet: Placet, control: FakeControl):
    control.answers(f"GET /v1/tasks/{TASK}/entries", [NOTE], Placet_Left_Out="7")
    result = placet("entry", "list", TASK, "--json")
    assert len(json.loads(result.out)) == 33
    assert result.err == "placet: 7 more are not shown\n"


# -- the editor ---------------------------------------------------------------------------------------


class _Desk:
    """A terminal with an editor: a shell script that gets the file as `$1`."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def types(self, script: str, *words: str, **environment: str) -> tuple[int, str]:
        editor = self.home / "editor.sh"
        editor.write_text(f"#!/bin/sh\nset -e\n{script}\n")
        editor.chmod(0o700)
        command = [sys.executable, "-m", "daemon", *words]
        environment |= {"EDITOR": str(editor), "VISUAL": ""}
        with terminal_of(command, command_environment(self.home, **environment), 200) as shown_terminal:
            drawn = shown_terminal.end()
            return shown_terminal.status, drawn

    def drafts(self) -> list[Path]:
        return sorted((self.home / "drafts").glob("*"))


@pytest.fixture
def desk(home: Path) -> _Desk:
    return _Desk(home)


def test_a_note_without_text_is_written_in_an_editor(desk: _Desk, control: FakeControl):
    control.answers(ADD, NOTE, status=201)
    status, drawn = desk.types(
        "stat -c %a $1 > $PLACET_HOME/mode; printf 'in the\\neditor\\n' > $1", "note", TASK
    )
    assert (status, "Noted" in drawn) == (0, True)
    assert control.requests[-1].body == {"text": "in the\neditor"}
    assert (desk.home / "mode").read_text() == "600\n"
    assert (desk.home / "drafts").stat().st_mode & 0o777 == 0o700
    assert desk.drafts() == []


def test_an_edit_begins_with_the_text_and_rests_on_what_was_shown(desk: _Desk, control: FakeControl):
    control.answers(f"GET {ONE}", NOTE)
    control.answers(f"PATCH {ONE}", NOTE)
    assert desk.types("printf ' now\\n' >> $1", "entry", "edit", ENTRY)[0] == 0
    assert control.requests[-1].body == {
        "text": "The photos are\nin the drawer now",
        "base": {"4e" * 16: 3},
    }


@pytest.mark.parametrize("fails", ["refused", "gone", "broken editor"])
def test_what_was_written_is_kept_where_it_could_not_be_saved(fails: str, desk: _Desk, control: FakeControl):
    if fails == "refused":
        control.refuses(ADD, 404, "not_found", "no task matches", "look again")
    elif fails == "gone":
        control.breaks(ADD)
    ending = "; exit 3" if fails == "broken editor" else ""
    status, drawn = desk.types(f"echo precious > $1{ending}", "note", TASK)
    (draft,) = desk.drafts()
    assert status != 0
    assert draft.read_text() == "precious\n"
    assert str(draft) in drawn.replace("\n", "")


def test_a_refusal_of_what_was_written_is_in_the_language_of_the_person(desk: _Desk, control: FakeControl):
    control.refuses(
        ADD,
        409,
        "stale",
        "it has changed since it was shown",
        "look again: placet conflicts",
        id="changed-since-shown",
        params={},
        hint_id="look-at-conflicts",
        hint_params={},
    )
    status, drawn = desk.types("echo precious > $1", "note", TASK, PLACET_LANGUAGE="de")
    (draft,) = desk.drafts()
    assert status == 6
    assert drawn.replace("\n", "").endswith(
        "placet: es hat sich geändert, seit es gezeigt wurde; sehen Sie noch einmal nach: placet conflicts;"
        f" Ihr Text liegt in {draft}"
    )


def test_a_folder_that_must_be_made_for_a_draft_is_private(desk: _Desk, control: FakeControl, home: Path):
    control.answers(ADD, NOTE, status=201)
    text = "stat -c %a $PLACET_HOME/drafts $PLACET_HOME > $PLACET_HOME/modes; echo text > $1"
    assert desk.types(text, "note", TASK)[0] == 0
    assert (home / "modes").read_text().split()[0] == "700"


def test_nothing_written_is_nothing_noted(desk: _Desk, control: FakeControl):
    status, drawn = desk.types("true", "note", TASK)
    assert (status, "no text was given" in drawn, control.requests, desk.drafts()) == (2, True, [], [])


def test_an_editor_that_is_not_there_is_one_line(desk: _Desk, control: FakeControl, home: Path):
    status, drawn = desk.types("rm $0; kill -9 $$", "note", TASK)
    assert (status, "the editor ended with status -9" in drawn) == (1, True)
    assert "Traceback" not in drawn
