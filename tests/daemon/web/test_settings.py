"""Settings on the page: a table at a time, refused beside the field, and never a way around a defence."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web

from daemon import config, config_file
from daemon.agents.running.remote_model import RemoteModelSettings
from daemon.agents.tools.model_interface import ModelUnavailable
from daemon.dates.clock_lengths import parse_clock_seconds
from daemon.web.settings import settings_routes
from daemon.web.settings.setting_forms import is_changeable
from daemon.web.settings.settings_routes import SettingsPlace
from daemon.words.dates import clock_length_words
from daemon.words.translation import use_language
from store.sentence import sentence
from tests.daemon.web.conftest import Page, PageAnswer

KEY = "sk-secret-0123456789"
MODEL = {
    "section": "model",
    "set.model.kind": "openai",
    "set.model.base_url": "https://models.example.net/v1",
    "set.model.name": "big-one",
}


class SettingsPage(Page):
    """`tried` are the endpoints that were asked; `environment` are the variables of the daemon."""

    def more_routes(self) -> list[web.RouteDef]:
        self.file = self.folder / "config" / "config.toml"
        self.environment: dict[str, str] = {}
        self.tried: list[RemoteModelSettings] = []
        self.is_away = False

        async def probe(settings: RemoteModelSettings) -> None:
            self.tried.append(settings)
            if self.is_away:
                raise ModelUnavailable(sentence("model-server-unreached", "the server cannot be reached"))

        place = SettingsPlace(str(self.file), self.environment, config.Settings())
        return settings_routes.routes(self.services, place, probe)

    def value_of(self, key: str) -> object:
        return config_file.find_setting(str(self.file), self.environment, key).value

    async def save(self, section: str, do: str = "save", **fields: str) -> PageAnswer:
        form = {f"set.{name.replace('__', '.')}": text for name, text in fields.items() if name != "key"}
        return await self.ask(
            "/settings",
            {"section": section, "do": do, **form, **({"key": fields["key"]} if "key" in fields else {})},
        )

    async def save_model(self, do: str = "save", **more: str) -> PageAnswer:
        return await self.ask("/settings", {**MODEL, "do": do, **more})


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[SettingsPage]:
    page = SettingsPage(tmp_path)
    await page.start()
    await page.sign_in()
    yield page
    await page.stop()
    page.store.close()


async def test_every_declared_setting_is_on_the_page(page: SettingsPage) -> None:
    shown = (await page.ask("/settings")).text
    for key in config.keys():  # noqa: SIM118 - a function of a module
        if key == "model.key_file":
            continue
        place = f'name="set.{key}"' if is_changeable(key) else f"<code>{key}</code>"
        assert place in shown, key
    assert shown.count('name="set.') == sum(map(is_changeable, config.keys()))


async def test_what_a_person_changes_is_written_and_the_rest_stays(page: SettingsPage) -> None:
    page.file.parent.mkdir()
    page.file.write_text('# mine\n[history]\nretention_days = 400\n[model]\nname = "n"\n')
    answer = await page.ask(
        "/settings",
        {
            "section": "history",
            "do": "save",
            "shown.history.retention_days": "400",
            "set.history.retention_days": "",
            "shown.history.agent_texts_days": "",
            "set.history.agent_texts_days": " 30 ",
        },
    )
    assert (answer.status, answer.headers["Location"]) == (303, "/settings?saved=yes#history")
    assert page.file.read_text() == '# mine\n[history]\nagent_texts_days = 30\n[model]\nname = "n"\n'
    shown = (await page.ask("/settings?saved=yes")).text
    assert "Saved." in shown
    assert shown.count("The daemon uses it after a restart.") == 2


async def test_a_length_is_shown_and_typed_in_words_of_any_language(page: SettingsPage) -> None:
    shown = (await page.ask("/settings")).text
    assert 'name="shown.proposals.lifetime_s" value="7 days"' in shown
    assert 'placeholder="for ever"' in shown
    for typed, seconds in (("2 Wochen", 1209600.0), ("12 h", 43200.0), ("1 hour 30", 5400.0), ("900", 900.0)):
        answer = await page.save("agents", proposals__lifetime_s=typed)
        assert (answer.status, page.value_of("proposals.lifetime_s")) == (303, seconds), typed
    assert (await page.save("history", history__retention_days="52 weeks")).status == 303
    assert page.value_of("history.retention_days") == 364
    assert (await page.save("mailbox", mailbox__look_s="0.5 s")).status == 303
    assert 'value="0.5 s"' in (await page.ask("/settings")).text


@pytest.mark.parametrize("language", ["en", "de", "es", "fr", "ro"])
@pytest.mark.parametrize("seconds", [0.05, 0.5, 1, 2.5, 59, 60, 90, 3600, 5400, 86400, 604800, 999997200])
def test_a_length_in_words_is_read_back_as_the_same(language: str, seconds: float) -> None:
    use_language(language)
    try:
        assert parse_clock_seconds(clock_length_words(seconds)) == seconds
    finally:
        use_language("en")


async def test_a_tab_of_yesterday_changes_only_what_was_typed_there(page: SettingsPage) -> None:
    await page.save("device", device__name="kitchen")
    form = {"section": "device", "do": "save", "shown.device.name": "", "set.device.name": ""}
    assert (await page.ask("/settings", form)).status == 303
    assert page.value_of("device.name") == "kitchen"


@pytest.mark.parametrize(
    ("section", "key", "typed", "words"),
    [
        ("history", "history.retention_days", "0", "a length of time from 1 day to 100000 days is needed"),
        ("history", "history.retention_days", "ten <b>", "a length of time from 1 day to 100000 days"),
        ("history", "history.retention_days", "12 hours", "a length of time from 1 day to 100000 days"),
        ("agents", "wake.throttle_s", "-1", "a length of time from 0 s to 1000000000 s is needed"),
        ("agents", "proposals.lifetime_s", "1 hour and a bit", "a length of time from 0 s to"),
        ("agents", "proposals.per_set", "0", "a number from 1 to 100000 is needed"),
        ("agents", "agents.mode", "wild", "one of autonomous, hybrid, interactive is needed"),
        ("language", "language", "tlh", "one of en, de, es, fr, ro is needed"),
        ("model", "model.base_url", "http://elsewhere.example.net", "http would send notes in the clear"),
        ("model", "model.name", "", "model.name is empty"),
    ],
)
async def test_a_refused_value_is_told_beside_its_field_and_stays(
    page: SettingsPage, section: str, key: str, typed: str, words: str
) -> None:
    form = {**(MODEL if section == "model" else {"section": section}), f"set.{key}": typed, "do": "save"}
    answer = await page.ask("/settings", form)
    assert answer.status == 409
    assert re.search(rf'id="fault-{re.escape(key)}"[^>]*>(<bdi>)?[^<]*{re.escape(words)}', answer.text)
    if typed and section != "language" and key != "agents.mode":
        assert typed.replace("<b>", "&lt;b&gt;") in answer.text
    assert not page.file.exists()


@pytest.mark.parametrize(
    "form",
    [
        {"section": "web", "set.web.hosts": "evil.example.net"},
        {"section": "listen", "set.listen.host": "0.0.0.0"},
        {"section": "sovereignty", "set.sovereignty.reason_min": "0"},
        {"section": "model", "set.model.key_file": "/etc/passwd"},
        {"section": "model", "set.model.local_only_categories": ""},
        {"section": "models", "set.models": "{}"},
        {"section": "mailbox", "set.mailbox.suite": "x25519"},
        {"section": "history", "set.device.name": "x"},
        {"section": "history", "set.nothing": "x"},
        {"section": "history", "do": "try"},
        {"section": "history", "do": "forget"},
        {"section": "history", "do": "erase"},
    ],
)
async def test_what_could_weaken_a_defence_is_not_changed_by_a_browser(
    page: SettingsPage, form: dict[str, str]
) -> None:
    assert (await page.ask("/settings", {"do": "save", **form})).status == 400
    assert not page.file.exists()


async def test_another_site_changes_no_setting(page: SettingsPage) -> None:
    form = {"section": "device", "do": "save", "set.device.name": "theirs"}
    foreign: list[dict[str, str | None]] = [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": None, "Origin": "https://evil.example"},
    ]
    for headers in foreign:
        assert (await page.ask("/settings", form, headers=headers)).status == 403
        assert (await page.ask("/settings/colours", {"colours": "dark"}, headers=headers)).status == 403
    page.token = ""
    assert (await page.ask("/settings", form)).status == 401
    assert not page.file.exists()


async def test_a_key_is_stored_for_its_owner_and_shown_nowhere(
    page: SettingsPage, capfd: pytest.CaptureFixture[str]
) -> None:
    saved = await page.save_model(key=KEY)
    assert saved.status == 303, saved.text
    file = page.file.parent / "model_key"
    assert (file.read_text(), file.stat().st_mode & 0o777) == (f"{KEY}\n", 0o600)
    assert page.value_of("model.key_file") == str(file)
    refused = await page.save_model(key=f"{KEY}\x00ä", **{"set.model.temperature": "9"})
    tried = await page.save_model("try", key=KEY)
    for answer in (await page.ask("/settings"), saved, refused, tried):
        assert KEY not in answer.text + str(answer.headers)
    assert "A key is stored, and never shown." in tried.text
    assert KEY not in "".join(capfd.readouterr())
    assert (await page.ask("/settings", {"section": "model", "do": "forget"})).status == 303
    assert (file.exists(), page.value_of("model.key_file")) == (False, "")


@pytest.mark.parametrize("do", ["save", "try"])
async def test_a_key_goes_only_where_it_was_given_for(page: SettingsPage, do: str) -> None:
    await page.save_model(key=KEY)
    elsewhere = {"set.model.base_url": "https://evil.example.net/v1"}
    refused = await page.save_model(do, **elsewhere)
    assert refused.status == 409
    assert "The key was given for another address." in refused.text
    assert page.tried == []
    assert page.value_of("model.base_url") == MODEL["set.model.base_url"]
    assert (await page.save_model(**elsewhere, key="another-key-1234")).status == 303
    page.environment["PLACET_MODEL_KEY"] = KEY
    foreign = await page.save_model(do, **{"set.model.base_url": "https://third.example.net/v1"})
    assert "would go to this address" in foreign.text
    assert "changed there" in (await page.save_model(do, key=KEY)).text


async def test_a_model_is_tried_and_what_keeps_it_from_answering_is_told(page: SettingsPage) -> None:
    page.is_away = True
    answer = await page.save_model("try", key=KEY)
    assert "the server cannot be reached" in answer.text
    assert page.tried[-1].endpoint.key == KEY
    page.is_away = False
    answer = await page.save_model("try")
    assert answer.status == 200
    assert "big-one answers at https://models.example.net/v1. No note was sent." in answer.text
    answer = await page.ask("/settings", {"section": "model", "do": "try", "set.model.kind": "rules"})
    assert "there is no server to try" in answer.text
    assert len(page.tried) == 2


async def test_a_file_that_no_daemon_could_read_is_told_and_left(page: SettingsPage) -> None:
    page.file.parent.mkdir()
    page.file.write_text("lanuage = 'de'\n")
    assert "unknown setting" in (await page.ask("/settings")).text
    assert (await page.save("device", device__name="x")).status == 409
    assert page.file.read_text() == "lanuage = 'de'\n"


async def test_a_variable_decides_and_is_named(page: SettingsPage) -> None:
    page.environment["PLACET_LANGUAGE"] = "de"
    answer = await page.ask("/settings")
    assert "set by PLACET_LANGUAGE" in answer.text
    assert 'name="set.language"' not in answer.text


async def test_another_language_is_spoken_at_once(page: SettingsPage) -> None:
    assert (await page.save("language", language="ro")).status == 303
    answer = await page.ask("/settings")
    assert '<html lang="ro"' in answer.text
    form = {"section": "language", "do": "save", "shown.language": "ro", "set.language": ""}
    assert (await page.ask("/settings", form)).status == 303
    answer = await page.ask("/settings", headers={"Accept-Language": "fr"})
    assert '<html lang="fr"' in answer.text


async def test_colours_are_those_of_one_browser(page: SettingsPage) -> None:
    answer = await page.ask("/settings/colours", {"colours": "dark"})
    assert answer.status == 303
    assert "placet_colours=dark" in answer.headers["Set-Cookie"]
    assert (await page.ask("/settings/colours", {"colours": "red"})).status == 400
    assert not page.file.exists()
