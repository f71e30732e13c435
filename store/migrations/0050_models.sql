-- What this device alone keeps of remote models. None of it is sent to peers.

-- How a model at an address understands what it is asked, as it was once found out by trying. One row each; it
-- goes where the server refuses that form. The address holds no secret: those are refused in it.
CREATE TABLE model_form (
  address TEXT NOT NULL,
  model TEXT NOT NULL,
  form TEXT NOT NULL,
  PRIMARY KEY (address, model)
) STRICT;

-- What was asked of models on each day of this device's own calendar (YYYY-MM-DD), those turns too whose runs
-- came to nothing. Booked after every answer, so that neither a failure nor an end of the daemon forgets it.
-- Tokens as the servers counted them; `cost_micro` in millionths of whatever the prices are in. Only the newest
-- rows are kept; `no` is their order.
CREATE TABLE model_day (
  no INTEGER PRIMARY KEY,
  day TEXT NOT NULL,
  model TEXT NOT NULL,
  requests INTEGER NOT NULL,
  input INTEGER NOT NULL,
  output INTEGER NOT NULL,
  cached INTEGER NOT NULL,
  reasoning INTEGER NOT NULL,
  cost_micro INTEGER NOT NULL,
  UNIQUE (day, model)
) STRICT;
