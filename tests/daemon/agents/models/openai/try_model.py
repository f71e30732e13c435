"""Real small models behind a real server, once: what they propose, what is refused and why.

Never part of the tests: it needs an environment of its own, which `make try-model` makes. Never leaves a
process or a folder behind, and reaches nothing but loopback.

    python -m tests.daemon.agents.models.openai.try_model PYTHON [--model M] [--mode M] [--record FOLDER]

PYTHON is an interpreter that has xllamacpp and the weights (`llama_server.py`). With --record, the server's
answers are kept as `FOLDER/MODEL-MODE.json`, for the fake server to give again.
"""

import argparse
import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import ClientError, ClientSession, ClientTimeout, web

MODELS = ("qwen", "smollm2")
MODES = ("tools", "actions")
START_S = 120.0
RUN_S = 1500
STOP_S = 20.0
TASK = "Renew the passport"
NOTES = (
    "Called the office: the appointment is on 2030-03-14, and it takes 90 minutes.",
    "To bring: two photos, the old passport, 70 euros. This is urgent now!",
)
STANDS = ("title", "status", "priority", "estimate_minutes", "due_date")
SERVER = Path(__file__).with_name("llama_server.py")


class Failed(Exception):
    """What was to be shown did not come about; the message says what."""


class Relay:
    """Stands between the daemon and the server, and keeps what was asked and answered."""

    def __init__(self, upstream: str) -> None:
        self._upstream = upstream
        self.answers: list[dict[str, Any]] = []
        self.asked: list[dict[str, Any]] = []
        self.address = ""

    async def serve(self) -> web.AppRunner:
        app = web.Application(client_max_size=1 << 26)
        app.router.add_post("/v1/chat/completions", self._pass_on)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.address = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        return runner

    async def _pass_on(self, request: web.Request) -> web.Response:
        raw = await request.read()
        self.asked.append(json.loads(raw))
        began_s = time.monotonic()
        async with ClientSession(timeout=ClientTimeout(total=RUN_S)) as session:
            to = f"{self._upstream}/v1/chat/completions"
            how = {"Content-Type": "application/json"}
            try:
                async with session.post(to, data=raw, headers=how) as answer:
                    body = await answer.text()
            except ClientError as fault:
                print(f"  {len(raw)} bytes: the server broke off ({type(fault).__name__})", flush=True)
                return web.Response(status=502)
        self.answers.append({"status": answer.status, "body": body})
        kind = "tools" if "tools" in self.asked[-1] else self.asked[-1].get("response_format", {}).get("type")
        text = f"{answer.status} after {time.monotonic() - began_s:.1f} s"
        print(f"  {len(raw)} bytes by {kind}: {text}", flush=True)
        if answer.status != 200:
            print(f"    {body[:300]}", flush=True)
        return web.Response(text=body, status=answer.status, content_type="application/json")


def main() -> int:
    """Show one run in each mode; return 0 if both reached the registry and changed nothing unconfirmed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("python", type=Path)
    parser.add_argument("--record", type=Path)
    parser.add_argument("--model", choices=MODELS, action="append")
    parser.add_argument("--mode", choices=MODES, action="append")
    options = parser.parse_args()
    try:
        for model in options.model or MODELS:
            with model_server(options.python, model) as served:
                for mode in options.mode or MODES:
                    relay = asyncio.run(relay_for_mode(mode, served))
                    if options.record is not None:
                        keep(options.record / f"{model}-{mode}.json", relay, options.python)
    except Failed as fault:
        print(f"try-model: {fault}", file=sys.stderr)
        return 1
    return 0


# -- the server ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model that a process of this machine serves."""

    name: str
    url: str
    process: subprocess.Popen[bytes]

    def require_alive(self) -> None:
        """Raise Failed if the server died."""
        if self.process.poll() is not None:
            raise Failed(f"the model's server died (exit code {self.process.returncode})")


@contextmanager
def model_server(python: Path, model: str = MODELS[0]) -> Iterator[ServedModel]:
    """Serve a model on a free port of this machine for as long as the context lasts."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    # Threads that wait for one another come to a stand where other work wants the processor too.
    threads = str(max(1, (os.cpu_count() or 1) // 2))
    with running([str(python), str(SERVER), model, str(port), threads], {}, subprocess.PIPE) as process:
        wait_for_port(port, process)
        print(f"{model} is served on 127.0.0.1:{port}", flush=True)
        yield ServedModel(model, f"http://127.0.0.1:{port}", process)


@contextmanager
def running(
    command: list[str], settings: dict[str, str], stdin: int = subprocess.DEVNULL
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program for as long as the context lasts; what it says is kept for when it fails."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("PLACET_")}
    with tempfile.TemporaryFile() as buffered_random:
        process = subprocess.Popen(
            command,
            env=inherited | settings,
            stdin=stdin,
            stdout=buffered_random,
            stderr=subprocess.STDOUT,
        )
        try:
            yield process
        except Failed:
            buffered_random.seek(0)
            sys.stderr.write(buffered_random.read().decode(errors="replace")[-4000:])
            raise
        finally:
            if process.stdin is not None:
                process.stdin.close()
            process.terminate()
            try:
                process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def wait_for_port(port: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until something answers on a port, or its process ends."""
    until_s = time.monotonic() + START_S
    while time.monotonic() < until_s and process.poll() is None:
        try:
            with socket.create_connection(("127.0.0.1", port), 1.0):
                return
        except OSError:
            pause(process)
    raise Failed(f"the model's server does not answer (exit code {process.poll()})")


