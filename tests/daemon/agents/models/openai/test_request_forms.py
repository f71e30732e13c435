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

from daemon.agents.models.openai.chat_model import ChatCompletionsModel
from daemon.agents.models.openai.circuit_breaker import PAUSES, SERVER_PAUSE_MAX_S, CircuitBreaker
from daemon.agents.models.openai.device_services import DeviceServices, TransientFormMemory, UnlimitedAccount
from daemon.agents.models.openai.endpoint import Endpoint, RequestMode
from daemon.agents.models.openai.request_forms import (
    FORMS_BY_MODE,
    RequestForm,
    form_fields,
    tools_as_text,
)
from daemon.agents.models.openai.retry_policy import RetryPolicy
from daemon.agents.models.openai.tool_schemas import offered_tools, portable_schema
from daemon.agents.tools.model_interface import (
    AnswerFault,
    BudgetSpent,
    ModelMisconfigured,
    ModelUnavailable,
    TokenUsage,
)
from daemon.agents.tools.table import RECORD_OBSERVATIONS, UPDATE_REPORT
from store.sentence import foreign_text
from tests.daemon.agents.models.openai.connected_model import (
    CANARY,
    CONTEXT,
    KEY,
    REPORT,
    SteppedClock,
)
from tests.daemon.agents.models.openai.fake_server import (
    FakeChatServer,
    acts,
    call,
    calls,
    cuts,
    fake_chat_server,
    knows_only,
    obeys,
    raw,
    refuses,
)

ESTIMATE = ("update_task_estimate", {"minutes": 90})
READY = ("ready", {"code": CANARY})
REFUSED = refuses(500, message="1 validation error: literal_error")


class Ledger(UnlimitedAccount):
    """An account that only writes down, until it is told to refuse."""

    def __init__(self) -> None:
        self.booked: list[TokenUsage] = []
        self.spent = False

    async def require_budget(self) -> None:
        if self.spent:
            raise BudgetSpent(foreign_text("spent"))

    async def record_usage(self, usage: TokenUsage) -> None:
        self.booked.append(usage)


STARTED: list[ChatCompletionsModel] = []


@pytest.fixture(autouse=True)
async def closed() -> AsyncIterator[None]:
    """Close what a test has started."""
    yield
    while STARTED:
        await STARTED.pop().close()


class Device:
    """What outlives the daemon: its memory, its account, its clock."""

    def __init__(self, server: FakeChatServer, mode: RequestMode = "auto") -> None:
        self.world, self.memory, self.ledger = SteppedClock(), TransientFormMemory(), Ledger()
        self._endpoint = Endpoint(server.url, "fake-1", mode, KEY)

    def started(self, tries: int = 1) -> ChatCompletionsModel:
        """Return the model as a daemon has it after its start."""
        patience = RetryPolicy(sleep=self.world.pause, attempts_max=tries)
        STARTED.append(
            ChatCompletionsModel(
                self._endpoint, self.world, patience, DeviceServices(self.ledger, self.memory)
            )
        )
        return STARTED[-1]


def forms(server: FakeChatServer) -> list[str]:
    """Return in which form each request came, probes included."""
    return [
        "tools" if "tools" in request.body else request.body["response_format"]["type"]
        for request in server.asked
    ]


# -- the form -----------------------------------------------------------------------------------------


async def test_a_server_that_knows_only_objects_with_a_schema_is_asked_so_and_remembered():
    async with fake_chat_server() as server:
        server.always = knows_only("json_object", acts({"actions": [], "report": REPORT}))
        device = Device(server)
        (call,) = (await device.started().turn(CONTEXT)).calls
        assert (call.name, call.arguments) == (UPDATE_REPORT, REPORT)
        assert forms(server) == ["tools", "json_schema", "json_object", "json_object"]
        assert device.memory.form_kept == "json_object"
        server.asked.clear()
        await device.started().turn(CONTEXT)
        assert forms(server) == ["json_object"]


