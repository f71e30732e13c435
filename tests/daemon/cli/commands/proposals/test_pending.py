"""What `placet pending` shows, and what decisions ask of the daemon and tell of the answer.

Never checks how the daemon decides: answers are scripted.
"""

from typing import Any

import pytest

from tests.daemon.cli import examples
from tests.daemon.cli.examples import ITEM, SET, TASK
from tests.daemon.cli.fake_control import FakeControl
from tests.support.commands import Placet

SHOW = f"GET /v1/tasks/{TASK}"
DECIDE = "POST /v1/decisions"


def _body(control: FakeControl, line: str) -> Any:
    return control.asked(line)[-1].body


def test_pending_shows_before_and_after_and_whose_words_they_are(placet: Placet, control: FakeControl):
    added = examples.pending(
        item_id="b2" * 16,
        tool="add_checklist_item",
        summary='Add: "Design mockup"',
        current=None,
        rationale=None,
        disputed=True,
        proposed={"title": "Design mockup"},
    )
    other = examples.pending(
        item_id="c3" * 16, task_id=examples.OTHER, task_title="Other", status="deferred", expires_at=None
    )
    control.answers("GET /v1/pending", [examples.pending(), other, added])
    control.answers(SHOW, examples.task())
    result = placet("pending")
    assert result.out == (
        "Renew the passport\n"
        "  a81c  Set estimate to 120 minutes\n"
        "        45 min → 2 h\n"
        "        the agent says: “The note says two hours.”\n"
        '  b2b2  Add: "Design mockup"  disputed: your devices decided differently\n'
        "        set 51e7aa00 · proposed 1 h ago · expires in 6 days\n"
        "\n"
        "Other\n"
        "  c3c3  Set estimate to 120 minutes  deferred\n"
        "        45 min → 2 h\n"
        "        the agent says: “The note says two hours.”\n"
        "        set 51e7aa00 · proposed 1 h ago\n"
    )
    assert result.err == "Decide: placet review, placet confirm a81c, or placet reject a81c --reason WHY\n"


def test_pending_names_the_device_of_a_proposal_that_is_not_the_agents_home(
    placet: Placet, control: FakeControl
):
    control.answers("GET /v1/pending", [examples.pending(proposed_on="pho\x1bne")])
    result = placet("pending")
    assert "proposed on pho" in result.out
    assert "which is not the agent's home" in result.out
    assert "\x1b" not in result.out


def test_pending_names_the_set_with_the_most_that_is_pending(placet: Placet, control: FakeControl):
    other = examples.pending(item_id="b2" * 16)
    put_off = [
        examples.pending(item_id=f"c{number}" * 16, set_id="99" * 16, status="deferred")
        for number in range(3)
    ]
    control.answers("GET /v1/pending", [examples.pending(), other, *put_off])
    assert placet("pending").err.endswith("\nA whole set: placet confirm --set 51e7aa00\n")


def test_pending_of_a_removed_task_is_still_shown(placet: Placet, control: FakeControl):
    control.answers("GET /v1/pending", [examples.pending()])
    result = placet("pending")
    assert result.status == 0
    assert result.out.startswith(TASK)


def test_pending_takes_a_task_and_can_be_empty(placet: Placet, control: FakeControl):
    control.answers("GET /v1/pending", [])
    result = placet("pending", "the", "passport")
    assert (result.status, result.out, result.err) == (0, "", "Nothing waits for you.\n")
    assert control.requests[-1].target == "/v1/pending?task=the%20passport"


def test_pending_plain_has_stable_columns(placet: Placet, control: FakeControl):
    control.answers("GET /v1/pending", [examples.pending()])
    row = placet("pending", "--plain").out.rstrip("\n").split("\t")
    assert row == [
        ITEM,
        SET,
        TASK,
        "update_task_estimate",
        "pending",
        "false",
        "Set estimate to 120 minutes",
        "45",
        "120",
        "2026-03-10T13:00:00Z",
        "false",
    ]


