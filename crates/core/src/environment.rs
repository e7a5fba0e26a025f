//! The variables that a task finds when it starts.
