"""Tries, time and the end of an invitation.

Never opens a socket: the same rules over real connections are in test_pairing_over_tls.
"""

from hypothesis import given
from hypothesis import strategies as st

from daemon.peers.pairing.invitation import (
    ATTEMPT_S,
    LIFETIME_S,
    RETURN_S,
    TRIES_MAX,
    AttemptDenial,
    Invitation,
    InvitationStage,
    PairingAttempt,
)
from syncproto.ids import DeviceId

NEWCOMER = DeviceId(bytes(32))


def opened(at_s: float = 0.0) -> Invitation:
    return Invitation(bytes(16), at_s, 0)


def charged(invitation: Invitation, now_s: float) -> PairingAttempt:
    attempt = invitation.charge_attempt(now_s)
    assert isinstance(attempt, PairingAttempt)
    return attempt


def test_a_try_is_taken_before_anything_is_answered():
    invitation = opened()
    charged(invitation, 1.0)
    assert invitation.tries_left == TRIES_MAX - 1


def test_a_second_device_waits_and_is_not_charged():
    invitation = opened()
    charged(invitation, 1.0)
    assert invitation.charge_attempt(1.0) is AttemptDenial.BUSY
    assert invitation.tries_left == TRIES_MAX - 1


def test_the_third_failure_burns_the_invitation():
    invitation = opened()
    for _ in range(TRIES_MAX):
        assert invitation.is_open_at(1.0)
        invitation.end_attempt(charged(invitation, 1.0))
    assert not invitation.is_open_at(1.0)
    assert invitation.charge_attempt(1.0) is AttemptDenial.CLOSED


def test_the_last_try_may_still_succeed():
    invitation = opened()
    for _ in range(TRIES_MAX - 1):
        invitation.end_attempt(charged(invitation, 1.0))
    assert invitation.redeem_attempt(charged(invitation, 1.0), 2.0, NEWCOMER)


def test_an_invitation_admits_one_device_once():
    invitation = opened()
    attempt = charged(invitation, 1.0)
    assert invitation.redeem_attempt(attempt, 2.0, NEWCOMER)
    assert not invitation.redeem_attempt(attempt, 2.0, NEWCOMER)
    assert not invitation.is_open_at(2.0)


def test_a_device_that_proved_the_secret_and_stays_away_is_told_of():
    invitation = opened()
    assert invitation.redeem_attempt(charged(invitation, 1.0), 2.0, NEWCOMER)
    assert invitation.stage_at(2.0 + RETURN_S - 0.001) is InvitationStage.PROVED
    assert invitation.stage_at(2.0 + RETURN_S) is InvitationStage.AWAY


def test_five_minutes_end_it_and_the_attempt_with_it():
    invitation = opened(at_s=100.0)
    assert invitation.is_open_at(100.0 + LIFETIME_S - 0.001)
    attempt = charged(invitation, 100.0 + LIFETIME_S - 0.001)
    assert not invitation.is_open_at(100.0 + LIFETIME_S)
    assert not invitation.redeem_attempt(attempt, 100.0 + LIFETIME_S, NEWCOMER)
    assert invitation.charge_attempt(100.0 + LIFETIME_S) is AttemptDenial.CLOSED


def test_an_attempt_that_dawdles_makes_room_and_comes_too_late():
    invitation = opened()
    slow = charged(invitation, 0.0)
    quick = charged(invitation, ATTEMPT_S)
    assert not invitation.redeem_attempt(slow, ATTEMPT_S, NEWCOMER)
    invitation.end_attempt(slow)
    assert invitation.redeem_attempt(quick, ATTEMPT_S + 1, NEWCOMER)


@given(st.lists(st.tuples(st.floats(0, 30), st.sampled_from(["charge", "fail"])), max_size=80))
def test_never_more_than_three_tries_whatever_the_order(steps):
    invitation, now, answered, attempts = opened(), 0.0, 0, []
    for wait, step in steps:
        now += wait
        if step == "charge":
            outcome = invitation.charge_attempt(now)
            if isinstance(outcome, PairingAttempt):
                answered += 1
                attempts.append(outcome)
        elif attempts:
            invitation.end_attempt(attempts.pop(0))
    assert answered <= TRIES_MAX
