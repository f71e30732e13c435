"""Bundles on the command line: which file and device are asked for, and how the outcome is shown.

Never writes a bundle: the answers are scripted.
"""

from pathlib import Path

import pytest

from tests.daemon.cli.fake_control import FakeControl
from tests.support.commands import Placet

WRITTEN = {"file": "/stick/b\x1b[2J", "bytes": 1025, "blobs": 2, "devices": ["desk", "phone"]}


def answer_read(control: FakeControl, **counts: int) -> None:
    parts = {"blobs": 3, "taken": 1, "gaps": 0, "sealed": 0, "refused": 0} | counts
    control.answers("POST /v1/bundles/read", {"file": "/stick/b", **parts})


@pytest.mark.parametrize(("words", "device"), [((), None), (("--for", "phone"), "phone")])
def test_a_bundle_is_written_where_the_caller_is_for_all_or_for_one(
    placet: Placet, control: FakeControl, words: tuple[str, ...], device: str | None
) -> None:
    control.answers("POST /v1/bundles", WRITTEN)
    result = placet("bundle", "write", "some/../b", *words)
    assert result.status == 0, result
    (request,) = control.requests
    assert request.body == {"file": str(Path.cwd() / "b"), "device": device}


def test_what_was_written_is_shown_with_its_size_and_readers(placet: Placet, control: FakeControl) -> None:
    control.answers("POST /v1/bundles", WRITTEN)
    out = placet("bundle", "write", "b").out
    assert "2 KiB, for desk, phone" in out
    assert "\x1b[2J" not in out
    assert "bytes\t1025\n" in placet("bundle", "write", "b", "--plain").out


def test_what_was_read_is_shown_and_what_was_of_no_use(placet: Placet, control: FakeControl) -> None:
    answer_read(control)
    assert placet("bundle", "read", "b").out.splitlines() == ["✓ 1 part brought something new"]
    control.forgets("POST /v1/bundles/read")
    answer_read(control, taken=2, gaps=1, sealed=1, refused=1)
    out = placet("bundle", "read", "b").out
    assert "2 parts brought something new" in out
    assert "1 part rests on what is not here yet" in out
    assert "2 parts are not for this device" in out
    assert "gaps\t1\n" in placet("bundle", "read", "b", "--plain").out


def test_the_home_folder_is_put_in_and_a_refusal_is_told(
    placet: Placet, control: FakeControl, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    control.refuses("POST /v1/bundles/read", 422, "usage", "~ cannot be used: it is no regular file")
    result = placet("bundle", "read", "~/b")
    assert "it is no regular file" in result.err
    assert result.status != 0
    (request,) = control.requests
    assert request.body == {"file": str(tmp_path / "b")}
