"""How it is shown that agents cannot reach their model, or have spent what it may cost.

Never asks a daemon.
"""

import pytest

from daemon.agents.remote import Standing
from daemon.cli.look import Look
from daemon.cli.views.findings import finding_words
from daemon.cli.views.standing import status_rows, status_screen
from daemon.control import model_checks
from store.models import Spent

WELL = Standing("m", "https://models.example/v1", "PLACET_MODEL_KEY", "", None, "", Spent(3, 100, 20))
TROUBLED = WELL._replace(fault="the server refused the key (401)\x1b[31m", since_ms=0)
WAYS = (WELL, WELL._replace(key_from=""), TROUBLED, WELL._replace(spent="it is spent"))


def as_told(standing: Standing) -> dict[str, object]:
    found = model_checks.of(standing)
    return {
        "name": found.name,
        "found": found.found,
        "remedy": found.remedy,
        "code": found.code,
        "given": found.given,
    }


@pytest.mark.parametrize("standing", WAYS)
def test_a_finding_is_worded_here_as_the_daemon_worded_it(standing: Standing):
    found = as_told(standing)
    assert finding_words(found) == (found["found"], found["remedy"])


def test_status_has_a_line_only_where_something_is_wrong():
    lines = [line for line in status_screen({"model": as_told(TROUBLED)}, Look()) if "model" in line]
    assert len(lines) == 1
    assert "refused the key" in lines[0]
    assert "\x1b" not in lines[0]
    assert not [line for line in status_screen({"model": None}, Look()) if "model" in line]


def test_for_scripts_it_is_one_value():
    assert ("model", as_told(TROUBLED)["found"]) in list(status_rows({"model": as_told(TROUBLED)}))
