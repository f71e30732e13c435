"""The daemon, put together: what is opened in which order, and closed in the reverse.

Never ends before what was acknowledged is durable, nor waits for longer than a service manager would.
"""

import asyncio
import os
import socket
from collections.abc import Awaitable
from pathlib import Path

import structlog

from daemon.agents import remote
from daemon.agents.models.interface import Model
from daemon.agents.models.rules import Rules
from daemon.agents.proposals import Limits
from daemon.agents.remote import Remote
from daemon.agents.runner import Settings as AgentSettings
from daemon.agents.scheduler import Scheduler
from daemon.agents.timetable import Pace
from daemon.app import service
from daemon.app.machine import machine_id
from daemon.clock import Clock, ClockWatch, local_zone
from daemon.config import ConfigError, Settings
from daemon.control import import_routes, journal_routes, label_routes, link_routes, time_routes
from daemon.control.agent_routes import AgentRoutes
from daemon.control.decision_routes import DecisionRoutes
from daemon.control.dispatch import Dispatch
from daemon.control.events import Events
from daemon.control.export_routes import Exports
from daemon.control.lines_routes import LinesImport
from daemon.control.meter import Meter
from daemon.control.metrics_routes import MetricsRoute
from daemon.control.peer_routes import PeerRoutes
from daemon.control.routes import Route
from daemon.control.server import Control
from daemon.control.status_routes import StatusRoute
from daemon.control.store_routes import StoreRoutes
from daemon.disk import Floor
from daemon.journal.typed import Typed
from daemon.language import language_here
from daemon.notifier import Lull, Notifier
from daemon.paths import Paths
from daemon.peers import addresses, identity
from daemon.peers.identity import IdentityError
from daemon.peers.peers import Peers
from store.store import Store
from store.threads import StoreThreads

STOP_PARTS_WITHIN_S = 2.5
CLOSE_WITHIN_S = 1.0
"""Together below the 5 s in which the daemon must be gone. What serves ends first, then the store."""

THROTTLE_RULES_S = 5.0
THROTTLE_REMOTE_S = 120.0
HOST_NAME_CHARS_MAX = 64
AGENTS_LOOK_S = 0.02
"""Agents wait for minutes: what a person and other devices wait for goes first."""

log = structlog.get_logger("daemon")


class CannotListen(Exception):
    """The port for peers cannot be had; the message says which and why."""

    hint = "see listen.host and listen.port"


