"""What of a request is the same byte for byte, so that servers keep it, how long it is, and its languages.

Never asks a server.
"""

import json
import re
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.agents.models.openai.prompt import chat_messages
from daemon.agents.models.openai.request_forms import RequestForm, form_fields, tools_as_text
from daemon.agents.models.openai.system_message import calendar_text
from daemon.agents.models.openai.tool_schemas import may_repeat, offered_tools
from daemon.agents.tools.model_interface import (
    ChecklistItemView,
    DecisionView,
    EntryView,
    LabelView,
    RunContext,
    TaskView,
    ToolCall,
    ToolExchange,
)
from tests.daemon.agents.models.openai.connected_model import CONTEXT

CHARS_MAX = 4_960
"""The characters of the request for a small task: 1 500 tokens with Qwen2.5's own tokenizer and template."""
CONSTANT_SHARE_MIN = 0.6

NOWS = st.integers(1_577_836_800, 2_840_140_800).map(lambda second: datetime.fromtimestamp(second, UTC))
WORDS = st.text(max_size=40)


@st.composite
def contexts(draw: st.DrawFn) -> RunContext:
    """Draw a task with notes, of any day and any words."""
    now = draw(NOWS)
    items = tuple(
        ChecklistItemView(f"{number:032x}", draw(WORDS), draw(st.booleans()), False, "user", None)
        for number in range(draw(st.integers(0, 3)))
    )
    notes = tuple(
        EntryView(f"{number:032x}", draw(WORDS), now, "user") for number in range(draw(st.integers(1, 3)))
    )
    labels = tuple(LabelView(f"{number:032x}", draw(WORDS)) for number in range(draw(st.integers(0, 2))))
    language = draw(st.sampled_from([None, "de", "en"]))
    task = TaskView("t", draw(WORDS), "OPEN", "P2", draw(st.none() | st.just(60)), None, language, items)
    return replace(
        CONTEXT,
        run_key=draw(WORDS),
        now=now,
        task=task,
        new_entries=notes,
        labels=labels,
        is_first_wake=draw(st.booleans()),
        writing_language=draw(st.sampled_from(["", "de", "fr"])),
    )


def request_text(context: RunContext, tag: str, form: RequestForm = "tools") -> str:
    """Return what a model reads of a request, in the order in which servers put it together."""
    offered = offered_tools(context)
    how = form_fields(form, context.required_tool, offered, with_evidence=may_repeat(context))
    words = tools_as_text(form, offered, with_evidence=may_repeat(context))
    messages = chat_messages(
        context,
        tag=tag,
        budget_tokens=60_000,
        by_tools=form == "tools",
        offered=offered,
        tools_text=words,
    )
    tools = json.dumps(how.get("tools", []), ensure_ascii=False)
    system, *rest = (str(message["content"]) for message in messages)
    return "\n".join([system, tools, *rest])


def shared_beginning(first: str, second: str) -> str:
    length = next(
        (index for index, pair in enumerate(zip(first, second, strict=False)) if pair[0] != pair[1]),
        min(len(first), len(second)),
    )
    return first[:length]


# -- what is constant ---------------------------------------------------------------------------------


@given(contexts(), contexts())
def test_two_tasks_on_two_days_begin_with_the_same_rules_and_tools(first: RunContext, second: RunContext):
    same = shared_beginning(request_text(first, "journal-1"), request_text(second, "journal-2"))
    # Up to here nothing depends on the task: the rules, the example, and the tools that are always offered.
    assert '"name": "record_observations"' in same
    # With the same tools, it is all up to the day.
    if offered_tools(first) == offered_tools(second):
        assert "Today is " in same


@given(contexts())
def test_two_runs_of_one_task_on_one_day_differ_from_the_tag_on(context: RunContext):
    first, second = request_text(context, "journal-1"), request_text(context, "journal-2")
    assert shared_beginning(first, second).endswith(f"{calendar_text(context.now.date())}\n<journal-")


