//! Run settings: those of `runsettings`, and what version 2 says in the spec itself.

use crate::component::read::at;
use crate::yaml::Node;
use crate::yaml::access::integer;

/// A setting and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Set<'d> {
    /// Its path in the document.
    pub(super) path: &'static str,
    /// The value.
    pub(super) node: &'d Node<'d>,
}

/// The settings of a run; each is looked for in all places where it can stand, first come first
/// served.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunSettings<'d> {
    root: &'d Node<'d>,
}

impl<'d> RunSettings<'d> {
    pub(super) fn of(root: &'d Node<'d>) -> Self {
        RunSettings { root }
    }

    fn first(self, paths: &[&'static str]) -> Option<Set<'d>> {
        paths.iter().find_map(|path| {
            let node = at(self.root, path).filter(|node| !node.is_null())?;
            Some(Set { path, node })
        })
    }

    pub(super) fn node_count(self) -> Option<Set<'d>> {
        self.first(&[
            "runsettings.node_count",
            "runsettings.instance_count",
            "runsettings.parallel.node_count",
            "runsettings.parallel.instance_count",
            "runsettings.resource_layout.node_count",
            "runsettings.resource_layout.instance_count",
            "runsettings.resources.instance_count",
            "resources.instance_count",
        ])
    }

    pub(super) fn process_count(self) -> Option<Set<'d>> {
        self.first(&[
            "runsettings.process_count_per_node",
            "runsettings.process_count_per_instance",
            "runsettings.parallel.process_count_per_node",
            "runsettings.parallel.process_count_per_instance",
            "runsettings.resource_layout.process_count_per_node",
            "runsettings.resource_layout.process_count_per_instance",
            "runsettings.distribution.process_count_per_instance",
            "runsettings.max_concurrency_per_instance",
            "distribution.process_count_per_instance",
            "max_concurrency_per_instance",
        ])
    }

    pub(super) fn timeout(self) -> Option<Set<'d>> {
        self.first(&[
            "runsettings.timeout_seconds",
            "runsettings.limits.timeout",
            "limits.timeout",
        ])
    }

    pub(super) fn shm_size(self) -> Option<Set<'d>> {
        self.first(&[
            "runsettings.docker_configuration.shm_size",
            "runsettings.resources.shm_size",
            "resources.shm_size",
        ])
    }

    pub(super) fn mini_batch_size(self) -> Option<Set<'d>> {
        self.first(&[
            "runsettings.parallel.mini_batch_size",
            "runsettings.mini_batch_size",
            "mini_batch_size",
        ])
    }

    pub(super) fn error_threshold(self) -> Option<Set<'d>> {
        self.first(&[
            "runsettings.parallel.error_threshold",
            "runsettings.error_threshold",
            "error_threshold",
        ])
    }

    /// How many mini-batches may fail.
    pub(super) fn batch_error_threshold(self) -> Option<Set<'d>> {
        self.first(&[
            "runsettings.mini_batch_error_threshold",
            "mini_batch_error_threshold",
        ])
    }

    pub(super) fn invocation_timeout(self) -> Option<Set<'d>> {
        self.first(&[
            "runsettings.parallel.run_invocation_timeout",
            "runsettings.retry_settings.timeout",
            "retry_settings.timeout",
        ])
    }

    /// How often a mini-batch is tried.
    pub(super) fn tries(self) -> i64 {
        let written = self.first(&["runsettings.parallel.run_max_try"]);
        let again = self.first(&[
            "runsettings.retry_settings.max_retries",
            "retry_settings.max_retries",
        ]);
        written
            .and_then(|set| integer(set.node))
            .or_else(|| again.and_then(|set| integer(set.node)).map(|more| more + 1))
            .unwrap_or(3)
    }
}

/// A size such as `2g`, in MiB, rounded up.
pub(super) fn size_mb(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|char: char| char.is_ascii_alphabetic());
    let number: u64 = digits.parse().ok()?;
    let unit = match text.get(digits.len()..)?.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" => 1 << 10,
        "m" | "mb" => 1 << 20,
        "g" | "gb" => 1 << 30,
        _ => return None,
    };
    number
        .checked_mul(unit)
        .map(|bytes| bytes.div_ceil(1 << 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units_and_are_rounded_up() {
        assert_eq!(size_mb("2g"), Some(2048));
        assert_eq!(size_mb("64MB"), Some(64));
        assert_eq!(size_mb("1"), Some(1));
        assert_eq!(size_mb("2x"), None);
        assert_eq!(size_mb("g"), None);
        assert_eq!(size_mb("99999999999999999999g"), None);
    }
}
