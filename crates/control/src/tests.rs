//! Tests of the loop with an engine that does as it is told.