@pytest.mark.parametrize(
    ("words", "sent"),
    [
        (["confirm", "a81c", "b2"], {"verdict": "confirmed", "items": ["a81c", "b2"]}),
        (["confirm", "--set", "51e7"], {"verdict": "confirmed", "set": "51e7"}),
        (
            ["confirm", "a", "--force", "--again"],
            {"verdict": "confirmed", "items": ["a"], "force": True, "again": True},
        ),
        (
            ["confirm", "a", "--edit", '{"minutes": 90}'],
            {"verdict": "confirmed", "items": ["a"], "edit": {"minutes": 90}},
        ),
        (
            ["confirm", "a", "--option", "later"],
            {"verdict": "confirmed", "items": ["a"], "option": "later"},
        ),
        (["reject", "a", "--reason", "no"], {"verdict": "rejected", "items": ["a"], "reason": "no"}),
        (["reject", "--set", "s"], {"verdict": "rejected", "set": "s"}),
        (["defer", "a"], {"verdict": "deferred", "items": ["a"]}),
        (["undo", "a"], {"verdict": "undone", "items": ["a"]}),
        (["reopen", "a"], {"verdict": "reopened", "items": ["a"]}),
    ],
)
def test_a_decision_is_sent_as_it_was_given(words, sent, placet: Placet, control: FakeControl):
    control.answers(DECIDE, [examples.verdict("applied", message="Set estimate to 120 minutes")])
    result = placet(*words)
    assert (result.status, result.out) == (0, "✓ a81c  Set estimate to 120 minutes\n")
    assert _body(control, DECIDE) == sent | {"via": "cli"}


@pytest.mark.parametrize(
    ("results", "status"),
    [
        (["applied"], 0),
        (["already", "applied"], 0),
        (["stale"], 6),
        (["stale", "conflict", "obsolete", "expired"], 6),
        (["applied", "stale"], 8),
        (["already", "failed"], 8),
        (["applied", "not_found"], 8),
        (["not_found", "not_found"], 4),
        (["failed"], 1),
        (["stale", "failed"], 1),
        (["a result of a newer daemon"], 1),
    ],
)
def test_the_exit_status_says_what_came_of_all_items(results, status, placet: Placet, control: FakeControl):
    control.answers(
        DECIDE, [examples.verdict(result, item_id=f"{moment:032x}") for moment, result in enumerate(results)]
    )
    assert placet("confirm", "x", "--json").status == status


def test_a_stale_proposal_says_how_to_go_on(placet: Placet, control: FakeControl):
    control.answers(DECIDE, [examples.verdict("stale", message="the estimate is 60 now", can_force=True)])
    result = placet("confirm", "x")
    assert result.out == "✗ a81c  stale     the estimate is 60 now\n"
    assert "--force" in result.err


def test_a_decision_is_answered_in_the_words_of_what_was_decided(placet: Placet, control: FakeControl):
    control.answers(DECIDE, [examples.verdict("applied", status="rejected", message="rejected")])
    assert placet("reject", "x").out == "✓ a81c  rejected\n"


def test_a_reason_that_comes_too_late_is_not_lost_in_silence(placet: Placet, control: FakeControl):
    control.answers(DECIDE, [examples.verdict("already", message="it is rejected already")])
    assert "reopen it" in placet("reject", "x", "--reason", "too early").err
    assert placet("reject", "x").err == ""


def test_a_proposal_that_is_not_there_is_told_apart_from_what_an_id_is(placet: Placet, control: FakeControl):
    control.answers(DECIDE, [examples.verdict("not_found", message="an id is up to 32 characters")])
    assert placet("confirm", "zz").out == "✗ a81c  not found  an id is up to 32 characters\n"


# The second has digits of ids alone.
@pytest.mark.parametrize("typed", ["call Ana", "facade"])
def test_words_that_name_no_proposal_are_shown_as_they_were_typed(
    placet: Placet, control: FakeControl, typed: str
):
    words = examples.verdict("not_found", item_id=typed, message="there is no such proposal")
    control.answers(DECIDE, [words])
    assert placet("undo", typed).out == f"✗ {typed}  not found  there is no such proposal\n"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["sync", "--wait", "abc"], "'abc' is not a valid number of seconds"),
        (["import", "foo", "x"], "Invalid value for 'FORMAT': 'foo' is not one of 'auto',"),
    ],
)
def test_a_value_that_cannot_be_is_told_in_words_of_people(words: list[str], text: str, placet: Placet):
    result = placet(*words)
    assert (result.status, text in result.err) == (2, True), result.err


