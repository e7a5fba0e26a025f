//! What a supervisor can be asked, as lines of JSON on its socket.

use serde::{Deserialize, Serialize};

use crate::contract::TaskId;

/// A request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(crate) enum Request {
    /// Ends tasks: `SIGTERM`, the grace period, `SIGKILL`.
    Stop {
        /// Which; all if missing.
        #[serde(default)]
        task: Option<TaskId>,
        /// Instead of the attempt's own grace period.
        #[serde(default)]
        grace_seconds: Option<u64>,
    },
    /// From now on, a byte comes back whenever there are new events.
    Watch,
}

/// The answer to all requests but [`Request::Watch`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answer {
    /// Set if the request was refused.
    pub(crate) error: Option<String>,
}
