"""The routes of settings: what is set, changing it, and trying a model before it counts.

Never changes anything on a GET, or what could weaken a defence. A form that is refused is shown again with
what was typed, but for a key.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Final, NamedTuple

from aiohttp import web
from multidict import MultiDictProxy

from daemon import config, config_file
from daemon.agents.models.openai.endpoint import KEY_VARIABLE
from daemon.agents.running.remote_model import MAIN, RemoteModelSettings, remote_model_settings
from daemon.agents.tools.model_interface import ModelFault
from daemon.config import ConfigError, LoadedSettings, Settings
from daemon.disk import os_error_sentences
from daemon.file_formats import FILE_FORMATS
from daemon.web.forms import read_form, refuse_form
from daemon.web.page_answer import page_answer
from daemon.web.refusals import sentence_text, shortfall_words
from daemon.web.services import PageServices
from daemon.web.settings.model_key import KEY_SETTING, ModelKeyFile, is_other_address
from daemon.web.settings.setting_forms import is_changeable, setting_form, typed_value
from daemon.web.settings.setting_rows import (
    FIELD,
    NOTHING_TYPED,
    SHOWN,
    Typed,
    bounds_words,
    guarded_rows,
    section_of,
    setting_sections,
)
from daemon.web.viewer import CHOSEN_COLOURS, COLOURS_AGE_S, COLOURS_COOKIE
from daemon.words.translation import _
from store.sentence import Sentence

PATH: Final = "/settings"
KEY_FIELD: Final = "key"
_MODEL: Final = "model"
_ADDRESS: Final = "model.base_url"

ProbeModel = Callable[[RemoteModelSettings], Awaitable[None]]
"""Asks a model's server whether it can be asked, without sending a note. Raises ModelFault."""


class SettingsPlace(NamedTuple):
    """Where settings are kept: the file, the variables beside it, and what the daemon began with."""

    file: str
    environment: Mapping[str, str]
    running: Settings


class _Outcome(NamedTuple):
    """What came of a form: a fault of it all, of its fields, and what was done."""

    fault: str = ""
    faults: Mapping[str, str] = {}
    done: tuple[str, ...] = ()

    @property
    def is_refused(self) -> bool:
        """Return whether nothing was done."""
        return bool(self.fault or self.faults)


def routes(services: PageServices, place: SettingsPlace, probe: ProbeModel) -> list[web.RouteDef]:
    """Return the routes of this room."""
    room = _Settings(services, place, probe)
    return [
        web.get(PATH, room.show),
        web.post(PATH, room.act),
        web.post(f"{PATH}/colours", room.choose_colours),
    ]


