"""The scenarios themselves: enough of them, of each kind in each language, and each can be played.

Never asks a remote model.
"""

from collections import Counter
from typing import get_args

import pytest

from daemon.agents.tools.model_interface import TokenUsage
from daemon.language import LANGUAGES
from tests.judge.play import play
from tests.judge.scenario import Kind, Scenario, load_scenarios, spread
from tests.judge.score import Verdict
from tests.support.scripted_runs import Script, reports, says

SCENARIOS = load_scenarios()


def test_every_kind_is_there_in_every_language():
    pairs = Counter((scenario.kind, scenario.language) for scenario in SCENARIOS)
    assert len(SCENARIOS) >= 40
    assert set(pairs) == {(kind, language) for kind in get_args(Kind) for language in LANGUAGES}


def test_a_choice_of_eight_has_every_kind_and_every_language_and_is_always_the_same():
    chosen = spread(SCENARIOS, 8)
    assert {scenario.kind for scenario in chosen} == set(get_args(Kind))
    assert {scenario.language for scenario in chosen} == set(LANGUAGES)
    assert spread(SCENARIOS, 8) == chosen


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
async def test_a_scenario_can_be_played_to_its_end(scenario: Scenario):
    """The past stands (an earlier call that is refused would raise), and only what is new is new."""
    model = Script([says(reports(), usage=TokenUsage(100, 10))])
    outcome = await play(scenario, model, 60)
    (context,) = model.seen
    assert (outcome.ended, outcome.usage, outcome.turns) == ("", TokenUsage(100, 10), 1)
    assert outcome.judgement.missing == scenario.wanted
    assert context.is_first_wake == scenario.is_first_wake
    assert context.new_entries[-1].text == min(scenario.notes, key=lambda note: note.ago_h).text
    assert not any(note.text in str(context.new_entries) for note in scenario.seen)


async def test_proposals_are_judged_as_they_stand_in_the_journal():
    (scenario,) = [scenario for scenario in SCENARIOS if scenario.name == "en-first-server"]
    due = ("update_task_due_date", {"dueDate": "2026-03-31"})
    priority = ("update_task_priority", {"priority": "P3"})
    outcome = await play(scenario, Script([says(due, priority, reports("The host goes away."))]), 60)
    assert outcome.judgement.verdicts == (
        ("due 2026-03-31", Verdict.RIGHT),
        ("priority P3", Verdict.WRONG),
    )
    assert "The host goes away." in outcome.report
