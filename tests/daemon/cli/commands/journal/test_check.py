"""What the commands of checklists ask of the daemon, and what they tell of the answer.

Never checks how the daemon decides: answers are scripted.
"""

import pytest

from tests.daemon.cli import examples
from tests.daemon.cli.examples import TASK
from tests.daemon.cli.fake_control import FakeControl
from tests.support.commands import Placet

LISTS = f"GET /v1/tasks/{TASK}/checklists"
TODOS = examples.task()["checklists"][0]
PHOTOS, FORM = TODOS["items"]


def test_check_adds_and_lists(placet: Placet, control: FakeControl):
    control.answers(f"POST /v1/tasks/{TASK}/checklist", FORM, status=201)
    assert placet("check", "add", TASK, "The", "form", "--list", "Papers").out == "[ ] 9c2f  Form\n"
    assert control.requests[-1].body == {"title": "The form", "checklist": "Papers"}
    control.answers(LISTS, [TODOS])
    assert placet("check", "list", TASK).out == (
        "9999  Todos  1/2\n  [x] 9c1e  Photos  checked by agent on phone, yesterday\n  [ ] 9c2f  Form\n"
    )
    assert placet("check", "list", TASK, "--plain").out.splitlines()[1].split("\t")[1:] == [
        "false",
        "Form",
        "",
        "",
        "Todos",
        "99" * 16,
    ]


def test_what_was_put_away_is_shown_where_it_is_asked_for(placet: Placet, control: FakeControl):
    away = PHOTOS | {"is_archived": True, "checked_by": None}
    removed = FORM | {"removed": True}
    control.answers(LISTS, [TODOS | {"items": [away, FORM]}])
    assert placet("check", "list", TASK).out == "9999  Todos  0/1\n  [ ] 9c2f  Form\n  and 1 archived\n"
    assert "[x] 9c1e  Photos  archived" in placet("check", "list", TASK, "--archived").out
    assert len(placet("check", "list", TASK, "--plain").out.splitlines()) == 1
    control.answers(LISTS, [TODOS | {"items": [removed], "removed": True}])
    placet("check", "list", TASK)  # the answer before was still due
    assert placet("check", "list", TASK, "--removed").out == (
        "9999  Todos  0/1  removed\n  [ ] 9c2f  Form  removed\n"
    )
    assert control.requests[-1].target == f"/v1/tasks/{TASK}/checklists?removed=1"


def test_ticking_sets_and_never_toggles(placet: Placet, control: FakeControl):
    for ref in ("9c1e", "9c2f"):
        control.answers(f"PATCH /v1/checklist-items/{ref}", PHOTOS)
    assert placet("check", "tick", "9c1e", "--json").json == PHOTOS
    assert placet("check", "untick", "9c1e", "9c2f", "--json").json == [PHOTOS, PHOTOS]
    assert [request.body for request in control.requests] == [
        {"is_checked": True},
        {"is_checked": False},
        {"is_checked": False},
    ]


def test_one_of_several_that_is_refused_does_not_stop_the_others(placet: Placet, control: FakeControl):
    control.answers("PATCH /v1/checklist-items/9c1e", PHOTOS)
    control.refuses("PATCH /v1/checklist-items/ffff", 404, "not_found", "no checklist item matches 'ffff'")
    result = placet("check", "tick", "ffff", "9c1e")
    assert (result.status, result.err) == (8, "placet: ffff: no checklist item matches 'ffff'\n")
    assert result.out == "[x] 9c1e  Photos  checked by agent on phone, yesterday\n"
    json = placet("check", "tick", "ffff", "9c1e", "--json").json
    assert json[0] == PHOTOS
    assert (json[1]["ref"], json[1]["error"]["code"]) == ("ffff", "not_found")
    assert placet("check", "tick", "ffff", "fffe").status == 4


def test_without_a_daemon_several_are_refused_in_one_line(placet: Placet):
    result = placet("check", "tick", "9c1e", "9c2f")
    assert (result.status, result.err.count("\n")) == (3, 1)


@pytest.mark.parametrize(
    ("words", "line", "body"),
    [
        (["edit", "9c1e", "Two", "photos"], "PATCH /v1/checklist-items/9c1e", {"title": "Two photos"}),
        (["archive", "9c1e"], "PATCH /v1/checklist-items/9c1e", {"is_archived": True}),
        (["archive", "9c1e", "--undo"], "PATCH /v1/checklist-items/9c1e", {"is_archived": False}),
        (["move", "9c1e", "--before", "9c2f"], "POST /v1/checklist-items/9c1e/move", {"before": "9c2f"}),
        (["move", "9c1e", "--last"], "POST /v1/checklist-items/9c1e/move", {"last": True}),
        (["move", "9c1e", "--list", "Later"], "POST /v1/checklist-items/9c1e/move", {"checklist": "Later"}),
        (["remove", "9c1e"], "DELETE /v1/checklist-items/9c1e", {}),
        (["restore", "9c1e"], "POST /v1/checklist-items/9c1e/restore", {}),
    ],
)
def test_each_verb_asks_for_one_thing(words, line, body, placet: Placet, control: FakeControl):
    control.answers(line, PHOTOS)
    result = placet("check", *words)
    assert (result.status, control.requests[-1].line, control.requests[-1].body) == (0, line, body)
    assert result.out.startswith("[x] 9c1e  Photos")


@pytest.mark.parametrize(
    ("words", "line", "body"),
    [
        (["new-list", TASK, "To", "do"], f"POST /v1/tasks/{TASK}/checklists", {"title": "To do"}),
        (["rename-list", "9999", "X"], "PATCH /v1/checklists/9999", {"title": "X"}),
        (["move-list", "9999", "--first"], "POST /v1/checklists/9999/move", {"first": True}),
        (["remove-list", "9999"], "DELETE /v1/checklists/9999", {}),
        (["restore-list", "9999"], "POST /v1/checklists/9999/restore", {}),
    ],
)
def test_a_whole_checklist_has_verbs_of_its_own(words, line, body, placet: Placet, control: FakeControl):
    control.answers(line, TODOS)
    assert placet("check", *words).out.endswith(" checklist 9999  Todos\n")
    assert (control.requests[-1].line, control.requests[-1].body) == (line, body)
    assert placet("check", *words, "--plain").out == f"{'99' * 16}\tTodos\t2\n"


@pytest.mark.parametrize("where", [[], ["--first", "--last"], ["--before", "a", "--after", "b"]])
def test_a_move_needs_one_place(where: list[str], placet: Placet):
    result = placet("check", "move", "9c1e", *where)
    assert (result.status, "--before, --after, --first, --last" in result.err) == (2, True)


def test_an_empty_list_says_what_to_do(placet: Placet, control: FakeControl):
    control.answers(LISTS, [])
    assert "placet check add" in placet("check", "list", TASK).err
    assert placet("check", "list", TASK, "--removed").err == "Nothing removed.\n"
