-- The entities in whose state something may stand for a dropped value (PROTOCOL.md §4.1; the bytes can also be in a text).
-- Usually there is none: dropped values do not count, and so are in no state.
CREATE INDEX entity_with_dropped_value ON entity (no) WHERE instr(state, x'c72001') > 0;
