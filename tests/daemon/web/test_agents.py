"""The pages of agents of every make: how one stands, and what a person's forms do to it.

Never runs an agent: tests/e2e/page/test_page_tasks.py does.
"""

import html
import re
from collections.abc import AsyncIterator, Callable
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from daemon.agents.person import external_agents, policy_edits, presence_edits
from daemon.agents.person.token_use import RunTokens
from daemon.agents.running.timetable import Outlook
from daemon.agents.tools.agent_record import agent_id, state_id
from daemon.agents.tools.message_ids import next_message_id
from daemon.journal import categories
from daemon.journal.categories import NewCategory
from daemon.journal.human_input import HumanInput
from daemon.peers.linking.device_states import DeviceList, DeviceState
from daemon.refusal import RefusalCode, Refused
from daemon.web.agents import agent_routes, external_routes
from daemon.web.agents.agent_deeds import AgentDeeds
from store.sentence import sentence
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.ids import EntityId, id_from_text, id_to_text
from tests.daemon.web.conftest import Page


class Runs:
    """What would run the agents; it keeps what it was asked for."""

    def __init__(self, page: "AgentsPage") -> None:
        self.page = page
        self.woken: list[EntityId] = []

    def outlook(self, agent: EntityId) -> Outlook:
        del agent
        return Outlook(None, sentence("nothing-new", "nothing new"))

    async def wake(self, agent: EntityId, **_more: Any) -> None:
        if self.woken:
            raise Refused(RefusalCode.CONFLICT, sentence("no-twice", "not <b>twice</b>"))
        self.woken.append(agent)

    async def create_and_wake(self, make: Callable[[Transaction], list[EntityId]]) -> list[EntityId]:
        return await self.page.store.write(make)


class Members:
    """The devices of the vault, as the page is told of them."""

    def __init__(self) -> None:
        self.states = [state_of("laptop", b"\1", this=True), state_of("desk", b"\2")]

    async def list_states(self, after: str | None = None) -> DeviceList:
        del after
        return DeviceList(self.states, 0, 0)


def state_of(name: str, key: bytes, *, this: bool = False) -> DeviceState:
    values: dict[str, Any] = dict.fromkeys(DeviceState.__struct_fields__[:16])
    named = {"device_id": (key * 32).hex(), "name": name, "this": this, "removed": False, "unreached": []}
    return DeviceState(**(values | named))


class AgentsPage(Page):
    def cost_of(self, run: RunTokens) -> int | None:
        """Return what a run cost, if its model has a price for each token, in millionths."""
        price = self.prices.get(run.model)
        return None if price is None else price * (run.sent + run.received)

    def more_routes(self) -> list[web.RouteDef]:
        self.runs, self.members = Runs(self), Members()
        self.prices: dict[str, int] = {}
        deeds = AgentDeeds(self.services, HumanInput(self.now_ms, UTC, "en"), self.members)
        return [
            *agent_routes.routes(self.services, self.runs, "rules", deeds, self.cost_of),
            *external_routes.routes(self.services, deeds),
        ]

    async def task(self, title: str = "Write to Ana") -> str:
        def use(tx: Transaction) -> str:
            task = tx.new_id()
            tx.commit([EntityWrite(task, "task", {"title": title, "status": "OPEN"})])
            return id_to_text(task)

        return await self.store.write(use)


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[AgentsPage]:
    page = AgentsPage(tmp_path)
    await page.start()
    await page.sign_in()
    yield page
    await page.stop()
    page.store.close()


async def make(page: AgentsPage) -> str:
    """Give a task an agent by the form of its page, which leads back to the task; return its own path."""
    task = await page.task()
    answer = await page.ask("/agents", {"task": task})
    assert (answer.status, answer.headers["Location"]) == (303, f"/tasks/{task}")
    return f"/agents/{id_to_text(agent_id(id_from_text(task)))}"


def deeds(text: str) -> set[str]:
    return set(re.findall(r'name="do" value="(\w+)"', text))


async def test_a_task_gets_its_agent_and_the_page_says_how_it_stands(page: AgentsPage) -> None:
    path = await make(page)
    text = (await page.ask(path)).text
    assert "Write to Ana" in text
    assert "It has not run yet." in text
    assert deeds(text) == {"pause", "wake", "rights", "move", "destroy"}


