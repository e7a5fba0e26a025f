-- The catalogue of data: what was registered by people and by jobs. An entry outlives the job that made it.

CREATE TABLE datasets (
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    -- A path of this machine, or a URL.
    location TEXT NOT NULL,
    digest TEXT,
    files INTEGER,
    bytes INTEGER,
    description TEXT,
    -- The job, role and output that it came from, if it came from a job.
    job TEXT,
    output TEXT,
    added INTEGER NOT NULL,
    PRIMARY KEY (name, version)
) STRICT, WITHOUT ROWID;
