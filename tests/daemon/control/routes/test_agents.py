"""The routes of agents on whole daemons: made, timed, changed, moved, ended; and what they refuse.

Never waits for time to pass: what a daemon is asked to wait for, it waits for.
"""

from typing import Any

import pytest

from tests.daemon.control.test_whole import WAIT_S, Device, Make, laptop, make, paired

__all__ = ["laptop", "make"]


async def agent_of(device: Device, title: str, **fields: Any) -> dict[str, Any]:
    """Make a task with its agent, and wait until it has run."""
    task = await device.do("POST", "/v1/tasks", {"title": title})
    created: dict[str, Any] = await device.do("POST", "/v1/agents", {"task": task["id"], **fields})
    await device.do("POST", f"/v1/agents/{created['id']}/wake", {"wait": WAIT_S})
    return created


async def test_an_agent_is_made_in_a_mode_and_changed_to_another(laptop: Device):
    agent = await agent_of(laptop, "Plan", mode="interactive")
    assert (agent["mode"], agent["task_title"], agent["home_device_name"]) == (
        "interactive",
        "Plan",
        "laptop",
    )
    path = f"/v1/agents/{agent['id']}"
    displayed = await laptop.do("GET", path)
    assert (displayed["lifecycle"], displayed["next_wake_why"]) == ("active", "it wakes only when asked")
    assert (await laptop.do("PATCH", path, {"mode": "hybrid"}))["mode"] == "hybrid"
    assert await laptop.ask("PATCH", path, {"model": "oracle"}) == (400, "usage")
    assert await laptop.ask("PATCH", path, {"mode": "eager"}) == (400, "usage")
    assert await laptop.ask("POST", "/v1/agents", {"task": "Plan", "mode": "autonomous"}) == (409, "conflict")


async def test_timers_are_set_as_people_type_them_and_taken_back(laptop: Device):
    agent = await agent_of(laptop, "Plan", mode="hybrid")
    path = f"/v1/agents/{agent['id']}/wake"
    displayed = await laptop.do("POST", path, {"at": "in 3 hours"})
    assert (len(displayed["timers"]), displayed["next_wake_why"]) == (1, "a timer")
    assert displayed["next_wake_at"][:16] == displayed["timers"][0][:16]
    assert (await laptop.do("POST", path, {"cancel": True}))["timers"] == []
    assert await laptop.ask("POST", path, {"at": "in 3 hours", "wait": 1}) == (400, "usage")
    assert await laptop.ask("POST", path, {"at": "2001-01-01"}) == (400, "usage")


async def test_a_paused_agent_says_so_until_it_is_resumed(laptop: Device):
    agent = await agent_of(laptop, "Plan")
    path = f"/v1/agents/{agent['id']}"
    paused = await laptop.do("POST", f"{path}/pause")
    assert (paused["lifecycle"], paused["next_wake_why"]) == ("dormant", "it is paused")
    assert await laptop.ask("POST", f"{path}/wake", {}) == (409, "conflict")
    assert (await laptop.do("GET", "/v1/status"))["agents"]["dormant"] == 1
    assert (await laptop.do("POST", f"{path}/resume"))["lifecycle"] == "active"
    assert (await laptop.do("POST", f"{path}/wake", {"wait": WAIT_S}))["runs"][0]["status"] == "completed"


async def test_an_agent_moves_to_a_device_by_its_name_and_comes_back(make: Make, laptop: Device):
    phone = await paired(make, laptop)
    agent = await agent_of(laptop, "Plan")
    path = f"/v1/agents/{agent['id']}"
    moved = await laptop.do("POST", f"{path}/move", {"device": "Phone"})
    assert (moved["at_home"], moved["home_device_name"]) == (False, "phone")
    assert await laptop.ask("POST", f"{path}/wake", {}) == (409, "conflict")
    await laptop.do("POST", "/v1/sync", {"wait": WAIT_S})
    assert (await phone.do("POST", f"{path}/wake", {"wait": WAIT_S}))["at_home"]
    assert (await phone.do("POST", f"{path}/move", {"device": moved["home_device_id"][:8]}))["at_home"]
    assert await phone.ask("POST", f"{path}/move", {"device": "nowhere"}) == (404, "not_found")
    assert await phone.ask("POST", f"{path}/move", {"device": ""}) == (404, "not_found")
    await phone.do("POST", "/v1/sync", {"wait": WAIT_S})
    assert (await laptop.do("POST", f"{path}/move", {}))["at_home"]


async def test_what_an_agent_may_do_is_tightened_and_shown(laptop: Device):
    await laptop.do("POST", "/v1/categories", {"name": "Home"})
    agent = await agent_of(laptop, "Plan")
    path = f"/v1/agents/{agent['id']}/policy"
    displayed = await laptop.do("PATCH", path, {"tools": {"set_task_title": "denied"}, "allow": ["home"]})
    assert (displayed["policy"]["set_task_title"], displayed["allowed_categories"]) == ("denied", ["Home"])
    assert displayed["next_wake_why"] == "this agent may not work on tasks without a category"
    assert (await laptop.do("PATCH", path, {"disallow": ["Home"]}))["allowed_categories"] == []
    assert await laptop.ask("PATCH", path, {"allow": ["Nowhere"]}) == (404, "not_found")
    assert await laptop.ask("PATCH", path, {"tools": {"fly": "denied"}}) == (400, "usage")


async def test_a_destroyed_agent_takes_its_proposals_back_and_stays_destroyed(laptop: Device):
    items = await laptop.propose()
    agent = items["update_task_estimate"]["agent_id"]
    path = f"/v1/agents/{agent}"
    ended = await laptop.do("POST", f"{path}/destroy")
    assert (ended["lifecycle"], ended["pending_items"]) == ("destroyed", 0)
    assert await laptop.pending() == {}
    assert (await laptop.do("POST", f"{path}/destroy"))["lifecycle"] == "destroyed"
    for verb in ("pause", "resume", "wake", "move"):
        assert await laptop.ask("POST", f"{path}/{verb}", {}) == (409, "conflict")
    task = items["update_task_estimate"]["task_id"]
    assert await laptop.ask("POST", "/v1/agents", {"task": task}) == (409, "conflict")


@pytest.mark.parametrize("verb", ["pause", "resume", "move", "destroy", "wake"])
async def test_an_agent_that_is_not_there_is_not_found(laptop: Device, verb: str):
    assert await laptop.ask("POST", f"/v1/agents/nothing/{verb}", {}) == (404, "not_found")
