-- The entities on which verdicts decide, each with the fold of what is certain of it and what is left of the operations
-- that name items as their effect (store/fold/conditional.py). An entity that no verdict can change has no row. An empty
-- form was left by an earlier version: the next write to the entity fills it from the history.
CREATE TABLE conditional (
  entity BLOB PRIMARY KEY,
  form BLOB NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO conditional SELECT DISTINCT entity, x'' FROM effect;

-- How often each verdict is among the maximal decisions on an item: of all authors (`whose` is 0), and of people (1).
-- A verdict that was given, and that others have seen since, has the number 0.
CREATE TABLE tally (
  item BLOB NOT NULL,
  whose INTEGER NOT NULL,
  verdict TEXT NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (item, whose, verdict)
) STRICT, WITHOUT ROWID;

-- The decisions that another decision on the same item has seen, by whose it is. They need not have come here.
CREATE TABLE overruled (
  item BLOB NOT NULL,
  whose INTEGER NOT NULL,
  decision BLOB NOT NULL,
  PRIMARY KEY (item, whose, decision)
) STRICT, WITHOUT ROWID;
CREATE INDEX opinion_by_decision ON opinion (item, decision);

-- `seen` is an array of ids: a head of one, three or five bytes, then eighteen bytes for each, the last sixteen its id.
WITH RECURSIVE place (item, by, seen, number) AS (
  SELECT item, by, seen, length(seen) / 18 FROM opinion WHERE length(seen) >= 18
  UNION ALL SELECT item, by, seen, number - 1 FROM place WHERE number > 1
)
INSERT OR IGNORE INTO overruled
SELECT item, whose, substr(seen, length(seen) - 18 * number + 3, 16)
FROM place JOIN (SELECT 0 AS whose UNION ALL SELECT 1) ON whose = 0 OR by = 2;
INSERT INTO tally
SELECT item, whose, verdict, count(*) FILTER (
  WHERE NOT EXISTS (
    SELECT 1 FROM overruled
    WHERE overruled.item = opinion.item AND overruled.whose = either.whose AND overruled.decision = opinion.decision
  )
)
FROM opinion JOIN (SELECT 0 AS whose UNION ALL SELECT 1) AS either ON either.whose = 0 OR by = 2
GROUP BY item, either.whose, verdict;
