"""The remote model of this device, put together: endpoint, account, and the remembered request form.

Never sends anything before the address, the key and the prices are checked.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import tzinfo
from typing import TYPE_CHECKING, Final, NamedTuple

from daemon.agents.models.openai import endpoint as endpoint_settings
from daemon.agents.models.openai.endpoint import Endpoint
from daemon.agents.running.conversation import AsyncDatabase
from daemon.agents.running.runner import RunnerClock
from daemon.agents.running.spending import Ledger, SpendingAccount, Tariff
from daemon.agents.tools.model_interface import ModelUnavailable
from daemon.config import ConfigError, ServerSettings, Settings
from store.local import model_usage
from store.local.model_usage import ModelUsage
from store.sentence import Sentence, sentence

if TYPE_CHECKING:
    from daemon.agents.models.openai.chat_model import ChatCompletionsModel


MAIN = "openai"
PROBE_WITHIN_S: Final = 30
"""How long a person who tries a model waits for its server."""
RESERVED_NAMES = frozenset({"rules", MAIN})


@dataclass(frozen=True, slots=True)
class RemoteModelSettings:
    """A remote model that may be used, and what it may cost."""

    endpoint: Endpoint
    tariff: Tariff


@dataclass(frozen=True, slots=True)
class RemoteModel:
    """The remote model and its account."""

    model: "ChatCompletionsModel"
    account: SpendingAccount
    endpoint: Endpoint

    async def status(self) -> "RemoteModelStatus":
        """Return the status, without asking the server."""
        outage = self.model.outage
        return RemoteModelStatus(
            self.endpoint.model,
            self.endpoint.base_url,
            self.endpoint.key_from,
            None if outage is None else outage.fault.words,
            None if outage is None else outage.since_ms,
            await self.account.refusal(),
            (await self.account.today()).spent,
        )


class RemoteModelStatus(NamedTuple):
    """The status of a remote model: the source of its key, what keeps it from answering, and today's usage.

    `fault` and `spent` are lines for people, None if all is well; `since_ms` is Unix time.
    """

    model: str
    address: str
    key_source: str
    fault: Sentence | None
    since_ms: int | None
    spent: Sentence | None
    today: ModelUsage


def remote_model_settings(
    settings: Settings, environment: Mapping[str, str]
) -> dict[str, RemoteModelSettings]:
    """Read the settings of every remote model, by the name that agents know it by. Raises ConfigError.

    The one of `[model]` is called openai, and a further one as its table is.
    """
    by_name: dict[str, ServerSettings] = {MAIN: settings.model} if settings.model.kind == MAIN else {}
    for name, server in settings.models.items():
        if name in RESERVED_NAMES:
            raise ConfigError(
                sentence("model-name-taken", "models.{name}: choose another name for this model", name=name)
            )
        by_name[name] = server
    withheld = settings.model.local_only_categories
    return {
        name: RemoteModelSettings(
            endpoint_settings.read_endpoint(
                server, environment, withheld=withheld, named="" if name == MAIN else name
            ),
            _tariff(server, settings.budget.cost_per_day, "model" if name == MAIN else f"models.{name}"),
        )
        for name, server in by_name.items()
    }


def open_remote_model(
    settings: RemoteModelSettings,
    database: AsyncDatabase,
    clock: RunnerClock,
    zone: Callable[[], tzinfo],
    ledger: Ledger | None = None,
) -> RemoteModel:
    """Put the model together; nothing is sent yet. Models that share a ledger share the day's limit."""
    # Imported here: the client costs memory and half a second, and few use it.
    from daemon.agents.models.openai.chat_model import ChatCompletionsModel
    from daemon.agents.models.openai.device_services import DeviceServices

    endpoint = settings.endpoint
    account = SpendingAccount(database, clock, endpoint.model, settings.tariff, zone, ledger=ledger)
    around = DeviceServices(account, StoredForm(database, endpoint))
    return RemoteModel(ChatCompletionsModel(endpoint, clock, around=around), account, endpoint)


OpenRemote = Callable[[RemoteModelSettings], RemoteModel]


def opener(
    database: AsyncDatabase, clock: RunnerClock, zone: Callable[[], tzinfo], ledger: Ledger
) -> OpenRemote:
    """Return what opens the models of one device, which share its ledger."""
    return lambda settings: open_remote_model(settings, database, clock, zone, ledger)


async def probe_remote_model(open_remote: OpenRemote, settings: RemoteModelSettings) -> None:
    """Ask a model's server whether it can be asked, and close the connections. No note is sent.

    Raises ModelFault if it cannot, also if no answer comes within PROBE_WITHIN_S.
    """
    remote = open_remote(settings)
    try:
        async with asyncio.timeout(PROBE_WITHIN_S):
            await remote.model.probe()
    except TimeoutError:
        late = sentence("model-probe-late", "no answer came within {seconds} s", seconds=PROBE_WITHIN_S)
        raise ModelUnavailable(late) from None
    finally:
        await remote.model.close()


class StoredForm:
    """The request form of one endpoint's model, which this device remembers."""

    def __init__(self, database: AsyncDatabase, endpoint: Endpoint) -> None:
        self._database = database
        self._address_and_model = (endpoint.base_url, endpoint.model)

    async def remembered_form(self) -> str:
        """Return the remembered form; empty if there is none."""
        return await self._database.read(
            lambda snapshot: model_usage.request_form(snapshot, *self._address_and_model)
        )

    async def remember_form(self, form: str) -> None:
        """Remember a form; an empty one is forgotten."""
        await self._database.write(
            lambda tx: model_usage.store_request_form(tx, *self._address_and_model, form)
        )


def _prices_missing_sentence(names: list[str]) -> Sentence:
    if len(names) == 1:
        return sentence(
            "price-missing",
            "budget.cost_per_day is set, and {name} is not;"
            " give the price of a million tokens, 0 if it is free",
            name=names[0],
        )
    return sentence(
        "prices-missing",
        "budget.cost_per_day is set, and {first} and {second} are not;"
        " give the price of a million tokens, 0 if it is free",
        first=names[0],
        second=names[1],
    )


def _tariff(server: ServerSettings, limit: float | None, table: str) -> Tariff:
    missing = [
        f"{table}.{name}"
        for name, price in (("price_input", server.price_input), ("price_output", server.price_output))
        if price is None
    ]
    if limit is not None and missing:
        # Without prices nothing counts against the limit, and a person would notice on the bill only.
        raise ConfigError(_prices_missing_sentence(missing))
    price = server.price_input or 0.0
    cached = price if server.price_cached is None else server.price_cached
    return Tariff(price, server.price_output or 0.0, cached, limit)
