"""`placet receipt` and `placet verify-receipt`: a real receipt, with no daemon to check it."""

import json
from pathlib import Path
from typing import Any

import pytest

from daemon.agents.receipts.receipt_builder import make_receipt
from daemon.cli.terminal.display import Display
from daemon.cli.views.proposals.receipts import checked_lines
from syncproto.ids import id_to_text
from tests.daemon.cli.fake_control import FakeControl
from tests.support.commands import Placet
from tests.support.decision_verbs import reject
from tests.support.fleet import Fleet


@pytest.fixture
def receipt(tmp_path: Path) -> dict[str, Any]:
    """A receipt of a proposal that was rejected, for a reason that no terminal should print as it is."""
    fleet = Fleet(tmp_path)
    home = fleet.home("laptop")
    task = home.new("task", title="Renew the passport", status="OPEN")
    item = home.estimate(task, 120)
    reject(home, item, "no\x1b[31m\u202e")
    made: dict[str, Any] = home.read(lambda snapshot: make_receipt(snapshot, item))
    fleet.close()
    assert made["id"] == id_to_text(item)
    return made


def test_a_receipt_is_checked_without_a_daemon(placet: Placet, receipt: dict[str, Any], tmp_path: Path):
    file = tmp_path / "receipt.json"
    file.write_text(json.dumps(receipt), encoding="utf-8")
    result = placet("verify-receipt", str(file))
    assert result.status == 0, result.err
    words = " ".join(result.out.split())
    assert 'update_task_estimate {"minutes": 120}' in words
    assert "rejected Fri 20 Mar 2026" in words
    assert "as far as these signatures show, it is: rejected" in words
    assert "does not show whose devices these are" in words
    assert "\x1b[31m" not in result.out
    assert "\u202e" not in result.out
    assert json.loads(placet("verify-receipt", str(file), "--json").out) == receipt["statement"]


def test_an_altered_receipt_is_refused_in_words(placet: Placet, receipt: dict[str, Any], tmp_path: Path):
    file = tmp_path / "receipt.json"
    receipt["statement"]["args"]["minutes"] = 5
    file.write_text(json.dumps(receipt), encoding="utf-8")
    result = placet("verify-receipt", str(file))
    assert result.status == 6
    assert "proves nothing: it states something else than what was signed" in result.err
    file.write_bytes(b"\xff" * 100)
    assert "it is not JSON" in placet("verify-receipt", str(file)).err
    missing = placet("verify-receipt", str(tmp_path / "none"))
    assert missing.status == 4
    assert "cannot be read" in missing.err


def test_a_receipt_is_printed_or_kept_in_a_private_file(
    placet: Placet, control: FakeControl, receipt: dict[str, Any], tmp_path: Path
):
    control.answers("GET /v1/receipts/3f9a", receipt)
    assert json.loads(placet("receipt", "3f9a").out) == receipt
    file = tmp_path / "kept.json"
    assert placet("receipt", "3f9a", "--output", str(file)).status == 0
    assert json.loads(file.read_text(encoding="utf-8")) == receipt
    assert file.stat().st_mode & 0o777 == 0o600
    refused = placet("receipt", "3f9a", "--output", str(tmp_path / "no" / "kept.json"))
    assert "cannot be written" in refused.err


def test_words_tell_what_the_signatures_show_against_a_yes() -> None:
    """A use that nothing permits, a yes to other arguments, a machine's yes, a rule that was revoked."""
    of_fact = {"at": "2026-03-20T10:00:00Z", "device": "ab" * 32}
    verdict = {"verdict": "confirmed", "counts": False, **of_fact}
    statement: dict[str, Any] = {
        "kind": "ask",
        "action": "run",
        "args": {},
        "args_hash": "11" * 32,
        "status": "pending",
        "verdicts": [
            verdict | {"by": "user", "args_hash": "22" * 32},
            verdict | {"by": "system", "args_hash": "11" * 32},
        ],
        "rules": [{"rule": "33" * 16, "revoked": of_fact, **of_fact}],
        "passkeys": [{"passkey": "44" * 16, "rp_id": "localhost", **of_fact}],
        "uses": [{"permitted": False, **of_fact}],
        **of_fact,
    }
    words = "\n".join(checked_lines(statement, Display(width=80)))
    for part in (
        "(about other arguments, it does not count)",
        "(not by a person, it does not count)",
        "the rule was revoked Fri 20 Mar 2026",
        f"with passkey {'44' * 16}, registered",
        "(nothing here permits this)",
    ):
        assert part in " ".join(words.split()), part
