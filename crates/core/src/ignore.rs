//! What an ignore file (`.gitignore`, `.amlignore`) leaves out.
//!
//! The rules are those of Git: `#` comments, `!` takes back, a trailing `/` means folders only, a pattern
//! with a `/` inside or at its start is tied to the folder of the file, `*`, `?` and `[…]` stay within
//! one name, `**` does not. What lies below a folder that is left out cannot be taken back.

/// The rules of one ignore file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ignore {
    rules: Vec<Rule>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    /// Whether it takes back what an earlier rule left out.
    takes_back: bool,
    folders_only: bool,
    /// The names of a path from the folder of the file; `**` is any number of them.
    parts: Vec<String>,
}

impl Ignore {
    /// Reads an ignore file.
    pub fn parse(text: &str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Ignore {
            rules: text.lines().filter_map(Rule::parse).collect(),
        }
    }

    /// Whether a path is left out. It is relative to the folder of the file, with `/` between its parts.
    pub fn leaves_out(&self, path: &str, is_folder: bool) -> bool {
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        (1..=parts.len()).any(|length| {
            let is_folder = is_folder || length < parts.len();
            self.names(&parts[..length], is_folder)
        })
    }

    /// The same for a path whose folders are known not to be left out.
    pub fn leaves_out_here(&self, path: &str, is_folder: bool) -> bool {
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        self.names(&parts, is_folder)
    }

    fn names(&self, parts: &[&str], is_folder: bool) -> bool {
        self.rules
            .iter()
            .rev()
            .find(|rule| (is_folder || !rule.folders_only) && fits(&rule.parts, parts))
            .is_some_and(|rule| !rule.takes_back)
    }
}

impl Rule {
    fn parse(line: &str) -> Option<Self> {
        let line = trimmed(line);
        let (takes_back, line) = match line.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, line),
        };
        if line.is_empty() || (line.starts_with('#') && !takes_back) {
            return None;
        }
        let (folders_only, body) = match line.strip_suffix('/') {
            Some(body) => (true, body),
            None => (false, line),
        };
        let mut parts: Vec<String> = body
            .split('/')
            .filter(|part| !part.is_empty())
            .map(str::to_owned)
            .collect();
        if parts.is_empty() {
            return None;
        }
        if !body.contains('/') {
            parts.insert(0, "**".to_owned());
        }
        Some(Rule {
            takes_back,
            folders_only,
            parts,
        })
    }
}

/// Without the line's end and trailing blanks; `\ ` keeps one.
fn trimmed(line: &str) -> &str {
    let line = line.trim_end_matches(['\r', '\n']);
    let bare = line.trim_end_matches([' ', '\t']);
    if bare.ends_with('\\') && bare.len() < line.len() {
        return &line[..=bare.len()];
    }
    bare
}

/// Whether a pattern's parts fit all names of a path. Its cost is the product of both lengths.
fn fits(pattern: &[String], names: &[&str]) -> bool {
    // fits_from[i]: whether the parts of the pattern seen so far fit the first i names.
    let mut so_far = vec![false; names.len() + 1];
    so_far[0] = true;
    for (index, part) in pattern.iter().enumerate() {
        let is_last = index + 1 == pattern.len();
        let mut next = vec![false; names.len() + 1];
        if part == "**" {
            // At the end it needs something to stand for.
            let mut reached = false;
            for at in 0..=names.len() {
                next[at] = reached || (so_far[at] && !is_last);
                reached |= so_far[at];
            }
        } else {
            for at in 0..names.len() {
                next[at + 1] = so_far[at] && name_fits(part, names[at]);
            }
        }
        so_far = next;
    }
    so_far[names.len()]
}

/// One part of a pattern.
enum Unit {
    Any,
    One,
    Exactly(char),
    Among {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
}

impl Unit {
    fn fits(&self, char: char) -> bool {
        match self {
            Unit::Any | Unit::One => true,
            Unit::Exactly(wanted) => *wanted == char,
            Unit::Among { negated, ranges } => {
                let among = ranges
                    .iter()
                    .any(|(from, to)| (*from..=*to).contains(&char));
                among != *negated
            }
        }
    }
}

fn units(pattern: &str) -> Vec<Unit> {
    let mut out = Vec::new();
    let mut chars = pattern.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '*' => {
                if !matches!(out.last(), Some(Unit::Any)) {
                    out.push(Unit::Any);
                }
            }
            '?' => out.push(Unit::One),
            '\\' => out.push(Unit::Exactly(chars.next().unwrap_or('\\'))),
            '[' => {
                let rest: Vec<char> = chars.clone().collect();
                match class(&rest) {
                    Some((unit, length)) => {
                        out.push(unit);
                        for _ in 0..length {
                            chars.next();
                        }
                    }
                    None => out.push(Unit::Exactly('[')),
                }
            }
            char => out.push(Unit::Exactly(char)),
        }
    }
    out
}

