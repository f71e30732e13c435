"""The sentence that says what a commit did to one thing, and who did it."""

from typing import Any

import pytest

from daemon.words.change_sentences import change_sentence, label_sentence


def row(kind: str, field: str, after: Any, before: Any = None, **more: Any) -> Any:
    return {
        "kind": kind,
        "field": field,
        "before": before,
        "after": after,
        "by": "user",
        "title": "Photos",
    } | more


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([row("agent", "task_id", "1"), row("agent", "kind", "task_agent")], "You created an agent"),
        ([row("agent", "task_id", "1", by="agent")], "An agent created an agent"),
        ([row("task", "title", "Call Ana")], "You added this task"),
        ([row("checklist", "title", "To pack", by="system")], "Placet added the checklist “To pack”"),
        ([row("checklist_item", "title", "Form")], "You added the step “Form”"),
        ([row("checklist_item", "is_checked", True, False)], "You ticked the step “Photos”"),
        ([row("checklist_item", "is_checked", False, True)], "You took the tick off the step “Photos”"),
        ([row("checklist_item", "position", "b", "a")], "You moved: checklist item “Photos”"),
        ([row("checklist_item", "title", "New", "Old")], "You changed: checklist item “New”"),
        ([row("entry", "text", "Ana\n called")], "You wrote a note: “Ana called”"),
        ([row("time_record", "task_id", "1"), row("time_record", "started_at", "x")], "You recorded time"),
        ([row("time_record", "ended_at", "x")], "You stopped the time"),
        ([row("link", "from_id", "1", title="A blocks B")], "You linked two tasks: “A blocks B”"),
        ([row("label", "name", "home")], "You added: label “home”"),
        ([row("standing_rule", "name", "send_mail")], "You added: standing rule “send_mail”"),
        ([row("device", "name", "phone", by="system")], "Placet added: device “phone”"),
        ([row("passkey", "deleted", True, title="")], "You removed: passkey"),
        ([row("task", "deleted", False, True)], "You brought back: task “Photos”"),
        ([row("checklist_item", "title", "Form", by="agent", as_proposed=True)], "You added the step “Form”"),
        ([row("made_up", "x", 1, 2, by="toaster")], "Somebody changed: made up “Photos”"),
        # Values of a task say themselves what changed.
        ([row("task", "due", "2026-01-01")], ""),
    ],
)
def test_each_kind_of_change_is_a_sentence(rows: list[Any], words: str):
    assert change_sentence(rows) == words


def test_a_label_that_was_put_on_or_taken_off_is_a_sentence_of_its_own():
    assert label_sentence(row("task", "label_ids/home", True)) == "You added the label “home”"
    assert (
        label_sentence(row("task", "label_ids/home", None, True, by="agent"))
        == "An agent took the label “home” off"
    )
    assert (
        label_sentence(row("task", "watchers_ids/me", True)) == label_sentence(row("task", "due", "x")) == ""
    )
