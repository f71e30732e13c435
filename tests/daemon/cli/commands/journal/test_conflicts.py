"""Conflicts at the command line: told in words, settled by number.

Never checks how the daemon decides: answers are scripted.
"""

from typing import Any

import pytest

from tests.daemon.cli import examples
from tests.daemon.cli.examples import TASK
from tests.daemon.cli.fake_control import FakeControl
from tests.support.commands import Placet

PATH = "GET /v1/conflicts"


def version(value: Any, device: str, moment: str, words: str = "", by: str = "user") -> dict[str, Any]:
    return {
        "value": value,
        "by": by,
        "device": "de" * 32,
        "device_name": device,
        "at": moment,
        "words": words,
    }


def conflict(**values: Any) -> dict[str, Any]:
    return {
        "entity": TASK,
        "kind": "task",
        "field": "title",
        "name": "title",
        "title": "Renew the passport",
        "task_id": TASK,
        "task_title": "Renew the passport",
        "versions": [
            version("A", "laptop", "2026-03-04T11:00:00Z"),
            version("B", "phone", "2026-03-04T11:30:00Z", by="agent"),
        ],
    } | values


DELETED = conflict(
    field="deleted",
    name="deleted",
    kind="checklist_item",
    entity="9c1e" + "0" * 28,
    title="Photos",
    versions=[
        version(False, "phone", "2026-03-04T11:00:00Z", "keep it"),
        version(True, "laptop", "2026-03-04T11:30:00Z", "remove it"),
    ],
)
LABEL = conflict(
    field="label_ids/" + "0" * 32,
    name="label_ids/at home",
    task_id="77" * 16,
    task_title="Other",
    entity="77" * 16,
    versions=[
        version(True, "phone", "2026-03-04T11:00:00Z", "with it"),
        version(False, "laptop", "", "without it"),
    ],
)


def test_conflicts_are_told_in_words_with_the_command_that_settles_them(placet: Placet, control: FakeControl):
    control.answers(PATH, [conflict(), DELETED, LABEL])
    assert placet("conflicts", COLUMNS="80").out == (
        "Renew the passport\n"
        "two words on title:\n"
        "  1  “A”  you on laptop, 1 h ago · in effect\n"
        "  2  “B”  agent on phone, 30 min ago\n"
        "  placet conflicts keep 3f2a title N\n"
        "checklist item “Photos”, deleted while it was edited:\n"
        "  1  keep it  you on phone, 1 h ago · in effect\n"
        "  2  remove it  you on laptop, 30 min ago\n"
        "  placet conflicts keep 9c1e deleted N\n"
        "\n"
        "Other\n"
        "two words on label at home:\n"
        "  1  with it  you on phone, 1 h ago · in effect\n"
        "  2  without it  you on laptop\n"
        "  placet conflicts keep 7777 'label_ids/at home' N\n"
    )


def test_what_has_no_title_of_its_own_is_named_by_its_kind(placet: Placet, control: FakeControl):
    homes = [
        version("de" * 32, "laptop", "2026-03-04T11:00:00Z", words="laptop"),
        version("f0" * 32, "phone", "2026-03-04T11:30:00Z", words="phone"),
    ]
    field = "home_device_id"
    fields = conflict(
        kind="agent", field=field, name=field, title="", entity="c0ff" + "0" * 28, versions=homes
    )
    control.answers(PATH, [fields])
    lines = placet("conflicts").out.splitlines()
    assert lines[:2] == ["Renew the passport", "agent, two words on home device:"]
    assert lines[2].startswith("  1  laptop  you on laptop, ")


def test_the_plain_form_is_a_line_a_version(placet: Placet, control: FakeControl):
    control.answers(PATH, [conflict()])
    assert placet("conflicts", "--plain").out.splitlines()[1].split("\t") == [
        *(TASK, "title", "2", "B", "agent", "phone", "2026-03-04T11:30:00Z", "task", TASK)
    ]
    assert placet("conflicts", "--json").json == [conflict()]


def test_a_task_is_named_by_part_of_its_title(placet: Placet, control: FakeControl):
    control.answers(PATH, [])
    result = placet("conflicts", "keep", "the", "passport")
    assert (result.status, result.err) == (0, "No conflicts.\n")
    assert control.requests[-1].target == "/v1/conflicts?task=keep%20the%20passport"


def kept_answer(**values: Any) -> dict[str, Any]:
    fields = {key: conflict()[key] for key in ("entity", "kind", "title", "field", "name")}
    return fields | {"kept": version("B", "phone", "2026-03-04T11:30:00Z"), "left": []} | values


def test_keeping_sends_what_was_chosen_and_says_what_that_was(placet: Placet, control: FakeControl):
    control.answers("POST /v1/conflicts/keep", kept_answer())
    assert placet("conflicts", "keep", "3f2a", "title", "2").out == "✓ Kept 3f2a  title: “B”  you on phone\n"
    assert control.requests[-1].body == {"entity": "3f2a", "field": "title", "n": 2}
    plain = placet("conflicts", "keep", "3f2a", "title", "2", "--plain").out
    assert plain == f"{TASK}\ttitle\tB\tuser\tphone\t2026-03-04T11:30:00Z\n"


def test_keeping_shows_what_is_left_to_settle_on_the_same(placet: Placet, control: FakeControl):
    control.answers("POST /v1/conflicts/keep", kept_answer(left=[conflict(field="due", name="due")]))
    drawn = placet("conflicts", "keep", "3f2a", "title", "2").out.splitlines()
    assert drawn[1] == "two words on due:"


@pytest.mark.parametrize("words", [["keep"], ["keep", "3f2a", "title", "two"]])
def test_keeping_needs_a_number(words: list[str], placet: Placet):
    result = placet("conflicts", *words)
    assert (result.status, "number of a version" in result.err) == (2, True)


def test_status_counts_conflicts(placet: Placet, control: FakeControl):
    control.answers("GET /v1/status", examples.STATUS | {"conflicts": 2})
    assert "conflicts  2 to settle: placet conflicts\n" in placet("status").out
