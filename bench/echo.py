"""The baseline of the live figures: a bare aiohttp WebSocket that makes one durable commit and echoes.

Never does more than that; it runs as a process of its own: `python -m bench.echo FOLDER`.
"""

import sys
from pathlib import Path

from aiohttp import web

from store.file import database
from store.file.database import SchemaRule


def _serve(folder: Path) -> None:
    table = database.connect(folder / "echo.db", SchemaRule.CREATED)
    table.execute("CREATE TABLE one (id INTEGER PRIMARY KEY, body BLOB) STRICT")

    async def echo(request: web.Request) -> web.WebSocketResponse:
        answer = web.WebSocketResponse(compress=False)
        await answer.prepare(request)
        async for frame in answer:
            with table:
                table.execute("INSERT INTO one (body) VALUES (?)", (frame.data,))
            await answer.send_bytes(frame.data)
        return answer

    app = web.Application()
    app.router.add_get("/", echo)
    web.run_app(app, path=str(folder / "echo.sock"), print=None)


if __name__ == "__main__":
    _serve(Path(sys.argv[1]))
