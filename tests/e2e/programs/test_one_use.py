"""One yes, one use: real daemons, programs that race, kills between grant and answer, backups and copies.

Never counts what a daemon says of uses: an agent acts if it was told "granted", and that is counted.
"""

import http.client
import shutil
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from daemon.clock import SystemClock
from tests.support.devices import Device, MakeDevice
from tests.support.door_clients import ERAS, Call, speak
from tests.support.killed_daemon import KILL_AT
from tests.support.patience import LIMIT_S
from tests.support.program import Program
from tests.support.starts.processes import ROOT

pytestmark = pytest.mark.e2e

STRIDE: Final = 3
PROGRAMS: Final = 8
POINTS_MAX: Final = 100
HOUR_MS: Final = 3_600_000
Ask = dict[str, Any]


@dataclass
class FailingDevice(Device):
    """A device whose daemon is killed at a point of its next commit, as soon as a file says at which."""

    @property
    def kill_at(self) -> Path:
        """Return the file."""
        return self.home.parent / f"{self.name}.kill-at"

    def daemon_command(self) -> tuple[list[str | Path], dict[str, str]]:
        environment = self.environment | {KILL_AT: str(self.kill_at), "PYTHONPATH": str(ROOT)}
        return [sys.executable, ROOT / "tests/support/killed_daemon.py", "up"], environment


@pytest.fixture
def laptop(device: MakeDevice) -> Device:
    laptop = device("laptop")
    laptop.do("agent", "add", "Claude", "--scope", "none")
    return laptop


def permitted_ask(program: Program, key: str = "mail") -> Ask:
    ask = program.ask(key, SystemClock().now_ms() + HOUR_MS)
    program.confirm(ask)
    return ask


def in_step(uses: Sequence[Callable[[], str]]) -> list[str]:
    """Let all begin at once; return what each was told."""
    start = threading.Barrier(len(uses))

    def use_when_all_are_ready(use: Callable[[], str]) -> str:
        start.wait(LIMIT_S)
        return use()

    with ThreadPoolExecutor(len(uses)) as threads:
        return list(threads.map(use_when_all_are_ready, uses))


def test_of_programs_that_race_for_a_yes_one_acts(laptop: Device) -> None:
    program = Program(laptop, "Claude")
    for number in range(5):
        ask = permitted_ask(program, f"mail {number}")
        uses = [partial(program.use, ask, f"run {name}") for name in range(PROGRAMS)]
        assert sorted(in_step(uses)) == ["already_used"] * (PROGRAMS - 1) + ["granted"]


def test_of_two_doors_that_race_for_a_yes_under_one_name_one_acts(laptop: Device) -> None:
    ask = permitted_ask(Program(laptop, "Claude"))
    start = threading.Barrier(2)

    def race(era: str) -> str:
        async def use(call: Call) -> str:
            await call("get_decisions")  # the door is ready
            start.wait(LIMIT_S)
            answer = await call(
                "use_permission", ask=ask["ask_id"], args_hash=ask["args_hash"], execution_id="send 1"
            )
            return str(answer["result"])

        return str(speak(laptop, era, use))

    with ThreadPoolExecutor(2) as threads:
        assert sorted(threads.map(race, ERAS)) == ["already_used", "granted"]


def _use_before_kill(laptop: FailingDevice, program: Program, ask: Ask, point: int) -> str:
    """Use a permission while the daemon dies at a point; return what the program was told, if anything."""
    fresh = laptop.kill_at.with_suffix(".fresh")
    fresh.write_text(str(point))
    fresh.replace(laptop.kill_at)
    try:
        return program.use(ask, "first")
    except (OSError, http.client.HTTPException):
        return ""
    finally:
        laptop.kill_at.unlink()


def _start_again(laptop: Device, *, has_answered: bool) -> None:
    """Start the daemon after its death, or after its answer, behind which it may be dying still."""
    assert laptop.daemon is not None
    if has_answered:
        laptop.daemon.kill()
    laptop.daemon.wait(LIMIT_S)
    laptop.start()


@pytest.mark.slow
def test_a_kill_anywhere_between_the_commit_of_a_use_and_its_answer_leaves_one_use(tmp_path: Path) -> None:
    laptop = FailingDevice("laptop", tmp_path / "laptop")
    laptop.start()
    lost: list[str] = []
    try:
        laptop.do("agent", "add", "Claude", "--scope", "none")
        program = Program(laptop, "Claude")
        for point in range(1, POINTS_MAX, STRIDE):
            ask = permitted_ask(program, f"mail {point}")
            first_result = _use_before_kill(laptop, program, ask, point)
            _start_again(laptop, has_answered=bool(first_result))
            results = {execution: program.use(ask, execution) for execution in ("second", "first")}
            acted = {execution for execution, word in results.items() if word == "granted"}
            assert len(acted) == 1, (point, results)
            assert first_result in ("", "granted")
            assert acted == {"first"} or not first_result, "an answer was given before it was durable"
            if first_result:
                break
            lost.append(acted.pop())
        assert laptop.run("verify").status == 0
    finally:
        laptop.kill()
    # Before it until it is durable, and never again: some answers were lost after that.
    assert lost == sorted(lost, reverse=True)
    assert set(lost) == {"first", "second"}, lost


def test_after_a_backup_is_restored_nothing_is_used_that_was_asked_before(
    laptop: Device, tmp_path: Path
) -> None:
    program = Program(laptop, "Claude")
    used, unused = permitted_ask(program, "used"), permitted_ask(program, "unused")
    laptop.do("backup", str(tmp_path / "saved"))
    assert program.use(used, "before") == "granted"
    laptop.stop()
    laptop.do("restore", str(tmp_path / "saved"))
    laptop.start()
    results = [program.use(ask, execution) for ask in (used, unused) for execution in ("before", "after")]
    assert results == ["restored"] * 4
    again = program.ask("used", SystemClock().now_ms() + HOUR_MS)
    assert (again["state"], again["ask_id"]) == ("pending", used["ask_id"])
    program.confirm(again)
    assert [program.use(again, execution) for execution in ("after", "more")] == ["granted", "already_used"]


@pytest.mark.parametrize("is_used_before", [False, True])
def test_a_copy_of_the_data_folder_beside_it_grants_nothing(
    device: MakeDevice, laptop: Device, tmp_path: Path, is_used_before: bool
) -> None:
    program = Program(laptop, "Claude")
    ask = permitted_ask(program)
    results = [program.use(ask, "original")] if is_used_before else []
    laptop.stop()
    shutil.copytree(laptop.home, tmp_path / "copy", symlinks=True)
    copy = device("copy")
    laptop.start()
    assert Program(copy, "Claude").use(ask, "copy") == "restored"
    results += [program.use(ask, execution) for execution in ("original", "copy")]
    assert results == ["granted"] * (len(results) - 1) + ["already_used"]


def test_a_data_folder_that_was_put_back_grants_nothing_of_before(laptop: Device, tmp_path: Path) -> None:
    program = Program(laptop, "Claude")
    ask = permitted_ask(program)
    laptop.stop()
    shutil.copytree(laptop.home, tmp_path / "saved", symlinks=True)
    laptop.start()
    assert program.use(ask, "before") == "granted"
    laptop.stop()
    shutil.rmtree(laptop.home)
    shutil.copytree(tmp_path / "saved", laptop.home, symlinks=True)
    laptop.start()
    assert [program.use(ask, execution) for execution in ("before", "after")] == ["restored"] * 2
