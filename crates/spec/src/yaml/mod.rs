//! YAML 1.2 (and so JSON) into a tree that remembers where everything stood.

pub mod node;

pub use node::{Entry, Key, Map, Node, Scalar, Style, Value};
