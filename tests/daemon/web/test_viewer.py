"""How a browser is spoken to: its language, and its colours."""

from datetime import UTC

import pytest

from daemon.journal.human_input import HumanInput
from daemon.web.viewer import Speech
from daemon.words.translation import language_in_use, use_language_here
from tests.daemon.web.conftest import Page


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("de-AT,de;q=0.9,en;q=0.8", "de"),
        ("pt-BR, es;q=0.5, fr;q=0.7", "fr"),
        ("RO", "ro"),
        ("de;q=0, es;q=0.1", "es"),
        ("de;q=x,fr;q=", "en"),
        ("nl, *;q=0.5", "en"),
        ("", "en"),
        (";;;,,=,de" * 100_000, "de"),
    ],
)
def test_a_browser_is_spoken_to_in_the_language_that_it_likes_best(accepted: str, language: str) -> None:
    assert Speech().language_for(accepted) == language
    assert Speech("ro").language_for(accepted) == "ro"


async def test_each_browser_reads_its_own_language_unless_one_is_set(page: Page) -> None:
    for accepted, language in (("de", "de"), ("es", "es"), ("", "en")):
        answer = await page.ask("/decisions", headers={"Accept-Language": accepted})
        assert f'<html lang="{language}"' in answer.text
    page.services.speech.setting = "fr"
    assert '<html lang="fr"' in (await page.ask("/decisions", headers={"Accept-Language": "de"})).text


async def test_what_is_typed_is_read_in_the_language_of_the_request_on_the_stores_threads_too(
    page: Page,
) -> None:
    typed = HumanInput(page.now_ms, UTC, language_in_use)
    use_language_here("de")
    in_write = await page.store.write(lambda tx: typed.due_day("morgen"))
    assert in_write == await page.store.read(lambda snapshot: typed.due_day("morgen"))


@pytest.mark.parametrize(("cookie", "scheme"), [("dark", "dark"), ("light", "light"), ("<b>", "light dark")])
async def test_a_browser_has_the_colours_of_its_cookie(page: Page, cookie: str, scheme: str) -> None:
    answer = await page.ask("/decisions", headers={"Cookie": f"placet={page.token}; placet_colours={cookie}"})
    assert f'name="color-scheme" content="{scheme}"' in answer.text
    assert ("data-colours=" in answer.text) == (cookie != "<b>")
