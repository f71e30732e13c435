"""The judge at work against a fake server: the table, the results, going on, and a limit of time.

Never asks a real model.
"""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.daemon.agents.models.openai.fake_server import Step, calls, drips, fake_chat_server, refuses
from tests.judge.__main__ import main_with
from tests.judge.results import ResultFile, read_results

DUE = ("update_task_due_date", {"dueDate": "2026-04-30"})
WRONG = ("set_task_title", {"title": "Something else"})
REPORTED = ("update_report", {"title": "Tax return", "tldr": "The return is due at the end of April."})
DYING_SERVER = """
import os, socket, sys
with socket.create_server(("127.0.0.1", int(sys.argv[3]))) as server:
    while True:
        connection, _ = server.accept()
        if connection.recv(9):
            os._exit(7)
"""
FORM = ("--mode", "tools", "--name", "fake-1")


async def judged(file: Path, *script: Step, words: tuple[str, ...] = ()) -> tuple[int, list[dict[str, Any]]]:
    """Judge one scenario at a fake server; return how often the server was asked, and the results."""
    async with fake_chat_server(*script) as server:
        options = ("--url", server.url, *FORM, "--only", "en-correction-due", "--results", str(file), *words)
        assert await main_with(options) == 0
        return len(server.asked), list(read_results(file).values())


async def test_the_table_counts_right_and_wrong_tokens_and_the_language(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    _, (result,) = await judged(tmp_path / "r.jsonl", calls(DUE, WRONG, REPORTED))
    assert (result["right"], result["wrong"], result["missing"]) == (1, 1, [])
    assert (result["report_language"], result["input"], result["output"]) == (True, 100, 20)
    printed = capsys.readouterr().out
    assert "en-correction-due" in printed
    assert "50%" in printed


async def test_going_on_asks_only_for_what_is_not_there_yet(tmp_path: Path):
    file = tmp_path / "r.jsonl"
    await judged(file, calls(DUE, REPORTED))
    file.write_text(file.read_text() + '{"name": "cut of')
    requests, (result,) = await judged(file, words=("--resume",))
    assert (requests, result["right"]) == (0, 1)


async def test_without_going_on_the_old_results_are_gone(tmp_path: Path):
    file = tmp_path / "r.jsonl"
    await judged(file, calls(DUE, REPORTED))
    _, (result,) = await judged(file, calls(REPORTED))
    assert (result["right"], result["missing"]) == (0, ["due 2026-04-30"])


async def test_a_scenario_that_takes_too_long_ends_and_says_so(tmp_path: Path):
    _, (result,) = await judged(tmp_path / "r.jsonl", drips(), words=("--limit-s", "0.2"))
    assert result["ended"]
    assert result["missing"] == ["due 2026-04-30"]


async def test_a_server_that_refuses_is_told_in_the_table(tmp_path: Path):
    _, (result,) = await judged(tmp_path / "r.jsonl", refuses(401))
    assert "key" in result["ended"]


async def test_a_server_that_dies_ends_the_judging_with_a_sentence_and_keeps_no_result(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """The stand-in for the server's program serves its port, and ends at the first question."""
    dying = tmp_path / "python"
    dying.write_text(f"#!{sys.executable}\n{DYING_SERVER}")
    dying.chmod(0o755)
    file = tmp_path / "r.jsonl"
    words = ("--url", "", "--python", str(dying), "--mode", "tools", "--only", "en-correction-due")
    assert await main_with((*words, "--results", str(file), "--limit-s", "5")) == 1
    assert "the model's server died" in capsys.readouterr().err
    assert read_results(file) == {}


def test_a_result_is_kept_the_moment_it_is_known(tmp_path: Path):
    file = ResultFile(tmp_path / "deep" / "r.jsonl", resume=False)
    file.keep({"name": "one", "right": 1})
    assert json.loads((tmp_path / "deep" / "r.jsonl").read_text())["right"] == 1