class Daemon:
    """One running daemon. Make it on the event loop; `start`, then `ended`, then `stop`."""

    def __init__(self, paths: Paths, settings: Settings, clock: Clock) -> None:
        # First: an address or a key that cannot be used keeps the daemon from touching anything.
        judged = remote.judged(settings, os.environ)
        _require_listenable(settings.listen.host)
        data = Path(paths.data)
        own = _identity(data, Path(paths.database), clock)
        self._data = data
        self._database = Path(paths.database)
        self._socket = Path(paths.socket)
        self._settings = settings
        self._clock = clock
        self._floor = Floor(data, settings.disk.floor_mib << 20)
        self._store = StoreThreads(
            Store.open(
                Path(paths.database),
                signer=own.signer,
                now_ms=clock.now_ms,
                randomness=clock.randomness,
                machine=machine_id(),
            )
        )
        if self._store.doubt is not None:
            log.warning("the database goes on as a new replica", seen=self._store.doubt.value)
        self._remote = None if judged is None else remote.opened(judged, self._store, clock, local_zone)
        self._models = _models(self._remote)
        self._watch = ClockWatch(clock.now_ms)
        self._notifier = Notifier()
        self._meter = Meter(clock.monotonic_s)
        self._scheduler = Scheduler(
            self._store, self._models, clock, agent_settings(settings), self._floor.shortfall
        )
        self._store.on_commit += [self._notifier.tell, Lull(self._scheduler.grew, AGENTS_LOOK_S).tell]
        self._peers = self._make_peers(own)
        self._events = Events(self._store, self._notifier, self._peers.differing, self._peers.agreeing)
        self._control: Control | None = None
        self._agents: asyncio.Task[None] | None = None

    def _make_peers(self, own: identity.Identity) -> Peers:
        name = _device_name(self._settings)
        try:
            return Peers(
                self._store,
                self._notifier,
                self._clock,
                identity=own,
                settings=self._settings,
                name=name,
                shortfall=self._floor.shortfall,
            )
        except ValueError as fault:
            raise ConfigError(f"peers.static: {fault}") from fault

    async def start(self) -> None:
        """Begin to serve. Raises CannotListen for the peers' port, OSError for the control socket."""
        try:
            await self._peers.start()
        except OSError as fault:
            listen = self._settings.listen
            raise CannotListen(f"cannot listen for peers on {listen.host}:{listen.port}: {fault}") from fault
        self._agents = asyncio.create_task(self._scheduler.serve())
        dispatch = Dispatch(self._store, self._floor, self._meter)
        self._control = await Control.start(self._socket, self._routes(), dispatch, self._events)
        log.info("ready", socket=str(self._socket), peers=self._peers.address)

    async def ended(self, asked: asyncio.Event) -> None:
        """Wait until someone asks for the end. Raises what ended the scheduler, where that comes first."""
        assert self._agents is not None
        waiting = asyncio.create_task(asked.wait())
        await asyncio.wait({waiting, self._agents}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if self._agents.done():
            await self._agents

    async def stop(self) -> None:
        """End everything that `start` began, also half-way; close the store unless a write holds it."""
        parts = [_within(STOP_PARTS_WITHIN_S, self._peers.stop(), "peers")]
        if self._control is not None:
            parts.append(_within(STOP_PARTS_WITHIN_S, self._control.stop(), "control"))
        if self._agents is not None:
            self._agents.cancel()
            parts.append(_within(STOP_PARTS_WITHIN_S, _gone(self._agents), "agents"))
        if self._remote is not None:
            parts.append(_within(STOP_PARTS_WITHIN_S, self._remote.model.close(), "model"))
        await asyncio.gather(*parts)
        closing = asyncio.get_running_loop().run_in_executor(None, self._store.close)
        done, _ = await asyncio.wait({closing}, timeout=CLOSE_WITHIN_S)
        if not done:
            log.warning("a write under way is cut off; nothing of it was acknowledged, and nothing is kept")

    def _typed(self) -> Typed:
        language = language_here(self._settings.language, os.environ)
        return Typed(self._clock.now_ms, local_zone(), language)

    def _routes(self) -> list[Route]:
        now_ms = self._clock.now_ms
        agents = AgentRoutes(
            self._store,
            self._scheduler,
            now_ms,
            models=frozenset(self._models),
            model=self._settings.model.kind,
            typed=self._typed(),
        )
        return [
            *journal_routes.routes(self._typed()),
            *time_routes.routes(self._typed()),
            *link_routes.routes(),
            *label_routes.routes(),
            *import_routes.routes(self._store, local_zone(), now_ms),
            *Exports(self._store, self._data, self._floor, local_zone()).routes(),
            *LinesImport(self._store, self._data, self._floor).routes(),
            *agents.routes(),
            *DecisionRoutes(self._store, now_ms, reason_min=self._settings.sovereignty.reason_min).routes(),
            *PeerRoutes(self._peers).routes(),
            *StoreRoutes(
                self._store,
                self._clock,
                self._floor,
                watch=self._watch,
                peers=self._peers,
                retention_days=self._settings.history.retention_days,
                far=self._remote,
            ).routes(),
            *StatusRoute(self._store, self._peers, self._scheduler, now_ms, self._remote).routes(),
            *self._metrics().routes(),
        ]

    def _metrics(self) -> MetricsRoute:
        return MetricsRoute(
            self._store,
            self._peers,
            self._scheduler,
            floor=self._floor,
            database=self._database,
            now_ms=self._clock.now_ms,
            meter=self._meter,
        )


async def run(paths: Paths, settings: Settings, clock: Clock, asked: asyncio.Event) -> None:
    """Run a daemon until it is asked to end.

    Raises StoreError, IdentityError, CannotListen, OSError where it cannot begin, ConfigError for a setting
    that only its part can judge.
    """
    daemon = Daemon(paths, settings, clock)
    try:
        await daemon.start()
        service.tell(service.READY)
        await daemon.ended(asked)
    except BaseException:
        await daemon.stop()
        raise
    service.tell(service.STOPPING)
    await daemon.stop()
    log.info("stopped")


def _identity(data: Path, database: Path, clock: Clock) -> identity.Identity:
    """Read this device's key. A database whose key is gone is not given a new one."""
    if database.exists() and not (data / identity.FILE_NAME).exists():
        raise IdentityError(f"{data / identity.FILE_NAME}, the key of {database}, is missing")
    return identity.load_or_create(data, clock.randomness)


def _require_listenable(host: str) -> None:
    try:
        addresses.listenable(host)
    except ValueError as fault:
        raise ConfigError(f"listen.host: {fault}") from fault


def _device_name(settings: Settings) -> str:
    return settings.device.name or socket.gethostname()[:HOST_NAME_CHARS_MAX]


def _models(far: Remote | None) -> dict[str, Model]:
    """Return the models by the names that agents know them by."""
    rules: dict[str, Model] = {"rules": Rules()}
    return rules if far is None else rules | {"openai": far.model}


def agent_settings(settings: Settings) -> AgentSettings:
    """Return what the settings say to agents: when they run, how much they propose, what overrules a tick."""
    wake, proposals = settings.wake, settings.proposals
    own_s, remote_s = THROTTLE_RULES_S, THROTTLE_REMOTE_S
    if wake.throttle_s is not None:
        own_s = remote_s = wake.throttle_s
    return AgentSettings(
        pace=Pace(wake.debounce_s, own_s, wake.concurrency, remote_s),
        limits=Limits(proposals.per_set, round(proposals.lifetime_s * 1000), settings.sovereignty.reason_min),
        run_max_s=wake.run_max_s,
    )


async def _gone(task: asyncio.Task[None]) -> None:
    await asyncio.wait({task})


async def _within(limit_s: float, ending: Awaitable[None], part: str) -> None:
    """Let a part end; one that fails or takes too long must not keep the others from ending."""
    try:
        await asyncio.wait_for(ending, limit_s)
    except Exception as fault:  # noqa: BLE001 - on the way out nothing may stop the store from closing
        log.warning("a part did not end well", part=part, fault=type(fault).__name__)
