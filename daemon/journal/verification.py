"""Whether the journal is whole: the use case of every face, on one snapshot, while others write.

Never repairs anything. A daemon never checks in its own process: it would answer nobody else meanwhile.
"""

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from daemon.refusal import RefusalCode, Refused
from store.file.errors import StoreError
from store.sentence import sentence, sentence_fields, sentence_of_answer
from store.upkeep import backup, verification
from store.upkeep.progress import ReportProgress

_NICENESS: Final = 10
_PROGRESS, _VERIFIED, _FAULT = "progress", "verified", "fault"
LINE_BYTES_MAX: Final = 1 << 20
"""So much at most says what was found: a hundred findings, each with what was seen there."""


class Verified(Struct, frozen=True):
    """What was checked, and the first findings: each with `what`, `where` and `remedy`, as sentences."""

    sound: bool
    commits: int
    signatures: int
    entities: int
    findings: list[dict[str, Any]]
    more: int


class CheckProgress(Struct, frozen=True):
    """How far a check is: its stage in plain English, the position there, and its end, 0 if not known."""

    stage: str
    position: int
    end: int


def verify_database(database: Path, report: ReportProgress) -> Verified:
    """Check a database against everything that is computed from its log. Raises StoreError."""
    with backup.open_snapshot(database) as snapshot:
        result = verification.verify_store(snapshot, report)
    return Verified(
        sound=result.is_sound,
        commits=result.commits,
        signatures=result.signatures,
        entities=result.entities,
        findings=[finding_fields(finding) for finding in result.findings],
        more=result.more,
    )


def finding_fields(finding: verification.VerificationFinding) -> dict[str, Any]:
    """Return what was found, where, and the remedy: each as an English text, with its id and parameters."""
    fields: dict[str, Any] = {}
    for name, part in finding._asdict().items():
        fields |= sentence_fields(name, part)
    return fields


async def verify_apart(database: Path, report: Callable[[CheckProgress], None]) -> Verified:
    """Check a database in a process of its own, which ends with the caller. Raises Refused if it cannot."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        # Not from the folder in which the daemon happens to run.
        "-P",
        "-m",
        __name__,
        str(database),
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=DEVNULL,
        limit=LINE_BYTES_MAX,
    )
    try:
        return await _follow(process, report)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _follow(process: Process, report: Callable[[CheckProgress], None]) -> Verified:
    assert process.stdout is not None
    async for line in process.stdout:
        kind, _space, fields = line.decode().partition(" ")
        if kind == _PROGRESS:
            report(msgspec.json.decode(fields, type=CheckProgress))
        elif kind == _VERIFIED:
            return msgspec.json.decode(fields, type=Verified)
        else:
            fault = msgspec.json.decode(fields)
            text = sentence_of_answer(fault["fault"], fault["fault_id"], fault["fault_params"])
            raise Refused(RefusalCode.FAILED, text)
    raise Refused(
        RefusalCode.FAILED,
        sentence("check-ended", "the check ended before it was through"),
        sentence("check-by-command", "run it in a terminal: placet verify"),
    )


def main(database: str) -> None:
    """Check a database, and write how far it is and what came of it: a line each, for `verify_apart`."""
    try:
        os.nice(_NICENESS)
    except OSError:
        # A sandbox may forbid it: the check then only is in the way of others.
        pass
    try:
        _write(_VERIFIED, verify_database(Path(database), _report))
    except StoreError as fault:
        _write(_FAULT, sentence_fields("fault", fault.sentence))


def _report(stage: str, position: int, end: int) -> None:
    _write(_PROGRESS, CheckProgress(stage, position, end))


def _write(kind: str, fields: object) -> None:
    # If the daemon is gone, nobody reads: the error ends this process.
    sys.stdout.write(f"{kind} {msgspec.json.encode(fields).decode()}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
