"""How it is shown that agents cannot reach their model, or have spent what it may cost.

Never asks a daemon.
"""

import pytest
from msgspec import to_builtins

from daemon.agents.running.remote_model import RemoteModelStatus
from daemon.cli.terminal.display import Display
from daemon.cli.views.devices.status import status_rows, status_screen
from daemon.control.health import remote_model
from daemon.shapes.answers import CheckJson
from store.local.model_usage import ModelUsage
from store.sentence import foreign_text
from tests.support.sentences import with_local_times, words_by_id

WELL = RemoteModelStatus(
    "m", "https://models.example/v1", "PLACET_MODEL_KEY", None, None, None, ModelUsage(3, 100, 20)
)
TROUBLED = WELL._replace(fault=foreign_text("the server refused the key (401)\x1b[31m"), since_ms=0)
WAYS = (WELL, WELL._replace(key_source=""), TROUBLED, WELL._replace(spent=foreign_text("it is spent")))


def as_told(standing: RemoteModelStatus) -> CheckJson:
    check: CheckJson = to_builtins(remote_model.model_check(standing))
    return check


@pytest.mark.parametrize("standing", WAYS)
def test_a_finding_is_worded_here_as_the_daemon_worded_it(standing: RemoteModelStatus):
    check = as_told(standing)
    found_words, remedy_words = words_by_id(check, "found", "remedy")
    assert found_words == with_local_times(check["found"])
    assert remedy_words == check["remedy"]


def test_status_has_a_line_only_where_something_is_wrong():
    lines = [line for line in status_screen({"model": as_told(TROUBLED)}, Display()) if "model" in line]
    assert len(lines) == 1
    assert "refused the key" in lines[0]
    assert "\x1b" not in lines[0]
    assert not [line for line in status_screen({"model": None}, Display()) if "model" in line]


def test_for_scripts_it_is_one_value():
    assert ("model", as_told(TROUBLED)["found"]) in list(status_rows({"model": as_told(TROUBLED)}))


def test_status_says_that_agents_ask_for_permissions():
    (line,) = [line for line in status_screen({"pending_asks": 2}, Display()) if "permissions" in line]
    assert line.split() == ["permissions", "2", "wait", "for", "you:", "placet", "asks"]
    assert not [line for line in status_screen({}, Display()) if "permissions" in line]


def test_status_says_which_permissions_run_out_soon():
    lines = list(status_screen({"pending_asks": 2, "expiring_asks": 1}, Display()))
    place = next(index for index, line in enumerate(lines) if "permissions" in line)
    assert lines[place + 1].split() == ["1", "expires", "within", "a", "day"]
