"""Counts requests and how long they took, and writes numbers as Prometheus reads them.

Never keeps anything of a request: a kind, a result and a time. The text format is a few lines; the client
library would bring a registry for the whole process and a server of its own.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final, NamedTuple

from daemon.journal.errors import Refused

MEDIA: Final = "text/plain; version=0.0.4; charset=utf-8"
BOUNDS_S: Final = (0.001, 0.005, 0.02, 0.1, 0.5, 2.0, 10.0)
"""From what a read takes to what nobody waits for."""


class Took:
    """How long requests of one kind took."""

    __slots__ = ("buckets", "total_s")

    def __init__(self) -> None:
        self.buckets = [0] * (len(BOUNDS_S) + 1)
        self.total_s = 0.0


class Meter:
    """What has been asked of the control API since the start."""

    def __init__(self, monotonic_s: Callable[[], float]) -> None:
        self._monotonic_s = monotonic_s
        self.requests: Counter[tuple[str, str]] = Counter()
        self.took: dict[str, Took] = {"read": Took(), "write": Took()}

    @contextmanager
    def measured(self, kind: str) -> Iterator[None]:
        """Count what happens inside, and how it ends."""
        began_s, result = self._monotonic_s(), "failed"
        try:
            yield
            result = "done"
        except Refused:
            result = "refused"
            raise
        finally:
            self.count(kind, result, self._monotonic_s() - began_s)

    def count(self, kind: str, result: str, seconds: float) -> None:
        """Count a request of kind `read` or `write`."""
        self.requests[kind, result] += 1
        took = self.took[kind]
        took.buckets[bisect_left(BOUNDS_S, seconds)] += 1
        took.total_s += seconds


class Family(NamedTuple):
    """One metric: its name without `placet_`, its type, what it is, and its samples by their labels."""

    name: str
    kind: str
    about: str
    samples: Mapping[tuple[tuple[str, str], ...], float | None]


def gauge(name: str, about: str, value: float | None) -> Family:
    """Make a metric of one sample."""
    return Family(name, "gauge", about, {(): value})


def by(label: str, values: Mapping[str, float | None]) -> dict[tuple[tuple[str, str], ...], float | None]:
    """Give each value a label."""
    return {((label, key),): value for key, value in values.items()}


def families(meter: Meter) -> Iterator[Family]:
    """Tell what a meter has counted."""
    counted: dict[tuple[tuple[str, str], ...], float | None] = {
        (("kind", kind), ("result", result)): float(n) for (kind, result), n in sorted(meter.requests.items())
    }
    yield Family("requests_total", "counter", "Requests to the control API.", counted)
    yield Family("request_seconds", "histogram", "How long requests took.", _histogram(meter.took))


def _histogram(took: Mapping[str, Took]) -> dict[tuple[tuple[str, str], ...], float | None]:
    samples: dict[tuple[tuple[str, str], ...], float | None] = {}
    for kind, one in took.items():
        count = 0
        for bound, within in zip((*map(str, BOUNDS_S), "+Inf"), one.buckets, strict=True):
            count += within
            samples[("", "bucket"), ("kind", kind), ("le", bound)] = count
        samples[("", "sum"), ("kind", kind)] = one.total_s
        samples[("", "count"), ("kind", kind)] = count
    return samples


def written(all_: Iterator[Family]) -> str:
    """Write metrics in Prometheus' text format, 0.0.4; a sample without a value is left out."""
    lines = []
    for family in all_:
        lines += [
            f"# HELP placet_{family.name} {family.about}",
            f"# TYPE placet_{family.name} {family.kind}",
            *(
                _sample(family.name, labels, value)
                for labels, value in family.samples.items()
                if value is not None
            ),
        ]
    return "\n".join(lines) + "\n"


def _sample(name: str, labels: tuple[tuple[str, str], ...], value: float) -> str:
    suffix = "".join(f"_{part}" for key, part in labels if not key)
    told = ",".join(f'{key}="{_escaped(part)}"' for key, part in labels if key)
    number = repr(int(value)) if float(value).is_integer() else repr(float(value))
    return f"placet_{name}{suffix}{f'{{{told}}}' if told else ''} {number}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
