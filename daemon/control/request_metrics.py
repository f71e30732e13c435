"""Counts requests and how long they took, and writes numbers as Prometheus reads them.

Keeps nothing of a request but its kind, its result and its time. The text format is a few lines; the client
library would bring a registry for the whole process and a server of its own.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final, NamedTuple

from daemon.refusal import Refused

MEDIA: Final = "text/plain; version=0.0.4; charset=utf-8"
BUCKET_BOUNDS_S: Final = (0.001, 0.005, 0.02, 0.1, 0.5, 2.0, 10.0)
"""From what a read takes to what nobody waits for."""


class LatencyHistogram:
    """How long requests of one kind took."""

    __slots__ = ("buckets", "total_s")

    def __init__(self) -> None:
        self.buckets = [0] * (len(BUCKET_BOUNDS_S) + 1)
        self.total_s = 0.0


class RequestMeter:
    """What has been asked of the control API since the start."""

    def __init__(self, monotonic_s: Callable[[], float]) -> None:
        self._monotonic_s = monotonic_s
        self.requests: Counter[tuple[str, str]] = Counter()
        self.latencies: dict[str, LatencyHistogram] = {
            "read": LatencyHistogram(),
            "write": LatencyHistogram(),
        }

    @contextmanager
    def measure(self, kind: str) -> Iterator[None]:
        """Count what happens inside, and how it ends."""
        began_s, result = self._monotonic_s(), "failed"
        try:
            yield
            result = "done"
        except Refused:
            result = "refused"
            raise
        finally:
            self.record(kind, result, self._monotonic_s() - began_s)

    def record(self, kind: str, result: str, seconds: float) -> None:
        """Count a request of kind `read` or `write`."""
        self.requests[kind, result] += 1
        took = self.latencies[kind]
        took.buckets[bisect_left(BUCKET_BOUNDS_S, seconds)] += 1
        took.total_s += seconds


class MetricFamily(NamedTuple):
    """One metric: its name without `placet_`, its type, what it is, and its samples by their labels.

    The labels of a sample are pairs of key and value. A label with the empty key is no label: its value is a
    suffix of the name, as in `request_seconds_bucket`.
    """

    name: str
    kind: str
    about: str
    samples: Mapping[tuple[tuple[str, str], ...], float | None]


def gauge(name: str, about: str, value: float | None) -> MetricFamily:
    """Make a metric of one sample."""
    return MetricFamily(name, "gauge", about, {(): value})


def label_samples(
    label: str, values: Mapping[str, float | None]
) -> dict[tuple[tuple[str, str], ...], float | None]:
    """Give each value a label."""
    return {((label, key),): value for key, value in values.items()}


def request_families(meter: RequestMeter) -> Iterator[MetricFamily]:
    """Yield the metrics of a meter."""
    counted: dict[tuple[tuple[str, str], ...], float | None] = {
        (("kind", kind), ("result", result)): float(n) for (kind, result), n in sorted(meter.requests.items())
    }
    yield MetricFamily("requests_total", "counter", "Requests to the control API.", counted)
    yield MetricFamily("request_seconds", "histogram", "How long requests took.", _histogram(meter.latencies))


def _histogram(latencies: Mapping[str, LatencyHistogram]) -> dict[tuple[tuple[str, str], ...], float | None]:
    samples: dict[tuple[tuple[str, str], ...], float | None] = {}
    for kind, histogram in latencies.items():
        count = 0
        for bound, within in zip((*map(str, BUCKET_BOUNDS_S), "+Inf"), histogram.buckets, strict=True):
            count += within
            samples[("", "bucket"), ("kind", kind), ("le", bound)] = count
        samples[("", "sum"), ("kind", kind)] = histogram.total_s
        samples[("", "count"), ("kind", kind)] = count
    return samples


def prometheus_text(families: Iterator[MetricFamily]) -> str:
    """Write metrics in Prometheus' text format, 0.0.4; a sample without a value is left out."""
    lines = []
    for family in families:
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
    label_text = ",".join(f'{key}="{_escape(part)}"' for key, part in labels if key)
    number = repr(int(value)) if float(value).is_integer() else repr(float(value))
    return f"placet_{name}{suffix}{f'{{{label_text}}}' if label_text else ''} {number}"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
