"""What the commands of agents ask of the daemon, and what they tell of the answer.

Never runs an agent.
"""

import re

import pytest

from tests.daemon.cli import examples
from tests.daemon.cli.fake_control import FakeControl
from tests.support.commands import Placet

AGENT = examples.AGENT_JSON
PATH = "/v1/agents/c0ff"


def sent(control: FakeControl, route: str) -> object:
    return control.asked(route)[-1].body


@pytest.mark.parametrize(
    ("words", "body"),
    [
        (["--mode", "hybrid"], {"mode": "hybrid"}),
        (["--model", "openai"], {"model": "openai"}),
        (["--mode", "interactive", "--model", "rules"], {"mode": "interactive", "model": "rules"}),
    ],
)
def test_an_agent_is_made_and_changed_with_mode_and_model(words, body, placet: Placet, control: FakeControl):
    control.answers("POST /v1/agents", AGENT, status=201)
    control.answers(f"PATCH {PATH}", AGENT)
    assert placet("agent", "create", "the", "passport", *words).status == 0
    assert sent(control, "POST /v1/agents") == {"task": "the passport"} | body
    assert placet("agent", "edit", "c0ff", *words).out == "✓ Changed agent c0ff  Renew the passport\n"
    assert sent(control, f"PATCH {PATH}") == body


def test_a_mode_that_is_none_and_a_change_of_nothing_are_usage_errors(placet: Placet, control: FakeControl):
    assert placet("agent", "create", "x", "--mode", "eager").status == 2
    assert placet("agent", "edit", "c0ff").status == 2
    assert control.requests == []


@pytest.mark.parametrize(
    ("words", "body", "sentence"),
    [
        ([], {}, "Woke agent"),
        (["--wait", "3"], {"wait": 3.0}, "Woke agent"),
        (["--all-notes"], {"all_notes": True}, "Woke agent"),
        (["--again"], {"all_notes": True}, "Woke agent"),
        (["--cancel"], {"cancel": True}, "Cancelled the timers of agent"),
    ],
)
def test_an_agent_wakes_now_or_later_or_no_more(words, body, sentence, placet: Placet, control: FakeControl):
    control.answers(f"POST {PATH}/wake", AGENT)
    assert placet("agent", "wake", "c0ff", *words).out == f"✓ {sentence} c0ff  Renew the passport\n"
    assert sent(control, f"POST {PATH}/wake") == body


def test_a_timer_is_answered_with_the_moments_that_the_words_were_read_as(
    placet: Placet, control: FakeControl
):
    control.answers(f"POST {PATH}/wake", AGENT | {"timers": ["2026-03-04T14:00:00Z"]})
    first, second = placet("agent", "wake", "c0ff", "--at", "in 2 hours").out.splitlines()
    assert first == "✓ Set a timer for agent c0ff  Renew the passport"
    assert re.fullmatch(r"  timers +Wed 4 Mar 2026, \d\d:00  in 2 h", second)
    assert sent(control, f"POST {PATH}/wake") == {"at": "in 2 hours"}


@pytest.mark.parametrize(
    ("extra", "second"),
    [
        ({"pending_items": 2}, "  2 proposals wait\n"),
        ({"wishes": ["break this down"], "at_home": True}, ""),
        (
            {"wishes": ["break this down"], "at_home": False, "home_device_name": "desk"},
            "  It reads them on desk, once that device is there.\n",
        ),
    ],
)
def test_words_are_put_to_an_agent(extra, second, placet: Placet, control: FakeControl):
    control.answers(f"POST {PATH}/ask", AGENT | extra)
    out = placet("agent", "ask", "c0ff", "break", "this", "down", "--wait", "3").out
    assert out == f"✓ Asked agent c0ff  Renew the passport\n{second}"
    assert sent(control, f"POST {PATH}/ask") == {"text": "break this down", "wait": 3.0}


def test_the_page_of_an_agent_shows_words_that_no_run_has_read(placet: Placet, control: FakeControl):
    control.answers(f"GET {PATH}", AGENT | {"wishes": ["break this down"]})
    assert "\nAsked, and not read yet\n  “break this down”\n" in placet("agent", "show", "c0ff").out


def test_now_and_later_exclude_each_other(placet: Placet, control: FakeControl):
    assert placet("agent", "wake", "c0ff", "--at", "9:00", "--cancel").status == 2
    assert placet("agent", "wake", "c0ff", "--at", "9:00", "--wait").status == 2
    assert control.requests == []


