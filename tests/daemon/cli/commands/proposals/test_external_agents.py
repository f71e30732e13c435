"""Commands on agents of other makers: what they ask of the daemon, and what they say.

Never lets a program in.
"""

import pytest

from tests.daemon.cli import examples
from tests.daemon.cli.fake_control import FakeControl
from tests.support.commands import Placet

AGENT = examples.EXTERNAL_AGENT_JSON
PATH = "/v1/external-agents"


@pytest.mark.parametrize(("words", "body"), [([], {}), (["--scope", "none"], {"scope": "none"})])
def test_an_agent_is_added_and_let_in(words, body, placet: Placet, control: FakeControl):
    control.answers(f"POST {PATH}", AGENT, status=201)
    control.answers(f"POST {PATH}/Claude/admit", AGENT)
    assert placet("agent", "add", "Claude", *words).out == "✓ Added agent c0ff  Claude\n"
    assert control.asked(f"POST {PATH}")[-1].body == {"name": "Claude"} | body
    assert placet("agent", "admit", "Claude", *words).out == "✓ Let in agent c0ff  Claude\n"
    assert control.asked(f"POST {PATH}/Claude/admit")[-1].body == body


def test_limits_are_shown_and_set(placet: Placet, control: FakeControl):
    control.answers(f"GET {PATH}/Claude", AGENT)
    control.answers(f"PATCH {PATH}/Claude", AGENT)
    out = placet("agent", "limits", "Claude").out
    assert "100, 3 today" in out
    assert not control.asked(f"PATCH {PATH}/Claude")
    assert (
        placet("agent", "limits", "Claude", "--proposals", "5", "--bytes", "9", "--scope", "all").status == 0
    )
    sent = control.asked(f"PATCH {PATH}/Claude")[-1].body
    assert sent == {"scope": "all", "daily_limits": {"proposals": 5, "bytes": 9}}
    assert placet("agent", "limits", "Claude", "--asks", "-1").status == 2


def test_the_list_has_both_and_commands_find_those_of_other_makers(placet: Placet, control: FakeControl):
    control.answers("GET /v1/agents", [])
    control.answers(f"GET {PATH}", [AGENT])
    assert "Claude" in placet("agent", "list").out
