"""The route of dates in a text: the moment, the zone and the language that are asked for, and those here.

Never tests what words mean: `tests/daemon/dates/test_day_reckoner.py` does.
"""

from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

import pytest

from daemon.control.routes import dates
from daemon.journal.human_input import HumanInput
from tests.daemon.control.conftest import Answer, Api
from tests.support.fleet import START_MS

ROUTES = dates.routes(HumanInput(lambda: START_MS, ZoneInfo("Europe/Berlin"), "en"))


@pytest.fixture
async def api(tmp_path: Path) -> AsyncIterator[Api]:
    new_api = Api(tmp_path, ROUTES)
    await new_api.start()
    yield new_api
    await new_api.stop()


async def ask(api: Api, **query: str) -> Answer:
    return await api.ask("GET", f"/v1/dates?{urlencode(query)}")


async def test_a_text_is_read_now_and_here_if_nothing_else_is_said(api: Api):
    answer = await ask(api, text="tomorrow at 14:00")
    assert answer.json["zone"] == "Europe/Berlin"
    assert answer.json["times"][0]["clock"] == "14:00"


async def test_a_text_is_read_at_the_moment_and_in_the_zone_that_are_named(api: Api):
    late = {"text": "tomorrow at 14:00", "moment": "2026-11-29T23:30:00+00:00"}
    (in_berlin,) = (await ask(api, **late)).json["times"]
    (in_new_york,) = (await ask(api, **late, zone="America/New_York")).json["times"]
    assert in_berlin["readings"] == ["2026-12-01T14:00+01:00"]
    assert in_new_york["readings"] == ["2026-11-30T14:00-05:00"]
    (plain,) = (await ask(api, text="today", moment="2026-12-24T14:00")).json["days"]
    assert plain["readings"] == [{"day": "2026-12-24", "weekday": "Thursday", "days_ahead": 0}]


@pytest.mark.parametrize(
    "query",
    [
        {"zone": "Mars/Olympus"},
        {"zone": "../../etc/passwd"},
        {"moment": "soon"},
        {"moment": "0001-01-01T00:00"},
        {"moment": "9999-12-31T23:59:59-12:00"},
        {"language": "tlh"},
        {"text": "a" * 501},
        {"text": ""},
    ],
)
async def test_what_cannot_be_read_is_refused_with_what_was_seen(api: Api, query: dict[str, str]):
    answer = await ask(api, **({"text": "tomorrow"} | query))
    assert answer.status == 400, answer.json