async def test_a_person_wakes_pauses_and_resumes_it(page: AgentsPage) -> None:
    path = await make(page)
    assert (await page.ask(path, {"do": "wake"})).status == 303
    assert [id_to_text(agent) for agent in page.runs.woken] == [path.removeprefix("/agents/")]
    assert (await page.ask(path, {"do": "pause"})).status == 303
    assert deeds((await page.ask(path)).text) == {"resume", "rights", "move", "destroy"}
    assert (await page.ask(path, {"do": "resume"})).status == 303
    refused = await page.ask(path, {"do": "wake"})
    assert (refused.status, "<b>twice" in refused.text) == (409, False)


async def test_what_is_no_agent_or_no_form_of_the_page_is_refused(page: AgentsPage) -> None:
    path = await make(page)
    assert (await page.ask(path, {"do": "explode"})).status == 400
    assert (await page.ask(path, {"do": "move", "device": "0" * 64})).status == 400
    assert (await page.ask(path, {"do": "rights", "shown-lifecycle": "active"})).status == 400
    assert (await page.ask(f"/agents/{'0' * 32}")).status == 404
    assert (await page.ask("/agents", {"task": "0" * 32})).status == 404
    cross_site = await page.ask(path, {"do": "wake"}, headers={"Sec-Fetch-Site": "cross-site"})
    assert (cross_site.status, page.runs.woken) == (403, [])


async def test_a_person_ends_it_for_good(page: AgentsPage) -> None:
    path = await make(page)
    assert (await page.ask(path, {"do": "destroy"})).status == 303
    answer = await page.ask(path)
    assert (answer.status, deeds(answer.text)) == (200, set())
    refused = await page.ask(path, {"do": "pause", "until": ""})
    assert (refused.status, "destroyed" in refused.text) == (409, True)
    assert path not in (await page.ask("/agents")).text


async def test_a_pause_ends_at_the_time_that_was_typed(page: AgentsPage) -> None:
    path = await make(page)
    refused = await page.ask(path, {"do": "pause", "until": "<b>soon</b>"})
    assert (refused.status, "<b>soon" in refused.text) == (409, False)
    assert 'value="&lt;b&gt;soon&lt;/b&gt;"' in refused.text
    assert (await page.ask(path, {"do": "pause", "until": "2099-01-02 09:00"})).status == 303
    assert "2 Jan 2099, 09:00" in (await page.ask(path)).text


def shown_fields(text: str) -> dict[str, str]:
    """Return what the form of what an agent may do sends if nothing is changed."""
    form = text[text.index('id="rights"') : text.index('value="rights"')]
    fields = {
        html.unescape(name): html.unescape(value)
        for name, value in re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', form)
    }
    return fields | {name.removeprefix("shown-"): value for name, value in fields.items() if value}


async def settings(page: AgentsPage, path: str) -> tuple[dict[str, str], dict[str, str], list[str]]:
    def read(snapshot: Snapshot) -> tuple[dict[str, str], dict[str, str], list[str]]:
        agent = snapshot.entity(id_from_text(path.rpartition("/")[2]))
        assert agent is not None
        policy, presence = policy_edits.policy_by_tool(agent), presence_edits.presence_by_tool(agent)
        return policy, presence, policy_edits.allowed_category_names(snapshot, agent)

    return await page.store.read(read)


async def test_what_it_may_do_is_changed_and_nothing_else(page: AgentsPage) -> None:
    await page.store.write(lambda tx: categories.add(tx, NewCategory("Health <b>")))
    path = await make(page)
    form = shown_fields((await page.ask(path)).text)
    before = await page.commits()
    assert (await page.ask(path, form | {"do": "rights"})).status == 303
    assert await page.commits() == before
    category = next(name for name in form if name.startswith("shown-category/")).removeprefix("shown-")
    # Another device has denied a tool that this person sees as it was.
    agent = id_from_text(path.rpartition("/")[2])
    await page.store.write(lambda tx: policy_edits.set_tool_policy(tx, agent, "set_task_title", "denied"))
    changed = {"policy/add_task": "deferred", "presence/all": "other_device", category: "yes"}
    assert (await page.ask(path, form | changed | {"do": "rights"})).status == 303
    policy, presence, allowed = await settings(page, path)
    assert (policy["add_task"], policy["set_task_title"]) == ("deferred", "denied")
    assert (presence, allowed) == ({"all": "other_device"}, ["Health <b>"])
    text = (await page.ask(path)).text
    assert "<b>" not in text
    form = shown_fields(text)
    del form[category]
    assert (await page.ask(path, form | {"do": "rights"})).status == 303
    assert (await settings(page, path))[2] == []


