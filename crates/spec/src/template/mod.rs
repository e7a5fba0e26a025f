//! `<% … %>` templates.
