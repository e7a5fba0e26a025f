-- The state of a job grows with its tasks and is kept now and then; what lists show changes all the time. In one row, each change
-- of the one would write the other as well.

CREATE TABLE states (
    job INTEGER PRIMARY KEY REFERENCES jobs (number) ON DELETE CASCADE,
    -- The state of the lifecycle as it was after this entry of the journal. Later inputs are replayed.
    seq INTEGER NOT NULL,
    state TEXT NOT NULL
) STRICT;

INSERT INTO states (job, seq, state) SELECT number, state_seq, state FROM jobs;
ALTER TABLE jobs DROP COLUMN state;
ALTER TABLE jobs DROP COLUMN state_seq;
