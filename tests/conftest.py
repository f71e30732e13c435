"""What holds for every test: how Hypothesis looks for counterexamples, and that interrupts arrive.

Never holds a fixture that only one folder needs; that folder has a conftest of its own.
"""

import gc
import os
import signal
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

import hatch_build
from tests.support.devices import Device, MakeDevice
from tests.support.environment import forget_settings, in_ci, keep_compiled
from tests.support.garbage import garbage_search_paused
from tests.support.source_tree import ROOT
from tests.support.starts import processes

pytest_plugins = ["tests.support.needs", "tests.support.distribution"]

forget_settings()
keep_compiled()
_MAY_FORK = os.environ.get("TESTS_FORK") != "0"

# A machine under load is no counterexample, so no example has a deadline; pytest-timeout bounds the test.
settings.register_profile("dev", deadline=None, print_blob=True)
# The same examples at every run: a red run means that this change is wrong, and can be repeated.
settings.register_profile(
    "ci", settings.get_profile("dev"), derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
# By hand, before a release: HYPOTHESIS_PROFILE=long make test
settings.register_profile("long", settings.get_profile("dev"), max_examples=5000)

# For mutations of the code, each of which meets every test: few examples, and the first that fails will do.
settings.register_profile(
    "few", settings.get_profile("ci"), max_examples=20, phases=[Phase.explicit, Phase.generate]
)

settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if in_ci() else "dev"))

# Without its catalogs the command line is silently English.
if not hatch_build.is_compiled(ROOT):
    hatch_build.compile_all(ROOT)

# A shell that starts the tests in the background has them, and every daemon they start, ignore interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


_MEASURED = ROOT / "tests/hostile"
"""Where every start is a real one: the memory of the daemons is measured."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let the processes of a test be forked, before its first fixture starts one."""
    processes.choice.forks = _MAY_FORK and not item.path.is_relative_to(_MEASURED)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """Exempt from every search for garbage what collecting the tests made: it stays until the end."""
    with garbage_search_paused():
        result = yield
    gc.freeze()
    return result


@pytest.fixture
def device(tmp_path: Path) -> Iterator[MakeDevice]:
    """Return what makes devices with running daemons; whatever the test does, the daemons end with it."""
    devices: list[Device] = []

    def make(name: str, **settings: str) -> Device:
        device = Device(name, tmp_path / name, settings)
        devices.append(device)
        device.start()
        return device

    yield make
    for device in devices:
        if device.daemon is not None and device.daemon.poll() is None:
            device.kill()
