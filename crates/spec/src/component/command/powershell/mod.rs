//! What a PowerShell script would make of its arguments: its `param(…)` block, read, and the rules by
//! which PowerShell gives values to parameters.

mod bind;
mod cursor;
mod param;
#[cfg(test)]
mod tests;

pub use bind::{Binding, Refusal, Value};
pub use param::{Parameter, Script, Type, read};