/// The class behind a `[`, and how many characters it takes with its `]`.
fn class(rest: &[char]) -> Option<(Unit, usize)> {
    let negated = matches!(rest.first(), Some('!' | '^'));
    let start = usize::from(negated);
    let mut ranges = Vec::new();
    let mut at = start;
    loop {
        let mut char = *rest.get(at)?;
        if char == ']' && at > start {
            return Some((Unit::Among { negated, ranges }, at + 1));
        }
        if char == '\\' {
            at += 1;
            char = *rest.get(at)?;
        }
        if rest.get(at + 1) == Some(&'-') && rest.get(at + 2).is_some_and(|to| *to != ']') {
            ranges.push((char, *rest.get(at + 2)?));
            at += 3;
        } else {
            ranges.push((char, char));
            at += 1;
        }
    }
}

/// Whether a pattern without `/` fits a whole name. Its cost is the product of both lengths.
fn name_fits(pattern: &str, name: &str) -> bool {
    let (units, name) = (units(pattern), name.chars().collect::<Vec<char>>());
    let mut so_far = vec![false; name.len() + 1];
    so_far[0] = true;
    for unit in &units {
        let mut next = vec![false; name.len() + 1];
        if matches!(unit, Unit::Any) {
            let mut reached = false;
            for at in 0..=name.len() {
                reached |= so_far[at];
                next[at] = reached;
            }
        } else {
            for at in 0..name.len() {
                next[at + 1] = so_far[at] && unit.fits(name[at]);
            }
        }
        so_far = next;
    }
    so_far[name.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left_out(rules: &str, path: &str) -> bool {
        let (path, is_folder) = match path.strip_suffix('/') {
            Some(path) => (path, true),
            None => (path, false),
        };
        Ignore::parse(rules).leaves_out(path, is_folder)
    }

    #[test]
    fn rules_are_those_of_git() {
        let table: &[(&str, &str, bool)] = &[
            ("*.pyc", "a.pyc", true),
            ("*.pyc", "deep/down/a.pyc", true),
            ("*.pyc", "a.py", false),
            ("/data", "data/", true),
            ("/data", "sub/data/", false),
            ("data/", "data", false),
            ("data/", "sub/data/", true),
            ("data/", "sub/data/x", true),
            ("a/b", "a/b", true),
            ("a/b", "x/a/b", false),
            ("**/b", "x/a/b", true),
            ("**/b", "b", true),
            ("a/**", "a/x/y", true),
            ("a/**", "a/", false),
            ("a/**/b", "a/b", true),
            ("a/**/b", "a/x/y/b", true),
            ("a/*", "a/x", true),
            ("foo/*", "foo/a/b", true),
            ("# no", "# no", false),
            (r"\#yes", "#yes", true),
            (r"\!yes", "!yes", true),
            ("x ", "x", true),
            (r"x\ ", "x ", true),
            ("*.log\n!keep.log", "keep.log", false),
            ("*.log\n!keep.log", "other.log", true),
            ("logs/\n!logs/keep", "logs/keep", true),
            ("/*\n!/src", "src/main.py", false),
            ("[ab]?.txt", "a1.txt", true),
            ("[!ab]?.txt", "a1.txt", false),
            ("[a-c]x", "bx", true),
            ("[]-a]x", "]x", true),
            ("[unclosed", "[unclosed", true),
            ("\u{feff}x\r\ny\r\n", "y", true),
            ("", "x", false),
            ("/", "x", false),
        ];
        for (rules, path, wanted) in table {
            assert_eq!(left_out(rules, path), *wanted, "{rules:?} {path:?}");
        }
    }

    #[test]
    fn a_pattern_of_many_stars_is_quick() {
        let rules = "*a".repeat(200) + "b";
        assert!(!left_out(&rules, &"a".repeat(2000)));
        let rules = "**/a/".repeat(100) + "b";
        assert!(!left_out(&rules, &"a/".repeat(300)));
    }
}
