"""A table of cases in one test: all of them run, and all that failed are listed, each with its line.

Never stops at the first case that fails, and never hides what is no failure of a case, as an interrupt.
"""

import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

Case = Callable[[object], AbstractContextManager[None]]


@contextmanager
def all_failures() -> Iterator[Case]:
    """Yield what wraps one case by its name; raise AssertionError at the end if any case failed."""
    lines: list[str] = []

    @contextmanager
    def case(name: object) -> Iterator[None]:
        try:
            yield
        except Exception as fault:  # noqa: BLE001 - whatever it is, it is told, and the other cases run
            lines.append(_describe_failure(name, fault))

    yield case
    assert not lines, "\n".join([f"{len(lines)} failed:", *lines])


def _describe_failure(name: object, fault: Exception) -> str:
    """Return the case, where the test was and where it failed, and why."""
    frames = traceback.extract_tb(fault.__traceback__)[1:]
    places = dict.fromkeys(f"{frame.filename}:{frame.lineno}" for frame in (frames[0], frames[-1]))
    return f"{name}: {', '.join(places)}: {type(fault).__name__}: {fault}"
