"""What all findings of doctor together say: one verdict of each subject, whoever looked.

Never looks at anything: the findings are drawn.
"""

import ast
from itertools import chain

from hypothesis import given
from hypothesis import strategies as st

from daemon.control.health.check import Check, one_verdict_each
from tests.support.source_tree import ROOT

_GIVEN = st.fixed_dictionaries(
    {}, optional={key: st.sampled_from(["a", "b"]) for key in ("device", "mailbox", "seen")}
)
_CHECKS = st.lists(
    st.builds(
        Check, st.sampled_from(["clock", "mailboxes"]), st.booleans(), st.text(max_size=2), given=_GIVEN
    ),
    max_size=12,
)


def _about(check: Check) -> tuple[str, str, str]:
    return check.name, str(check.given.get("device", "")), str(check.given.get("mailbox", ""))


@given(_CHECKS)
def test_no_subject_is_both_well_and_ill_and_nothing_that_is_ill_is_left_out(checks: list[Check]) -> None:
    kept = one_verdict_each(checks)
    ill = {_about(check) for check in checks if not check.well}
    assert [check for check in kept if not check.well] == [check for check in checks if not check.well]
    assert not {_about(check) for check in kept if check.well} & ill
    of_all = {check.name for check in kept if check.well and _about(check)[1:] == ("", "")}
    assert not of_all & {name for name, *_rest in ill}
    # What nothing contradicts stays, in its order.
    names = {name for name, *_rest in ill}
    assert [check for check in kept if check.name not in names] == [
        check for check in checks if check.name not in names
    ]


def test_two_modules_that_look_at_one_mailbox_or_one_clock_say_one_thing() -> None:
    mailbox, clock = {"mailbox": "box"}, {"now": "2026-03-20"}
    checks = [
        Check("clock", False, "2 minutes ahead", given={"device": "phone"}),
        Check("clock", True, "no change lies ahead", given=dict(clock)),
        Check("mailboxes", True, "box is looked into", given=dict(mailbox)),
        Check("mailboxes", True, "den is looked into", given={"mailbox": "den"}),
        Check("mailboxes", False, "box brings no answer", given=dict(mailbox)),
    ]
    assert [check.found for check in one_verdict_each(checks)] == [
        "2 minutes ahead",
        "den is looked into",
        "box brings no answer",
    ]


def test_doctor_asks_every_check_that_a_module_offers() -> None:
    modules = [ast.parse(path.read_text("utf-8")) for path in (ROOT / "daemon/control/health").glob("*.py")]
    offered = {
        node.name
        for node in chain.from_iterable(module.body for module in modules)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("check_")
    }
    asking = ast.parse((ROOT / "daemon/control/routes/checks.py").read_text("utf-8"))
    assert len(offered) > 15
    assert offered == offered & {node.attr for node in ast.walk(asking) if isinstance(node, ast.Attribute)}
