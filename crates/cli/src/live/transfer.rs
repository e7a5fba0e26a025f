//! Bars for data that is on its way.

use pinnace_core::words;

/// The columns of a bar.
const COLUMNS: u64 = 24;

/// Data on its way: what, how many bytes have arrived, and how many there are if that is known.
#[derive(Debug, Default)]
pub(super) struct Transfers(Vec<(String, u64, Option<u64>)>);

impl Transfers {
    /// Takes in how far something has come; what has arrived is not shown any longer.
    pub(super) fn learn(&mut self, what: &str, done: u64, total: Option<u64>) {
        self.0.retain(|(other, ..)| other != what);
        if total.is_none_or(|total| done < total) {
            self.0.push((what.to_owned(), done, total));
        }
    }

    /// Nothing is on its way any longer.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// A line for each.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|(what, done, total)| match total {
            Some(total) => {
                let filled = done.saturating_mul(COLUMNS) / total.max(&1);
                let bar: String = (0..COLUMNS)
                    .map(|column| if column < filled { '━' } else { '─' })
                    .collect();
                let percent = done.saturating_mul(100) / total.max(&1);
                format!("  {bar} {percent:>3}% of {}  {what}", words::bytes(*total))
            }
            None => format!("  {} so far  {what}", words::bytes(*done)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_grows_and_disappears() {
        let mut transfers = Transfers::default();
        transfers.learn("the input `a`", 512, Some(2048));
        transfers.learn("the input `b`", 100, None);
        let lines: Vec<String> = transfers.lines().collect();
        assert_eq!(
            lines,
            [
                "  ━━━━━━──────────────────  25% of 2.0 KiB  the input `a`",
                "  100 B so far  the input `b`"
            ]
        );
        transfers.learn("the input `a`", 2048, Some(2048));
        assert_eq!(transfers.lines().count(), 1);
        transfers.clear();
        assert_eq!(transfers.lines().count(), 0);
    }
}
