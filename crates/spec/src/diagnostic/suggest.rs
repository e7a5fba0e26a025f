//! "Did you mean": the known word nearest to one that is not known.

/// Longer words are compared only letter by letter, not for typing errors.
const LONGEST: usize = 64;

/// So many candidates are looked at; a hostile file may have any number of them.
const MOST_CANDIDATES: usize = 512;

/// Shorter words are not completed: too many words start with them.
const SHORTEST_PREFIX: usize = 3;

/// The candidate that was probably meant by `word`, if one is near enough: the same but for case,
/// `_` and `-`; a few typing errors away (a third of the length); the plural or singular of it; or
/// one that starts with it or with which it starts. The word itself is never its own suggestion.
pub fn closest<'a, I>(word: &str, candidates: I) -> Option<&'a str>
where
    I: IntoIterator<Item = &'a str>,
{
    let word_letters = Letters::of(word);
    let mut best: Option<(usize, &'a str)> = None;
    for candidate in candidates.into_iter().take(MOST_CANDIDATES) {
        if candidate == word {
            continue;
        }
        let least = best.map_or(usize::MAX, |(score, _)| score);
        if let Some(score) = distance(&word_letters, &Letters::of(candidate))
            && score < least
        {
            best = Some((score, candidate));
            if score == 0 {
                break;
            }
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// `did you mean …?` for a help line, if there is a suggestion.
pub fn did_you_mean<'a, I>(word: &str, candidates: I) -> Option<String>
where
    I: IntoIterator<Item = &'a str>,
{
    closest(word, candidates).map(|candidate| format!("did you mean `{candidate}`?"))
}

/// The letters of a word, in lower case, without `_` and `-`.
struct Letters {
    chars: [char; LONGEST],
    count: usize,
    too_long: bool,
}

impl Letters {
    fn of(word: &str) -> Self {
        let mut letters = Letters {
            chars: ['\0'; LONGEST],
            count: 0,
            too_long: false,
        };
        let folded = word
            .chars()
            .filter(|char| !matches!(char, '_' | '-'))
            .flat_map(char::to_lowercase);
        for char in folded {
            let Some(slot) = letters.chars.get_mut(letters.count) else {
                letters.too_long = true;
                break;
            };
            *slot = char;
            letters.count += 1;
        }
        letters
    }

    fn as_slice(&self) -> &[char] {
        &self.chars[..self.count]
    }
}

/// How far apart two words are, smaller is nearer; `None` if they have nothing to do with each
/// other.
fn distance(word: &Letters, candidate: &Letters) -> Option<usize> {
    if word.too_long || candidate.too_long {
        return None;
    }
    let (word, candidate) = (word.as_slice(), candidate.as_slice());
    if word == candidate {
        return Some(0);
    }
    let (short, long) = if word.len() < candidate.len() {
        (word, candidate)
    } else {
        (candidate, word)
    };
    let limit = long.len() / 3;
    if long.len() - short.len() <= limit
        && let Some(edits) = edits(word, candidate, limit)
    {
        return Some(edits);
    }
    if stem(word) == stem(candidate) {
        return Some(2);
    }
    // Behind every word with fewer typing errors, the shortest completion first.
    (short.len() >= SHORTEST_PREFIX && long.starts_with(short))
        .then(|| LONGEST + long.len() - short.len())
}

fn stem(word: &[char]) -> (&[char], bool) {
    match word {
        [stem @ .., 'i', 'e', 's'] if stem.len() > 1 => (stem, true),
        [stem @ .., 'y'] if stem.len() > 1 => (stem, true),
        [stem @ .., 's'] if stem.len() > 1 => (stem, false),
        _ => (word, false),
    }
}

/// The number of letters to insert, drop, change or swap with a neighbour; `None` above `limit`.
fn edits(from: &[char], to: &[char], limit: usize) -> Option<usize> {
    let mut before_previous = [0_usize; LONGEST + 1];
    let mut previous = [0_usize; LONGEST + 1];
    let mut current = [0_usize; LONGEST + 1];
    for (column, cell) in previous.iter_mut().enumerate().take(to.len() + 1) {
        *cell = column;
    }
    for (row, from_char) in from.iter().enumerate() {
        current[0] = row + 1;
        let mut least = current[0];
        for (column, to_char) in to.iter().enumerate() {
            let change = previous[column] + usize::from(from_char != to_char);
            let mut cost = change
                .min(previous[column + 1] + 1)
                .min(current[column] + 1);
            if row > 0 && column > 0 && from[row - 1] == *to_char && *from_char == to[column - 1] {
                cost = cost.min(before_previous[column - 1] + 1);
            }
            current[column + 1] = cost;
            least = least.min(cost);
        }
        // A swap reaches back two rows, so one more row is needed before giving up.
        if least > limit + 1 {
            return None;
        }
        before_previous = previous;
        previous = current;
    }
    Some(previous[to.len()]).filter(|edits| *edits <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KEYS: &[&str] = &[
        "minFailedInstances",
        "minSucceededInstances",
        "commands",
        "cpu",
        "gpu",
        "memoryMB",
        "dockerImage",
        "taskRetryCount",
        "prerequisites",
        "failurePolicies",
    ];

    fn suggest(word: &str) -> Option<&'static str> {
        closest(word, KEYS.iter().copied())
    }

    #[test]
    fn typing_errors_find_the_word() {
        assert_eq!(suggest("minFailedInstance"), Some("minFailedInstances"));
        assert_eq!(
            suggest("minSuceededInstances"),
            Some("minSucceededInstances")
        );
        assert_eq!(suggest("comamnds"), Some("commands"));
        assert_eq!(suggest("prerequisits"), Some("prerequisites"));
        assert_eq!(
            closest("justecho_wrong", ["other", "justecho"]),
            Some("justecho")
        );
    }

    #[test]
    fn case_and_separators_do_not_matter() {
        assert_eq!(suggest("docker_image"), Some("dockerImage"));
        assert_eq!(suggest("TASK-RETRY-COUNT"), Some("taskRetryCount"));
    }

    #[test]
    fn a_beginning_finds_the_shortest_word() {
        assert_eq!(suggest("minFailed"), Some("minFailedInstances"));
        assert_eq!(
            closest("image", ["imageAndMore", "imageUri"]),
            Some("imageUri")
        );
        assert_eq!(suggest("memory"), Some("memoryMB"));
        assert_eq!(closest("mi", KEYS.iter().copied()), None);
    }

    #[test]
    fn singular_finds_plural() {
        assert_eq!(suggest("command"), Some("commands"));
        assert_eq!(suggest("failurePolicy"), Some("failurePolicies"));
        assert_eq!(closest("keys", ["key"]), Some("key"));
    }

    #[test]
    fn the_nearest_wins_and_the_first_of_equals() {
        assert_eq!(closest("gpus", ["cpu", "gpu"]), Some("gpu"));
        assert_eq!(closest("xpu", ["cpu", "gpu"]), Some("cpu"));
    }

    #[test]
    fn strangers_are_not_suggested() {
        assert_eq!(suggest("banana"), None);
        assert_eq!(suggest("a"), None);
        assert_eq!(suggest(""), None);
        assert_eq!(closest("commands", ["commands"]), None);
        assert_eq!(closest(&"x".repeat(1_000_000), KEYS.iter().copied()), None);
    }

    proptest! {
        #[test]
        fn any_words_are_fine(word in "\\PC{0,80}", candidates in prop::collection::vec("\\PC{0,80}", 0..5)) {
            let found = closest(&word, candidates.iter().map(String::as_str));
            prop_assert!(found.is_none_or(|found| candidates.iter().any(|candidate| candidate == found)));
        }

        #[test]
        fn one_dropped_letter_is_found(word in "[a-z]{4,30}", at in 0_usize..30) {
            let mut typo = word.clone();
            typo.remove(at % word.len());
            prop_assert_eq!(closest(&typo, [word.as_str()]), Some(word.as_str()));
        }
    }
}