async def test_in_the_mode_actions_the_form_is_found_when_the_first_is_refused():
    async with fake_chat_server() as server:
        server.always = knows_only("json_object", acts({"actions": [], "report": REPORT}))
        device = Device(server, "actions")
        assert (await device.started().turn(CONTEXT)).calls
        assert forms(server) == ["json_schema", "json_schema", "json_object", "json_object"]
        assert device.memory.form_kept == "json_object"


async def test_what_was_remembered_goes_where_the_server_has_changed():
    async with fake_chat_server() as server:
        device = Device(server)
        device.memory.form_kept = "tools"
        server.always = knows_only("json_schema", obeys(acts({"actions": [], "report": REPORT})))
        assert (await device.started().turn(CONTEXT)).calls
        assert device.memory.form_kept == "json_schema"


async def test_one_request_that_is_refused_does_not_change_the_form():
    async with fake_chat_server(refuses(400), calls(READY)) as server:
        device = Device(server)
        device.memory.form_kept = "tools"
        with pytest.raises(AnswerFault):
            await device.started().turn(CONTEXT)
        assert forms(server) == ["tools", "tools"]
        assert device.memory.form_kept == "tools"


async def test_what_the_settings_do_not_allow_is_not_taken_from_memory():
    async with fake_chat_server(acts({"actions": [], "report": REPORT})) as server:
        device = Device(server, "actions")
        device.memory.form_kept = "tools"
        await device.started().turn(CONTEXT)
        assert forms(server) == ["json_schema"]


@pytest.mark.parametrize("form", FORMS_BY_MODE["auto"])
@pytest.mark.parametrize("must_call", ["", UPDATE_REPORT])
def test_what_is_asked_for_has_no_part_on_which_a_servers_grammar_ends(form: RequestForm, must_call: str):
    text = json.dumps(form_fields(form, must_call))
    assert not [part for part in ("$ref", "$defs", "maxLength", "minLength", "\\\\d") if part in text]
    assert {"tldr", "goal", "remaining"} <= set(re.findall(r"\w+", text))


@pytest.mark.parametrize("form", FORMS_BY_MODE["actions"])
def test_by_schema_the_tools_are_named_in_words_but_for_those_that_are_denied(form: RequestForm):
    words = tools_as_text(
        form, ["set_task_title", "add_multiple_checklist_items", UPDATE_REPORT], with_evidence=False
    )
    assert words.splitlines() == [
        (
            'Answer with one JSON object and nothing else: {"actions":[{"tool":NAME,"arguments":{...}}],'
            '"report":{tldr (One sentence), goal?,'
            " achieved?: [TEXT], remaining?: [TEXT], learnings?: [TEXT]}}"
        ),
        "Tools for `actions`, which may be empty; what ends in ? may be left out:",
        "- set_task_title{title, rationale?}: Rename the task.",
        (
            "- add_multiple_checklist_items{items: [{title (In a few words), isChecked?}],"
            " rationale?}: Add items to the checklist."
        ),
    ]
    assert tools_as_text("tools") == ""


async def test_a_model_that_is_bound_by_a_schema_reads_what_it_may_call():
    async with fake_chat_server(acts({"actions": [], "report": REPORT})) as server:
        await Device(server, "actions").started().turn(CONTEXT)
        content = server.asked[0].body["messages"][0]["content"]
    aside = {UPDATE_REPORT, RECORD_OBSERVATIONS}
    assert all(f"- {name}{{" in content for name in offered_tools(CONTEXT) if name not in aside)


def test_what_a_schema_refers_to_stands_in_its_place():
    shared = {"Item": {"type": "object", "properties": {"title": {"type": "string", "maxLength": 9}}}}
    schema = {"type": "array", "items": {"$ref": "#/$defs/Item", "description": "One."}, "$defs": shared}
    item = {"type": "object", "properties": {"title": {"type": "string"}}, "description": "One."}
    assert portable_schema(schema) == {"type": "array", "items": item}


# -- what is counted ----------------------------------------------------------------------------------


async def test_every_answer_is_booked_the_probe_and_a_garbled_one_too():
    async with fake_chat_server(calls(READY), raw(b"{")) as server:
        device = Device(server)
        with pytest.raises(AnswerFault):
            await device.started().turn(CONTEXT)
    probe, garbled = device.ledger.booked
    assert probe == TokenUsage(100, 20, 30, 4)
    assert garbled.input > 500
    assert garbled.output > 0


