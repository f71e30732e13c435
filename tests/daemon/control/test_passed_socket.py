"""What a service manager passes is taken if it is the control socket of this process, and refused otherwise.

Never needs a service manager: `tests/systemd` has a real one.
"""

import os
import socket
from pathlib import Path

import pytest

from daemon.control.health.this_device import check_socket
from daemon.control.passed_socket import UnusableSocket, take_passed_socket
from tests.daemon.control.conftest import Api


def passed(count: str = "1", pid: int | None = None) -> dict[str, str]:
    process = os.getpid() if pid is None else pid
    return {"LISTEN_PID": str(process), "LISTEN_FDS": count, "LISTEN_FDNAMES": "placet.socket", "OTHER": "x"}


def listening(path: Path, mode: int = 0o600, kind: int = socket.SOCK_STREAM) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, kind)
    listener.bind(str(path))
    path.chmod(mode)
    if kind == socket.SOCK_STREAM:
        listener.listen()
    os.set_inheritable(listener.fileno(), True)
    return listener


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where the socket is, by a path that is short enough for the system."""
    monkeypatch.chdir(tmp_path)
    return Path("control.sock")


async def test_a_passed_socket_is_served_and_left_in_place_for_the_next_daemon(
    path: Path, tmp_path: Path
) -> None:
    environment = passed()
    listener = take_passed_socket(path, environment, listening(path).detach())
    assert listener is not None
    assert environment == {"OTHER": "x"}
    assert not os.get_inheritable(listener.fileno())
    api = Api(tmp_path, [])
    await api.start(passed=listener)
    assert (await api.ask("GET", "/v1/tasks")).status == 200
    await api.stop()
    assert os.path.exists(path)  # noqa: ASYNC240, PTH110 - at once


def test_what_was_passed_to_another_process_or_nothing_at_all_is_left_alone(path: Path) -> None:
    with listening(path) as listener:
        for environment in ({}, passed(pid=1), passed("0")):
            assert take_passed_socket(path, environment, listener.fileno()) is None
            assert not {"LISTEN_PID", "LISTEN_FDS"} & set(environment)


def refusal(path: Path, descriptor: int, environment: dict[str, str] | None = None) -> str:
    with pytest.raises(UnusableSocket) as refused:
        take_passed_socket(path, environment or passed(), descriptor)
    assert "placet service install --socket" in refused.value.hint_sentence.text
    return str(refused.value)


def test_any_other_socket_is_refused_with_what_it_is(path: Path) -> None:
    with listening(path) as listener:
        assert "passed 2 sockets" in refusal(path, listener.fileno(), passed("2"))
        assert "commands connect to other.sock" in refusal(Path("other.sock"), listener.fileno())
        path.chmod(0o666)
        assert "open to other users (mode 666" in refusal(path, listener.fileno())
        path.unlink()
        assert "is gone" in refusal(path, listener.fileno())
    with listening(Path("datagrams"), kind=socket.SOCK_DGRAM) as datagrams:
        assert "no Unix socket that listens" in refusal(Path("datagrams"), datagrams.fileno())
    with socket.create_server(("127.0.0.1", 0)) as network:
        assert "no Unix socket that listens" in refusal(path, network.fileno())
    with Path(os.devnull).open() as file:
        assert "no Unix socket that listens" in refusal(path, file.fileno())
    assert "no Unix socket that listens" in refusal(path, 999_999)


def test_doctor_names_a_passed_socket_and_one_that_is_gone(path: Path) -> None:
    assert list(check_socket(None)) == []
    with listening(path):
        assert [(check.code, check.well) for check in check_socket(path)] == [("socket_passed", True)]
    path.unlink()
    assert [(check.code, check.well) for check in check_socket(path)] == [("socket_gone", False)]
