"""Devices that meet only in a folder lose nothing by the rule of mailboxes, and do by rules that are broken.

Never runs as many histories as `make mailbox-histories`.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncproto.mailboxes import exchange_rule
from syncproto.mailboxes.exchange_rule import SILENT_MS, DropView, MemberView
from tests.simulation.mailbox_history import (
    History,
    Rule,
    clear_up_by_age,
    count_lost,
    own_commits_only,
    sound_rule,
    written_once,
)

HISTORIES = 3000
BROKEN_HISTORIES = 300
A, B = b"key of a", b"key of b"


def test_no_history_loses_anything():
    assert count_lost((0, HISTORIES)) == 0


@pytest.mark.parametrize(
    ("rule", "broken"),
    [
        pytest.param(own_commits_only, "", id="own commits only"),
        pytest.param(written_once, "", id="nothing written twice, though the place is full or lies"),
        pytest.param(clear_up_by_age, "", id="cleared up by age"),
        pytest.param(sound_rule, "one file", id="one file that changes"),
        pytest.param(sound_rule, "one holder", id="one have for a device and its copy"),
        pytest.param(sound_rule, "any have", id="an old have that was put back is left there"),
        pytest.param(sound_rule, "spoiled stay", id="a spoiled drop of a member is left there"),
        pytest.param(sound_rule, "no admissions", id="a newcomer brings its own admission"),
    ],
)
def test_histories_find_a_rule_that_is_broken(rule: Rule, broken: str):
    assert any(History(seed, rule, broken=broken).run().lost for seed in range(BROKEN_HISTORIES))


@given(st.sets(st.integers(0, 5000)))
def test_bits_and_their_positions_are_the_same_thing(positions: set[int]):
    bits = exchange_rule.bits_at(positions)
    assert bits == sum(1 << position for position in positions)
    assert list(exchange_rule.positions_of(bits)) == sorted(positions)


def test_a_drop_counts_only_for_whom_it_is_sealed():
    drop = DropView(("d",), brings=0b11, needs=0, readers=frozenset({A}))
    assert exchange_rule.plan([MemberView(A, 0b11, 0)], [drop]).write == 0
    assert exchange_rule.plan([MemberView(B, 0b11, 0)], [drop]).write == 0b11


def test_a_drop_that_rests_on_what_is_nowhere_counts_for_nothing():
    drops = [DropView(("c",), 0b100, 0b010, frozenset({A})), DropView(("b",), 0b010, 0b001, frozenset({A}))]
    assert exchange_rule.plan([MemberView(A, 0b110, 0)], drops).write == 0
    assert exchange_rule.plan([MemberView(A, 0b111, 0)], drops).write == 0b111


def test_a_drop_is_cleared_up_once_every_active_member_has_it():
    drop = DropView(("d",), 0b11, 0, frozenset({A, B}))
    assert exchange_rule.plan([MemberView(A, 0, 0), MemberView(B, 0b10, 0)], [drop]).clear == []
    assert exchange_rule.plan([MemberView(A, 0, 0), MemberView(B, 0, 0)], [drop]).clear == ["d"]
    silent = exchange_rule.plan([MemberView(A, 0, 0), MemberView(B, 0b11, SILENT_MS)], [drop])
    assert (silent.write, silent.readers, silent.clear) == (0, frozenset({A}), ["d"])


def test_a_device_that_sees_nobody_touches_nothing():
    drop = DropView(("d",), 0b11, 0, frozenset({A}))
    assert exchange_rule.plan([MemberView(A, 0b11, SILENT_MS)], [drop]) == (0, frozenset(), [])
