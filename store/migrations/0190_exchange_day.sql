-- What this device exchanged on each of its days, counted here alone and sent to nobody. `day` is the date that its clock
-- showed, as YYYY-MM-DD. `begun` orders the days as they were begun here, which no clock decides: of more than 30, those
-- begun first are deleted. So a clock that jumps costs as many days as it shows, and nothing of the others. `links` counts
-- links that were opened, `failed_calls` calls that led to none, and `faults` links that a fault ended. `received` and
-- `sent` count commits over links; `visits` and `failed_visits` looks into mailboxes, and `taken` and `put` files there.
CREATE TABLE exchange_day (
  begun INTEGER PRIMARY KEY,
  day TEXT NOT NULL UNIQUE,
  links INTEGER NOT NULL,
  failed_calls INTEGER NOT NULL,
  faults INTEGER NOT NULL,
  received INTEGER NOT NULL,
  sent INTEGER NOT NULL,
  visits INTEGER NOT NULL,
  failed_visits INTEGER NOT NULL,
  taken INTEGER NOT NULL,
  put INTEGER NOT NULL
) STRICT;
