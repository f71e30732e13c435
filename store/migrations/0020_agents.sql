-- What this device alone keeps of its agents' runs. What a run brought about is in the log; this says that it ran.

-- One row a run key: why the agent ran, and how it went. `status` is running, completed, failed or abandoned
-- (found running at a start). A key that is completed is never run again; the others may be, under the same key,
-- and then keep their row. Times are Unix time in milliseconds; `ended_ms` is NULL while running; `error` is one
-- line, empty where there was none. `failures` counts how often the key has failed. `no` orders runs by when they
-- were last begun, whatever the clock said.
CREATE TABLE run (
  no INTEGER PRIMARY KEY,
  run_key TEXT NOT NULL UNIQUE,
  agent BLOB NOT NULL,
  reason TEXT NOT NULL,
  status TEXT NOT NULL,
  started_ms INTEGER NOT NULL,
  ended_ms INTEGER,
  error TEXT NOT NULL,
  failures INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX run_by_agent ON run (agent, no);