@given(contexts())
def test_a_later_turn_repeats_what_the_first_one_sent(context: RunContext):
    exchange = ToolExchange(ToolCall("update_task_estimate", {"minutes": 90}, "a"), "Queued.", 1)
    later = replace(context, tool_exchanges=(exchange,))
    asked_for = replace(later, instruction="Report now.", required_tool="update_report")
    first = request_text(context, "journal-1")
    for turn in (later, asked_for):
        assert request_text(turn, "journal-1").startswith(first)


@given(contexts(), contexts())
def test_an_answer_by_schema_begins_with_the_same_words_too(first: RunContext, second: RunContext):
    same_tools = replace(
        second,
        task=first.task,
        labels=first.labels,
        is_first_wake=first.is_first_wake,
        writing_language=first.writing_language,
    )
    texts = [request_text(context, "journal", "json_object") for context in (first, same_tools)]
    assert "Today is " in shared_beginning(*texts)
    forced = replace(first, instruction="Report now.", required_tool="update_report")
    assert shared_beginning(texts[0], request_text(forced, "journal", "json_object")).startswith(texts[0])


# -- how long it is -----------------------------------------------------------------------------------


def test_the_request_for_the_smallest_task_is_short_and_most_of_it_is_constant():
    small = replace(CONTEXT, writing_language="de")
    text = request_text(small, "journal-01234567")
    other = replace(small, now=datetime(2031, 7, 1, tzinfo=UTC), task=replace(CONTEXT.task, title="Another"))
    constant = shared_beginning(text, request_text(other, "journal-fedcba98"))
    assert len(text) <= CHARS_MAX
    assert len(constant) / len(text) >= CONSTANT_SHARE_MIN


def test_evidence_is_offered_once_there_is_something_to_repeat():
    confirmed = DecisionView("set_task_title", {"title": "x"}, "confirmed", "")
    again = replace(CONTEXT, decisions=(confirmed,))
    assert "evidenceIds" in request_text(again, "journal").partition("[{")[2]
    tools = json.dumps(form_fields("tools", "", offered_tools(CONTEXT), with_evidence=may_repeat(CONTEXT)))
    assert "evidenceIds" not in tools


# -- days and languages -------------------------------------------------------------------------------


@given(st.dates(date(2020, 1, 1), date(2060, 1, 1)))
def test_the_next_fourteen_days_stand_with_their_weekdays(today: date):
    text = calendar_text(today)
    assert text.startswith(f"Today is {today:%A} {today.isoformat()}.")
    assert len(re.findall(r" [A-Z][a-z][a-z] \d{1,2}(?= |;|\.)", text)) == 14
    for ahead in range(1, 15):
        day = today + timedelta(ahead)
        of_month = text.partition(f"{day:%Y-%m}: ")[2].partition(";")[0]
        assert f" {day:%a} {day.day} " in f" {of_month.rstrip('.')} "


def test_the_end_of_a_month_is_written_with_the_month_of_each_day():
    assert calendar_text(date(2026, 3, 23)) == (
        "Today is Monday 2026-03-23. Next days of 2026-03: Tue 24 Wed 25 Thu 26 Fri 27 Sat 28 Sun 29"
        " Mon 30 Tue 31; of 2026-04: Wed 1 Thu 2 Fri 3 Sat 4 Sun 5 Mon 6."
    )


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("de", "in German."),
        ("pt-BR", "in Portuguese."),
        ("", "in the language of newNotes."),
        # A code that no list has is not repeated: another device may have written anything there.
        ("xx-IGNORE-RULES", "in the language of newNotes."),
    ],
)
def test_the_last_line_names_the_language_to_write_in(code: str, words: str):
    text = request_text(replace(CONTEXT, writing_language=code), "journal")
    assert f"Write every word {words}" in text.splitlines()[-1]
