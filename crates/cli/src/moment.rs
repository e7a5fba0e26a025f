//! Times and spans of time for people.

use pinnace_control::control;
use pinnace_core::lifecycle::Time;

/// Such as `0.4 s`, `12 s`, `3 min 20 s`, `2 h 5 min`, `4 d 1 h`.
pub(crate) fn span(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    match seconds {
        0..=9 => format!("{}.{} s", seconds, milliseconds % 1000 / 100),
        10..=59 => format!("{seconds} s"),
        60..=3599 => format!("{} min {} s", seconds / 60, seconds % 60),
        3600..=86_399 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

/// How long ago.
pub(crate) fn ago(time: Time) -> String {
    span(control::now().since(time))
}

/// Such as `90s`, `30m`, `2h`, `7d`, `2w`; a number alone counts minutes. Gives seconds.
pub(crate) fn parse_span(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|char: char| char.is_ascii_alphabetic());
    let number: u64 = digits
        .parse()
        .map_err(|_| "this is no span of time; `30m` is one".to_owned())?;
    let unit = match &text[digits.len()..] {
        "s" => 1,
        "" | "m" | "min" => 60,
        "h" => 3600,
        "d" => 86_400,
        "w" => 604_800,
        _ => return Err("the unit is none of s, m, h, d and w".to_owned()),
    };
    number
        .checked_mul(unit)
        .ok_or_else(|| "this is too long".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_short() {
        assert_eq!(span(0), "0.0 s");
        assert_eq!(span(9_949), "9.9 s");
        assert_eq!(span(59_999), "59 s");
        assert_eq!(span(200_000), "3 min 20 s");
        assert_eq!(span(7_500_000), "2 h 5 min");
        assert_eq!(span(349_200_000), "4 d 1 h");
    }

    #[test]
    fn spans_are_read_with_their_units() {
        assert_eq!(parse_span("90s"), Ok(90));
        assert_eq!(parse_span("30m"), Ok(1800));
        assert_eq!(parse_span("30"), Ok(1800));
        assert_eq!(parse_span("2h"), Ok(7200));
        assert_eq!(parse_span("7d"), Ok(604_800));
        assert_eq!(parse_span("1w"), Ok(604_800));
        for wrong in ["", "m", "-1h", "1y", "99999999999999999d"] {
            assert!(parse_span(wrong).is_err(), "{wrong}");
        }
    }
}
