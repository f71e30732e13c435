-- What is out of sight, by the feed position of its last change: the list of what was removed reads it from its end.
CREATE INDEX entity_out_of_sight ON entity (changed, id) WHERE visible = 0;
