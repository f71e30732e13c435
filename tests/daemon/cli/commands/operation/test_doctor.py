"""What `placet doctor` and `placet compact` find and say.

Never starts a daemon: answers are scripted.
"""

import os
from pathlib import Path

import pytest

from daemon.cli.commands.operation import status
from daemon.folder_lock import unsafe_folder_sentence
from daemon.paths import UnsafeFolder
from tests.daemon.cli import examples
from tests.daemon.cli.fake_control import FakeControl
from tests.support.commands import Placet
from tests.support.systemd import put_systemctl


def test_paths_and_version_need_no_daemon(placet: Placet, home: Path):
    assert placet("paths", "--json").json["socket"] == str(home / "control.sock")
    assert placet("version").out == placet("--version").out
    assert placet("version", "--json").json == {"version": placet("version", "--plain").out.strip()}


def test_doctor_names_what_is_wrong_and_the_remedy(placet: Placet, home: Path):
    home.chmod(0o755)
    result = placet("doctor")
    assert result.status == 1
    assert f"chmod 700 {home}" in result.out
    assert "placet up" in result.out


def test_doctor_names_a_folder_of_another_user(home: Path, monkeypatch: pytest.MonkeyPatch):
    assert status._folder(str(home)).well
    monkeypatch.setattr(os, "geteuid", lambda: home.stat().st_uid + 1)
    result = status._folder(str(home))
    assert (result.well, result.found) == (
        False,
        f"{home} belongs to another user (uid {home.stat().st_uid})",
    )
    assert "PLACET_HOME" in result.remedy


def test_doctor_is_content_with_a_daemon_that_answers(placet: Placet, home: Path, control: FakeControl):
    control.answers("GET /v1/status", examples.STATUS)
    control.answers("GET /v1/checks", [examples.CHECK])
    result = placet("doctor", "--json")
    assert result.status == 0
    assert all(check["well"] for check in result.json)
    assert examples.CHECK in result.json


def test_doctor_tells_what_the_daemon_finds_wrong(placet: Placet, home: Path, control: FakeControl):
    control.answers("GET /v1/status", examples.STATUS)
    fields = {"name": "disk", "well": False, "found": "only 3 MiB are free", "remedy": "free some space"}
    control.answers("GET /v1/checks", [fields])
    result = placet("doctor")
    assert result.status == 1
    assert "only 3 MiB are free" in result.out
    assert "    free some space" in result.out


def test_doctor_breaks_its_lines_where_the_terminal_ends(placet: Placet, home: Path, control: FakeControl):
    control.answers("GET /v1/status", examples.STATUS)
    text = "; ".join(f"[2001:db8:1:2:3:4:5:{number}]:40123: No route to host" for number in range(6))
    remedy = "see to the network here, and there, and to whatever is between the two of them, at any length"
    fields = {"name": "devices", "well": False, "found": f"phone is away: {text}", "remedy": remedy}
    control.answers("GET /v1/checks", [fields])
    out = placet("doctor", COLUMNS="80").out
    # Another finding names the folder of the test, which is one word of any length.
    lines = [line for line in out.splitlines() if str(home) not in line]
    assert max(map(len, lines)) <= 80
    answer = " ".join(out.split())
    assert f"phone is away: {text}" in answer
    assert remedy in answer


def test_doctor_says_that_a_daemon_does_not_answer_for_itself(placet: Placet, control: FakeControl):
    control.answers("GET /v1/status", examples.STATUS)
    control.refuses("GET /v1/checks", 500, "failed", "the daemon met a bug")
    result = placet("doctor")
    assert result.status == 1
    assert "met a bug" in result.out


def test_doctor_tells_a_refusal_in_the_persons_language(placet: Placet, control: FakeControl):
    refusal = {"id": "no-longer-member", "hint_id": "begin-anew", "params": {}}
    control.refuses("GET /v1/status", 403, "forbidden", "in English", "do it in English", **refusal)
    control.answers("GET /v1/status", examples.STATUS)
    control.refuses("GET /v1/checks", 403, "forbidden", "in English", "do it in English", **refusal)
    for _ in range(2):
        out = " ".join(placet("doctor", PLACET_LANGUAGE="de").out.split())
        assert "English" not in out
        assert "dieses Gerät gehört seinem Verbund nicht mehr an" in out
        assert "placet devices leave" in out


def test_a_folder_that_no_service_can_use_is_refused_in_the_persons_language(placet: Placet, home: Path):
    shared = home / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    put_systemctl(home)
    path = f"{home}:{os.environ['PATH']}"
    result = placet("service", "install", PLACET_HOME=str(shared), PLACET_LANGUAGE="de", PATH=path)
    assert result.status == 7
    assert f"{shared} ist für andere Benutzer offen (Modus 1777)" in result.err
    fault = UnsafeFolder(str(shared), 0o1777)
    assert placet("service", "install", PLACET_HOME=str(shared), PATH=path).err == f"placet: {fault}\n"


@pytest.mark.parametrize("fault", [UnsafeFolder("/x", 0o1777), UnsafeFolder("/x", 0o755, 1001)])
def test_what_a_fault_of_a_folder_names_is_the_sentence_about_it(fault: UnsafeFolder):
    written = unsafe_folder_sentence(fault)
    assert (written.id, written.params, written.text) == (fault.sentence_id, fault.params, str(fault))


def test_compact_says_what_it_freed(placet: Placet, control: FakeControl):
    freed = {"older_than_days": 30, "commits": 2, "values": 1300, "bytes": 5 << 20}
    control.answers("POST /v1/compact", freed)
    assert placet("compact", "--older-than", "30").out == "✓ Freed 5.0 MiB: 1 300 values in 2 commits\n"
    assert control.requests[-1].body == {"older_than_days": 30}
    would = placet("compact", "--dry-run", "--older-than", "30")
    assert would.out.startswith("✓ Would free 5.0 MiB")
    assert control.requests[-1].body == {"older_than_days": 30, "dry_run": True}
    assert placet("compact", "--plain").out.splitlines()[0] == "older_than_days\t30"
    assert placet("compact", "--json").json == freed
    assert placet("compact", "--older-than", "0").status == 2


def test_compact_says_that_it_freed_nothing(placet: Placet, control: FakeControl):
    freed = {"older_than_days": 30, "commits": 0, "values": 0, "bytes": 0, "unheard": ["phone\a"]}
    control.answers("POST /v1/compact", freed)
    lines = placet("compact").out.splitlines()
    assert lines[0].startswith("Nothing to drop")
    assert lines[1].endswith(r": phone\x07")


def test_compact_says_for_whom_it_keeps_nothing(placet: Placet, control: FakeControl):
    freed = {"older_than_days": 30, "commits": 2, "values": 3, "bytes": 1 << 20, "members_left_out": 1300}
    for answer in (freed, freed | {"values": 0}):
        control.answers("POST /v1/compact", answer)
        assert placet("compact").out.splitlines()[-1] == (
            "Nothing is kept for 1 300 devices that are left out: placet devices"
        )


def test_a_setting_for_up_needs_a_value(placet: Placet):
    result = placet("up", "--set", "listen.port")
    assert result.status == 2
    assert "'listen.port' is not KEY=VALUE" in result.err
