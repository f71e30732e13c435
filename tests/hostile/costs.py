"""What a shape costs the honest devices: seconds of the processor and MiB, by what they do with it.

Never takes the time of a clock on the wall: only what the processor did for the daemons and the commands.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.hostile.attacked_pair import AttackedPair
from tests.hostile.shape import Shape
from tests.support.devices import Device
from tests.support.starts.processes import ROOT
from tests.vectors import wire

MIB = 1024 * 1024
TAKE, SHOW, EXPORT, VERIFY = "take", "show", "export", "verify"
SHOWN = (
    *(("status",), ("devices",), ("doctor",), ("list",), ("log",), ("pending",), ("decisions",)),
    *(("conflicts",), ("show", "{task}"), ("show", "{subject}"), ("log", "{subject}")),
)
READINGS = {SHOW: SHOWN, EXPORT: (("export", "jsonl"),), VERIFY: (("verify",),)}
PHASES = (TAKE, *READINGS)
TAKE_S = 120.0
_CPUCLOCK_SCHED = 2


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of the processor, and the growth of memory in MiB."""

    processor_s: float = 0.0
    memory_mib: float = 0.0

    def __add__(self, other: "Cost") -> "Cost":
        """Join what is done in turn: times add up, of memory the most counts."""
        return Cost(self.processor_s + other.processor_s, max(self.memory_mib, other.memory_mib))

    def __sub__(self, before: "Cost") -> "Cost":
        """Return what came to it."""
        return Cost(self.processor_s - before.processor_s, self.memory_mib - before.memory_mib)

    def per_mib(self, size: int) -> "Cost":
        """Return the cost for each MiB that was sent."""
        return Cost(self.processor_s * MIB / size, self.memory_mib * MIB / size)


Costs = dict[str, Cost]


@dataclass(frozen=True, slots=True)
class Measured:
    """What was sent, and what it cost by phase."""

    sent_bytes: int
    costs: Costs

    @property
    def total(self) -> Cost:
        """Return the cost of all phases."""
        return sum(self.costs.values(), Cost())


def processor_s(process: int) -> float:
    """Return the seconds that the processor has spent on a process and its threads."""
    # The kernel's number for the clock of another process (clock_getcpuclockid), to the nanosecond.
    return time.clock_gettime((~process << 3) | _CPUCLOCK_SCHED)


def memory_mib(process: int, field: str) -> float:
    """Return a figure of /proc/PID/status: VmRSS, or VmHWM for the highest since `forget_peak`."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1024
    raise AssertionError(field)


def forget_peak(process: int) -> None:
    """Let the highest memory of a process begin anew."""
    Path(f"/proc/{process}/clear_refs").write_text("5")


def daemon_process(device: Device) -> int:
    """Return the id of a device's daemon."""
    assert device.daemon is not None
    return device.daemon.pid


def cost_of_taking(pair: AttackedPair, shape: Shape, size: int) -> tuple[int, Cost]:
    """Send a shape; return the bytes that were sent, and the cost until both devices hold the same."""
    processes = [daemon_process(device) for device in pair.honest]
    for process in processes:
        forget_peak(process)
    memory_before = [memory_mib(process, "VmRSS") for process in processes]
    begun_s = sum(map(processor_s, processes))
    sent_bytes = pair.send(shape, size)
    pair.wait_until_equal(TAKE_S)
    used_s = sum(map(processor_s, processes)) - begun_s
    peaks = (memory_mib(process, "VmHWM") for process in processes)
    growth = max(peak - before for peak, before in zip(peaks, memory_before, strict=True))
    return sent_bytes, Cost(used_s, growth)


def cost_of_commands(device: Device, commands: list[list[str]]) -> Cost:
    """Run commands that must succeed, in turn; return what they cost the daemon and their own process."""
    process = daemon_process(device)
    forget_peak(process)
    begun_s = processor_s(process)
    with subprocess.Popen(
        [sys.executable, Path(__file__).with_name("commands_in_turn.py"), json.dumps(commands)],
        env=device.environment | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as reader:
        assert reader.stderr is not None
        errors = reader.stderr.read()
        _, status, usage = os.wait4(reader.pid, 0)
        reader.returncode = os.waitstatus_to_exitcode(status)
    assert reader.returncode == 0, errors
    used_s = usage.ru_utime + usage.ru_stime + processor_s(process) - begun_s
    return Cost(used_s, usage.ru_maxrss / 1024 + memory_mib(process, "VmHWM"))


def costs_of_reading(pair: AttackedPair, phases: Iterable[str]) -> Costs:
    """Return what it costs to read the journal, by phase; memory is what it takes in all."""
    places = {"task": wire.text(pair.target.task), "subject": wire.text(pair.subject)}
    return {
        phase: cost_of_commands(
            pair.honest[0], [[word.format(**places) for word in words] for words in READINGS[phase]]
        )
        for phase in phases
    }
