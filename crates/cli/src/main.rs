//! The `pinnace` command.

fn main() {}