async def test_an_answer_that_was_cut_off_is_booked_with_what_was_asked():
    async with fake_chat_server(cuts(), cuts()) as server:
        device = Device(server, "tools")
        with pytest.raises(ModelUnavailable):
            await device.started(tries=2).turn(CONTEXT)
    assert [token_usage.input > 500 for token_usage in device.ledger.booked] == [True, True]


async def test_refusals_and_servers_out_of_reach_cost_nothing():
    async with fake_chat_server(refuses(503)) as server:
        device = Device(server, "tools")
        model = device.started()
        with pytest.raises(ModelUnavailable):
            await model.turn(CONTEXT)
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        await model.turn(CONTEXT)
    assert device.ledger.booked == []


async def test_what_a_server_counts_beside_both_is_output():
    body = {"choices": [{"message": {"tool_calls": [call(*ESTIMATE)]}}]}
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 500}
    async with fake_chat_server(raw(json.dumps(body | {"usage": usage}).encode())) as server:
        device = Device(server, "tools")
        await device.started().turn(CONTEXT)
    assert device.ledger.booked == [TokenUsage(100, 400)]


async def test_nothing_is_asked_once_the_budget_is_spent_also_by_a_person():
    async with fake_chat_server() as server:
        device = Device(server, "tools")
        device.ledger.spent = True
        for request in (False, True):
            with pytest.raises(BudgetSpent):
                await device.started().require_available(by_person=request)
        assert server.asked == []


# -- the gate -----------------------------------------------------------------------------------------


async def test_all_wait_together_while_the_key_is_refused_and_go_on_once_it_is_not():
    async with fake_chat_server(refuses(401), calls(ESTIMATE)) as server:
        device = Device(server, "tools")
        model = device.started()
        await model.require_available(by_person=False)
        with pytest.raises(ModelMisconfigured) as first:
            await model.turn(CONTEXT)
        assert (first.value.retry_after_s, first.value.is_already_reported) == (PAUSES.first_s, False)
        with pytest.raises(ModelMisconfigured, match="refused the key") as error:
            await model.require_available(by_person=False)
        assert error.value.is_already_reported
        await model.require_available(by_person=True)
        device.world.now_s += PAUSES.first_s
        await model.require_available(by_person=False)
        assert (await model.turn(CONTEXT)).calls
        assert model.outage is None
        assert len(server.asked) == 2


async def test_a_server_is_left_alone_for_as_long_as_it_asks():
    async with fake_chat_server(refuses(429, after="5000")) as server:
        device = Device(server, "tools")
        with pytest.raises(ModelUnavailable) as error:
            await device.started(tries=2).turn(CONTEXT)
    assert error.value.retry_after_s == 5000


async def test_a_server_that_answers_badly_is_not_away():
    async with fake_chat_server(refuses(503), calls(ESTIMATE), raw(b"{")) as server:
        device = Device(server, "tools")
        model = device.started()
        with pytest.raises(ModelUnavailable):
            await model.turn(CONTEXT)
        await model.turn(CONTEXT)
        with pytest.raises(AnswerFault):
            await model.turn(CONTEXT)
        await model.require_available(by_person=False)


@given(st.lists(st.tuples(st.floats(0, 4000), st.booleans(), st.floats(0, 1e12)), max_size=30))
def test_however_often_it_fails_it_is_asked_again_in_time(observed: list[tuple[float, bool, float]]):
    gate, now_s = CircuitBreaker(), 0.0
    for passed_s, well, asked_s in observed:
        now_s += passed_s
        if well:
            gate.record_answer()
            gate.require_askable(now_s)
            continue
        fault: Any = ModelUnavailable(foreign_text("away"))
        fault.retry_after_s = asked_s if asked_s > PAUSES.max_s else None
        gate.record_failure(fault, now_s, 0)
        assert fault.retry_after_s is not None
        assert 0 < fault.retry_after_s < SERVER_PAUSE_MAX_S + 1e-3
        gate.require_askable(now_s + fault.retry_after_s + 1e-3)