async def test_what_verdicts_need_is_refused_if_nothing_could_fulfil_it(page: AgentsPage) -> None:
    path = await make(page)
    form = shown_fields((await page.ask(path)).text)
    refused = await page.ask(path, form | {"presence/all": "passkey", "do": "rights"})
    assert (refused.status, "no passkey" in refused.text) == (409, True)
    page.members.states.pop()
    refused = await page.ask(path, form | {"presence/all": "other_device", "do": "rights"})
    assert refused.status == 409
    assert (await settings(page, path))[1] == {"all": "any"}


async def test_it_moves_to_another_device(page: AgentsPage) -> None:
    path = await make(page)
    desk = page.members.states[1].device_id
    assert (await page.ask(path, {"do": "move", "device": desk})).status == 303
    assert re.search(f'value="{desk}" selected', (await page.ask(path)).text)


async def test_what_its_model_took_is_added_up_by_day(page: AgentsPage) -> None:
    path = await make(page)
    assert "tokens" not in (await page.ask(path)).text
    agent = id_from_text(path.rpartition("/")[2])

    def use(tx: Transaction) -> None:
        for sent in (1000, 234):
            fields: dict[str, Value] = {"agent_id": agent, "run_key": str(sent), "model": "m"}
            fields |= {"input": sent, "output": 5}
            tx.commit([EntityWrite(tx.new_id(), "usage", fields)])

    await page.store.write(use)
    text = (await page.ask(path)).text
    assert "2 runs: 1234 tokens sent, 10 received" in text
    assert "cost" not in text
    page.prices["m"] = 2_000
    assert "10 received · cost 2.49 at today&#39;s prices" in (await page.ask(path)).text


async def reported(page: AgentsPage, path: str, content: dict[str, Value], **fields: Value) -> str:
    """Give an agent a report; return its page."""
    agent = id_from_text(path.rpartition("/")[2])

    def use(tx: Transaction) -> None:
        report = tx.new_id()
        values: dict[str, Value] = {"agent_id": agent, "content": content, **fields}
        state: dict[str, Value] = {"agent_id": agent, "report_id": report}
        tx.commit([EntityWrite(report, "report", values), EntityWrite(state_id(agent), "agent_state", state)])

    await page.store.write(use)
    return (await page.ask(path)).text


async def test_a_report_shows_its_progress_and_its_doubts(page: AgentsPage) -> None:
    content: dict[str, Value] = {
        "tldr": "Half <b>done</b>.",
        "remaining": ["the form"],
        "lastUpdated": "2020-01-01T00:00:00+00:00",
        "checklistProgress": {"total": 4, "completed": 1},
    }
    text = await reported(page, await make(page), content, confidence="low")
    assert ("<b>" in text, "Half &lt;b&gt;done" in text, "the form" in text) == (False, True, True)
    assert "It may lack something" in text
    assert "Confidence: low." in text
    assert "written " in text


async def test_a_report_that_can_be_relied_on_says_why(page: AgentsPage) -> None:
    text = await reported(page, await make(page), {"tldr": "t"}, confidence="high")
    assert "Confidence: high. Its run saw the whole task" in text
    assert "It may lack something" not in text


async def test_an_agent_without_a_name_is_named_by_its_task_and_says_of_what_kind_it_is(
    page: AgentsPage,
) -> None:
    text = html.unescape((await page.ask(await make(page))).text)
    title = re.search(r"<title>(.*) · Placet", text)
    assert title
    assert title[1].startswith("The agent of ")
    assert "task agent · autonomous" in text


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (
            (
                '{"items": [{"title": "<b>", "isChecked": false, "evidenceIds": ["7"]},'
                ' {"title": "tell Ana"}], "rationale": "Listed."}'
            ),
            [("items", "<b>"), ("items", "tell Ana"), ("rationale", "Listed.")],
        ),
        ('{"minutes": 180, "evidenceIds": []}', [("estimate", "3 h")]),
        (
            '{"labels": ["a", {}, [1]], "dueDate": null}',
            [("labels", "a"), ("labels", "nothing"), ("labels", "1"), ("due", "nothing")],
        ),
        ("{}", []),
    ],
)
async def test_the_arguments_of_a_call_are_lines(
    page: AgentsPage, arguments: str, shown: list[tuple[str, str]]
) -> None:
    path = await make(page)
    await page.store.write(lambda tx: call(tx, path, arguments))
    text = (await page.ask(path)).text
    rows = re.findall(r"<div><dt>(.*?)</dt><dd><bdi>(.*?)</bdi></dd></div>", text.partition('id="log"')[2])
    assert [(name, html.unescape(words)) for name, words in rows] == shown
    assert "<p><bdi>add_task</bdi></p>" in text
    assert "<b>" not in text


