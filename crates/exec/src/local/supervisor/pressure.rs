//! Whether processes have to wait for this machine's cores.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::time::{Duration, Instant};

/// So long at least lies between two looks.
const SPAN: Duration = Duration::from_millis(20);

/// Looks now and then.
#[derive(Debug)]
pub(super) struct Pressure {
    file: Option<File>,
    waited: Duration,
    looked: Instant,
    is_high: bool,
}

impl Pressure {
    /// Begins to look. Where the kernel does not tell, nobody ever has to wait.
    pub(super) fn begin() -> Self {
        let file = File::open("/proc/pressure/cpu").ok();
        Self {
            waited: file.as_ref().and_then(waited).unwrap_or_default(),
            file,
            looked: Instant::now(),
            is_high: false,
        }
    }

    /// Looks again if it is time.
    pub(super) fn look(&mut self) {
        let span = self.looked.elapsed();
        if span < SPAN {
            return;
        }
        if let Some(waited) = self.file.as_ref().and_then(waited) {
            self.is_high = waited.saturating_sub(self.waited) > span / 2;
            self.waited = waited;
            self.looked = Instant::now();
        }
    }

    /// Whether, lately, some process had to wait more than half of the time.
    pub(super) fn is_high(&self) -> bool {
        self.is_high
    }
}

/// For how long some process had to wait since the machine was started.
fn waited(file: &File) -> Option<Duration> {
    let mut buffer = [0; 256];
    let count = file.read_at(&mut buffer, 0).ok()?;
    parse(std::str::from_utf8(buffer.get(..count)?).ok()?)
}

fn parse(text: &str) -> Option<Duration> {
    let some = text.lines().find(|line| line.starts_with("some "))?;
    let (_, total) = some.rsplit_once("total=")?;
    Some(Duration::from_micros(total.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_of_those_who_waited_is_read() {
        let text = "some avg10=50.99 avg60=32.42 avg300=56.08 total=21757851951\n\
                    full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
        assert_eq!(parse(text), Some(Duration::from_micros(21_757_851_951)));
        assert_eq!(parse("nothing"), None);
    }
}
