"""What a browser installs: the manifest, the icons and the worker, asked without a browser."""

import json
import re
import struct
import zlib

import pytest

from daemon.browser_access import COOKIE
from daemon.web.frame.rendering import COLOURS, WEB_FOLDER, Renderer
from daemon.web.install.install_routes import ICONS
from daemon.words.translation import use_language
from tests.daemon.web.conftest import Page
from tests.docs.icons import drawing

ICON_BYTES_MAX = 12_000


def pixel(png: bytes, x: int, y: int) -> tuple[int, ...]:
    """Return the red, green, blue and opacity of one pixel of a picture whose lines are RGB or RGBA."""
    width, _height, _depth, kind = struct.unpack_from(">IIBB", png, 16)
    per = {2: 3, 6: 4}[kind]
    start = png.index(b"IDAT")
    (size,) = struct.unpack_from(">I", png, start - 4)
    raw, line = zlib.decompress(png[start + 4 : start + 4 + size]), bytearray(width * per)
    for row in range(y + 1):
        start = row * (width * per + 1)
        above, line = line, bytearray(raw[start + 1 : start + 1 + width * per])
        for i in range(len(line)):
            left, up = (line[i - per] if i >= per else 0), above[i]
            corner = above[i - per] if i >= per else 0
            nearest = min((left, up, corner), key=lambda value: abs(left + up - corner - value))
            line[i] = (line[i] + (0, left, up, (left + up) // 2, nearest)[raw[start]]) & 0xFF
    return tuple(line[x * per : x * per + per])


async def test_the_manifest_names_icons_that_are_there_and_nothing_of_the_journal(unknown_page: Page):
    answer = await unknown_page.ask("/manifest.webmanifest")
    manifest = json.loads(answer.text)
    assert (answer.status, manifest["start_url"], manifest["scope"]) == (200, "/", "/")
    assert answer.headers["Content-Type"].startswith("application/manifest+json")
    for icon, (name, size, purpose) in zip(manifest["icons"], ICONS, strict=True):
        media, content = unknown_page.services.renderer.static_files[name]
        assert (icon["purpose"], icon["type"]) == (purpose, media)
        assert struct.unpack_from(">II", content, 16) == (size, size)
        assert len(content) <= ICON_BYTES_MAX
        assert (await unknown_page.ask(icon["src"], method="HEAD")).headers["Content-Type"] == "image/png"


def test_an_icon_that_may_be_cut_fills_its_square_and_keeps_to_its_middle():
    contents = {name: (WEB_FOLDER / "install" / name).read_bytes() for name, _size, _purpose in ICONS}
    assert pixel(contents["maskable-512.png"], 0, 0)[:3] == (0x43, 0x38, 0xCA)
    assert pixel(contents["icon-192.png"], 0, 0)[3] == 0
    assert "scale(.6)" in drawing("maskable")
    assert drawing("any") == (WEB_FOLDER / "install" / "icon.svg").read_text()


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "The daemon is away"),
        ("de", "Der Daemon ist nicht da"),
        ("es", "El demonio no está"),
        ("fr", "Le démon n’est pas là"),
        ("ro", "Demonul lipsește"),
    ],
)
async def test_the_worker_says_that_the_daemon_is_away_in_the_language_of_the_browser(
    unknown_page: Page, language: str, words: str
):
    answer = await unknown_page.ask("/worker.js", headers={"Accept-Language": language, "Cookie": None})
    use_language("en")
    page = json.loads(re.search(r"AWAY=(\"(?:[^\"\\]|\\.)*\");", answer.text)[1])  # type: ignore[index]
    assert (answer.status, words in page, f'lang="{language}"' in page) == (200, True, True)
    assert "<script" not in page
    assert answer.headers["Cache-Control"] == "no-store"


async def test_the_worker_keeps_nothing_and_is_the_same_for_everybody(page: Page):
    await page.propose(("set_task_title", {"title": "Better"}))
    mine = (await page.ask("/worker.js")).text
    assert mine == (await page.ask("/worker.js", headers={"Cookie": None})).text
    script = (WEB_FOLDER / "install" / "worker.js").read_text("utf-8")
    assert not re.search(r"caches|indexedDB|importScripts|postMessage|clients|respondWith\((?!open)", script)


async def test_signing_out_takes_the_worker_away(page: Page):
    answer = await page.ask("/out", {})
    assert answer.headers["Clear-Site-Data"] == '"storage"'
    assert f"{COOKIE}=" in answer.headers["Set-Cookie"]


async def test_only_own_workers_and_manifests_are_allowed(page: Page):
    policy = (await page.ask("/")).headers["Content-Security-Policy"]
    assert "worker-src 'self'" in policy
    assert "manifest-src 'self'" in policy
    assert "default-src 'none'" in policy


def test_the_page_of_the_worker_needs_no_frame():
    COLOURS.set("dark")
    text = Renderer().render("install/away.html")
    COLOURS.set("")
    assert 'data-colours="dark"' in text
    assert "manifest" not in text
