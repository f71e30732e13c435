"""The daemon as a process: how it begins, what keeps it from beginning, how it ends.

Never waits for time to pass: the daemon says when it is ready, and a process that ends is waited for.
"""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from daemon import sd_notify
from store.file.database import SchemaRule, connect
from tests.support.patience import LIMIT_S
from tests.support.starts import processes

pytestmark = pytest.mark.e2e

CANARY = "Geheimnisvolle Zimtschnecke"


class Process:
    """A daemon in a folder of its own, and the socket on which it says how it stands."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self._channel = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._channel.settimeout(LIMIT_S)
        # An abstract address: the path of a temporary folder may be too long.
        self._channel.bind("")
        name = self._channel.getsockname()
        self._address = "@" + name[1:].decode()
        self._running: list[subprocess.Popen[bytes]] = []

    def launch(self, stderr: int | None = None, /, **environment: str) -> subprocess.Popen[bytes]:
        inherited = {key: value for key, value in os.environ.items() if not key.startswith("PLACET_")}
        fields = {
            "PLACET_HOME": str(self.home),
            "PLACET_LISTEN_HOST": "127.0.0.1",
            "PLACET_MDNS_ENABLED": "false",
            "NOTIFY_SOCKET": self._address,
        }
        process = processes.Popen(
            [sys.executable, "-m", "daemon", "up"],
            env=inherited | fields | environment,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE if stderr is None else stderr,
        )
        self._running.append(process)
        return process

    def start(self, **environment: str) -> subprocess.Popen[bytes]:
        process = self.launch(**environment)
        assert self.told() == sd_notify.READY
        return process

    def told(self) -> str:
        return self._channel.recv(256).decode()

    def failed(self, **environment: str) -> tuple[int, str]:
        """Launch a daemon that must not begin; return its exit status and its last words."""
        process = self.launch(**environment)
        _, words = process.communicate(timeout=LIMIT_S)
        assert b"Traceback" not in words, words
        (line,) = words.decode().splitlines()
        assert line.startswith("placet: ")
        return process.returncode, line

    def stop(self, process: subprocess.Popen[bytes], number: int = signal.SIGTERM) -> tuple[int, str]:
        process.send_signal(number)
        _, words = process.communicate(timeout=LIMIT_S)
        return process.returncode, words.decode()

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        with self.called(method, path, body) as connection, connection.makefile("rb") as answer:
            return json.loads(answer.read().partition(b"\r\n\r\n")[2])

    def called(self, method: str, path: str, body: Any = None) -> socket.socket:
        """Send a request; the answer ends with the stream."""
        raw = b"" if body is None else json.dumps(body).encode()
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(LIMIT_S)
        connection.connect(str(self.home / "control.sock"))
        head = f"{method} {path} HTTP/1.0\r\nHost: placet\r\nContent-Length: {len(raw)}\r\n\r\n"
        connection.sendall(head.encode() + raw)
        return connection

    def end(self) -> None:
        for process in self._running:
            process.kill()
            process.wait()
            if process.stderr is not None:
                process.stderr.close()
        self._channel.close()


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Process]:
    process = Process(tmp_path)
    yield process
    process.end()


def test_it_says_that_it_is_ready_when_it_answers_and_ends_on_sigterm(daemon: Process):
    process = daemon.start()
    assert daemon.ask("GET", "/healthz")["status"] == "ok"
    status, words = daemon.stop(process)
    assert status == 0
    assert "stopped" in words
    assert daemon.told() == sd_notify.STOPPING
    assert not (daemon.home / "control.sock").exists()


def test_it_ends_on_an_interrupt_from_the_keyboard(daemon: Process):
    status, words = daemon.stop(daemon.start(), signal.SIGINT)
    assert (status, "Traceback" in words) == (0, False)


def reload(daemon: Process, process: subprocess.Popen[bytes], settings: str) -> None:
    (daemon.home / "config.toml").write_text(settings)
    process.send_signal(signal.SIGHUP)


def test_on_a_hangup_it_goes_on_with_the_settings_as_they_are_now_and_says_what_stays(daemon: Process):
    process = daemon.start(PLACET_MDNS_ENABLED="false", PLACET_MODEL_KEY="sk-Kanarienvogel")
    daemon.ask("POST", "/v1/tasks", {"title": "Before"})
    reload(daemon, process, "[disk]\nfloor_mib = 1000000000\n")
    assert daemon.told().startswith("RELOADING=1\nMONOTONIC_USEC=")
    assert daemon.told() == sd_notify.READY
    assert "below the floor" in daemon.ask("POST", "/v1/tasks", {"title": "Refused"})["error"]["message"]
    assert [task["title"] for task in daemon.ask("GET", "/v1/tasks")] == ["Before"]
    status, words = daemon.stop(process)
    (line,) = [line for line in words.splitlines() if "read again" in line]
    assert (status, "changed=disk.floor_mib" in line) == (0, True), line
    assert 'fixed_at_start="listen.host mdns.enabled model_key"' in line
    assert "Kanarienvogel" not in words


@pytest.mark.parametrize("settings", ["[disk", "[model]\nkind = 'openai'\n", "[disk]\nfloor = 1\n"])
def test_settings_that_cannot_be_used_stop_nothing(daemon: Process, settings: str):
    process = daemon.start()
    reload(daemon, process, settings)
    assert process.stderr is not None
    while b"those before count" not in (line := process.stderr.readline()):
        assert line
    assert daemon.ask("GET", "/healthz")["status"] == "ok"
    assert daemon.stop(process)[0] == 0


def test_a_port_that_is_taken_brings_the_settings_from_before_back(daemon: Process):
    process = daemon.start()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        reload(daemon, process, f"[listen]\nport = {taken.getsockname()[1]}\n")
        assert daemon.told().startswith("RELOADING=1")
        assert daemon.told() == sd_notify.READY
    assert daemon.ask("GET", "/healthz")["status"] == "ok"
    status, words = daemon.stop(process)
    assert (status, "cannot listen" in words, "those before count" in words) == (0, True, True)


def test_a_terminal_that_is_closed_ends_it(daemon: Process):
    master, slave = os.openpty()
    process = daemon.launch(slave)
    assert daemon.told() == sd_notify.READY
    process.send_signal(signal.SIGHUP)
    assert process.wait(LIMIT_S) == 0
    assert daemon.told() == sd_notify.STOPPING
    os.close(master)
    os.close(slave)


def test_the_first_commit_is_the_device_and_a_restart_adds_nothing(daemon: Process):
    process = daemon.start(PLACET_DEVICE_NAME="laptop")
    first = daemon.ask("GET", "/v1/status")
    assert (first["name"], first["commits"], first["peers"]) == ("laptop", 1, [])
    (change, *_) = daemon.ask("GET", "/v1/log?after=0&limit=1")
    assert (change["by"], change["kind"]) == ("system", "device")
    daemon.stop(process)
    assert daemon.told() == sd_notify.STOPPING
    daemon.start(PLACET_DEVICE_NAME="laptop")
    again = daemon.ask("GET", "/v1/status")
    assert {key: again[key] for key in ("device_id", "replica", "vector", "state_hash")} == {
        key: first[key] for key in ("device_id", "replica", "vector", "state_hash")
    }


def test_what_was_written_is_there_after_a_restart(daemon: Process):
    process = daemon.start()
    task = daemon.ask("POST", "/v1/tasks", {"title": "Kept"})
    daemon.stop(process)
    assert daemon.told() == sd_notify.STOPPING
    daemon.start()
    assert daemon.ask("GET", f"/v1/tasks/{task['id']}") == task


def test_it_ends_in_time_while_a_client_listens_to_events(daemon: Process):
    process = daemon.start()
    with daemon.called("GET", "/v1/events") as listening:
        assert listening.recv(1024)
        assert daemon.stop(process)[0] == 0


def test_it_ends_in_time_in_the_middle_of_a_long_import_and_keeps_no_half_of_a_task(daemon: Process):
    process = daemon.start()
    text = "".join(f"# Task {n}\n\n- [ ] one\n- [ ] two\n\nwords\n\n" for n in range(30_000))
    with daemon.called("POST", "/v1/import", {"format": "markdown", "name": "long.md", "text": text}):
        assert daemon.stop(process)[0] == 0
    assert daemon.told() == sd_notify.STOPPING
    daemon.start()
    remaining = daemon.ask("GET", "/v1/tasks?brief=1")
    assert all(element["checklist_progress"] == {"completed": 0, "total": 2} for element in remaining)


def test_an_import_that_the_end_cut_off_between_its_parts_is_finished_by_the_next(daemon: Process):
    # Far more than is taken in the time that the daemon has for its end.
    count = 20_000
    process = daemon.start()
    text = "".join(f"# Task {n}\n\n- [ ] one\n\n{'words ' * 9}\n\n" for n in range(count))
    request = {"format": "markdown", "name": "long.md", "text": text}
    with daemon.called("GET", "/v1/events") as listening, daemon.called("POST", "/v1/import", request):
        raw = b""
        while b"event:" not in raw:
            raw += listening.recv(1 << 16)
        status, words = daemon.stop(process)
    assert (status, "stopped" in words, "cut off" in words) == (0, True, False)
    assert daemon.told() == sd_notify.STOPPING
    daemon.start()
    rest = daemon.ask("POST", "/v1/import", request | {"dry_run": True})
    assert rest["tasks"] > 0
    assert rest["unchanged"] > 0
    assert rest["updated"] == 0
    assert rest["tasks"] + rest["unchanged"] == count


def test_files_and_folders_are_the_users_alone(daemon: Process):
    daemon.start()
    daemon.ask("POST", "/v1/tasks", {"title": "Private"})
    modes = {entry.name: stat.S_IMODE(entry.stat().st_mode) for entry in daemon.home.iterdir()}
    assert {"placet.db", "placet.db-wal", "identity.pem", "control.sock", "daemon.lock"} <= set(modes)
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(daemon.home.stat().st_mode) == 0o700


def test_a_second_daemon_on_the_same_folder_ends_with_one_line_and_leaves_the_first_alone(daemon: Process):
    first = daemon.start()
    status, line = daemon.failed()
    assert status == 1
    assert f"process {first.pid}" in line
    assert daemon.ask("GET", "/healthz")["status"] == "ok"


def test_a_killed_daemon_leaves_nothing_in_the_way_of_the_next(daemon: Process):
    process = daemon.start()
    process.kill()
    process.communicate()
    assert (daemon.home / "control.sock").exists()
    daemon.start()
    assert daemon.ask("GET", "/healthz")["status"] == "ok"


def test_a_daemon_with_data_elsewhere_does_not_take_anothers_socket(daemon: Process, tmp_path: Path):
    folders = {
        "PLACET_HOME": "",
        "XDG_CONFIG_HOME": str(tmp_path / "c"),
        "XDG_RUNTIME_DIR": str(tmp_path / "r"),
    }
    daemon.start(**folders, XDG_DATA_HOME=str(tmp_path / "d1"))
    process = daemon.launch(**folders, XDG_DATA_HOME=str(tmp_path / "d2"))
    _, words = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 1
    assert "Address already in use" in words.decode()


def test_a_damaged_database_is_one_line(daemon: Process):
    daemon.stop(daemon.start())
    assert daemon.told() == sd_notify.STOPPING
    (daemon.home / "placet.db").write_bytes(b"not a database" * 1000)
    status, line = daemon.failed()
    assert (status, "placet.db" in line) == (1, True)


def test_a_database_of_a_newer_version_is_one_line_and_is_left_alone(daemon: Process):
    daemon.stop(daemon.start())
    assert daemon.told() == sd_notify.STOPPING
    with closing(connect(daemon.home / "placet.db", SchemaRule.KNOWN)) as database:
        database.execute("INSERT INTO migration VALUES (9999)")
    status, line = daemon.failed()
    assert (status, "newer version" in line) == (1, True)


def test_a_database_whose_key_is_gone_is_not_given_a_new_one(daemon: Process):
    daemon.stop(daemon.start())
    assert daemon.told() == sd_notify.STOPPING
    (daemon.home / "identity.pem").unlink()
    status, line = daemon.failed()
    assert (status, "identity.pem" in line) == (1, True)
    assert not (daemon.home / "identity.pem").exists()


@pytest.mark.parametrize(
    ("setting", "value", "status", "words"),
    [
        ("PLACET_LISTEN_PRT", "1", 2, "PLACET_LISTEN_PORT"),
        ("PLACET_LISTEN_PORT", "many", 2, "'many'"),
        ("PLACET_MODEL_KIND", "openai", 2, "model.base_url"),
        ("PLACET_PEERS_STATIC", "nowhere", 2, "nowhere"),
        ("PLACET_LISTEN_HOST", "256.256.256.256", 2, "listen.host: '256.256.256.256' is no IP address"),
        ("PLACET_LISTEN_HOST", "localhost", 2, "give another address of this machine"),
        ("PLACET_LISTEN_HOST", "fe80::1%lo", 2, "on one link alone"),
        ("PLACET_LISTEN_HOST", "203.0.113.1", 1, "203.0.113.1"),
    ],
)
def test_a_setting_that_cannot_be_used_is_one_line(daemon: Process, setting, value, status, words):
    count, line = daemon.failed(**{setting: value})
    assert count == status
    assert words in line


def test_a_limit_that_nothing_counts_against_is_refused(daemon: Process):
    remote = {"PLACET_MODEL_KIND": "openai", "PLACET_MODEL_BASE_URL": "http://127.0.0.1:9/v1"}
    status, line = daemon.failed(**remote, PLACET_MODEL_NAME="m", PLACET_BUDGET_COST_PER_DAY="1")
    assert (status, "budget.cost_per_day" in line) == (2, True)
    status, line = daemon.failed(**remote, PLACET_MODEL_NAME="")
    assert (status, "model.name" in line) == (2, True)


def test_a_port_that_is_taken_is_one_line(daemon: Process):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        status, line = daemon.failed(PLACET_LISTEN_PORT=port)
    assert (status, port in line) == (1, True)


def test_the_log_never_holds_words_of_the_journal(daemon: Process):
    process = daemon.start()
    task = daemon.ask("POST", "/v1/tasks", {"title": CANARY})
    daemon.ask("POST", f"/v1/tasks/{task['id']}/entries", {"text": f"{CANARY}, due 2030-01-01"})
    daemon.ask("POST", "/v1/agents", {"task": CANARY})
    daemon.ask("POST", f"/v1/agents/{task['id']}/wake", {"wait": LIMIT_S})
    daemon.ask("GET", f"/v1/tasks/{CANARY.replace(' ', '%20')}%20und%20mehr")
    daemon.ask("POST", "/v1/tasks", {"title": CANARY, "colour": CANARY})
    _, words = daemon.stop(process)
    assert words
    assert CANARY not in words
    assert "Zimt" not in words


def test_nobody_to_tell_is_no_fault(tmp_path: Path):
    assert not sd_notify.notify_systemd(sd_notify.READY, {})
    assert not sd_notify.notify_systemd(sd_notify.READY, {"NOTIFY_SOCKET": str(tmp_path / "nobody")})


def test_a_manager_is_told_by_path_and_by_abstract_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    for address, name in (
        ("notify", "notify"),
        (f"@placet-test-{os.getpid()}", f"\0placet-test-{os.getpid()}"),
    ):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(name)
            assert sd_notify.notify_systemd(sd_notify.READY, {"NOTIFY_SOCKET": address})
            assert manager.recv(64) == b"READY=1"
