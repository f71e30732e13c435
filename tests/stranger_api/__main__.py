"""Lets Schemathesis try a daemon: `python -m tests.stranger_api SCHEMATHESIS SECONDS`.

The fuzzer speaks TCP alone, so a port of this machine leads to the daemon's socket as long as it runs. What a
request could send to other machines, or write outside of the daemon's folder, is left out.
"""

import asyncio
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from tests.support.devices import Device

_UNTRIED: Final = (
    "/v1/leave",
    "/v1/join",
    "/v1/mailboxes",
    "/v1/bundles",
    "/v1/bundles/read",
    "/v1/browsers",
)
"""What reaches other machines, writes files where it is told, or ends the device's part in its vault."""
_OWN_TERMS: Final = ("/v1/events", "/v1/sync", "/v1/verdicts", "/v1/import/jsonl")
"""What waits as long as the request says, and what takes lines that the fuzzer cannot write."""
_CHECKS: Final = (
    "not_a_server_error",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "missing_required_header",
    "unsupported_method",
)
"""Not that every good request is taken: no description says which words are a date or name a task. Not that
each answer is JSON: the HTTP library refuses an address of more than 8190 bytes itself, in plain text."""


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while piece := await reader.read(1 << 16):
            writer.write(piece)
            await writer.drain()
    writer.close()


async def _run_fuzzer(words: list[str], folder: Path) -> int:
    # It keeps what it found in the folder in which it runs.
    process = await asyncio.create_subprocess_exec(*words, stdin=subprocess.DEVNULL, cwd=folder)
    return await process.wait()


async def try_daemon(schemathesis: str, seconds: int, device: Device) -> int:
    """Try a running daemon for some seconds; return the status with which the fuzzer ends."""
    control = str(device.home / "control.sock")

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_daemon, to_daemon = await asyncio.open_unix_connection(control)
        await asyncio.gather(_pump(reader, to_daemon), _pump(from_daemon, writer))

    server = await asyncio.start_server(forward, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    words = [schemathesis, "run", f"{address}/v1/openapi.json", "--url", address, "--max-time", str(seconds)]
    words += ["--checks", ",".join(_CHECKS), "--continue-on-failure", "--no-shrink", "--warnings", "off"]
    words += [word for path in (*_UNTRIED, *_OWN_TERMS) for word in ("--exclude-path", path)]
    try:
        return await _run_fuzzer(words, device.home.parent)
    finally:
        server.close()


def main() -> int:
    """Return 0 if the fuzzer met no fault."""
    schemathesis, seconds = str(Path(sys.argv[1]).absolute()), int(sys.argv[2])
    with tempfile.TemporaryDirectory(prefix="placet-") as folder:
        device = Device("stranger", Path(folder) / "home")
        device.start()
        try:
            for title in ("Call Ana", "Renew the passport"):
                device.do("add", title)
            return asyncio.run(try_daemon(schemathesis, seconds, device))
        finally:
            device.stop()


if __name__ == "__main__":
    sys.exit(main())
