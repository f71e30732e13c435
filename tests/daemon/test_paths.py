"""Where Placet keeps things.

Never touches this user's own folders.
"""

import os
import socket
import stat
from pathlib import Path

import pytest

from daemon.paths import Paths, UnsafeFolder, find_paths, make_folders, short_address


def test_placet_home_holds_everything():
    paths = find_paths({"PLACET_HOME": "/srv/placet", "XDG_DATA_HOME": "/elsewhere"})
    assert {paths.config_file, paths.database, paths.socket} == {
        "/srv/placet/config.toml",
        "/srv/placet/placet.db",
        "/srv/placet/control.sock",
    }


def test_a_relative_home_means_the_same_wherever_one_goes(monkeypatch, tmp_path: Path):
    monkeypatch.chdir(tmp_path)
    assert find_paths({"PLACET_HOME": "one"}).data == str(tmp_path / "one")


def test_xdg_folders_are_used_and_relative_ones_ignored():
    paths = find_paths(
        {"HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_DATA_HOME": "d", "XDG_RUNTIME_DIR": "/run/user/1"}
    )
    assert paths.config == "/c/placet"
    assert paths.data.endswith("/.local/share/placet")
    assert paths.socket == "/run/user/1/placet/control.sock"


def test_folders_are_made_closed_to_others(tmp_path: Path):
    paths = Paths(*(str(tmp_path / "new" / name) for name in ("c", "d", "r")))
    make_folders(paths)
    make_folders(paths)
    for folder in (tmp_path / "new", *map(Path, paths)):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_folder_that_is_too_open_is_closed(tmp_path: Path):
    (tmp_path / "home").mkdir(mode=0o755)
    make_folders(find_paths({"PLACET_HOME": str(tmp_path / "home")}))
    assert stat.S_IMODE((tmp_path / "home").stat().st_mode) == 0o700


def test_a_folder_that_everyone_may_write_into_is_refused_and_left_alone(tmp_path: Path):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    with pytest.raises(UnsafeFolder, match="PLACET_HOME"):
        make_folders(find_paths({"PLACET_HOME": str(shared)}))
    assert stat.S_IMODE(shared.stat().st_mode) == 0o1777


def test_a_folder_of_another_user_is_refused_and_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / "home"
    folder.mkdir(mode=0o755)
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    with pytest.raises(UnsafeFolder, match=r"belongs to another user \(uid \d+\); .* PLACET_HOME"):
        make_folders(find_paths({"PLACET_HOME": str(folder)}))
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755


def test_a_file_in_the_way_is_named(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match="file"):
        make_folders(find_paths({"PLACET_HOME": str(tmp_path / "file")}))


@pytest.mark.parametrize("length", [20, 107, 108, 109, 300, 1000])
def test_listener_and_client_meet_however_long_the_path(length: int, tmp_path: Path):
    folder = tmp_path
    while (missing := length - len(str(folder / "s"))) > 0:
        folder /= "d" * max(1, min(200, missing - 1))
    folder.mkdir(parents=True, exist_ok=True)
    path = str(folder / "s")
    assert len(path) >= min(length, len(str(tmp_path)))
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as client:
        with short_address(path) as address:
            listener.bind(address)
        listener.listen()
        with short_address(path) as address:
            client.connect(address)
    assert Path(path).is_socket()