class _Settings:
    def __init__(self, services: PageServices, place: SettingsPlace, probe: ProbeModel) -> None:
        self._services = services
        self._place = place
        self._probe = probe
        self._key_file = ModelKeyFile(place.file, place.environment)

    async def show(self, request: web.Request) -> web.Response:
        """Show all settings; a link may say that something was saved."""
        done = (_("Saved."),) if request.query.get("saved") == "yes" else ()
        return await self._page(request, _Outcome(done=done))

    async def choose_colours(self, request: web.Request) -> web.Response:
        """Let a browser have other colours, by a cookie of its own."""
        colours = (await read_form(request)).get("colours", "")
        if colours not in ("", *CHOSEN_COLOURS):
            raise refuse_form()
        answer = web.Response(status=HTTPStatus.SEE_OTHER, headers={"Location": PATH})
        if colours:
            is_secure = f"https://{request.headers.get('Host', '').lower()}" in self._services.access.origins
            answer.set_cookie(
                COLOURS_COOKIE,
                colours,
                max_age=COLOURS_AGE_S,
                httponly=True,
                samesite="Strict",
                secure=is_secure,
            )
        else:
            answer.del_cookie(COLOURS_COOKIE)
        return answer

    async def act(self, request: web.Request) -> web.Response:
        """Save a part of the settings, also to try a model, or forget its key."""
        form = await read_form(request)
        deed, section = form.get("do", ""), form.get("section", "")
        if deed not in ("save", "try", "forget") or (deed != "save" and section != _MODEL):
            raise refuse_form()
        changes, faults = _changes_of(form, section)
        outcome = _Outcome(shortfall_words(self._services), faults)
        if not outcome.is_refused:
            try:
                outcome = await self._act(deed, changes, form.get(KEY_FIELD, "").strip())
            except ConfigError as refused:
                outcome = _refusal(refused, section)
            except OSError as failed:
                outcome = _Outcome(
                    " ".join(sentence_text(part) for part in os_error_sentences(failed) if part)
                )
        if deed != "try" and not outcome.is_refused:
            where = f"{PATH}?saved=yes#{section}"
            return web.Response(status=HTTPStatus.SEE_OTHER, headers={"Location": where})
        return await self._page(request, outcome, Typed(form, outcome.faults))

    async def _act(self, deed: str, changes: dict[str, str | None], key: str) -> _Outcome:
        if deed == "forget":
            return await asyncio.to_thread(self._forget_key)
        environment = self._environment(key)
        wanted = config_file.changed_settings(self._place.file, environment, changes)
        fault = self._key_fault(wanted, has_new_key=bool(key))
        if fault.is_refused:
            return fault
        judged = remote_model_settings(wanted, environment)
        await asyncio.to_thread(self._save, changes, key)
        return await self._try(judged) if deed == "try" else _Outcome()

    async def _try(self, judged: Mapping[str, RemoteModelSettings]) -> _Outcome:
        saved = _("Saved.")
        if MAIN not in judged:
            return _Outcome(done=(saved, _("The rules of this device answer: there is no server to try.")))
        try:
            await self._probe(judged[MAIN])
        except ModelFault as fault:
            return _Outcome(sentence_text(fault.words), done=(saved,))
        endpoint = judged[MAIN].endpoint
        words = _("{model} answers at {address}. No note was sent.")
        return _Outcome(done=(saved, words.format(model=endpoint.model, address=endpoint.base_url)))

    def _environment(self, key: str) -> Mapping[str, str]:
        """Return the variables with a key that was typed in the place of any other."""
        return {**self._place.environment, KEY_VARIABLE: key} if key else self._place.environment

    def _key_fault(self, wanted: Settings, *, has_new_key: bool) -> _Outcome:
        """Refuse that a key goes where it was not given for, or that one is typed that would not count."""
        before = self._load().settings.model
        place = self._key_file.place(before)
        if has_new_key and not place.is_of_page:
            words = _("The key comes from {place}, and is changed there.").format(place=place.name)
            return _Outcome(faults={KEY_FIELD: words})
        if not place.name or has_new_key or not is_other_address(before.base_url, wanted.model.base_url):
            return _Outcome()
        if place.is_of_page:
            words = _("The key was given for another address. Type it again, or forget it first.")
            return _Outcome(faults={KEY_FIELD: words})
        words = _("The key comes from {place}, and would go to this address. Use {command}.").format(
            place=place.name, command=f"placet config set {_ADDRESS}"
        )
        return _Outcome(faults={_ADDRESS: words})

    def _save(self, changes: dict[str, str | None], key: str) -> None:
        if key:
            changes = changes | {KEY_SETTING: self._key_file.path}
        environment = self._environment(key)
        if key:
            self._key_file.store(key)
        config_file.change_settings(
            self._place.file,
            self._place.environment,
            changes,
            lambda settings: remote_model_settings(settings, environment),
        )
        self._services.speech.setting = self._load().settings.language

    def _forget_key(self) -> _Outcome:
        place = self._key_file.place(self._load().settings.model)
        if not place.is_of_page:
            words = _("The key comes from {place}, and is changed there.").format(place=place.name)
            return _Outcome(faults={KEY_FIELD: words})
        # The setting first: a daemon does not start if it names a file that is not there.
        config_file.change_setting(self._place.file, KEY_SETTING, None)
        self._key_file.forget()
        return _Outcome()

    def _load(self) -> LoadedSettings:
        text = config.read_file(Path(self._place.file))
        return config.load_text(text, self._place.file, self._place.environment, {})

    async def _page(
        self, request: web.Request, outcome: _Outcome, typed: Typed = NOTHING_TYPED
    ) -> web.Response:
        fault = outcome.fault
        try:
            loaded = self._load()
        except ConfigError as unreadable:
            # A person has written into the file what no daemon could start with.
            loaded = LoadedSettings(self._place.running, {})
            fault = fault or sentence_text(unreadable.sentence)
        key = self._key_file.place(loaded.settings.model)
        return await page_answer(
            self._services,
            "settings/settings.html",
            HTTPStatus.CONFLICT if outcome.is_refused else HTTPStatus.OK,
            room="settings",
            after=self._services.store.feed_end,
            sections=setting_sections(loaded.settings, loaded.origins, self._place.running, typed),
            formats=[(row.name, row.title) for row in FILE_FORMATS],
            guarded=guarded_rows(loaded.settings),
            key_place=key.name,
            key_is_of_page=key.is_of_page,
            key_fault=outcome.faults.get(KEY_FIELD, ""),
            chosen_colours=request.cookies.get(COLOURS_COOKIE, ""),
            fault=fault,
            done=list(outcome.done),
        )


def _changes_of(form: MultiDictProxy[str], section: str) -> tuple[dict[str, str | None], dict[str, str]]:
    """Return what differs from what the page showed, and what is wrong with it, by key.

    What is left empty is taken out of the file. A field for what a browser may not change is refused.
    """
    changes: dict[str, str | None] = {}
    faults: dict[str, str] = {}
    for field, text in form.items():
        if not field.startswith(FIELD):
            continue
        key = field.removeprefix(FIELD)
        if key not in config_file.KEYS or not is_changeable(key) or section_of(key) != section:
            raise refuse_form()
        written = " ".join(text.split())
        if written == form.get(f"{SHOWN}{key}", ""):
            continue
        value = typed_value(key, written)
        if fault := _fault_of(key, value):
            faults[key] = fault
        changes[key] = value or None
    return changes, faults


def _fault_of(key: str, written: str) -> str:
    """Return what is wrong with a value that was typed; empty if nothing is, or if none was."""
    if not written:
        return ""
    try:
        config.parse_value(key, written, "")
    except ConfigError as refused:
        form, problem = setting_form(key), refused.sentence.params.get("problem")
        if form.kind in ("number", "length"):
            return bounds_words(form)
        return sentence_text(problem if isinstance(problem, Sentence) else refused.sentence)
    return ""


def _refusal(refused: ConfigError, section: str) -> _Outcome:
    """Return a refusal of the settings as a whole, beside the setting that it names, if it names one."""
    words, text = sentence_text(refused.sentence), refused.sentence.text
    if KEY_VARIABLE in text:
        return _Outcome(faults={KEY_FIELD: words})
    named = next((key for key in config_file.KEYS if section_of(key) == section and key in text), "")
    return _Outcome(faults={named: words}) if named else _Outcome(words)
