//! OpenPAI's line format: `[Mon Feb  1 02:54:48 UTC 2021] [openpai-runtime] text`.

/// A line that has no end after so many bytes is passed on in parts.
const LONGEST_HELD: usize = 64 << 10;

/// Gives every line of a stream its prefix.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    partial: Vec<u8>,
    /// Whether the prefix of the current line is already out.
    begun: bool,
}

impl Lines {
    /// Adds to `out` what is ready to be written.
    pub(crate) fn feed(&mut self, bytes: &[u8], unix_seconds: u64, out: &mut Vec<u8>) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (line, following) = rest.split_at(end + 1);
            self.begin(unix_seconds, out);
            out.append(&mut self.partial);
            out.extend_from_slice(line);
            self.begun = false;
            rest = following;
        }
        self.partial.extend_from_slice(rest);
        if self.partial.len() >= LONGEST_HELD {
            self.begin(unix_seconds, out);
            out.append(&mut self.partial);
        }
    }

    /// Ends a line that has no end.
    pub(crate) fn finish(&mut self, unix_seconds: u64, out: &mut Vec<u8>) {
        if !self.partial.is_empty() || self.begun {
            self.feed(b"\n", unix_seconds, out);
        }
    }

    fn begin(&mut self, unix_seconds: u64, out: &mut Vec<u8>) {
        if !self.begun {
            out.extend_from_slice(prefix(unix_seconds).as_bytes());
            self.begun = true;
        }
    }
}

/// The start of a line of `runtime.log`.
pub(crate) fn prefix(unix_seconds: u64) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let days = unix_seconds / 86_400;
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (
        unix_seconds / 3600 % 24,
        unix_seconds / 60 % 60,
        unix_seconds % 60,
    );
    let weekday = DAYS[(days % 7) as usize];
    let month = MONTHS[month as usize - 1];
    format!(
        "[{weekday} {month} {day:>2} {hour:02}:{minute:02}:{second:02} UTC {year}] [openpai-runtime] "
    )
}

/// The year, the month from 1 and the day from 1 of a day since 1970 (after Hinnant's "days from civil").
pub fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 {
        month_index + 3
    } else {
        month_index - 9
    };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_date_is_that_of_the_date_program() {
        assert_eq!(
            prefix(1_612_148_088),
            "[Mon Feb  1 02:54:48 UTC 2021] [openpai-runtime] "
        );
        assert_eq!(
            prefix(1_709_164_800),
            "[Thu Feb 29 00:00:00 UTC 2024] [openpai-runtime] "
        );
    }

    #[test]
    fn lines_may_come_in_parts() {
        let mut lines = Lines::default();
        let mut out = Vec::new();
        lines.feed(b"on", 0, &mut out);
        assert!(out.is_empty());
        lines.feed(b"e\ntwo\nthr", 0, &mut out);
        lines.finish(0, &mut out);
        let text = String::from_utf8(out).unwrap();
        let ends: Vec<&str> = text
            .lines()
            .map(|line| line.rsplit(' ').next().unwrap())
            .collect();
        assert_eq!(ends, ["one", "two", "thr"]);
    }

    #[test]
    fn a_line_of_a_megabyte_is_passed_on_whole_and_not_held() {
        let mut lines = Lines::default();
        let mut out = Vec::new();
        for _ in 0..1024 {
            lines.feed(&[b'x'; 1024], 0, &mut out);
        }
        assert!(lines.partial.len() < LONGEST_HELD);
        lines.feed(b"\n", 0, &mut out);
        assert_eq!(out.len(), prefix(0).len() + (1 << 20) + 1);
    }
}
