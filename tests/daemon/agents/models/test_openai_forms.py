"""In which form a server is asked, how that is remembered, and what is asked of it while it is away.

Never waits: the clock is moved by hand.
"""

import json
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.agents.models.interface import (
    AnswerFault,
    BudgetSpent,
    ModelMisconfigured,
    ModelUnavailable,
    Usage,
)
from daemon.agents.models.openai import OpenAI
from daemon.agents.models.openai_around import Around, Unbounded
from daemon.agents.models.openai_endpoint import Endpoint, Mode
from daemon.agents.models.openai_forms import FORMS, Form, asked_in, in_words, lean
from daemon.agents.models.openai_gate import ASKED_MAX_S, PAUSE_FIRST_S, PAUSE_MAX_S, Gate
from daemon.agents.models.openai_prompt import OBSERVE
from daemon.agents.models.openai_retries import Patience
from daemon.agents.tools import TOOLS, UPDATE_REPORT
from tests.daemon.agents.models.fake_openai import (
    FakeOpenAI,
    acts,
    calls,
    cuts,
    knows_only,
    raw,
    refuses,
    says,
    serving_model,
)
from tests.daemon.agents.models.remote import CONTEXT, KEY, REPORT, World

ESTIMATE = ("update_task_estimate", {"minutes": 90})
READY = ("ready", {"ready": True})
REFUSED = refuses(500, message="1 validation error: literal_error")


class Ledger(Unbounded):
    """An account that only writes down, until it is told to refuse."""

    def __init__(self) -> None:
        self.booked: list[Usage] = []
        self.spent = False

    async def require(self) -> None:
        if self.spent:
            raise BudgetSpent("spent")

    async def book(self, usage: Usage) -> None:
        self.booked.append(usage)


STARTED: list[OpenAI] = []


@pytest.fixture(autouse=True)
async def closed() -> AsyncIterator[None]:
    """Close what a test has started."""
    yield
    while STARTED:
        await STARTED.pop().close()


class Device:
    """What outlives the daemon: its memory, its account, its clock."""

    def __init__(self, server: FakeOpenAI, mode: Mode = "auto") -> None:
        self.world, self.memory, self.ledger = World(), Unbounded(), Ledger()
        self._endpoint = Endpoint(server.url, "fake-1", mode, KEY)

    def started(self, tries: int = 1) -> OpenAI:
        """Return the model as a daemon has it after its start."""
        patience = Patience(sleep=self.world.pause, tries=tries)
        STARTED.append(OpenAI(self._endpoint, self.world, patience, Around(self.ledger, self.memory)))
        return STARTED[-1]


def forms(server: FakeOpenAI) -> list[str]:
    """Return in which form each request came, probes included."""
    return [
        "tools" if "tools" in asked.body else asked.body["response_format"]["type"] for asked in server.asked
    ]


# -- the form -----------------------------------------------------------------------------------------


async def test_a_server_that_knows_only_objects_with_a_schema_is_asked_so_and_remembered():
    async with serving_model() as server:
        server.always = knows_only("json_object", acts({"actions": [], "report": REPORT}))
        device = Device(server)
        (made,) = (await device.started().turn(CONTEXT)).calls
        assert (made.name, made.arguments) == (UPDATE_REPORT, REPORT)
        assert forms(server) == ["tools", "json_schema", "json_object", "json_object"]
        assert device.memory.kept == "json_object"
        server.asked.clear()
        await device.started().turn(CONTEXT)
        assert forms(server) == ["json_object"]


async def test_in_the_mode_actions_the_form_is_found_when_the_first_is_refused():
    async with serving_model() as server:
        server.always = knows_only("json_object", acts({"actions": [], "report": REPORT}))
        device = Device(server, "actions")
        assert (await device.started().turn(CONTEXT)).calls
        assert forms(server) == ["json_schema", "json_schema", "json_object", "json_object"]
        assert device.memory.kept == "json_object"


async def test_what_was_remembered_goes_where_the_server_has_changed():
    async with serving_model() as server:
        device = Device(server)
        device.memory.kept = "tools"
        server.always = knows_only("json_schema", acts({"actions": [], "report": REPORT}))
        assert (await device.started().turn(CONTEXT)).calls
        assert device.memory.kept == "json_schema"


async def test_one_request_that_is_refused_does_not_change_the_form():
    async with serving_model(refuses(400), calls(READY)) as server:
        device = Device(server)
        device.memory.kept = "tools"
        with pytest.raises(AnswerFault):
            await device.started().turn(CONTEXT)
        assert forms(server) == ["tools", "tools"]
        assert device.memory.kept == "tools"


async def test_what_the_settings_do_not_allow_is_not_taken_from_memory():
    async with serving_model(acts({"actions": [], "report": REPORT})) as server:
        device = Device(server, "actions")
        device.memory.kept = "tools"
        await device.started().turn(CONTEXT)
        assert forms(server) == ["json_schema"]


@pytest.mark.parametrize("form", FORMS["auto"])
@pytest.mark.parametrize("must_call", ["", UPDATE_REPORT])
def test_what_is_asked_for_has_no_part_on_which_a_servers_grammar_ends(form: Form, must_call: str):
    written = json.dumps(asked_in(form, must_call))
    assert not [part for part in ("$ref", "$defs", "maxLength", "minLength", "\\\\d") if part in written]
    assert REPORT.keys() <= set(re.findall(r"\w+", written))