@pytest.mark.parametrize("arguments", ["{", "[1]", "x" * 5000])
async def test_arguments_that_cannot_be_read_are_shown_as_they_came(page: AgentsPage, arguments: str) -> None:
    path = await make(page)
    await page.store.write(lambda tx: call(tx, path, arguments))
    assert f"add_task {arguments[:3]}" in (await page.ask(path)).text


def call(tx: Transaction, path: str, arguments: str) -> None:
    """Write that an agent called a tool."""
    fields: dict[str, Value] = {"agent_id": id_from_text(path.rpartition("/")[2]), "thread_id": "run"}
    fields |= {"kind": "action", "text": arguments, "metadata": {"tool": "add_task"}}
    tx.commit([EntityWrite(next_message_id(tx.new_id(), None), "message", fields)])


@pytest.mark.parametrize("content", [5, "x", {"a": 1}, [5, "<b>"], None])
async def test_a_report_of_another_shape_is_shown_as_far_as_it_goes(page: AgentsPage, content: Value) -> None:
    names = ("remaining", "achieved", "checklistProgress", "lastUpdated", "goal")
    text = await reported(page, await make(page), {"tldr": "t", **dict.fromkeys(names, content)})
    assert ("Its report" in text, "<b>" in text, "It may lack" in text) == (True, False, False)


async def test_a_call_stands_with_its_answer_and_what_it_proposed(page: AgentsPage) -> None:
    path = await make(page)
    agent = id_from_text(path.rpartition("/")[2])

    def use(tx: Transaction) -> None:
        messages: list[EntityId] = []
        for outcome, words in (("queued", "Queued <b>."), ("refused", "No such label.")):
            common: dict[str, Value] = {"agent_id": agent, "thread_id": "run"}
            metadata: dict[str, Value] = {"tool": "add_task"}
            action = {**common, "kind": "action", "text": "{}", "metadata": metadata}
            metadata = metadata | {"outcome": outcome, "error": outcome == "refused"}
            metadata |= {"item_ids": [agent]} if outcome == "queued" else {}
            answer = {**common, "kind": "tool_result", "text": words, "metadata": metadata}
            for fields in (action, answer):
                messages.append(next_message_id(tx.new_id(), messages[-1] if messages else None))
                tx.commit([EntityWrite(messages[-1], "message", fields)])

    await page.store.write(use)
    text = (await page.ask(path)).text
    assert (text.count(">called<"), ">answered<" in text, "<b>" in text) == (2, False, False)
    assert "<p><bdi>Proposed 1 new task; 1 call was refused</bdi></p>" in text
    rows = re.findall(r'<p class="why (\w*)">→ <bdi>(.*?)</bdi></p>(<p><a href="/reviews/)?', text)
    assert rows == [("", "Queued &lt;b&gt;.", '<p><a href="/reviews/'), ("doubt", "No such label.", "")]


async def test_all_agents_are_listed_and_old_ones_by_pages(page: AgentsPage) -> None:
    paths = [await make(page) for _ in range(agent_routes.LISTED_MAX + 1)]
    text = (await page.ask("/agents")).text
    more = re.search(r'href="(/agents\?before=[0-9a-f]{32})"', text)
    assert more
    older = (await page.ask(more[1])).text
    assert [path for path in paths if path not in text] == [path for path in paths if path in older]
    assert sum(path in older for path in paths) == 1
    assert (await page.ask("/agents?before=<b>")).status == 200


async def other(page: AgentsPage, name: str = "Claude <b>") -> str:
    """Register a program under a name, as it does itself; return the path of its page."""
    agent = await page.store.write(lambda tx: external_agents.register_external_agent(tx, name))
    return f"/external-agents/{id_to_text(agent)}"


async def details(page: AgentsPage, path: str) -> external_agents.ExternalAgentDetails:
    agent = id_from_text(path.rpartition("/")[2])
    return await page.store.read(
        lambda snapshot: external_agents.external_agent_details(snapshot, agent, page.now_ms())
    )


