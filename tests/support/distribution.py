"""Which tests run, where they write, and how they are spread over the processors.

Never puts together what may be apart: one test alone is the usual unit of work.
"""

import json
import os
import shutil
import time
from collections import defaultdict
from collections.abc import Generator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from tests.support.nearness import changed_files, distances, files_of_room, module_texts

SHARED_SCOPES = frozenset({"module", "package", "session"})
QUICK, WRITE_DURATIONS = "--quick", "--write-durations"
ROOM, QUICK_S = "--room", "--quick-s"
QUICK_S_DEFAULT = 45.0
"""After so long on its processor, a worker begins no quick test; a busy machine takes longer for as many."""
LATE, LEFT_OUT = "late", "left_out"
FAR = 1000
DURATIONS = "tests/durations.json"
"""Seconds by test, of those that take long. A test that is not in it, or has a new name, counts as quick."""
DURATION_S_MIN = 0.2
MEMORY = Path("/dev/shm")
QUICK_BYTES_MIN, ALL_BYTES_MIN = 1 << 30, 8 << 30
"""What must be free there, so that a run leaves room for others; containers often have much less."""
SLOW_S = 2.0
"""What a test that is marked as slow takes if it is not in the table."""
_NEAR = pytest.StashKey[dict[Path, int]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of `make quick`, and the one that renews the table."""
    quick = f"leave out what takes {DURATION_S_MIN} s, and of each table all cases but the first and the last"
    parser.addoption(QUICK, action="store_true", help=quick)
    limit = "seconds of the processor after which a worker begins no quick test; the nearest began first"
    parser.addoption(QUICK_S, type=float, default=QUICK_S_DEFAULT, help=limit)
    parser.addoption(
        ROOM, default="", help="run only the tests of a folder or module, and of what imports it"
    )
    write = (
        f"write into {DURATIONS} how long the tests of this run took; for a machine that does nothing else"
    )
    parser.addoption(WRITE_DURATIONS, action="store_true", help=write)


def pytest_configure(config: pytest.Config) -> None:
    """Choose where quick tests write, and note how long tests take: workers report to this process."""
    room = config.getoption(ROOM)
    if room and not files_of_room(room):
        raise pytest.UsageError(f"{room} is no folder or module of this tree")
    if config.getoption(QUICK):
        config.pluginmanager.register(_Quick(config.getoption(QUICK_S)))
    if hasattr(config, "workerinput"):
        return
    if config.getoption(WRITE_DURATIONS):
        config.pluginmanager.register(_Durations(config.rootpath / DURATIONS))
    # SQLite waits for the disk in each test, and on a slow or busy one that would be most of the time.
    if is_suitable_memory(MEMORY, QUICK_BYTES_MIN if config.getoption(QUICK) else ALL_BYTES_MIN):
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


def is_suitable_memory(folder: Path, bytes_min: int) -> bool:
    """Report whether tests can write there: files, programs to run, and as many bytes."""
    if not os.access(folder, os.W_OK | os.X_OK):
        return False
    return shutil.disk_usage(folder).free >= bytes_min and not os.statvfs(folder).f_flag & os.ST_NOEXEC


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Run a single file or test in this process: starting workers would take longer than they save.

    All tests have more workers than there are processors, since many of them wait for daemons and browsers.
    """
    words = config.invocation_params.args
    matching_words = [word for word in map(str, words) if ".py" in word and not word.startswith("-")]
    folders = [word for word in map(str, words) if not word.startswith("-") and Path(word).is_dir()]
    if len(matching_words) == 1 and not folders:
        return 0
    return None if config.getoption(QUICK) else len(os.sched_getaffinity(0)) * 3 // 2


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None, None, None]:
    """Group what shares a costly fixture, and let what takes longest begin first: the end is short then."""
    known_s = _known_durations_s(config.rootpath / DURATIONS)
    # First of all: the order is not shuffled yet, and xdist has not put the groups into the names.
    if config.getoption(QUICK):
        _leave_out(config, items, known_s)
    expected_s = {item: known_s.get(_test(item), SLOW_S if _is_slow(item) else 0.0) for item in items}
    unit_by_item: dict[pytest.Item, str] = {}
    for item in items:
        if group := _group(item):
            item.add_marker(pytest.mark.xdist_group(group))
        unit_by_item[item] = group or item.nodeid
    yield
    unit_s: dict[str, float] = defaultdict(float)
    for item in items:
        unit_s[unit_by_item[item]] += expected_s[item]
    near = _near(config)
    items.sort(
        key=lambda item: (
            near.get(item.path.relative_to(config.rootpath), FAR),
            -unit_s[unit_by_item[item]],
        )
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Read no test that is not of the room, if one is asked for."""
    if not config.getoption(ROOM) or not collection_path.name.startswith("test_"):
        return None
    far = _near(config).get(collection_path.relative_to(config.rootpath), FAR)
    return True if collection_path.is_file() and far > 1 else None


def _near(config: pytest.Config) -> dict[Path, int]:
    """Return how near the files are to the room, or to what changed; without either, all are alike."""
    if _NEAR not in config.stash:
        room, root = config.getoption(ROOM), config.rootpath
        changed = files_of_room(room) if room else changed_files(root) if config.getoption(QUICK) else []
        config.stash[_NEAR] = distances(module_texts(root), changed) if changed else {}
    return config.stash[_NEAR]


def _known_durations_s(table: Path) -> dict[str, float]:
    return json.loads(table.read_text("utf-8")) if table.exists() else {}


def _leave_out(config: pytest.Config, items: list[pytest.Item], known_s: dict[str, float]) -> None:
    cases_by_test: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        cases_by_test[_test(item)].append(item)
    remaining = {
        item for test, cases in cases_by_test.items() if test not in known_s for item in (cases[0], cases[-1])
    }
    config.hook.pytest_deselected(items=[item for item in items if item not in remaining])
    items[:] = [item for item in items if item in remaining]


def _test(item: pytest.Item) -> str:
    """Return a test's name without its case."""
    return item.nodeid.partition("[")[0]


def _is_slow(item: pytest.Item) -> bool:
    return item.get_closest_marker("slow") is not None


def _group(item: pytest.Item) -> str:
    if "disk" in getattr(item, "fixturenames", ()):
        # The worker that makes one leaves the machine's mount namespace.
        return "mounts"
    if not isinstance(item, pytest.Function):
        return ""
    definitions = chain.from_iterable(item._fixtureinfo.name2fixturedefs.values())
    # What pytest and its plugins bring along has no folder, and costs nothing.
    shared = any(definition.scope in SHARED_SCOPES and definition.baseid for definition in definitions)
    return item.nodeid.partition("::")[0] if shared else ""


class _Quick:
    """Begins no further test when the time is over, and says how many were left."""

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._late = self._left_out = 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self) -> bool | None:
        if time.process_time() < self._limit_s:
            return None
        self._late += 1
        return True

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        self._left_out += len(items)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput |= {LATE: self._late, LEFT_OUT: self._left_out}

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        output = getattr(node, "workeroutput", {})
        self._late += output.get(LATE, 0)
        self._left_out = max(self._left_out, output.get(LEFT_OUT, 0))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        terminalreporter.section("left out here, and run by make test", "=")
        terminalreporter.write_line(
            f"{self._late:6} quick tests, farthest from what changed: the time was over"
        )
        terminalreporter.write_line(
            f"{self._left_out:6} tests that take long, or are between the ends of a table"
        )


class _Durations:
    """Adds up how long each case takes, and writes the longest case of each test that takes long.

    What the table says of tests that did not run stays.
    """

    def __init__(self, table: Path) -> None:
        self._table = table
        self._case_s: dict[str, float] = defaultdict(float)
        self._skipped: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._case_s[report.nodeid] += report.duration
        if report.skipped:
            self._skipped.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        longest_s: dict[str, float] = defaultdict(float)
        for case in self._case_s.keys() - self._skipped:
            # xdist puts the name of a group behind that of its test.
            test = case.partition("[")[0].partition("@")[0]
            longest_s[test] = max(longest_s[test], round(self._case_s[case], 1))
        remaining_s = {
            test: taken_s
            for test, taken_s in _known_durations_s(self._table).items()
            if test not in longest_s
        }
        long_s = {test: taken_s for test, taken_s in longest_s.items() if taken_s >= DURATION_S_MIN}
        self._table.write_text(json.dumps(remaining_s | long_s, indent=0, sort_keys=True) + "\n", "utf-8")
