-- Jobs, what they live through, and what other processes ask of them. Times are milliseconds since 1970.

CREATE TABLE jobs (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    plan TEXT NOT NULL,
    digest TEXT NOT NULL,
    options TEXT NOT NULL,
    -- The state of the lifecycle as it was after the journal's entry `state_seq`. Later inputs are replayed.
    state TEXT NOT NULL,
    state_seq INTEGER NOT NULL,
    -- What lists of jobs show.
    summary TEXT NOT NULL,
    submitted INTEGER NOT NULL,
    finished INTEGER
) STRICT;

CREATE INDEX jobs_by_name ON jobs (name, number);
CREATE INDEX jobs_unfinished ON jobs (number) WHERE finished IS NULL;

-- Inputs of the lifecycle that were heard, in order.
CREATE TABLE journal (
    job INTEGER NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    input TEXT NOT NULL,
    PRIMARY KEY (job, seq)
) STRICT, WITHOUT ROWID;

-- What was, or is to be, started together in one folder.
CREATE TABLE launches (
    job INTEGER NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    tasks TEXT NOT NULL,
    PRIMARY KEY (job, number)
) STRICT, WITHOUT ROWID;

-- What of this machine belongs to which task, or is waited for.
CREATE TABLE places (
    job INTEGER NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
    task TEXT NOT NULL,
    memory_mb INTEGER NOT NULL,
    gpus INTEGER NOT NULL,
    -- The numbers of the cards; NULL while the task waits.
    cards TEXT,
    PRIMARY KEY (job, task)
) STRICT, WITHOUT ROWID;

-- What other processes ask of the process that drives a job.
CREATE TABLE commands (
    number INTEGER PRIMARY KEY,
    job INTEGER NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
    command TEXT NOT NULL
) STRICT;

CREATE INDEX commands_by_job ON commands (job, number);

-- The values of secrets, encrypted, until the job ends.
CREATE TABLE vault (
    job INTEGER PRIMARY KEY REFERENCES jobs (number) ON DELETE CASCADE,
    sealed BLOB NOT NULL
) STRICT;