def pause(process: subprocess.Popen[bytes]) -> None:
    """Wait a little, or until a process ends."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(0.2)


# -- one run ------------------------------------------------------------------------------------------


async def relay_for_mode(mode: str, served: ServedModel) -> Relay:
    """Run an agent in one mode, and show what it proposed and what was refused."""
    print(f"\n== {served.name}, model.mode = {mode}", flush=True)
    relay = Relay(served.url)
    runner = await relay.serve()
    try:
        await asyncio.to_thread(one_run, mode, relay, served)
    finally:
        await runner.cleanup()
    return relay


def one_run(mode: str, relay: Relay, served: ServedModel) -> None:
    with tempfile.TemporaryDirectory() as home:
        placet = Placet(home, mode, relay.address, served.name)
        with running([sys.executable, "-m", "daemon", "up"], placet.settings) as process:
            placet.wait_until_up(process)
            placet.said("task", "add", TASK)
            for note in NOTES:
                placet.said("note", TASK, note)
            before = placet.stands()
            placet.said("agent", "create", TASK, "--mode", "interactive")
            run = placet.ended_run(process, served)
            print(f"  the run is {run.get('status', '?')} {run.get('error', '')}".rstrip())
            called = placet.asked("agent", "log", TASK, "--tools", "--plain")
            print(placet.asked("agent", "log", TASK, "--tools"))
            print(placet.asked("pending"))
            print(placet.asked("agent", "show", TASK))
            judge(run, relay, called, before, placet.stands())


def judge(run: dict[str, Any], relay: Relay, called: str, before: object, after: object) -> None:
    """Raise Failed unless the run ended, a call reached the registry, and nothing changed unconfirmed."""
    if run.get("status") != "completed":
        raise Failed(f"the run did not complete: {run}")
    if not called.strip():
        raise Failed("no call reached the registry")
    if before != after:
        raise Failed(f"the task changed without a person: {before} -> {after}")
    print(f"  {len(relay.asked)} requests; the task is as it was", flush=True)


class Placet:
    """The command line, against a daemon in a folder of its own."""

    def __init__(self, home: str, mode: str, address: str, name: str) -> None:
        self.settings = {
            "PLACET_HOME": home,
            "PLACET_LISTEN_HOST": "127.0.0.1",
            "PLACET_MDNS_ENABLED": "false",
            "PLACET_MODEL_KIND": "openai",
            "PLACET_MODEL_BASE_URL": address,
            "PLACET_MODEL_NAME": name,
            "PLACET_MODEL_MODE": mode,
            "PLACET_WAKE_RUN_MAX_S": str(RUN_S),
        }

    def asked(self, *words: str) -> str:
        """Return what a command prints, whether it is content or not."""
        inherited = {key: value for key, value in os.environ.items() if not key.startswith("PLACET_")}
        result = subprocess.run(
            [sys.executable, "-m", "daemon", *words],
            env=inherited | self.settings,
            capture_output=True,
            text=True,
            timeout=RUN_S + START_S,
            check=False,
        )
        return result.stdout or result.stderr

    def said(self, *words: str) -> None:
        """Have a command do something that must work."""
        answer = self.asked(*words)
        if answer.startswith("placet: "):
            raise Failed(answer.strip())

    def wait_until_up(self, process: subprocess.Popen[bytes]) -> None:
        until_s = time.monotonic() + START_S
        while time.monotonic() < until_s and process.poll() is None:
            if "state" in self.asked("status", "--plain"):
                return
            pause(process)
        raise Failed("the daemon does not answer")

    def ended_run(self, process: subprocess.Popen[bytes], served: ServedModel) -> dict[str, Any]:
        """Return the run that began with the agent, once it is over."""
        until_s = time.monotonic() + RUN_S + START_S
        while time.monotonic() < until_s and process.poll() is None:
            served.require_alive()
            document = json.loads(self.asked("agent", "show", TASK, "--json"))
            over = [run for run in document.get("runs", []) if run["status"] not in {"running", "queued"}]
            if over:
                return dict(over[-1])
            pause(process)
        raise Failed("the run has not ended")

    def stands(self) -> dict[str, Any]:
        """Return what a person would see of the task."""
        task = json.loads(self.asked("task", "show", TASK, "--json"))
        found_task = task.get("task", task)
        return {name: found_task.get(name) for name in STANDS} | {"checklists": found_task.get("checklists")}


def keep(file: Path, relay: Relay, python: Path) -> None:
    """Write the server's answers down, without the paths of this machine."""
    file.parent.mkdir(parents=True, exist_ok=True)
    place = str(python.absolute().parent.parent)
    text = json.dumps(relay.answers, indent=1, ensure_ascii=True).replace(place, "/venv")
    file.write_text(text + "\n", encoding="utf-8")
    print(f"  {len(relay.answers)} answers kept in {file}")


if __name__ == "__main__":
    sys.exit(main())
