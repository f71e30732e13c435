"""The metrics: counted as they happen, written as Prometheus reads them.

Never measures this machine: the clock of these tests says how long things took.
"""

import re
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.control.request_metrics import (
    BUCKET_BOUNDS_S,
    RequestMeter,
    gauge,
    label_samples,
    prometheus_text,
    request_families,
)
from daemon.refusal import usage_error
from store.sentence import foreign_text

# The text format 0.0.4: a comment, or a name, labels and a number.
_LABEL = r'[a-z]+="(?:[^"\\\n]|\\["\\n])*"'
_LINE = re.compile(rf"# (HELP|TYPE) [a-z_]+ \S.*|[a-z_]+(\{{{_LABEL}(,{_LABEL})*\}})? -?[\d.e+-]+", re.DOTALL)


def samples(text: str) -> dict[str, float]:
    assert all(map(_LINE.fullmatch, text.split("\n")[:-1])), text
    lines = (line.rpartition(" ") for line in text.split("\n")[:-1] if not line.startswith("#"))
    return {name: float(number) for name, _, number in lines}


def test_requests_are_counted_by_kind_and_result():
    moments = iter([0.0, 0.004, 1.0, 1.3, 2.0, 2.0])
    meter = RequestMeter(lambda: next(moments))
    with meter.measure("read"):
        pass
    with pytest.raises(ValueError, match="lost"), meter.measure("write"):
        raise ValueError("lost")
    with pytest.raises(Exception, match="why"), meter.measure("write"):
        raise usage_error(foreign_text("why"))
    answer = samples(prometheus_text(request_families(meter)))
    assert answer['placet_requests_total{kind="read",result="done"}'] == 1
    assert answer['placet_requests_total{kind="write",result="failed"}'] == 1
    assert answer['placet_requests_total{kind="write",result="refused"}'] == 1
    assert answer['placet_request_seconds_bucket{kind="read",le="0.001"}'] == 0
    assert answer['placet_request_seconds_bucket{kind="read",le="0.005"}'] == 1
    assert answer['placet_request_seconds_sum{kind="write"}'] == pytest.approx(0.3)
    assert answer['placet_request_seconds_count{kind="write"}'] == 2


@given(st.lists(st.floats(0, 100)))
def test_buckets_count_what_took_at_most_their_bound(lengths_s: list[float]):
    meter = RequestMeter(lambda: 0.0)
    for length_s in lengths_s:
        meter.record("read", "done", length_s)
    answer = samples(prometheus_text(request_families(meter)))
    for bound in BUCKET_BOUNDS_S:
        within = sum(length_s <= bound for length_s in lengths_s)
        assert answer[f'placet_request_seconds_bucket{{kind="read",le="{bound}"}}'] == within
    assert answer['placet_request_seconds_bucket{kind="read",le="+Inf"}'] == len(lengths_s)
    assert list(accumulate(meter.latencies["read"].buckets))[-1] == len(lengths_s)


@given(st.text(), st.floats(allow_nan=False, allow_infinity=False))
def test_any_label_and_number_is_one_line(label: str, number: float):
    text = prometheus_text(
        iter([gauge("x", "About.", number)._replace(samples=label_samples("name", {label: number}))])
    )
    assert list(samples(text).values()) == [number]


def test_a_value_that_is_not_known_is_left_out():
    text = prometheus_text(iter([gauge("lag", "How far.", None)]))
    assert samples(text) == {}