@pytest.mark.parametrize(
    ("words", "body", "sentence"),
    [
        (["pause", "c0ff"], {}, "Paused"),
        (["resume", "c0ff"], {}, "Resumed"),
        (["move", "c0ff"], {}, "Moved"),
        (["move", "c0ff", "--to", "my phone"], {"device": "my phone"}, "Moved"),
        (["destroy", "c0ff"], {}, "Destroyed"),
    ],
)
def test_an_agents_life_is_changed_by_one_word(words, body, sentence, placet: Placet, control: FakeControl):
    control.answers(f"POST {PATH}/{words[0]}", AGENT)
    assert placet("agent", *words).out == f"✓ {sentence} agent c0ff  Renew the passport\n"
    assert sent(control, f"POST {PATH}/{words[0]}") == body


def test_a_run_that_was_cut_short_is_shown_as_such(placet: Placet, control: FakeControl):
    (run,) = AGENT["runs"]
    control.answers(f"GET {PATH}", AGENT | {"runs": [run | {"status": "completed"}]})
    assert "cut short  a note was added: the model did not answer" in placet("agent", "show", "c0ff").out


def test_what_an_agent_may_do_is_shown(placet: Placet, control: FakeControl):
    control.answers(f"GET {PATH}", AGENT)
    assert placet("agent", "policy", "c0ff").out == (
        "Renew the passport  c0ff\n"
        "  set_task_title               deferred\n"
        "  update_report                immediate\n"
        "  works on                     tasks without a category\n"
    )
    assert (
        placet("agent", "policy", "c0ff", "--plain").out
        == "set_task_title\tdeferred\nupdate_report\timmediate\n"
    )


@pytest.mark.parametrize(
    ("words", "body"),
    [
        (["set_task_title", "Denied"], {"tools": {"set_task_title": "denied"}}),
        (["--allow", "Home", "--allow", "Work"], {"allow": ["Home", "Work"]}),
        (["--disallow", "Home"], {"disallow": ["Home"]}),
    ],
)
def test_what_an_agent_may_do_is_tightened(words, body, placet: Placet, control: FakeControl):
    control.answers(f"PATCH {PATH}/policy", AGENT)
    assert placet("agent", "policy", "c0ff", *words).status == 0
    assert sent(control, f"PATCH {PATH}/policy") == body


@pytest.mark.parametrize("words", [["set_task_title"], ["set_task_title", "immediate"]])
def test_a_tool_without_a_policy_is_no_part_of_an_agents_name(words, placet: Placet, control: FakeControl):
    result = placet("agent", "policy", "c0ff", *words)
    assert (result.status, control.requests) == (2, [])
    assert "deferred, denied or default" in result.err


def test_a_page_says_why_an_agent_sleeps_and_when_it_wakes(placet: Placet, control: FakeControl):
    asleep = AGENT | {
        "lifecycle": "dormant",
        "lifecycle_reason": "it failed 5 times in a row: no answer",
        "timers": ["2026-03-04T14:00:00Z"],
        "at_home": False,
        "home_device_name": "phone",
    }
    control.answers(f"GET {PATH}", asleep)
    page = placet("agent", "show", "c0ff").out
    assert "  lifecycle reason       it failed 5 times in a row: no answer\n" in page
    assert "  home device            phone\n" in page
    assert "  timers                 in 2 h\n" in page


def test_agents_are_created_listed_shown_and_woken(placet: Placet, control: FakeControl):
    agent = examples.AGENT_JSON
    control.answers("POST /v1/agents", agent, status=201)
    control.answers("GET /v1/agents", [agent])
    control.answers("GET /v1/external-agents", [])
    control.answers("GET /v1/agents/c0ff", agent)
    control.answers("POST /v1/agents/c0ff/wake", agent)
    assert placet("agent", "create", "the", "passport").out == "✓ Created agent c0ff  Renew the passport\n"
    assert control.asked("POST /v1/agents")[-1].body == {"task": "the passport"}
    assert placet("agent", "list").out.splitlines()[1].split() == [
        "c0ff",
        "active",
        "autonomous",
        "here",
        "Renew",
        "the",
        "passport",
    ]
    out = placet("agent", "show", "c0ff").out
    assert "  next wake at           none: nothing new\n" in out
    assert f"  task                   {examples.TASK[:12]}\n" in out
    assert "  30 min ago   failed  a note was added: the model did not answer\n" in out
    assert placet("agent", "wake", "c0ff", "--wait", "3").status == 0
    assert control.asked("POST /v1/agents/c0ff/wake")[-1].body == {"wait": 3.0}
