"""Replacing a file as a whole, also if the writer fails or is killed half-way.

Never mocks the file system: every test writes real files.
"""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from daemon.files import Durability, replace_file, replacement
from tests.support.patience import LIMIT_S


def test_a_replaced_file_has_the_new_content_and_nothing_is_left_beside_it(tmp_path: Path):
    file = tmp_path / "settings"
    file.write_bytes(b"old")
    replace_file(file, b"new")
    assert file.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("durability", Durability)
def test_a_new_file_belongs_to_its_owner_alone(tmp_path: Path, durability: Durability):
    replace_file(tmp_path / "key", b"secret", durability=durability)
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600


def test_a_wider_mode_is_narrowed_by_the_umask(tmp_path: Path):
    before = os.umask(0o027)
    try:
        replace_file(tmp_path / "unit", b"", mode=0o666)
    finally:
        os.umask(before)
    assert (tmp_path / "unit").stat().st_mode & 0o777 == 0o640


def _write_half(file: Path) -> None:
    with replacement(file) as opened:
        opened.write(b"half of it")
        raise KeyboardInterrupt


def test_a_writer_that_fails_leaves_the_old_file_and_no_other(tmp_path: Path):
    file = tmp_path / "journal"
    file.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt):
        _write_half(file)
    assert file.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [file]


def test_what_others_put_under_a_name_that_can_be_guessed_is_neither_written_to_nor_in_the_way(
    tmp_path: Path,
):
    victim = tmp_path / "identity.pem"
    victim.write_bytes(b"a private key")
    for kind, plant in {
        "link": lambda path: path.symlink_to(victim),
        "hard link": lambda path: path.hardlink_to(victim),
        "pipe": os.mkfifo,
        "socket": lambda path: os.mknod(path, stat.S_IFSOCK | 0o600),
        "folder": Path.mkdir,
    }.items():
        folder = tmp_path / kind
        folder.mkdir()
        plant(folder / f".journal.{os.getpid()}.part")
        replace_file(folder / "journal", b"new")
        assert (folder / "journal").read_bytes() == b"new", kind
        assert victim.read_bytes() == b"a private key", kind


def test_what_a_killed_writer_left_goes_with_the_next_write(tmp_path: Path):
    file = tmp_path / "identity.pem"
    program = (
        "import os, signal, sys\nfrom daemon.files import replacement\n"
        "with replacement(sys.argv[1]) as opened:\n"
        "    opened.write(b'a private key'); opened.flush(); os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run(
        [sys.executable, "-c", program, file], check=False, timeout=LIMIT_S, cwd=Path(__file__).parents[2]
    )
    assert not file.exists()
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"a private key"]
    replace_file(file, b"another key")
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_that_another_process_is_writing_is_no_leftover(tmp_path: Path):
    file = tmp_path / "export"
    program = (
        "import sys\nfrom daemon.files import replacement\n"
        "with replacement(sys.argv[1]) as opened:\n"
        "    opened.write(b'theirs'); print('ready', flush=True); sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, file],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"ready\n"
        replace_file(file, b"ours")
        assert file.read_bytes() == b"ours"
        other.communicate(timeout=LIMIT_S)
    assert other.returncode == 0
    assert file.read_bytes() == b"theirs"


def test_a_link_is_replaced_and_not_followed(tmp_path: Path):
    (tmp_path / "elsewhere").write_bytes(b"theirs")
    (tmp_path / "identity.pem").symlink_to(tmp_path / "elsewhere")
    replace_file(tmp_path / "identity.pem", b"ours")
    assert (tmp_path / "elsewhere").read_bytes() == b"theirs"
    assert not (tmp_path / "identity.pem").is_symlink()


def test_a_folder_that_is_not_there_is_the_callers_error(tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        replace_file(tmp_path / "missing" / "file", b"")
