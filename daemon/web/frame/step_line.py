"""Whether the devices are in step, in one line at the foot of every page.

Never calls a device in step that is known to lack something.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, cast

import msgspec

from daemon.peers.linking.device_states import DeviceState
from daemon.words.devices import step_words, unique_names
from daemon.words.translation import _, ngettext

WELL: Final = "good"
BUSY: Final = "busy"
TROUBLED: Final = "doubt"


class StepLine(NamedTuple):
    """The words of the foot, "" if there is no other device, and the tone that they have."""

    words: str
    tone: str


def step_line(states: Sequence[DeviceState]) -> StepLine:
    """Return how the members stand to this device; what is amiss comes before what is well."""
    others = [state for state in states if not (state.this or state.removed)]
    if not others:
        return StepLine("", "")
    names = unique_names(cast(Any, msgspec.to_builtins(others)))
    linked = [state for state in others if state.connected]
    behind = [state for state in linked if state.missing or state.lag]
    if any(state.differs or state.link_fault for state in others):
        return StepLine(_("Something keeps devices apart"), TROUBLED)
    if behind:
        return StepLine(_("Catching up with {device}").format(device=names[behind[0].device_id]), BUSY)
    in_step = [state for state in linked if step_words(cast(Any, msgspec.to_builtins(state)))]
    if not in_step:
        return StepLine(_("No other device in reach"), BUSY)
    if len(in_step) == 1:
        return StepLine(_("In step with {device}").format(device=names[in_step[0].device_id]), WELL)
    words = ngettext("In step with {count} device", "In step with {count} devices", len(in_step))
    return StepLine(words.format(count=len(in_step)), WELL)
