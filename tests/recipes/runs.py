"""Each recipe asks, ends, is decided on, starts again, and does what was allowed, and nothing else.

Never collected by `make test`: `make recipes` installs the packages, and names this file.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.devices import Device, MakeDevice
from tests.support.patience import LIMIT_S
from tests.support.source_tree import ROOT
from tests.support.starts.processes import PLACET

PYTHON = ROOT / ".venv/recipes/bin/python"
AGENTS = {"langgraph": "LangGraph", "pydantic_ai": "Pydantic", "openai_agents": "OpenAI", "ag_ui": "AG-UI"}
ARGS = {"to": "ana@example.org", "text": "See you on Friday."}

pytestmark = pytest.mark.e2e


def step(recipe: str, device: Device, folder: Path, calls: int = 1) -> Any:
    """Run a recipe in a process of its own until it waits or ends; return what it says, None if it waits."""
    result = subprocess.run(
        [PYTHON, ROOT / "tests/recipes/drive.py", recipe, str(calls)],
        cwd=folder,
        env=os.environ | device.environment | {"PATH": f"{PLACET.parent}:{device.environment['PATH']}"},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout.splitlines()[-1])


@pytest.fixture(params=AGENTS)
def recipe(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def laptop(device: MakeDevice, recipe: str) -> Device:
    laptop = device("laptop")
    laptop.do("agent", "add", AGENTS[recipe], "--scope", "none")
    return laptop


def test_a_yes_is_used_at_the_next_start_and_once(laptop: Device, recipe: str, tmp_path: Path):
    assert step(recipe, laptop, tmp_path) is None
    assert step(recipe, laptop, tmp_path) is None
    (ask,) = laptop.do("asks")
    assert ask["name"] == "send_mail"
    assert ask["args"].items() >= ARGS.items()
    laptop.do("confirm", ask["ask_id"])
    outcome = json.dumps(step(recipe, laptop, tmp_path))
    assert "sent" in outcome or '"approved": true' in outcome
    assert [listed["state"] for listed in laptop.do("asks", "--all")] == ["used"]


def test_a_second_run_with_the_ids_of_the_first_asks_anew(laptop: Device, recipe: str, tmp_path: Path):
    for run in (1, 2):
        folder = tmp_path / str(run) if recipe == "langgraph" else tmp_path
        folder.mkdir(exist_ok=True)
        assert step(recipe, laptop, folder) is None, "it went on by the yes of the run before"
        (ask,) = laptop.do("asks")
        laptop.do("confirm", ask["ask_id"])
        assert step(recipe, laptop, folder) is not None
        assert [listed["state"] for listed in laptop.do("asks", "--all")] == ["used"] * run


@pytest.mark.parametrize("recipe", ["pydantic_ai"], indirect=True)
def test_a_second_call_of_a_run_with_the_id_of_the_first_asks_anew(
    laptop: Device, recipe: str, tmp_path: Path
):
    for _ in range(2):
        assert step(recipe, laptop, tmp_path, 2) is None
        (ask,) = laptop.do("asks")
        laptop.do("confirm", ask["ask_id"])
    assert str(step(recipe, laptop, tmp_path, 2)).count("sent to ana") == 2
    assert [listed["state"] for listed in laptop.do("asks", "--all")] == ["used"] * 2


def test_a_no_is_told_with_its_reason_and_nothing_is_sent(laptop: Device, recipe: str, tmp_path: Path):
    assert step(recipe, laptop, tmp_path) is None
    (ask,) = laptop.do("asks")
    laptop.do("reject", ask["ask_id"], "--reason", "I call her.")
    outcome = json.dumps(step(recipe, laptop, tmp_path))
    assert "I call her." in outcome
    assert "sent" not in outcome
    assert '"approved": true' not in outcome


def test_what_the_person_edited_is_done_or_asked_for_anew(laptop: Device, recipe: str, tmp_path: Path):
    assert step(recipe, laptop, tmp_path) is None
    (ask,) = laptop.do("asks")
    laptop.do("confirm", ask["ask_id"], "--edit", '{"text": "See you on Monday."}')
    outcome = json.dumps(step(recipe, laptop, tmp_path))
    assert "Monday" in outcome
    assert "Friday" not in outcome
    assert ("wants exactly" in outcome) == (recipe == "openai_agents")