def test_one_of_each_is_not_told_as_several(placet: Placet, control: FakeControl):
    control.answers("GET /v1/status", examples.STATUS | {"entities": 1, "commits": 1})
    assert "  holds      1 entity in 1 commit\n" in placet("status").out


def test_an_ambiguous_reference_lists_what_it_could_mean(placet: Placet, control: FakeControl):
    candidates = [
        {"id": TASK, "title": "Renew the passport"},
        {"id": examples.OTHER, "title": "Passport photos"},
    ]
    control.refuses(
        "GET /v1/tasks/pass", 409, "ambiguous", "'pass' could mean 2", "say more", candidates=candidates
    )
    result = placet("show", "pass")
    assert result.status == 2
    assert (
        result.err
        == "placet: 'pass' could mean 2; 3f2a 'Renew the passport', 77ab 'Passport photos'; say more\n"
    )
    assert placet("show", "pass", "--json").json["error"]["candidates"] == candidates


def test_a_stale_or_empty_value_is_told_before_it_is_confirmed(placet: Placet, control: FakeControl):
    item = examples.pending(
        stale=True, current=None, task_title="T", tool="update_task_due_date", proposed="2026-05-01"
    )
    control.answers("GET /v1/pending", [item])
    assert placet("pending").out.splitlines()[1:3] == [
        "  a81c  Set estimate to 120 minutes  stale: it has changed since",
        "        nothing → Fri 1 May 2026",
    ]


def test_several_values_that_changed_since_are_compared_one_by_one(placet: Placet, control: FakeControl):
    fields = examples.verdict(
        "stale",
        status="pending",
        message="several of its values changed since",
        base={"title": "A", "is_checked": False},
        current={"title": "B", "is_checked": True},
        proposed={"title": "C", "is_checked": False},
    )
    control.answers(DECIDE, [fields])
    assert placet("confirm", "x").out == (
        "✗ a81c  stale     several of its values changed since\n"
        "                  when it was proposed  title: A, checked: no\n"
        "                  now                   title: B, checked: yes\n"
        "                  proposed              title: C, checked: no\n"
    )


def test_only_what_is_stale_is_offered_to_be_forced(placet: Placet, control: FakeControl):
    control.answers("POST /v1/decisions", [examples.verdict("conflict")])
    result = placet("confirm", "x")
    assert (result.status, result.err) == (6, "")


def test_what_can_be_forced_is_offered_with_the_flag(placet: Placet, control: FakeControl):
    control.answers("POST /v1/decisions", [examples.verdict("failed", can_force=True)])
    assert "all the same: --force" in placet("confirm", "x").err


def test_only_one_agent(placet: Placet, control: FakeControl):
    control.answers("GET /v1/pending", [examples.pending()])
    assert placet("pending", "--agent", "Claude Code").status == 0
    assert control.asked("GET /v1/pending")[0].target == "/v1/pending?agent=Claude%20Code"


def test_pending_counts_what_is_held_back_and_shows_it_on_demand(placet: Placet, control: FakeControl):
    """What an agent proposes beyond its budget of a day, a person's list lacks, and a script's has."""
    behind = [
        examples.pending(item_id=f"b{number}" * 16, held_back=True, summary=f"Later {number}")
        for number in range(2)
    ]
    control.answers("GET /v1/pending", [examples.pending(agent_name="Laura"), *behind])
    result = placet("pending")
    assert "b0b0" not in result.out
    assert "        Laura · set 51e7aa00 · proposed 1 h ago · expires in 6 days\n" in result.out
    assert result.err.endswith("\n2 more wait behind these: placet pending --all\n")
    whole = placet("pending", "--all")
    assert "b0b0" in whole.out
    assert "behind" not in whole.err
    assert placet("pending", "--plain").out.count("\n") == 3
