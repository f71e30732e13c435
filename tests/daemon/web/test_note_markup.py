"""A note as HTML: what Markdown means, and what of it never reaches a page."""

import re
import sys
from html import unescape
from types import FrameType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daemon.web.tasks.note_markup import (
    CHARS_MAX,
    HTML_CHARS_MAX,
    PAGE_CHARS_MAX,
    PageMarkup,
    note_markup,
)

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
            "[form](https://example.org/?a&b)",
            (
                '<p dir="auto"><a href="https://example.org/?a&amp;b" rel="noopener noreferrer">form</a>'
                " (example.org)</p>\n"
            ),
        ),
        ("a * b", '<p dir="auto">a * b</p>\n'),
    ],
)
def test_markdown_is_shown_as_what_it_means(text: str, html: str) -> None:
    assert note_markup(text) == html


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[https://bank.example](https://other.example/x)", "https://bank.example (other.example)"),
        ("[bank](https://bank.example@other.example:8/)", "bank (other.example:8)"),
        ("[b](https://b.example\\\\@c.example)", "b (c.example)"),
        ("[**b** c](HTTPS://b.example?x)", "b c (b.example)"),
        ("[b](https:////c.example)", "b (https:////c.example)"),
        ("[bank](https://b\u0430nk.example)", "bank (xn--bnk-6cd.example)"),
        ("[Ana](mailto:ana@b.example)", "Ana (ana@b.example)"),
        ("<https://b.example/x> <ana@b.example>", "https://b.example/x ana@b.example"),
        ("[b.example](https://b.example/x)", "b.example"),
    ],
)
def test_a_link_says_beside_its_words_where_it_leads(text: str, shown: str) -> None:
    assert unescape(re.sub(r"<[^>]*>", "", str(note_markup(text)))).strip() == shown


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


def fill(part: str, tail: str = "") -> str:
    """Return a note as long as one may be, of one part."""
    return (part * CHARS_MAX)[: CHARS_MAX - len(tail)] + tail


HOSTILE = [
    *(fill(part) for part in ("[", "![[", "*_", "[a](", "`", "<", "> ", "- ", "| a ", "[x]: y\n", "&#x41;")),
    *(
        fill(part)
        for part in ("#\n", "1. a\n\n", "*a_ ", "~~a ", "\u202e", '"', ">- >- >- a\n", "|a|\n|-|\n\n")
    ),
    fill("[", "]" * (CHARS_MAX // 2)),
    fill("a|" * 300 + "\n" + "-|" * 300 + "\n" + "|\n" * CHARS_MAX),
    fill("> a|" * 18 + "\n" + "-|" * 90 + "\n" + "|\n" * CHARS_MAX),
    ">" * 18 + "a\n" * 400,
    "[a]: http://" + "x" * 2_400 + "\n\n" + "[a]" * 800,
    "[a]: http://" + "\U0001f600" * 2_000 + "\n\n" + "[a]" * 900,
    "".join("`" * ticks + " " for ticks in range(1, 99)),
    "".join("  " * depth + "- a\n" for depth in range(18)),
]
CALLS_PER_CHAR_MAX = 250
"""How much work a note may be: calls of functions, which a slow machine does not make more."""


def count_calls(text: str) -> int:
    """Return how many functions are called to show a note."""
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        del frame, argument
        calls += event.endswith("call")

    sys.setprofile(count)
    try:
        note_markup.__wrapped__(text)
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:12]))
def test_no_note_is_much_work_or_much_of_a_page(text: str) -> None:
    assert len(note_markup(text) or "") <= HTML_CHARS_MAX
    assert count_calls(text) <= CALLS_PER_CHAR_MAX * len(text)


PARTS = st.sampled_from(
    ["a", "|", "-", ">", "- ", "1. ", "\n", "`", "*", "_", "~~", "[a]", "[a]: http://b", "\t"]
)


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.lists(PARTS, min_size=1, max_size=6), st.integers(1, 900)), min_size=1, max_size=5)
)
def test_no_note_that_repeats_what_counts_in_markdown_is_much_of_a_page(
    runs: list[tuple[list[str], int]],
) -> None:
    text = "".join("".join(parts) * times for parts, times in runs)[:CHARS_MAX]
    assert len(note_markup.__wrapped__(text) or "") <= HTML_CHARS_MAX


def test_a_longer_note_is_shown_as_it_is_written() -> None:
    assert note_markup("a" * CHARS_MAX) is not None
    assert note_markup("a" * CHARS_MAX + "x") is None


def test_nothing_that_is_nested_deeply_is_left_out() -> None:
    assert "deep" in (note_markup(">" * 15 + " deep") or "")
    for depth in range(15, 30):
        assert "deep" in (note_markup(">" * depth + " deep") or "deep")


def test_all_notes_of_a_page_together_are_bounded_and_the_first_come_first() -> None:
    page = PageMarkup()
    shown = [page.of_note(fill(f"- {number}\n")) for number in range(30)]
    is_shown = [markup is not None for markup in shown]
    assert is_shown[0]
    assert is_shown == sorted(is_shown, reverse=True)
    assert PAGE_CHARS_MAX - HTML_CHARS_MAX < sum(len(markup or "") for markup in shown) <= PAGE_CHARS_MAX
    refused = PageMarkup()
    for _ in range(PAGE_CHARS_MAX // CHARS_MAX):
        assert refused.of_note(fill(">" * 30 + "a\n")) is None
    assert refused.of_note("*short*") is None


def test_what_is_kept_of_notes_is_a_few_megabytes() -> None:
    kept = note_markup.cache_parameters()["maxsize"]
    assert kept is not None
    assert kept * (CHARS_MAX + HTML_CHARS_MAX) <= 4_000_000


@pytest.mark.parametrize(
    "text",
    [
        "[a]: https://a.example 'set it due today'\n\nWords",
        "[Ana](https://a.example 'set it due today')",
        "[set it due today]: https://a.example\n\nWords",
        "| a |\n|---|\n| b | set it due today |",
        "&#115;et it due today",
    ],
)
def test_a_note_that_markup_would_hide_a_word_of_is_shown_as_it_is_written(text: str):
    assert note_markup(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "A **bold**ness, `code` and ~~old~~ words\n\n> said [here](https://a.example/b?c=d)\n\n# Head",
        "3. three\n4. four\n   - [ ] five\n\n<https://a.example>, [x](javascript:y)",
        "| a | b |\n|---|:-:|\n| c |\n\n    indented\n\n---\nÜber \u200bÄrger \\* <b>",
    ],
)
def test_a_note_of_which_nothing_is_hidden_is_shown_as_what_it_means(text: str):
    assert note_markup(text) is not None


def test_the_words_after_a_fence_are_shown():
    assert note_markup("```set it <due>\na\n```") == ('<p dir="auto">set it &lt;due&gt;</p>\n<pre>a</pre>\n')
