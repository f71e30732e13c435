"""What tests need of the machine that not every machine has: how to find out, and what happens without it.

A test that needs what is missing is skipped, counted, and named in one block at the end of the run; if CI is
set, it fails. Never decides by an environment variable what is there: the machine is asked, once, and only if
a test that needs it was selected.
"""

import os
import shutil
import subprocess
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from tests.support.environment import in_ci
from tests.support.networks.namespaces import remove_leftover_namespaces
from tests.support.patience import LIMIT_S
from tests.support.systemd import systemd_fault

SEARCH_PATH = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])
TAPS = "/dev/net/tun"
CHROMIUM = "chromium"
NOT_RUN = "not_run_for_want_of"
FILES_SHOWN = 6


@dataclass(frozen=True, slots=True)
class Need:
    """Something that tests need, how to get it, and how to see what is wrong with it."""

    name: str
    advice: str
    fault: Callable[[], str]
    """Return why the machine cannot give it; empty if it can."""


def _failure_of(*command: str) -> str:
    if not shutil.which(command[0], path=SEARCH_PATH):
        return f"{command[0]} is not installed"
    result = subprocess.run(
        command,
        env=os.environ | {"PATH": SEARCH_PATH},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    first_line = result.stderr.strip().partition("\n")[0]
    return "" if result.returncode == 0 else first_line or f"{command[0]} failed"


def _no_root() -> str:
    return "" if os.geteuid() == 0 else f"the tests run as user {os.geteuid()}"


def _no_mounts() -> str:
    # In a child, so that no worker leaves the machine's mount namespace for a test that is never run.
    return _no_root() or _failure_of(
        *("unshare", "--mount", "--propagation", "private"),
        *("mount", "-t", "tmpfs", "-o", "size=1m", "placet-test", "/mnt"),
    )


def _no_networks() -> str:
    if fault := _no_root():
        return fault
    if not os.access(TAPS, os.R_OK | os.W_OK):
        return f"{TAPS} is out of reach"
    name = f"placet-test-{os.getpid()}-0-probe"
    try:
        return (
            _failure_of("ip", "netns", "add", name)
            or _failure_of("ip", "-n", name, "link", "add", "bridge", "type", "bridge")
            or _failure_of("ip", "-n", name, "link", "add", "eth0", "type", "veth", "peer", "name", "p1")
            or _failure_of("ss", "--version")
        )
    finally:
        if shutil.which("ip", path=SEARCH_PATH):
            _failure_of("ip", "netns", "del", name)


def _no_time_namespaces() -> str:
    return _no_root() or _failure_of("unshare", "--time", "--fork", "true")


def _program(name: str, package: str = "") -> Need:
    def fault() -> str:
        return "" if shutil.which(name) else f"{name} is not installed"

    return Need(name, f"the program {name} (Debian's package {package or name})", fault)


def chromium_path() -> str | None:
    """Return Chromium's build without windows if it is there, else the whole browser.

    A page costs a third of the processor's time in it. `TESTS_CHROMIUM` names another program.
    """
    programs = [os.environ.get("TESTS_CHROMIUM", ""), "chromium-headless-shell", CHROMIUM]
    return next(filter(None, map(shutil.which, filter(None, programs))), None)


def _no_chromium() -> str:
    return "" if chromium_path() else "neither is installed"


def _no_nats() -> str:
    if find_spec("nats") is None:
        return "nats-py is not installed"
    return "" if shutil.which("nats-server", path=SEARCH_PATH) else "nats-server is not installed"


ROOT, MOUNTS, NETWORKS = "root", "mounts", "networks"
_ALL = (
    Need(ROOT, "the rights of root, for mounts, network namespaces and control groups", _no_root),
    Need(MOUNTS, "root, and mount namespaces (Debian: util-linux, mount)", _no_mounts),
    Need(NETWORKS, f"root, network namespaces, {TAPS}, ip and ss (Debian: iproute2)", _no_networks),
    Need("time namespaces", "root, and a kernel with time namespaces", _no_time_namespaces),
    Need("user manager", "root, systemd, namespaces and a control group of one's own", systemd_fault),
    _program("systemd-analyze", "systemd"),
    _program("task", "taskwarrior"),
    _program("man", "man-db"),
    _program("syncthing"),
    Need(
        CHROMIUM,
        "the program chromium-headless-shell or chromium (Debian's packages of those names)",
        _no_chromium,
    ),
    Need("nats-server", "the program nats-server (Debian's package of that name) and nats-py", _no_nats),
)
NEEDS = {need.name: need for need in _ALL}


@cache
def _fault_of(name: str) -> str:
    return _need(name).fault()


def _need(name: str) -> Need:
    return NEEDS.get(name) or _program(name)


def needs_of(item: pytest.Item) -> Iterator[str]:
    """Yield the names of what a test needs, the most general first."""
    fixtures = getattr(item, "fixturenames", ())
    if item.get_closest_marker("root"):
        yield ROOT
    if item.get_closest_marker("network"):
        yield NETWORKS
    if "disk" in fixtures:
        yield MOUNTS
    for mark in item.iter_markers("external"):
        yield from mark.args


def _mark_by_fixtures(item: pytest.Item) -> None:
    """Mark what makes mounts or networks, so that nobody has to remember to."""
    fixtures = set(getattr(item, "fixturenames", ()))
    if fixtures & {"disk", "group"}:
        item.add_marker("root")
    if fixtures & {"world", "trio"}:
        item.add_marker("root")
        item.add_marker("network")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Remove the networks that killed runs left behind, before any worker makes its own."""
    if not hasattr(session.config, "workerinput") and os.geteuid() == 0:
        remove_leftover_namespaces()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Set the marks before `-m` selects by them."""
    for item in items:
        _mark_by_fixtures(item)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that needs what is missing, or fail it if nothing may be left out."""
    for name in needs_of(item):
        if fault := _fault_of(name):
            if in_ci():
                pytest.fail(f"needs {_need(name).advice}: {fault}", pytrace=False)
            item.user_properties.append((NOT_RUN, name))
            pytest.skip(f"needs {_need(name).advice}: {fault}")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: Any) -> Generator[None, None, None]:
    """Name in one block what was not run, and what each needs; only pytest's last line comes after it."""
    yield
    skipped = terminalreporter.stats.get("skipped", [])
    if not skipped:
        return
    title = "1 test was" if len(skipped) == 1 else f"{len(skipped)} tests were"
    terminalreporter.section(f"{title} not run here", "=", yellow=True)
    for line in describe_skipped(skipped):
        terminalreporter.write_line(line)


def describe_skipped(skipped: list[pytest.TestReport]) -> Iterator[str]:
    """Yield one line per thing that is missing, with its tests' number and files; then other reasons."""
    by_need: dict[str, Counter[str]] = defaultdict(Counter)
    by_reason: Counter[str] = Counter()
    for report in skipped:
        names = [str(value) for key, value in report.user_properties if key == NOT_RUN]
        for name in names[:1]:
            by_need[name][report.nodeid.partition("::")[0]] += 1
        if not names:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            by_reason[reason.removeprefix("Skipped: ")] += 1
    for name, files in sorted(by_need.items(), key=lambda group: -group[1].total()):
        verb = "needs" if files.total() == 1 else "need"
        yield f"{files.total():5} {verb} {_need(name).advice}: {_fault_of(name) or 'missing'}"
        yield f"      {_shortened(files)}"
    for reason, count in by_reason.most_common():
        yield f"{count:5} {reason}"
    if by_need:
        yield "Install what is missing, and they run. With CI=true each of them fails."


def _shortened(files: Counter[str]) -> str:
    """Return the files, or their folders if they are many."""
    names = sorted(files)
    if len(names) > FILES_SHOWN:
        names = sorted({str(Path(name).parent) for name in names})
    more = ["…"] if len(names) > FILES_SHOWN else []
    return ", ".join(chain(names[:FILES_SHOWN], more))
