"""The daemon, put together: what is opened in which order, and closed in the reverse.

Never ends before what was acknowledged is durable. If the process ends too, it never waits for longer than a
service manager would.
"""

import asyncio
import os
import socket
from collections.abc import Awaitable, Mapping
from functools import partial
from pathlib import Path

import structlog

from daemon.agents.deciding.waiting_items import list_waiting_items
from daemon.agents.models.rules.embedded_model import RulesModel
from daemon.agents.person.default_agents import DefaultAgent
from daemon.agents.person.token_use import RunTokens
from daemon.agents.proposing.change_set_builder import ProposalLimits
from daemon.agents.running import remote_model
from daemon.agents.running.remote_model import RemoteModel
from daemon.agents.running.runner import RunnerSettings as AgentSettings
from daemon.agents.running.scheduler import RULES_MODEL, Scheduler
from daemon.agents.running.spending import Ledger
from daemon.agents.running.stand_in import ModelWithStandIn
from daemon.agents.running.timetable import RunPace
from daemon.agents.tools.model_interface import Model, TokenUsage
from daemon.app.idle_check import check_while_idle
from daemon.app.machine import machine_id
from daemon.app.upgrade import keep_copy_before_upgrade
from daemon.browser_access import BrowserAccess
from daemon.clock import Clock, ClockWatch, local_zone
from daemon.config import ConfigError, Settings
from daemon.control.dispatcher import Dispatcher
from daemon.control.request_metrics import RequestMeter
from daemon.control.route import Route
from daemon.control.routes import asks as ask_routes
from daemon.control.routes import dates as date_routes
from daemon.control.routes import standing_rules as standing_rule_routes
from daemon.control.routes import today as today_routes
from daemon.control.routes import undo as undo_routes
from daemon.control.routes.agents import AgentRoutes
from daemon.control.routes.browsers import BrowserRoutes
from daemon.control.routes.checks import CheckRoutes
from daemon.control.routes.compaction import CompactionRoutes
from daemon.control.routes.decisions import DecisionRoutes
from daemon.control.routes.devices import PeerRoutes
from daemon.control.routes.events import EventStreams
from daemon.control.routes.journal import labels, links, preferences, tasks, times
from daemon.control.routes.journal.tasks import OnNewTask
from daemon.control.routes.mailboxes import MailboxRoutes
from daemon.control.routes.metrics import MetricsRoutes
from daemon.control.routes.outside import OutsideRoutes
from daemon.control.routes.status import StatusRoutes
from daemon.control.routes.transfers import imports
from daemon.control.routes.transfers.exports import ExportRoutes
from daemon.control.routes.transfers.jsonl_import import JsonlImportRoutes
from daemon.control.server import ControlServer
from daemon.disk import DiskFloor
from daemon.formats.importing import Imports
from daemon.journal.human_input import HumanInput
from daemon.journal.verification import verify_apart
from daemon.language import chosen_language
from daemon.notifier import BurstNotifier, Notifier
from daemon.paths import Paths
from daemon.peers.network import PeerNetwork
from daemon.peers.transport import addresses, identity
from daemon.peers.transport.addresses import BadAddress
from daemon.peers.transport.identity import IdentityError
from daemon.web import listening
from daemon.web.agents import agent_routes, external_routes
from daemon.web.agents.agent_deeds import AgentDeeds
from daemon.web.decide import review_routes
from daemon.web.devices import devices_routes, health_routes, pairing_routes, verify_routes
from daemon.web.devices.verify_job import VerifyJob
from daemon.web.files import download_routes, import_routes
from daemon.web.first_run import first_run_routes
from daemon.web.frame.rendering import Renderer
from daemon.web.inbox import rule_routes
from daemon.web.live.page_stream import Surroundings
from daemon.web.server import PageServer
from daemon.web.services import PageServices
from daemon.web.settings import settings_routes
from daemon.web.sign_in import passkey_routes
from daemon.web.tasks import list_routes, new_task_routes, series_routes, task_routes
from daemon.web.today import day_routes
from daemon.web.viewer import Speech
from daemon.words.translation import language_in_use
from store.file.errors import StoreError
from store.sentence import Sentence, foreign_text, sentence
from store.store import Store
from store.threads import StoreThreads