async def test_a_program_waits_until_a_person_lets_it_in(page: AgentsPage) -> None:
    path = await other(page)
    listed = (await page.ask("/agents")).text
    assert (path in listed, "waits to be let in" in listed, "<b>" in listed) == (True, True, False)
    text = (await page.ask(path)).text
    assert (deeds(text), "<b>" in text) == ({"admit", "destroy"}, False)
    assert (await page.ask(path, {"do": "admit", "scope": "none"})).status == 303
    agent = await details(page, path)
    assert (agent.lifecycle, agent.scope) == ("active", "none")
    assert deeds((await page.ask(path)).text) == {"pause", "limits", "rights", "destroy"}


async def test_a_program_that_is_turned_away_stays_away(page: AgentsPage) -> None:
    path = await other(page)
    assert (await page.ask(path, {"do": "destroy"})).status == 303
    assert path not in (await page.ask("/agents")).text
    refused = await page.ask(path, {"do": "admit", "scope": "all"})
    assert (refused.status, deeds(refused.text)) == (409, set())


async def test_an_action_that_a_person_names_gets_settings_of_its_own(page: AgentsPage) -> None:
    path = (await page.ask("/external-agents", {"name": "Codex", "scope": "all"})).headers["Location"]
    assert 'href="/inbox?agent=Codex"' in (await page.ask(path)).text
    form = shown_fields((await page.ask(path)).text)
    named = {"action": "Deploy <b>", "policy/": "denied", "presence/": "other_device", "do": "rights"}
    assert (await page.ask(path, form | named)).status == 303
    agent = await details(page, path)
    assert (agent.policy["deploy <b>"], agent.presence["deploy <b>"]) == ("denied", "other_device")
    text = (await page.ask(path)).text
    assert "<b>" not in text
    form = shown_fields(text)
    assert form["policy/deploy <b>"] == "denied"
    # This device is the agent's: what its verdicts need is not loosened here, and nothing is half done.
    loosened = {"policy/deploy <b>": "deferred", "presence/deploy <b>": "default", "do": "rights"}
    assert (await page.ask(path, form | loosened)).status == 409
    assert (await details(page, path)).policy["deploy <b>"] == "denied"
    unnamed = await page.ask(path, form | {"policy/": "denied", "do": "rights"})
    assert (unnamed.status, "no tool is called" in unnamed.text) == (409, True)


async def test_scope_and_limits_are_changed_if_the_person_changed_them(page: AgentsPage) -> None:
    made = await page.ask("/external-agents", {"name": "Codex", "scope": "all"})
    assert made.status == 303
    path = made.headers["Location"]
    limit = (await details(page, path)).daily_limits["proposals"]
    shown = {"shown-scope": "all", "shown-limit/proposals": str(limit), "shown-limit/asks": "7"}
    sent = {"scope": "categories", "limit/proposals": str(limit), "limit/asks": "0", "do": "limits"}
    assert (await page.ask(path, shown | sent)).status == 303
    agent = await details(page, path)
    assert (agent.scope, agent.daily_limits["proposals"], agent.daily_limits["asks"]) == (
        "categories",
        limit,
        0,
    )
    for words in ("-1", "many", "9" * 14, "2" + "0" * 12):
        refused = await page.ask(path, {"shown-scope": "", "scope": "", "limit/asks": words, "do": "limits"})
        assert refused.status == 409
    assert (await page.ask(path, {"scope": "most", "do": "limits"})).status == 409
    assert (await details(page, path)).daily_limits["asks"] == 0
    # Nothing takes it back to what it was before anyone set it.
    assert (await page.ask(path, {"limit/asks": "", "shown-scope": "", "do": "limits"})).status == 303
    assert (await details(page, path)).daily_limits["asks"] > 0


async def test_a_name_that_nobody_can_read_makes_no_agent(page: AgentsPage) -> None:
    answer = await page.ask("/external-agents", {"name": "\u202egnp.exe", "scope": "all"})
    assert (answer.status, "\u202e" in answer.text) == (409, False)
    assert (await page.ask(f"/external-agents/{'0' * 32}")).status == 404
    path = await other(page, "Codex")
    assert (await page.ask(path, {"do": "move"})).status == 400
    assert (await page.ask(path, {"do": "admit"}, headers={"Sec-Fetch-Site": "cross-site"})).status == 403
    assert (await details(page, path)).lifecycle == "created"
