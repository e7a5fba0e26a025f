//! YAML 1.2 (and so JSON) into a tree that remembers where everything stood.
//!
//! The reader is a cursor over bytes that descends straight into the tree. It never fails: a
//! problem is noted, the lines that belong to it are passed, and reading goes on.
//!
//! | module | its part |
//! | --- | --- |
//! | [`node`] | the tree |
//! | [`access`] | short ways to its parts |
//! | `document` | the tree with comments and problems; limits |
//! | `decode` | bytes to text |
//! | `stream` | directives, markers, the one document |
//! | `reader`, `find` | the cursor; how it finds bytes |
//! | `block`, `block_collection` | nodes, lists and mappings by indentation |
//! | `flow` | nodes in brackets |
//! | `plain`, `quoted`, `block_scalar` | scalars |
//! | `mapping` | unique keys, merge keys |
//! | `anchors` | anchors, aliases, tags |
//! | `write` | tree to text |
//! | `origin` | where a node comes from |
//! | `problems` | what is said about a wrong text |

pub mod access;
mod anchors;
mod block;
mod block_collection;
mod block_scalar;
mod decode;
mod document;
mod find;
mod flow;
mod mapping;
pub mod node;
mod origin;
mod plain;
mod problems;
mod quoted;
mod reader;
mod stream;
pub(crate) mod write;

pub use decode::{Undecodable, decode};
pub use document::{Comment, Document, Limits};
pub use node::{Entry, Key, Map, Node, Scalar, Style, Value};
pub use origin::origin;
pub use stream::load;

#[cfg(test)]
mod tests;
