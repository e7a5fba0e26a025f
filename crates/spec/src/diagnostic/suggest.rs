//! "Did you mean": the known word nearest to one that is not known.

/// Longer words are compared only letter by letter, not for typing errors.
const LONGEST: usize = 64;

/// So many candidates are looked at; a hostile file may have any number of them.
const MOST_CANDIDATES: usize = 256;

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
    if word_letters.too_long {
        return None;
    }
    let places = Places::of(word_letters.as_slice());
    let mut best: Option<(usize, &'a str)> = None;
    for candidate in candidates.into_iter().take(MOST_CANDIDATES) {
        if candidate == word {
            continue;
        }
        let least = best.map_or(usize::MAX, |(score, _)| score);
        if let Some(score) = distance(&word_letters, &places, &Letters::of(candidate))
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
        for char in word.chars().filter(|char| !matches!(char, '_' | '-')) {
            if char.is_ascii() {
                letters.push(char.to_ascii_lowercase());
            } else {
                char.to_lowercase().for_each(|char| letters.push(char));
            }
            if letters.too_long {
                break;
            }
        }
        letters
    }

    fn push(&mut self, char: char) {
        match self.chars.get_mut(self.count) {
            Some(slot) => {
                *slot = char;
                self.count += 1;
            }
            None => self.too_long = true,
        }
    }

    fn as_slice(&self) -> &[char] {
        &self.chars[..self.count]
    }
}

/// How far apart two words are, smaller is nearer; `None` if they have nothing to do with each
/// other.
fn distance(word: &Letters, places: &Places, candidate: &Letters) -> Option<usize> {
    if candidate.too_long {
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
    if long.len() - short.len() <= limit {
        let edits = places.edits_to(candidate);
        if edits <= limit {
            return Some(edits);
        }
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

/// Where each letter stands in a word, as bits: the distance to another word then takes a few
/// operations for each of its letters (Hyyrö 2003, with swaps of neighbours).
struct Places {
    ascii: [u64; 128],
    others: Vec<(char, u64)>,
    length: usize,
}

impl Places {
    fn of(word: &[char]) -> Self {
        let mut places = Places {
            ascii: [0; 128],
            others: Vec::new(),
            length: word.len(),
        };
        for (at, char) in word.iter().enumerate() {
            let bit = 1 << at;
            if let Some(bits) = places.ascii.get_mut(*char as usize) {
                *bits |= bit;
            } else if let Some((_, bits)) =
                places.others.iter_mut().find(|(other, _)| other == char)
            {
                *bits |= bit;
            } else {
                places.others.push((*char, bit));
            }
        }
        places
    }

    fn get(&self, char: char) -> u64 {
        let other = || self.others.iter().find(|(other, _)| *other == char);
        match self.ascii.get(char as usize) {
            Some(bits) => *bits,
            None => other().map_or(0, |(_, bits)| *bits),
        }
    }

    /// The number of letters to insert, drop, change or swap with a neighbour.
    fn edits_to(&self, other: &[char]) -> usize {
        if self.length == 0 {
            return other.len();
        }
        let last = 1_u64 << (self.length - 1);
        let mut edits = self.length;
        // Differences between neighbouring cells of the table of distances: down by one or up by
        // one, vertically; `same` has the cells that equal their diagonal neighbour.
        let (mut up, mut down, mut same, mut before) = (u64::MAX, 0_u64, 0_u64, 0_u64);
        for char in other {
            let matches = self.get(*char);
            let swapped = ((!same & matches) << 1) & before;
            same = ((matches & up).wrapping_add(up) ^ up) | matches | down | swapped;
            let mut right_up = down | !(same | up);
            let mut right_down = same & up;
            edits += usize::from(right_up & last != 0);
            edits -= usize::from(right_down & last != 0);
            right_up = right_up << 1 | 1;
            right_down <<= 1;
            up = right_down | !(same | right_up);
            down = right_up & same;
            before = matches;
        }
        edits
    }
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

    /// The same distance by the book.
    fn edits_by_table(from: &[char], to: &[char]) -> usize {
        let mut table = vec![vec![0; to.len() + 1]; from.len() + 1];
        for row in 0..=from.len() {
            for column in 0..=to.len() {
                table[row][column] = if row == 0 || column == 0 {
                    row + column
                } else {
                    let changed = usize::from(from[row - 1] != to[column - 1]);
                    let mut cost = (table[row - 1][column - 1] + changed)
                        .min(table[row - 1][column] + 1)
                        .min(table[row][column - 1] + 1);
                    if row > 1
                        && column > 1
                        && from[row - 1] == to[column - 2]
                        && from[row - 2] == to[column - 1]
                    {
                        cost = cost.min(table[row - 2][column - 2] + 1);
                    }
                    cost
                };
            }
        }
        table[from.len()][to.len()]
    }

    proptest! {
        #[test]
        fn the_distance_is_that_of_the_book(from in "[abcß]{0,64}", to in "[abcß]{0,64}") {
            let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
            prop_assert_eq!(Places::of(&from).edits_to(&to), edits_by_table(&from, &to));
        }

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
