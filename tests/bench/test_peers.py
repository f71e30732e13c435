"""The table of `make bench-peers`, on a machine that lacks everything.

Never installs or measures anything: no test does.
"""

import json
import os
from pathlib import Path

import pytest

from bench.peers import __main__ as running
from bench.peers import installing, scripted
from bench.peers.outcome import Outcome, Unavailable
from bench.table import Absent, Figure, show


@pytest.fixture
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Take away every program; return a folder with nothing in it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_a_machine_without_node_is_told_what_it_lacks(bare_machine: Path):
    with pytest.raises(Unavailable, match="there is no apt-get here"):
        installing.node()


def test_a_machine_without_packages_is_told_what_it_lacks(bare_machine: Path):
    with pytest.raises(Unavailable, match="there is no apt-get here"):
        installing.syncthing(bare_machine)


def test_a_peer_that_cannot_be_had_is_a_row_of_the_table_and_no_crash(
    bare_machine: Path, capsys: pytest.CaptureFixture[str]
):
    scripts = [peer for name, peer in running.PEERS.items() if name != "syncthing"]
    show(list(running.measured(scripts)), bare_machine / "peers.json")
    rows = capsys.readouterr().out.splitlines()[1:]
    assert len(rows) == len(scripts)
    assert all("not available: there is no" in row for row in rows)
    assert json.loads((bare_machine / "peers.json").read_text())[0]["not_available"]


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo working; exec sleep 60", "did not end within"),
        ("echo 'Error: no such port' >&2; echo at a line >&2; exit 3", "ended with 3: Error: no such port"),
        ("echo nothing of use", "printed no outcome: nothing of use"),
    ],
)
def test_a_peer_that_fails_says_how(script: str, reason: str):
    with pytest.raises(Unavailable, match=reason):
        scripted.outcome_of(["/bin/sh", "-c", script], 1.0)


def test_nothing_that_a_peer_started_outlives_it(tmp_path: Path):
    line = tmp_path / "line"
    os.mkfifo(line)
    reading = os.open(line, os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(Unavailable):
        scripted.outcome_of(["/bin/sh", "-c", f"(echo up; exec sleep 600) > {line} & wait"], 0.5)
    os.set_blocking(reading, True)
    with os.fdopen(reading) as file:
        assert file.read() == "up\n"  # which ends once nobody has the other end open


def test_ours_is_held_against_a_peer_by_rate_and_by_latency():
    ours, theirs = Outcome(1000, 1.0, [4.0] * 10), Outcome(100, 1.0, [2.0] * 10)
    figures = list(running.figures(running.PEERS["pouchdb-http"], ours, theirs))
    assert [figure.ratio for figure in figures] == [10, 2, 2, 2]
    assert all(isinstance(figure, Figure | Absent) for figure in figures)
