//! The OpenPAI job protocol, version 2.
