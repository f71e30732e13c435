"""What `placet agent log` asks of the daemon, and what it tells of the answer.

Never starts a daemon: answers are scripted.
"""

from typing import Any

import pytest

from daemon.agents.person.activity import AgentMessage
from tests.daemon.cli import examples
from tests.daemon.cli.fake_control import FakeControl
from tests.support.commands import Placet

LOG = "GET /v1/agents/c0ff/log"
ENDED = {"model": "rules", "turns": 2, "calls": 3, "proposals": 1, "observations": 1, "reported": True}


def message(kind: str, text: str = "", **more: Any) -> dict[str, Any]:
    base = {"id": f"{len(text):032x}", "at": "2026-03-04T11:58:00Z", "thread_id": "9a" * 32, "kind": kind}
    return base | {"text": text, "cut": False, "trigger": None, "tool": None, "item_id": None} | more


MESSAGES = [
    message("system", trigger="2 changes"),
    message("thought", "The note says two hours."),
    message("action", '{"minutes":120}', tool="update_task_estimate"),
    message("tool_result", "Proposal queued for user review.", tool="update_task_estimate", outcome="queued"),
    message("observation", "Slow on Mondays."),
    message("summary", ended=ENDED),
    message("action", tool="update_task_estimate", item_id=examples.ITEM, args={"minutes": 90}, subject=None),
    message("tool_result", tool="update_task_estimate", item_id=examples.ITEM),
    message("user", trigger="asked by a person"),
    message("system", "the server is busy", error=True),
]


def test_what_an_agent_did_is_told_run_by_run(placet: Placet, control: FakeControl):
    control.answers(LOG, MESSAGES)
    assert placet("agent", "log", "c0ff").out == (
        "Woken 2 min ago: 2 changes\n"
        "  Proposed 2 h\n"
        "  said       “The note says two hours.”\n"
        '  called     update_task_estimate {"minutes":120}\n'
        "  answered   Proposal queued for user review.\n"
        "  noted      “Slow on Mondays.”\n"
        "  ended      1 proposal · 3 calls · with a report · rules\n"
        "  confirmed  Set estimate to 90 minutes\n"
        "  done       2 min ago\n"
        "\n"
        "Woken 2 min ago: asked by a person\n"
        "  Broke off: the server is busy\n"
        "  failed     the server is busy\n"
    )


def test_words_that_a_person_put_to_the_agent_stand_by_themselves(placet: Placet, control: FakeControl):
    control.answers(LOG, [*MESSAGES[:2], message("user", "Break this down.")])
    assert placet("agent", "log", "c0ff").out == (
        "Woken 2 min ago: 2 changes\n"
        "  said       “The note says two hours.”\n"
        "\nAsked 2 min ago: “Break this down.”\n"
    )


def test_what_was_thrown_away_is_not_told_as_if_it_waited(placet: Placet, control: FakeControl):
    queued = message("tool_result", "Proposal queued for user review.", tool="x", outcome="dropped")
    control.answers(LOG, [queued])
    assert placet("agent", "log", "c0ff", "--tools").out == (
        "  answered   Proposal queued for user review.\n             thrown away: the run broke off\n"
    )


def test_a_run_that_was_cut_short_says_why(placet: Placet, control: FakeControl):
    control.answers(LOG, [message("summary", ended=ENDED | {"cut_short": "no key"})])
    assert placet("agent", "log", "c0ff").out.endswith("· rules · cut short: no key\n")


def test_a_run_says_how_much_of_its_own_it_was_not_told(placet: Placet, control: FakeControl):
    # What another device wrote there may be anything.
    frequent = ["printer", "jams", "\x1b[2J", "w" * 31, 7, "a b"]
    left_out = {
        "observations_left_out": 40,
        "observations_left_out_days": ["2026-01-05", "2026-03-01"],
        "observations_left_out_words": frequent,
    }
    odd = {"observations_left_out_days": ["\x1b[2J" * 9], "observations_left_out_words": "printer"}
    control.answers(LOG, [message("summary", ended=ENDED | left_out), message("summary", ended=ENDED | odd)])
    out = placet("agent", "log", "c0ff").out
    assert "\x1b" not in out
    assert (
        " ".join(out.split())
        .partition(" rules · ")[2]
        .startswith(
            "at least 40 older observations that it was not given · dated Mon 5 Jan 2026 to Sun 1 Mar 2026"
            " · frequent words in these: “printer”, “jams” "
        )
    )
    assert out.endswith("· rules\n")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('{"title":"x","tldr":"Half \\"done\\".","achieved":["y"]}', '“Half "done".”'),
        ('{"title":"x","tldr":"Half done.","achieved":["y', "“Half done.”"),
        ('{"title":"x","tldr":"Half do', '{"title":"x","tldr":"Half do'),
        ('{"tldr":"\\u12"}', '{"tldr":"\\u12"}'),
    ],
)
def test_of_a_report_its_summary_is_told(placet: Placet, control: FakeControl, text: str, answer: str):
    control.answers(LOG, [message("action", text, tool="update_report")])
    assert placet("agent", "log", "c0ff", "--tools").out == f"  called     update_report {answer}\n"


def test_calls_are_asked_for_and_pages_gone_back(placet: Placet, control: FakeControl):
    control.answers(LOG, MESSAGES[:2])
    result = placet("agent", "log", "c0ff", "--tools", "--limit", "2", "--before", "abc")
    assert control.asked(LOG)[0].target.partition("?")[2] == "tools=true&limit=2&before=abc"
    assert result.err == f"Older messages: placet agent log … --before {MESSAGES[0]['id']}\n"


@pytest.mark.parametrize(
    ("texts", "text"),
    [([], "It has not done anything yet.\n"), (["--before", "abc"], "It did nothing before that.\n")],
)
def test_an_agent_that_did_nothing_has_no_log(
    placet: Placet, control: FakeControl, texts: list[str], text: str
):
    control.answers(LOG, [])
    result = placet("agent", "log", "c0ff", *texts)
    assert (result.out, result.err) == ("", text)


def test_for_scripts_each_message_is_a_line(placet: Placet, control: FakeControl):
    control.answers(LOG, MESSAGES[2:4])
    first, second = placet("agent", "log", "c0ff", "--plain").out.splitlines()
    assert first.split("\t")[3:5] == ["action", "update_task_estimate"]
    assert second.split("\t")[-1] == "Proposal queued for user review."


def test_what_a_model_said_steers_no_terminal_and_fills_no_screen(placet: Placet, control: FakeControl):
    control.answers(LOG, [message("thought", "\x1b[2J" + "word\n" * 500, cut=True)])
    out = placet("agent", "log", "c0ff").out
    assert "\x1b" not in out
    assert len(out.splitlines()) < 20


def test_the_example_has_no_key_that_the_daemon_does_not_send():
    struct_fields = set(AgentMessage.__struct_fields__)
    assert all(set(fields) <= struct_fields for fields in MESSAGES)


def test_an_agents_page_says_how_much_changed_since_its_report(placet: Placet, control: FakeControl):
    agent = examples.AGENT_JSON | {"report": {"tldr": "Half done."}, "report_changes_since": 3}
    control.answers("GET /v1/agents/c0ff", agent)
    out = placet("agent", "show", "c0ff").out
    assert "Report of the agent · 3 changes since\n  Half done.\n" in out
    control.forgets("GET /v1/agents/c0ff")
    control.answers("GET /v1/agents/c0ff", agent | {"report_changes_since": 0})
    assert "Report of the agent\n  Half done.\n" in placet("agent", "show", "c0ff").out
