"""The pure folds of commits into states, and the tables that keep the results.

Never reads a clock: the same commits always give the same rows.

The theory: commits form a partial order, since each names what its device had seen (its base). A write covers
the writes that it has seen, so what is left of a field are its versions that no other covers: one if all was
written in turn, several if devices wrote while apart. They are put in order by who wrote (a person before an
agent), then by time, and the first one is shown (`field_versions.py`, `entity_state.py`). Decisions on a
proposal are folded in the same way (`verdicts.py`). A write that names a proposal as its effect counts only
while that proposal folds to *confirmed*, so a verdict can bring back or take away what is shown without
another write (`conditional.py`). None of this depends on the order in which commits arrive: two devices with
the same commits show the same.
"""
