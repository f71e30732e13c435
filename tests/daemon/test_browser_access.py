"""Who may use the page: secrets of one use and five minutes, sessions that end, and nothing kept in plain.

Never opens a socket.
"""

import hmac

import pytest

from daemon.browser_access import (
    SECRET_VALID_S,
    SECRETS_MAX,
    SESSION_IDLE_MS,
    SESSIONS_MAX,
    BrowserAccess,
    Session,
)


class World:
    """Clocks that tests set, and randomness that never repeats."""

    def __init__(self) -> None:
        self.now_ms = 1_774_000_000_000
        self.monotonic_s = 5.0
        self.drawn = 0
        self.stored = 0
        self.access = BrowserAccess(lambda: self.now_ms, lambda: self.monotonic_s, self.randomness)
        self.access.on_change = self.count

    def randomness(self, count: int) -> bytes:
        self.drawn += 1
        return self.drawn.to_bytes(count, "big")

    def count(self) -> None:
        self.stored += 1

    def begin(self) -> str:
        token = self.access.sign_in(self.access.issue_secret().text, "Browser")
        assert token
        return token


@pytest.fixture
def world() -> World:
    return World()


def test_a_secret_begins_one_session(world: World):
    secret = world.access.issue_secret().text
    token = world.access.sign_in(f" {secret.upper()} ", "Browser")
    assert token
    assert world.access.sign_in(secret, "Browser") is None
    session = world.access.session_of(token)
    assert session is not None
    assert token not in repr(session)
    assert world.stored == 1


@pytest.mark.parametrize(("later_s", "opens"), [(SECRET_VALID_S - 1, True), (SECRET_VALID_S, False)])
def test_a_secret_is_valid_for_five_minutes(world: World, later_s: float, opens: bool):
    secret = world.access.issue_secret().text
    world.monotonic_s += later_s
    assert (world.access.sign_in(secret, "Browser") is not None) is opens


def test_a_clock_that_is_set_back_makes_no_secret_valid_for_longer(world: World):
    secret = world.access.issue_secret().text
    world.now_ms -= SESSION_IDLE_MS
    world.monotonic_s += SECRET_VALID_S
    assert world.access.sign_in(secret, "Browser") is None


def test_secrets_and_tokens_are_compared_in_constant_time(world: World, monkeypatch: pytest.MonkeyPatch):
    compared: list[object] = []

    def compare(left: object, right: object) -> bool:
        compared.append(left)
        return left == right

    monkeypatch.setattr(hmac, "compare_digest", compare)
    texts = [world.access.issue_secret().text for _ in range(3)]
    token = world.access.sign_in(texts[0], "Browser")
    assert token
    assert len(compared) == 3
    assert world.access.session_of(token)
    assert len(compared) == 4


def test_open_secrets_and_sessions_are_bounded(world: World):
    secrets = [world.access.issue_secret().text for _ in range(SECRETS_MAX + 1)]
    assert world.access.sign_in(secrets[0], "Browser") is None
    tokens = [world.begin() for _ in range(SESSIONS_MAX + 1)]
    assert world.access.session_of(tokens[0]) is None
    assert world.access.session_of(tokens[-1])
    assert len(world.access.sessions()) == SESSIONS_MAX


def test_a_session_ends_after_thirty_days_without_use(world: World):
    used, idle = world.begin(), world.begin()
    for _ in range(2):
        world.now_ms += SESSION_IDLE_MS - 1
        assert world.access.session_of(used)
    assert world.access.session_of(idle) is None


def test_sessions_are_ended_by_name_and_all_at_once(world: World):
    tokens = [world.begin() for _ in range(3)]
    first = world.access.session_of(tokens[0])
    assert first is not None
    assert world.access.end_session(first.id) == first
    assert world.access.end_session(first.id) is None
    assert [world.access.session_of(token) is None for token in tokens] == [True, False, False]
    assert len(world.access.end_all_sessions()) == 2
    assert world.access.sessions() == []


def test_what_a_browser_says_of_itself_is_cut(world: World):
    world.access.sign_in(world.access.issue_secret().text, "x" * 5000)
    assert [len(session.browser) for session in world.access.sessions()] == [80]


def test_sessions_of_the_last_start_go_on(world: World):
    token = world.begin()
    kept: list[Session] = world.access.sessions()
    other = World()
    other.access.take_over(kept)
    assert other.access.session_of(token)