@pytest.mark.parametrize("form", FORMS["actions"])
def test_by_schema_the_tools_are_named_in_words_but_for_those_that_are_denied(form: Form):
    words = in_words(form, "", ["set_task_title", "add_checklist_item", UPDATE_REPORT])
    assert words.splitlines()[2] == (
        "- set_task_title(title, rationale?): Give the task a title that says better what it is about."
    )
    assert [line.partition("(")[0] for line in words.splitlines()[2:]] == [
        "- set_task_title",
        "- add_checklist_item",
    ]
    assert in_words(form, UPDATE_REPORT) == in_words("tools", "") == ""


async def test_a_model_that_is_bound_by_a_schema_reads_what_it_may_call():
    async with serving_model(acts({"actions": [], "report": REPORT})) as server:
        await Device(server, "actions").started().turn(CONTEXT)
        told = server.asked[0].body["messages"][0]["content"]
    assert all(f"- {name}(" in told for name in TOOLS if name not in {UPDATE_REPORT, OBSERVE})


def test_what_a_schema_refers_to_stands_in_its_place():
    shared = {"Item": {"type": "object", "properties": {"title": {"type": "string", "maxLength": 9}}}}
    schema = {"type": "array", "items": {"$ref": "#/$defs/Item", "description": "One."}, "$defs": shared}
    item = {"type": "object", "properties": {"title": {"type": "string"}}, "description": "One."}
    assert lean(schema) == {"type": "array", "items": item}


# -- what is counted ----------------------------------------------------------------------------------


async def test_every_answer_is_booked_the_probe_and_a_garbled_one_too():
    async with serving_model(calls(READY), raw(b"{")) as server:
        device = Device(server)
        with pytest.raises(AnswerFault):
            await device.started().turn(CONTEXT)
    probe, garbled = device.ledger.booked
    assert probe == Usage(100, 20, 30, 4)
    assert garbled.input > 500
    assert garbled.output > 0


async def test_an_answer_that_was_cut_off_is_booked_with_what_was_asked():
    async with serving_model(cuts(), cuts()) as server:
        device = Device(server, "tools")
        with pytest.raises(ModelUnavailable):
            await device.started(tries=2).turn(CONTEXT)
    assert [one.input > 500 for one in device.ledger.booked] == [True, True]


async def test_refusals_and_servers_out_of_reach_cost_nothing():
    async with serving_model(refuses(503)) as server:
        device = Device(server, "tools")
        model = device.started()
        with pytest.raises(ModelUnavailable):
            await model.turn(CONTEXT)
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        await model.turn(CONTEXT)
    assert device.ledger.booked == []


async def test_what_a_server_counts_beside_both_is_output():
    body = {"choices": [{"message": {"content": "Done."}}]}
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 500}
    async with serving_model(raw(json.dumps(body | {"usage": usage}).encode())) as server:
        device = Device(server, "tools")
        await device.started().turn(CONTEXT)
    assert device.ledger.booked == [Usage(100, 400)]


async def test_nothing_is_asked_once_the_budget_is_spent_also_by_a_person():
    async with serving_model() as server:
        device = Device(server, "tools")
        device.ledger.spent = True
        for asked in (False, True):
            with pytest.raises(BudgetSpent):
                await device.started().require(asked=asked)
        assert server.asked == []


# -- the gate -----------------------------------------------------------------------------------------


async def test_all_wait_together_while_the_key_is_refused_and_go_on_once_it_is_not():
    async with serving_model(refuses(401), calls(ESTIMATE)) as server:
        device = Device(server, "tools")
        model = device.started()
        await model.require(asked=False)
        with pytest.raises(ModelMisconfigured) as first:
            await model.turn(CONTEXT)
        assert (first.value.again_s, first.value.is_known) == (PAUSE_FIRST_S, False)
        with pytest.raises(ModelMisconfigured, match="refused the key") as told:
            await model.require(asked=False)
        assert told.value.is_known
        await model.require(asked=True)
        device.world.now_s += PAUSE_FIRST_S
        await model.require(asked=False)
        assert (await model.turn(CONTEXT)).calls
        assert model.trouble is None
        assert len(server.asked) == 2


async def test_a_server_is_left_alone_for_as_long_as_it_asks():
    async with serving_model(refuses(429, after="5000")) as server:
        device = Device(server, "tools")
        with pytest.raises(ModelUnavailable) as seen:
            await device.started(tries=2).turn(CONTEXT)
    assert seen.value.again_s == 5000


async def test_a_server_that_answers_badly_is_not_away():
    async with serving_model(refuses(503), says("Hm."), raw(b"{")) as server:
        device = Device(server, "tools")
        model = device.started()
        with pytest.raises(ModelUnavailable):
            await model.turn(CONTEXT)
        await model.turn(CONTEXT)
        with pytest.raises(AnswerFault):
            await model.turn(CONTEXT)
        await model.require(asked=False)


@given(st.lists(st.tuples(st.floats(0, 4000), st.booleans(), st.floats(0, 1e12)), max_size=30))
def test_however_often_it_fails_it_is_asked_again_in_time(seen: list[tuple[float, bool, float]]):
    gate, now_s = Gate(), 0.0
    for passed_s, well, asked_s in seen:
        now_s += passed_s
        if well:
            gate.open()
            gate.require(now_s)
            continue
        fault: Any = ModelUnavailable("away")
        fault.again_s = asked_s if asked_s > PAUSE_MAX_S else None
        gate.close(fault, now_s, 0)
        assert fault.again_s is not None
        assert 0 < fault.again_s < ASKED_MAX_S + 1e-3
        gate.require(now_s + fault.again_s + 1e-3)
