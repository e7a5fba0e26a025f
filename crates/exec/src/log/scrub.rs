//! Takes secrets out of a stream of bytes, also where they are split over two writes.

use std::sync::Arc;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, MatchKind};

use super::forms::forms;

/// Stands where a secret was.
const MASK: &[u8] = b"******";

/// What to look for; shared by all streams of an attempt.
#[derive(Clone, Debug)]
pub(crate) struct Stencil {
    inner: Option<Arc<Inner>>,
}

#[derive(Debug)]
struct Inner {
    automaton: AhoCorasick,
    texts: Vec<Vec<u8>>,
    longest: usize,
    /// Which bytes a text can start with.
    starts: [bool; 256],
}

impl Stencil {
    /// A stencil of these values; one of nothing if they cannot be compiled or are all too short.
    pub(crate) fn new<'a>(values: impl Iterator<Item = &'a str>) -> Result<Self, String> {
        let texts = forms(values);
        if texts.is_empty() {
            return Ok(Self { inner: None });
        }
        let automaton = AhoCorasickBuilder::new()
            .match_kind(MatchKind::LeftmostLongest)
            .build(&texts)
            .map_err(|error| format!("the secrets cannot be scrubbed from logs: {error}"))?;
        let mut starts = [false; 256];
        for text in &texts {
            if let Some(first) = text.first() {
                starts[usize::from(*first)] = true;
            }
        }
        let longest = texts.iter().map(Vec::len).max().unwrap_or_default();
        Ok(Self {
            inner: Some(Arc::new(Inner {
                automaton,
                texts,
                longest,
                starts,
            })),
        })
    }

    /// The text without secrets.
    pub(crate) fn clean(&self, text: &str) -> String {
        let mut out = Vec::new();
        let mut scrubber = Scrubber::new(self.clone());
        scrubber.feed(text.as_bytes(), &mut |part| out.extend_from_slice(part));
        scrubber.finish(&mut |part| out.extend_from_slice(part));
        String::from_utf8_lossy(&out).into_owned()
    }
}

/// One stream.
#[derive(Debug)]
pub(crate) struct Scrubber {
    stencil: Stencil,
    /// The end of what came before, if it could be the start of a secret.
    held: Vec<u8>,
}

impl Scrubber {
    pub(crate) fn new(stencil: Stencil) -> Self {
        Self {
            stencil,
            held: Vec::new(),
        }
    }

    /// Passes on what is surely free of secrets.
    pub(crate) fn feed(&mut self, bytes: &[u8], emit: &mut dyn FnMut(&[u8])) {
        let Some(inner) = self.stencil.inner.clone() else {
            return emit(bytes);
        };
        if self.held.is_empty() {
            let kept = inner.pass(bytes, inner.tail(bytes), emit);
            self.held
                .extend_from_slice(bytes.get(kept..).unwrap_or_default());
        } else {
            let mut joined = std::mem::take(&mut self.held);
            joined.extend_from_slice(bytes);
            let kept = inner.pass(&joined, inner.tail(&joined), emit);
            joined.drain(..kept);
            self.held = joined;
        }
    }

    /// Passes on the rest, at the end of the stream.
    pub(crate) fn finish(&mut self, emit: &mut dyn FnMut(&[u8])) {
        if let Some(inner) = &self.stencil.inner {
            let held = std::mem::take(&mut self.held);
            inner.pass(&held, held.len(), emit);
        }
    }
}

impl Inner {
    /// Where the longest end of `bytes` starts that could grow into a text.
    fn tail(&self, bytes: &[u8]) -> usize {
        let from = bytes.len().saturating_sub(self.longest - 1);
        for (start, byte) in bytes.iter().enumerate().skip(from) {
            if !self.starts[usize::from(*byte)] {
                continue;
            }
            let end = &bytes[start..];
            if self
                .texts
                .iter()
                .any(|text| text.len() > end.len() && text.starts_with(end))
            {
                return start;
            }
        }
        bytes.len()
    }

    /// Emits all up to `limit`, or up to the end of a text that begins before it, and gives where
    /// it stopped.
    fn pass(&self, bytes: &[u8], limit: usize, emit: &mut dyn FnMut(&[u8])) -> usize {
        let mut done = 0;
        for found in self.automaton.find_iter(bytes) {
            if found.start() >= limit {
                break;
            }
            if found.start() > done {
                emit(&bytes[done..found.start()]);
            }
            emit(MASK);
            done = found.end();
        }
        if done < limit {
            emit(&bytes[done..limit]);
            done = limit;
        }
        done
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn scrub(secrets: &[&str], chunks: &[&[u8]]) -> Vec<u8> {
        let mut scrubber = Scrubber::new(Stencil::new(secrets.iter().copied()).unwrap());
        let mut out = Vec::new();
        for chunk in chunks {
            scrubber.feed(chunk, &mut |part| out.extend_from_slice(part));
        }
        scrubber.finish(&mut |part| out.extend_from_slice(part));
        out
    }

    #[test]
    fn a_secret_split_over_writes_is_found() {
        assert_eq!(
            scrub(&["hunter2!"], &[b"a hun", b"te", b"r2! b"]),
            b"a ****** b"
        );
    }

    #[test]
    fn the_start_of_a_secret_alone_is_passed_on_at_the_end() {
        assert_eq!(scrub(&["hunter2!"], &[b"a hunter"]), b"a hunter");
    }

    #[test]
    fn the_longest_of_two_secrets_goes() {
        assert_eq!(
            scrub(&["abcd", "abcdefgh"], &[b"-abcd", b"efgh-abcd-"]),
            b"-******-******-"
        );
    }

    #[test]
    fn text_without_secrets_is_untouched() {
        assert_eq!(scrub(&[], &[b"a\xffb", b"c"]), b"a\xffbc");
    }

    proptest! {
        #[test]
        fn no_split_lets_a_secret_through(
            noise in "[abc]{0,12}", cuts in proptest::collection::vec(0_usize..60, 0..6),
        ) {
            let secrets = ["abcabd", "cabcab", "aabb"];
            let text = format!("{noise}abcabd{noise}cabcabaabb{noise}");
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &text.as_bytes()[pair[0]..pair[1]]).collect();
            let split = scrub(&secrets, &chunks);
            prop_assert_eq!(&split, &scrub(&secrets, &[text.as_bytes()]));
            let split = String::from_utf8(split).unwrap();
            for secret in secrets {
                prop_assert!(!split.contains(secret), "{} in {}", secret, split);
            }
        }
    }
}
