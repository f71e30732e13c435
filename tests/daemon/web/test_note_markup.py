"""A note as HTML: what Markdown means, and what of it never reaches a page."""

import re
import time

import pytest

from daemon.web.tasks.note_markup import CHARS_MAX, note_markup

TAGS = {
    *("p", "strong", "em", "s", "br", "hr", "ul", "ol", "li", "a", "code", "pre", "blockquote"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("# At the office", '<p dir="auto"><strong>At the office</strong></p>\n'),
        ("One\nline", '<p dir="auto">One<br />\nline</p>\n'),
        ("* **two** photos", "<ul>\n<li><strong>two</strong> photos</li>\n</ul>\n"),
        ("~~old~~ `x<y`", '<p dir="auto"><s>old</s> <code>x&lt;y</code></p>\n'),
        ("```\na\tb\n```", "<pre>a    b</pre>\n"),
        (
            '[form](https://example.org/?a&b "x")',
            '<p dir="auto"><a href="https://example.org/?a&amp;b" rel="noopener noreferrer">form</a></p>\n',
        ),
        ("a * b", '<p dir="auto">a * b</p>\n'),
    ],
)
def test_markdown_is_shown_as_what_it_means(text: str, html: str) -> None:
    assert note_markup(text) == html


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>\n\n<img src=x onerror=alert(1)> <b onclick=x>b</b>",
        "![map](https://example.org/map.png) ![x](data:image/png;base64,AA==)",
        "[a](javascript:alert(1)) [b](JaVaScript&colon;alert(1)) [c](data:text/html,x) [d](vbscript:x)",
        "[e](/out) [f](//example.org) [g](file:///etc/passwd) [h](\x01javascript:alert(1))",
        "<javascript:alert(1)>",
        '[i]: javascript:alert(1)\n\n[i] [j](https://example.org"onclick="alert(1))',
        '```"><script>alert(1)</script>\nx\n```',
        '| a | b |\n|:-|-|\n| <i> | " style="x |',
        "moc.\u202eelpmaxe\u2066 &#x202e; &#8294; `\u202e`\n\n    \u202e\x1b[2J",
    ],
)
def test_no_markup_image_script_or_hidden_sign_of_a_note_is_let_through(text: str) -> None:
    shown = str(note_markup(text))
    opened = re.findall(r"<([a-z]+)((?:\s[^<>]*)?)\s*/?>", shown)
    assert {tag for tag, _attributes in opened} <= TAGS
    for tag, attributes in opened:
        named = re.findall(r'([a-z-]+)="([^"]*)"', attributes)
        assert {name for name, _value in named} <= {"href", "rel", "dir"}, attributes
        addresses = [value for name, value in named if name == "href"]
        assert all(re.match(r"(https?://|mailto:)", address) for address in addresses)
        assert (tag == "a") == bool(addresses)
    assert not [character for character in shown if not (character.isprintable() or character == "\n")]


@pytest.mark.parametrize(
    "part", ["[", "![[", "*_", "[a](", "`", "<", "> ", "- ", "| a ", "[x]: y\n", "&#x41;"]
)
def test_no_note_takes_long(part: str) -> None:
    began_s = time.perf_counter()
    note_markup((part * CHARS_MAX)[:CHARS_MAX])
    assert time.perf_counter() - began_s < 1
    assert note_markup(part * CHARS_MAX + "x") is None
