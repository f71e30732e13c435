"""What is wrong with a page as it looks now: what axe-core finds, what sticks out, and words that are torn.

Never looks at what a page says: a part that is hidden is not looked at either.
"""

from typing import Any, Final

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

WORD_CHARS_MAX: Final = 14
"""A longer word may be torn on a small screen, if there is no other way."""
_SHAPE: Final = """(letters) => {
    const faults = new Set(), wide = document.documentElement.clientWidth;
    const { scrollWidth } = document.documentElement;
    if (scrollWidth > wide) faults.add(`${scrollWidth} pixels wide`);
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    while (texts.nextNode()) {
        const { currentNode: text } = texts, parent = text.parentElement, words = text.data.trim();
        if (!words || parent.closest("script, noscript, option, [hidden], .unseen, .skip, svg")) continue;
        if (parent.closest("details:not([open]) > :not(summary)")) continue;
        range.selectNodeContents(text);
        const { width, height, left, right } = range.getBoundingClientRect();
        const isOut = width && (right > wide + 1 || left < -1);
        // Tables, boards and the bar scroll by themselves.
        if (isOut && !parent.closest(".scroll, .board, nav")) faults.add(`sticks out: ${words.slice(0, 60)}`);
        if (height < 1.8 * parseFloat(getComputedStyle(parent).fontSize)) continue;
        // Words that stand alone: a path or JSON is torn anywhere.
        for (const { 0: word, index } of text.data.matchAll(/(?<=^|\\s)[\\p{L}\\p{N}]+(?=$|[.,:;]?\\s)/gu)) {
            if (word.length > letters) continue;
            range.setStart(text, index);
            range.setEnd(text, index + word.length);
            const tops = [...range.getClientRects()].map(({ top }) => Math.round(top));
            if (new Set(tops).size > 1) faults.add(`torn: ${word}`);
        }
    }
    return [...faults];
}"""

TARGET_PX, BAR_PX_MAX = 44, 100
_FINGER: Final = """([least, wide, highest]) => {
    const torn = () => [...document.querySelectorAll("button")].flatMap((button) =>
        [...button.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).flatMap((node) =>
            [...node.data.matchAll(/\\S+/g)].filter(({ 0: word, index }) => {
                const range = document.createRange();
                range.setStart(node, index);
                range.setEnd(node, index + word.length);
                return range.getClientRects().length > 1;
            }).map(([word]) => `torn in a button: ${word}`)));
    const faults = [
        ...document.querySelectorAll("button, select, summary, textarea, nav a, input:not([type=hidden])")
    ].map((part) => part.closest("label.check") ?? part).flatMap((part) => {
        if (!part.checkVisibility() || part.closest(".unseen, .leaves")) return [];
        const { width, height } = part.getBoundingClientRect();
        // A checkbox has the width of a finger with the space around it.
        const isSmall = height < least - 0.5 || (width < least - 0.5 && part.localName !== "label");
        const size = `${Math.round(width)} x ${Math.round(height)}`;
        return isSmall ? [`${size}: ${part.outerHTML.slice(0, 90)}`] : [];
    }).concat(torn());
    const folded = [...document.querySelectorAll("details:not([open])")];
    for (const part of folded) part.open = true;
    const { scrollWidth } = document.documentElement;
    if (scrollWidth > wide) faults.push(`${scrollWidth} pixels wide with everything unfolded`);
    faults.push(...torn());
    const bar = document.querySelector("header.bar")?.offsetHeight;
    if (bar > highest) faults.push(`the bar is ${bar} pixels high`);
    for (const part of folded) part.open = false;
    return faults;
}"""


def axe_findings(page: Page, *rules: str) -> list[str]:
    """Return what axe-core finds on the page as it is now, by these rules or by all."""
    axe = Axe("" if page.evaluate("'axe' in window") else Axe().axe_script)
    # WCAG 2.2 AA; axe-core leaves it out unless it is asked.
    options: dict[str, Any] = {"resultTypes": ["violations"], "rules": {"target-size": {"enabled": True}}}
    if rules:
        options["runOnly"] = {"type": "rule", "values": rules}
    violations = axe.run(page, options=options).response["violations"]
    return [f"{finding['id']}: {finding['nodes'][0]['html']}" for finding in violations]


def faults_of_shape(page: Page) -> list[str]:
    """Return what sticks out, and short words that are torn."""
    faults: list[str] = page.evaluate(_SHAPE, WORD_CHARS_MAX)
    return faults


def faults_for_a_finger(page: Page) -> list[str]:
    """Return what is too small or torn on a phone, and what sticks out or breaks if all is unfolded."""
    assert page.viewport_size
    faults: list[str] = page.evaluate(_FINGER, [TARGET_PX, page.viewport_size["width"], BAR_PX_MAX])
    return faults
