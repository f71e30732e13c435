"""The boxes of a relay on the command line: made, changed, listed and removed without any daemon.

Never starts a relay.
"""

import json
from pathlib import Path

from tests.support.commands import Placet


def test_a_box_is_made_with_its_secret_printed_once(placet: Placet, tmp_path: Path) -> None:
    made = json.loads(placet("relay", "add", "home", "--quota", "3", "--json").out)
    assert (made["box"], made["quota_mib"], len(made["secret"])) == ("home", 3, 64)
    assert made["pin"].startswith("sha256=")
    listed = placet("relay", "list", "--plain")
    assert listed.out == "home\t3\t0\n"
    assert made["secret"] not in placet("relay", "list", "--json").out
    assert not any(made["secret"] in file.read_text() for file in (tmp_path / "relay").iterdir())
    assert made["pin"] in placet("relay", "add", "other").out


def test_a_box_is_changed_in_place_and_a_new_secret_is_printed_once(placet: Placet, tmp_path: Path) -> None:
    made = json.loads(placet("relay", "add", "home", "--quota", "3", "--json").out)
    assert json.loads(placet("relay", "change", "home", "--quota", "5", "--json").out) == {
        "box": "home",
        "quota_mib": 5,
    }
    assert placet("relay", "list", "--plain").out == "home\t5\t0\n"
    changed = json.loads(placet("relay", "change", "home", "--new-secret", "--json").out)
    assert (changed["quota_mib"], len(changed["secret"])) == (5, 64)
    assert changed["secret"] != made["secret"]
    assert not any(changed["secret"] in file.read_text() for file in (tmp_path / "relay").iterdir())
    assert "secret" in placet("relay", "change", "home", "--new-secret").out
    nothing = placet("relay", "change", "home")
    assert (nothing.status, "--new-secret" in nothing.err) == (2, True)
    assert placet("relay", "change", "other", "--quota", "5").status == 4


def test_faults_of_boxes_have_words_and_statuses(placet: Placet, tmp_path: Path) -> None:
    assert placet("relay", "add", "../x").status == 2
    assert placet("relay", "remove", "home").status == 4
    assert placet("relay", "add", "home").status == 0
    assert placet("relay", "add", "home").status == 6
    assert placet("relay", "remove", "home").status == 0
    assert placet("relay", "list", "--plain").out == ""
    for damaged in ("no json", "[]", '{"home": {}}', '{"home": {"sha256": "zz", "quota": 1}}'):
        (tmp_path / "relay" / "boxes.json").write_text(damaged)
        assert "boxes cannot be used" in placet("relay", "list").err
        up = placet("relay", "up", "--port", "0")
        assert (up.status, up.err.count("\n")) == (1, 1)


def test_what_contradicts_itself_is_refused(placet: Placet) -> None:
    assert placet("relay", "up", "--unencrypted", "--certificate", "a", "b").status == 2
