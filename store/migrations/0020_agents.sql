-- What this device alone keeps of its agents' runs. What a run brought about is in the log; this says that it ran.

-- One row a run key: why the agent ran, and how it went. `cause` is subscription (what changed), timer or session (a
-- person's request). `status` is queued, running, completed, skipped (the agent might not run when its turn came),
-- failed or abandoned (cut short). A key that is completed or skipped is never run again; the others may be, under the
-- same key, and then keep their row. What was queued or running when a process ended is found here by the next one,
-- since a request and a timer stand nowhere else. Times are Unix time in milliseconds; `ended_ms` is NULL until the
-- end; `error` is one line, empty where there was none. `failures` counts how often the key has failed under the
-- agent's `life`, `cuts` how often a process ended in the middle of it. `no` orders runs by when they were last begun,
-- whatever the clock said.
CREATE TABLE run (
  no INTEGER PRIMARY KEY,
  run_key TEXT NOT NULL UNIQUE,
  agent BLOB NOT NULL,
  cause TEXT NOT NULL,
  reason TEXT NOT NULL,
  status TEXT NOT NULL,
  life BLOB NOT NULL,
  started_ms INTEGER NOT NULL,
  ended_ms INTEGER,
  error TEXT NOT NULL,
  failures INTEGER NOT NULL DEFAULT 0,
  cuts INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX run_by_agent ON run (agent, no);
CREATE INDEX run_open ON run (no) WHERE status IN ('queued', 'running');

-- When a person wants agents of this device to wake, Unix time in milliseconds. A row goes in the transaction that
-- queues its run: the same key is then in `run`, so that a timer is neither lost nor run twice.
CREATE TABLE timer (
  run_key TEXT PRIMARY KEY,
  agent BLOB NOT NULL,
  at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX timer_by_agent ON timer (agent, at_ms);
CREATE INDEX timer_by_time ON timer (at_ms);