STOP_PARTS_WITHIN_S = 2.5
CLOSE_WITHIN_S = 1.0
"""Together below the 5 s in which a daemon that ends must be gone. What serves ends first, then the store."""

THROTTLE_RULES_S = 5.0
THROTTLE_REMOTE_S = 120.0
HOST_NAME_CHARS_MAX = 64
AGENTS_LOOK_S = 0.02
"""Agents wait for minutes: what a person and other devices wait for goes first."""

log = structlog.get_logger("daemon")


class CannotListen(Exception):
    """The port for peers cannot be had; the message says which and why."""

    hint_sentence = sentence("see-listen-settings", "see listen.host and listen.port")

    def __init__(self, message: Sentence) -> None:
        self.sentence = message
        super().__init__(message.text)


class Daemon:
    """One running daemon. Make it on the event loop; `start`, then `wait_until_ended`, then `stop`."""

    def __init__(
        self, paths: Paths, settings: Settings, clock: Clock, passed: socket.socket | None = None
    ) -> None:
        """Open everything. `passed` is the control socket if a service manager made it."""
        # First: an address or a key that cannot be used keeps the daemon from touching anything.
        judged = check_settings(settings)
        data = Path(paths.data)
        self._socket = Path(paths.socket)
        self._passed = passed
        own = _identity(data, Path(paths.database), clock)
        self._data = data
        self._database = Path(paths.database)
        self._settings_place = settings_routes.SettingsPlace(paths.config_file, os.environ, settings)
        self._settings = settings
        self._clock = clock
        self._floor = DiskFloor(data, settings.disk.floor_mib << 20)
        keep_copy_before_upgrade(self._database)
        self._store = StoreThreads(
            Store.open(
                Path(paths.database),
                signer=own.signer,
                now_ms=clock.now_ms,
                randomness=clock.randomness,
                machine=machine_id(),
            )
        )
        if self._store.replica_doubt is not None:
            log.warning("the database continues as a new replica", seen=self._store.replica_doubt.value)
        open_remote = remote_model.opener(self._store, clock, local_zone, Ledger())
        self._remotes = {name: open_remote(checked) for name, checked in judged.items()}
        self._probe = partial(remote_model.probe_remote_model, open_remote)
        rules = RulesModel(chosen_language(settings.language, os.environ))
        self._models = _models(self._remotes, rules, has_fallback=settings.model.fallback == "rules")
        self._watch = ClockWatch(clock.now_ms)
        self._notifier = Notifier()
        self._meter = RequestMeter(clock.monotonic_s)
        self._scheduler = Scheduler(
            self._store, self._models, clock, scheduler_settings(settings), self._floor.shortfall
        )
        self._store.on_commit += [
            self._notifier.notify,
            BurstNotifier(self._scheduler.on_store_growth, AGENTS_LOOK_S).notify,
        ]
        self._peers = self._make_peers(own)
        self._events = EventStreams(
            self._store,
            self._notifier,
            clock.now_ms,
            self._peers.replication.diverging_members,
            self._peers.links.divergences.agreeing_peers,
            activities=self._peers.mailboxes.activities,
        )
        self._access = BrowserAccess(clock.now_ms, clock.monotonic_s, clock.randomness)
        self._exports = ExportRoutes(self._store, self._data, self._floor, local_zone)
        self._imports = Imports(self._store, local_zone, clock.now_ms)
        self._page: PageServer | None = None
        self._control: ControlServer | None = None
        self._agents: asyncio.Task[None] | None = None
        self._checking: asyncio.Task[None] | None = None

    def _make_peers(self, own: identity.Identity) -> PeerNetwork:
        name = _device_name(self._settings)
        try:
            return PeerNetwork(
                self._store,
                self._notifier,
                self._clock,
                identity=own,
                settings=self._settings,
                name=name,
                shortfall=self._floor.shortfall,
            )
        except ValueError as fault:
            self._store.close()
            raise ConfigError(_unusable_setting("peers.static", fault)) from fault

    async def start(self) -> None:
        """Begin to serve. Raises CannotListen for the peers' port, OSError for the control socket."""
        try:
            await self._peers.start()
        except OSError as fault:
            listen = self._settings.listen
            raise CannotListen(
                sentence(
                    "cannot-listen",
                    "cannot listen for peers on {address}: {reason}",
                    address=f"{listen.host}:{listen.port}",
                    reason=str(fault),
                )
            ) from fault
        self._agents = asyncio.create_task(self._scheduler.serve())
        self._checking = asyncio.create_task(self._look_while_idle())
        dispatch = Dispatcher(self._store, self._floor, self._meter)
        self._control = await ControlServer.start(
            self._socket, self._routes(), dispatch, self._events, passed=self._passed
        )
        if self._settings.web.enabled:
            await self._start_page()
        log.info("ready", socket=str(self._socket), peers=self._peers.address)

    async def _look_while_idle(self) -> None:
        """List what waits before anybody asks, since later lists look up changes; check the pages."""
        try:
            await self._store.read(lambda snapshot: list_waiting_items(snapshot, self._clock.now_ms()))
        except StoreError as fault:
            log.warning("what waits could not be listed", reason=fault.sentence.text)
        except Exception:
            # A bug there costs whoever asks first some time, and never a check of the pages.
            log.exception("what waits could not be listed")
        await check_while_idle(self._store)

    async def _start_page(self) -> None:
        """Serve the page. A port that cannot be had costs the page alone."""
        services = PageServices(
            self._store,
            self._notifier,
            self._floor,
            self._access,
            self._clock.now_ms,
            self._settings.sovereignty.reason_min,
            self._settings.proposals.open_per_day,
            Renderer(chosen_language(self._settings.language, os.environ)),
            Speech(self._settings.language),
            device_states=self._peers.devices.states,
        )
        typed = HumanInput(self._clock.now_ms, local_zone, language_in_use)
        check = VerifyJob(partial(verify_apart, self._database), self._clock.now_ms)
        deeds = AgentDeeds(services, typed, self._peers.devices)
        routes = [
            *devices_routes.routes(services, self._peers),
            *health_routes.routes(services, self._peers.exchange_days, self._checks().list_findings, check),
            *verify_routes.routes(services, check),
            *pairing_routes.routes(services, self._peers),
            *day_routes.routes(services, typed, self._scheduler.outlook),
            *list_routes.routes(services, typed, self._scheduler.outlook),
            *new_task_routes.routes(services, typed, *self._on_new_task()),
            *task_routes.routes(services, typed, self._scheduler.outlook),
            *series_routes.routes(services, typed),
            *import_routes.routes(services, self._imports),
            *review_routes.routes(services, typed),
            *first_run_routes.routes(services, self._scheduler, self._settings.model.kind),
            *agent_routes.routes(
                services, self._scheduler, self._settings.model.kind, deeds, self._cost_of_run
            ),
            *external_routes.routes(services, deeds),
            *passkey_routes.routes(services, self._clock.randomness),
            *rule_routes.routes(services, typed),
            *settings_routes.routes(services, self._settings_place, self._probe),
            *download_routes.routes(services, self._database, self._exports.send),
        ]
        self._page = PageServer(
            services,
            self._settings.web,
            self._data,
            listening.load_state(self._data, self._clock.randomness),
            self._clock.randomness,
            more_routes=routes,
            surroundings=Surroundings(self._peers.links.changed, self._peers.appearance),
        )
        try:
            await self._page.start()
        except OSError as fault:
            log.warning("the page cannot be served", port=self._settings.web.port, reason=fault.strerror)

    def _cost_of_run(self, run: RunTokens) -> int | None:
        """Return what a run cost at the prices of now, in millionths; None if its model has none."""
        accounts = {remote.endpoint.model: remote.account for remote in self._remotes.values()}
        usage = TokenUsage(run.sent, run.received, run.cached)
        return accounts[run.model].cost_micro(usage) if run.model in accounts else None

    @property
    def store(self) -> StoreThreads:
        """Return the open store."""
        return self._store

    def sign_in_address(self) -> str:
        """Return an address that signs one browser in to the page; empty if the page is not served."""
        addresses = self._access.addresses_with(self._access.issue_secret())
        return addresses[0] if addresses else ""

    async def wait_until_ended(self, end_requested: asyncio.Event) -> None:
        """Wait until the end is requested. Raises what ended the scheduler, if that comes first."""
        assert self._agents is not None
        waiting = asyncio.create_task(end_requested.wait())
        await asyncio.wait({waiting, self._agents}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if self._agents.done():
            await self._agents

    async def stop(self, close_within_s: float | None) -> None:
        """End everything that `start` began, also half-way; close the store unless a write holds it.

        None waits for any write: what is not over goes on while this process does. Raises what fails then.
        """
        parts = [_end_within(STOP_PARTS_WITHIN_S, self._peers.stop(), "peers")]
        if self._checking is not None:
            self._checking.cancel()
        if self._control is not None:
            parts.append(_end_within(STOP_PARTS_WITHIN_S, self._control.stop(), "control"))
        if self._page is not None:
            parts.append(_end_within(STOP_PARTS_WITHIN_S, self._page.stop(), "page"))
        if self._agents is not None:
            self._agents.cancel()
            parts.append(_end_within(STOP_PARTS_WITHIN_S, _wait_for_task(self._agents), "agents"))
        parts += [
            _end_within(STOP_PARTS_WITHIN_S, remote.model.close(), "model")
            for remote in self._remotes.values()
        ]
        await asyncio.gather(*parts)
        closing = asyncio.get_running_loop().run_in_executor(None, self._store.close)
        closed, _ = await asyncio.wait({closing}, timeout=close_within_s)
        if close_within_s is None:
            await closing
        elif not closed:
            log.warning("the end interrupts a write, which was not acknowledged and will be rolled back")

    def _human_input(self) -> HumanInput:
        language = chosen_language(self._settings.language, os.environ)
        return HumanInput(self._clock.now_ms, local_zone, language)

    def _routes(self) -> list[Route]:
        now_ms = self._clock.now_ms
        agents = AgentRoutes(
            self._store,
            self._scheduler,
            now_ms,
            models=frozenset(self._models),
            model=self._settings.model.kind,
            typed=self._human_input(),
        )
        return [
            *tasks.routes(self._human_input(), *self._on_new_task()),
            *today_routes.routes(self._human_input()),
            *date_routes.routes(self._human_input()),
            *times.routes(self._human_input()),
            *links.routes(),
            *labels.routes(),
            *preferences.routes(),
            *imports.routes(self._imports),
            *ExportRoutes.routes(self._exports),
            *JsonlImportRoutes(self._store, self._data, self._floor).routes(),
            *agents.routes(),
            *ask_routes.routes(now_ms),
            *standing_rule_routes.routes(now_ms, self._human_input()),
            *OutsideRoutes(
                self._store,
                self._notifier,
                now_ms,
                self._human_input(),
                scheduler_settings(self._settings).limits,
            ).routes(),
            *DecisionRoutes(
                self._store,
                now_ms,
                reason_min=self._settings.sovereignty.reason_min,
                open_per_day=self._settings.proposals.open_per_day,
            ).routes(),
            *undo_routes.routes(self._store, self._settings.sovereignty.reason_min),
            *BrowserRoutes(self._access, now_ms).routes(),
            *PeerRoutes(self._peers).routes(),
            *MailboxRoutes(
                self._peers.mailboxes, self._peers.bundles, remove=self._peers.remove_mailbox
            ).routes(),
            *CompactionRoutes(
                self._store,
                self._clock,
                self._floor,
                self._settings.history,
                left_out=self._peers.devices.members_left_out,
            ).routes(),
            # By the class: `make shapes` asks for the table of a daemon without parts.
            *Daemon._checks(self).routes(),
            *StatusRoutes(
                self._store, self._peers, self._scheduler, now_ms, tuple(self._remotes.values())
            ).routes(),
            *self._metrics().routes(),
        ]

    def _checks(self) -> CheckRoutes:
        return CheckRoutes(
            self._store,
            self._clock,
            self._floor,
            watch=self._watch,
            peers=self._peers,
            remotes=tuple(self._remotes.values()),
            socket=self._socket if self._passed else None,
        )

    def _on_new_task(self) -> list[OnNewTask]:
        wanted = self._settings.agents
        if not wanted.for_new_tasks:
            return []
        categories = frozenset(name.strip().casefold() for name in wanted.categories)
        return [DefaultAgent(self._settings.model.kind, wanted.mode, categories).create]

    def _metrics(self) -> MetricsRoutes:
        return MetricsRoutes(
            self._store,
            self._peers,
            self._scheduler,
            floor=self._floor,
            database=self._database,
            now_ms=self._clock.now_ms,
            meter=self._meter,
        )


def _identity(data: Path, database: Path, clock: Clock) -> identity.Identity:
    """Read this device's key. A database whose key is gone is not given a new one."""
    if database.exists() and not (data / identity.FILE_NAME).exists():
        raise IdentityError(
            sentence(
                "key-file-missing",
                "{file}, the key of {database}, is missing",
                file=str(data / identity.FILE_NAME),
                database=str(database),
            )
        )
    return identity.load_or_create(data, clock.randomness)


def _unusable_setting(key: str, fault: ValueError) -> Sentence:
    problem = fault.sentence if isinstance(fault, BadAddress) else foreign_text(str(fault))
    return sentence("setting-with-problem", "{key}: {problem}", key=key, problem=problem)


def check_settings(settings: Settings) -> dict[str, remote_model.RemoteModelSettings]:
    """Raise ConfigError for what keeps a daemon from starting; return its remote models, by name."""
    try:
        addresses.normalised_listen_host(settings.listen.host)
    except ValueError as fault:
        raise ConfigError(_unusable_setting("listen.host", fault)) from fault
    return remote_model.remote_model_settings(settings, os.environ)


def _device_name(settings: Settings) -> str:
    """Return the name of this device until a person gives it another: the host's, without its domain."""
    return settings.device.name or socket.gethostname().partition(".")[0][:HOST_NAME_CHARS_MAX]


def _models(remotes: Mapping[str, RemoteModel], rules: Model, *, has_fallback: bool) -> dict[str, Model]:
    """Return the models by the names that agents know them by; behind each remote one stand the rules."""
    models: dict[str, Model] = {RULES_MODEL: rules}
    for name, remote in remotes.items():
        models[name] = ModelWithStandIn(remote.model, rules, answers_outages=has_fallback)
    return models


def scheduler_settings(settings: Settings) -> AgentSettings:
    """Return the settings of agents: when they run, how much they propose, what overrules a tick."""
    wake, proposals = settings.wake, settings.proposals
    own_s, remote_s = THROTTLE_RULES_S, THROTTLE_REMOTE_S
    if wake.throttle_s is not None:
        own_s = remote_s = wake.throttle_s
    return AgentSettings(
        pace=RunPace(wake.debounce_s, own_s, wake.concurrency, remote_s),
        limits=ProposalLimits(
            proposals.per_set, round(proposals.lifetime_s * 1000), settings.sovereignty.reason_min
        ),
        run_max_s=wake.run_max_s,
    )


async def _wait_for_task(task: asyncio.Task[None]) -> None:
    await asyncio.wait({task})


async def _end_within(limit_s: float, ending: Awaitable[None], part: str) -> None:
    """Let a part end; one that fails or takes too long must not keep the others from ending."""
    try:
        await asyncio.wait_for(ending, limit_s)
    except Exception as fault:  # noqa: BLE001 - on the way out nothing may stop the store from closing
        log.warning("a part of the daemon could not be stopped", part=part, fault=type(fault).__name__)
