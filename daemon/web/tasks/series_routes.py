"""The routes of what comes again: a list of series, one to add, and what is done to each.

Never changes anything on a GET. A form that is refused says so above the list.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import Any, Final

from aiohttp import web
from multidict import MultiDictProxy

from daemon.journal import series
from daemon.journal.human_input import HumanInput
from daemon.journal.series import PAGE_MAX, NewSeries, SeriesDay, SeriesEdit, SeriesEnd, SeriesSplit
from daemon.journal.typed_series import read_typed
from daemon.journal.views.series_view import Series
from daemon.refusal import Refused
from daemon.web.forms import read_form, refuse_form
from daemon.web.page_answer import page_answer
from daemon.web.refusals import refusal_words, shortfall_words
from daemon.web.services import PageServices
from daemon.words.dates import full_day_words
from daemon.words.recurrence import often_words
from daemon.words.translation import _
from store.transaction import Transaction

PATH: Final = "/series"
_Form = MultiDictProxy[str]


def routes(services: PageServices, human_input: HumanInput) -> list[web.RouteDef]:
    """Return the routes of series. `human_input` reads the rules and days that people type."""
    room = _SeriesList(services, human_input)
    return [web.get(PATH, room.show), web.post(PATH, room.act)]


@dataclass(frozen=True, slots=True)
class SeriesRow:
    """A series in words: how often it comes, its next days, and when it ends, "" if it does not."""

    id: str
    title: str
    often: str
    next: str
    until: str
    next_task: str


class _SeriesList:
    def __init__(self, services: PageServices, human_input: HumanInput) -> None:
        self._services = services
        self._typed = human_input
        self._deeds: dict[str, Callable[[Transaction, _Form], object]] = {
            "add": self._add,
            "catch-up": self._catch_up,
            "skip": self._skip,
            "end": lambda tx, form: series.end(tx, form["series"], SeriesEnd(), self._typed.today()),
            "remove": lambda tx, form: series.remove(tx, form["series"]),
            "change": self._change,
        }

    async def show(self, request: web.Request) -> web.Response:
        del request
        return await self._page()

    async def act(self, request: web.Request) -> web.Response:
        """Do what a form asks for, and show the list again."""
        form = await read_form(request)
        deed = self._deeds.get(form.get("do", ""))
        if deed is None or (form["do"] != "add" and not form.get("series")):
            raise refuse_form()
        fault = shortfall_words(self._services)
        if not fault:
            try:
                await self._services.store.write(lambda tx: deed(tx, form))
            except Refused as refused:
                fault = refusal_words(refused)
            else:
                return web.Response(status=HTTPStatus.SEE_OTHER, headers={"Location": PATH})
        return await self._page(fault, form)

    def _add(self, tx: Transaction, form: _Form) -> object:
        new = NewSeries(
            title=form.get("title", ""),
            every=form.get("every", ""),
            first=form.get("first", "").strip() or None,
        )
        return series.add(tx, read_typed(self._typed, new), self._typed.today(), self._typed.zone_name())

    def _change(self, tx: Transaction, form: _Form) -> object:
        """Change all of a series that nobody has touched, or what comes from a day on if one is named."""
        given: dict[str, Any] = {
            name: words for name in ("title", "every", "until") if (words := form.get(name, "").strip())
        }
        if day := form.get("on", "").strip():
            split = read_typed(self._typed, SeriesSplit(on=day, **given))
            return series.split(tx, form["series"], split, self._typed.today())
        change = read_typed(self._typed, SeriesEdit(**given))
        return series.edit(tx, form["series"], change, self._typed.today())

    def _skip(self, tx: Transaction, form: _Form) -> object:
        """Leave out the day that the person saw; nothing if it is out already, as after a second press."""
        today = self._typed.today()
        shown = series.show(tx, form["series"], today)
        if shown.next_task is None or shown.next_task != form.get("next"):
            return shown
        return series.skip(tx, form["series"], SeriesDay(day=shown.next[0]), today)

    def _catch_up(self, tx: Transaction, form: _Form) -> object:
        """Leave out all days before today that nobody has touched."""
        today = self._typed.today()
        missed = SeriesDay(through=(today - timedelta(1)).isoformat())
        return series.skip(tx, form["series"], missed, today)

    async def _page(self, fault: str = "", form: _Form | None = None) -> web.Response:
        after = self._services.store.feed_end
        listed = await self._services.store.read(
            lambda snapshot: series.list_series(snapshot, self._typed.today(), limit=PAGE_MAX)
        )
        typed = form if form is not None and form.get("do") == "add" else {}
        return await page_answer(
            self._services,
            "tasks/series.html",
            HTTPStatus.CONFLICT if fault else HTTPStatus.OK,
            room="tasks",
            after=after,
            fault=fault,
            rows=[_row(shown) for shown in sorted(listed, key=_next_day)],
            typed={name: typed.get(name, "") for name in ("title", "every", "first")},
        )


def _next_day(shown: Series) -> tuple[str, str]:
    return shown.next[0] if shown.next else "~", shown.title


def _row(shown: Series) -> SeriesRow:
    days = ", ".join(full_day_words(day, None).words for day in shown.next)
    if not shown.is_understood:
        days = _("a newer version made this rule; update this device to see its tasks")
    return SeriesRow(
        id=shown.id,
        title=shown.title,
        often=often_words(shown.rule, shown.due_time),
        next=days or _("nothing is to come"),
        until=full_day_words(shown.until, None).words if shown.until else "",
        next_task=shown.next_task or "",
    )
