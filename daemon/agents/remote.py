"""The remote model of this device, put together: endpoint, account, and what is remembered of it.

Never asks anything before the address, the key and the prices were judged.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import tzinfo
from typing import TYPE_CHECKING, NamedTuple

from daemon.agents.budget import Account, Tariff
from daemon.agents.models import openai_endpoint
from daemon.agents.models.openai_endpoint import Endpoint
from daemon.agents.run import Database
from daemon.agents.runner import Clock
from daemon.config import ConfigError, Settings
from store import models
from store.models import Spent

if TYPE_CHECKING:
    from daemon.agents.models.openai import OpenAI


@dataclass(frozen=True, slots=True)
class Judged:
    """A remote model that may be asked, and what it may cost."""

    endpoint: Endpoint
    tariff: Tariff


@dataclass(frozen=True, slots=True)
class Remote:
    """The remote model and its account."""

    model: "OpenAI"
    account: Account
    endpoint: Endpoint

    async def standing(self) -> "Standing":
        """Return how it stands, without asking the server."""
        trouble = self.model.trouble
        return Standing(
            self.endpoint.model,
            self.endpoint.base_url,
            self.endpoint.key_from,
            "" if trouble is None else str(trouble.fault),
            None if trouble is None else trouble.since_ms,
            await self.account.refusal(),
            (await self.account.today()).spent,
        )


class Standing(NamedTuple):
    """How a remote model stands: where its key came from, what keeps it from answering, what it took today.

    `fault` and `spent` are lines for people, empty where all is well; `since_ms` is Unix time.
    """

    model: str
    address: str
    key_from: str
    fault: str
    since_ms: int | None
    spent: str
    today: Spent


def judged(settings: Settings, environment: Mapping[str, str]) -> Judged | None:
    """Read what the settings say of a remote model, None where they name none. Raises ConfigError."""
    if settings.model.kind != "openai":
        return None
    return Judged(openai_endpoint.endpoint(settings.model, environment), _tariff(settings))


def opened(known: Judged, database: Database, clock: Clock, zone: Callable[[], tzinfo]) -> Remote:
    """Put the model together; nothing is asked yet."""
    # Imported here: the client costs memory and half a second, and few use it.
    from daemon.agents.models.openai import OpenAI
    from daemon.agents.models.openai_around import Around

    endpoint = known.endpoint
    account = Account(database, clock, endpoint.model, known.tariff, zone)
    around = Around(account, Remembered(database, endpoint))
    return Remote(OpenAI(endpoint, clock, around=around), account, endpoint)


class Remembered:
    """The form of one endpoint's model, kept by this device."""

    def __init__(self, database: Database, endpoint: Endpoint) -> None:
        self._database = database
        self._named = (endpoint.base_url, endpoint.model)

    async def form(self) -> str:
        """Return what is remembered; empty where nothing is."""
        return await self._database.read(lambda snapshot: models.form(snapshot, *self._named))

    async def keep_form(self, form: str) -> None:
        """Remember a form; an empty one is forgotten."""
        await self._database.write(lambda tx: models.keep_form(tx, *self._named, form))


def _tariff(settings: Settings) -> Tariff:
    model, limit = settings.model, settings.budget.cost_per_day
    missing = [
        f"model.{name}"
        for name, price in (("price_input", model.price_input), ("price_output", model.price_output))
        if price is None
    ]
    if limit is not None and missing:
        # A limit that nothing counts against would be found out on the bill.
        seen = f"budget.cost_per_day is set, and {' and '.join(missing)} is not"
        raise ConfigError(f"{seen}; give the price of a million tokens, 0 where it is free")
    price = model.price_input or 0.0
    cached = price if model.price_cached is None else model.price_cached
    return Tariff(price, model.price_output or 0.0, cached, limit)
