-- The entities that items name, as decisions on them have shown: an item's id follows from such an entity. An item is in
-- effect there whatever else operations name it for. The entity that an item makes follows from its id, and is not here.
CREATE TABLE named (
  item BLOB NOT NULL,
  entity BLOB NOT NULL,
  PRIMARY KEY (item, entity)
) STRICT, WITHOUT ROWID;
