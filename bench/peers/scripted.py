"""Runs a peer that is a script for node: `NAME.mjs` beside this file, which prints its outcome as JSON.

Never leaves it running, nor what it started: it has a session of its own, which is ended whole.
"""

import os
import signal
import subprocess
import tempfile

import msgspec

from bench.peers.installing import HERE
from bench.peers.outcome import Outcome, Unavailable

LIMIT_S = 150.0


def measured(name: str, node: str) -> Outcome:
    """Return what the script measured."""
    return outcome_of([node, str(HERE / f"{name}.mjs")], LIMIT_S)


def outcome_of(command: list[str], limit_s: float) -> Outcome:
    """Run a program that prints its outcome, in a folder for temporary files of its own."""
    with (
        tempfile.TemporaryDirectory(prefix="placet-peers-") as folder,
        subprocess.Popen(
            command,
            env=os.environ | {"TMPDIR": folder},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as peer,
    ):
        try:
            raw, complained = peer.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            raise Unavailable(f"it did not end within {limit_s:g} s") from None
        finally:
            end(peer)
    if peer.returncode != 0:
        raise Unavailable(f"it ended with {peer.returncode}: {_last(complained)}")
    try:
        return msgspec.json.decode(raw, type=Outcome)
    except msgspec.DecodeError:
        raise Unavailable(f"it printed no outcome: {_last(raw)}") from None


def end(peer: subprocess.Popen[bytes]) -> None:
    """End a program that leads a session, and its children, of which none outlives it."""
    try:
        os.killpg(peer.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # all have ended by themselves
    peer.wait()


def _last(printed: bytes) -> str:
    """Return the line that says what went wrong, or the last one."""
    lines = [line.strip() for line in printed.decode("utf-8", "replace").splitlines() if line.strip()]
    errors = [line for line in lines if "Error" in line]
    return (errors or lines or ["it said nothing"])[-1][:120]
