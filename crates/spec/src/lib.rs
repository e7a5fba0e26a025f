//! Reads job files: text → spanned document → dialect → plan, with every problem found.
//! Pure: what lies outside the text is asked through [`library::Library`].
//!
//! | module | its step |
//! | --- | --- |
//! | [`source`] | texts and positions in them |
//! | [`diagnostic`] | a problem as data, and its three renderings |
//! | [`secrets`] | keeps the values of secrets out of all that is shown |
//! | [`yaml`] | text → document |
//! | [`jsonpath`] | which nodes of a document a path means |
//! | [`setting`] | `-p` and `--set`: changes of the document |
//! | [`overrides`] | a tenant's rules: changes of the document |
//! | [`hydra`] | configurations composed of files and words |
//! | [`shape`] | tables of fields: one table checks a document, makes its JSON Schema, accounts for its keys |
//! | [`template`] | `<% … %>` |
//! | `trace` | where each value of a plan comes from |
//! | [`library`] | what is asked of the outside |
//! | [`job`] | the whole way, for callers |
//! | [`component`] | Azure ML components |
//! | [`openpai`] | the OpenPAI job protocol, version 2 |
//! | [`processor`] | Alibaba PAI processors |

pub mod component;
pub mod diagnostic;
pub mod hydra;
pub mod job;
pub mod jsonpath;
pub mod library;
pub mod openpai;
pub mod overrides;
pub mod processor;
pub mod secrets;
pub mod setting;
pub mod shape;
pub mod source;
pub mod template;
mod trace;
pub mod yaml;
