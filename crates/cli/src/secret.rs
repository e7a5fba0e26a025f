//! The values of secrets from outside the job file: a variable, a file, or the user at the terminal.

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::termios::{LocalFlags, SetArg, tcgetattr, tcsetattr};
use pinnace_core::text::SecretName;

/// No secret is longer; whoever names a larger file means another one.
const LONGEST: u64 = 1 << 20;

/// A `--secret`: whose value comes from where. The value is never part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SecretWord {
    /// The secret.
    pub(crate) name: String,
    from: From,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum From {
    /// The variable of the secret's own name.
    OwnVariable,
    Variable(String),
    File(PathBuf),
    Terminal,
}

impl SecretWord {
    /// Reads `NAME`, `NAME=VARIABLE`, `NAME=@FILE` or `NAME=-`. What follows the `=` may be a value that someone
    /// typed by mistake, so no message repeats it.
    pub(crate) fn parse(word: &str) -> Result<Self, String> {
        let (name, from) = match word.split_once('=') {
            None => (word, From::OwnVariable),
            Some((name, "-")) => (name, From::Terminal),
            Some((name, from)) => match from.strip_prefix('@') {
                Some(file) => (name, From::File(PathBuf::from(file))),
                None if is_variable(from) => (name, From::Variable(from.to_owned())),
                None => {
                    return Err(format!(
                        "`--secret {name}=…`: what follows the `=` is no name of a variable, no `@FILE` and not `-`; \
                         a value is never given on the command line"
                    ));
                }
            },
        };
        if name.is_empty() {
            return Err("`--secret` says nothing before its `=`".to_owned());
        }
        Ok(Self {
            name: name.to_owned(),
            from,
        })
    }

    /// Whether someone must be asked for it.
    pub(crate) fn is_asked_for(&self) -> bool {
        self.from == From::Terminal
    }

    /// The value, from where it is.
    pub(crate) fn value(&self) -> Result<String, String> {
        let name = &self.name;
        let value = match &self.from {
            From::OwnVariable => {
                let other = variable(&SecretName(name.clone()));
                from_variable(name)
                    .or_else(|| from_variable(&other))
                    .ok_or_else(|| {
                        format!(
                            "the secret `{name}`: neither the variable `{name}` nor `{other}` is set; \
                             `--secret {name}=VARIABLE` takes another one, `{name}=@FILE` a file, `{name}=-` the terminal"
                        )
                    })?
            }
            From::Variable(variable) => from_variable(variable).ok_or_else(|| {
                format!(
                    "the secret `{name}`: the variable that `--secret {name}=…` names is not set"
                )
            })?,
            From::File(path) => from_file(name, path)?,
            From::Terminal => ask(&SecretName(name.clone()))
                .ok_or_else(|| format!("the secret `{name}`: there is no terminal to ask at"))?,
        };
        match value.is_empty() {
            true => Err(format!("the secret `{name}`: its value is empty")),
            false => Ok(value),
        }
    }
}

fn is_variable(word: &str) -> bool {
    let plain = |char: char| char.is_ascii_alphanumeric() || char == '_';
    word.chars().all(plain)
        && !word.is_empty()
        && !word.starts_with(|char: char| char.is_ascii_digit())
}

fn from_file(name: &str, path: &Path) -> Result<String, String> {
    let failed = |why: &str| format!("the secret `{name}`: `{}`: {why}", path.display());
    let size = std::fs::metadata(path)
        .map_err(|error| failed(&crate::files::in_words(&error)))?
        .len();
    if size > LONGEST {
        return Err(failed("more than 1 MiB is no secret"));
    }
    let bytes = std::fs::read(path).map_err(|error| failed(&crate::files::in_words(&error)))?;
    let text = String::from_utf8(bytes).map_err(|_| failed("it is not text in UTF-8"))?;
    let line = text.strip_suffix('\n').unwrap_or(&text);
    Ok(line.strip_suffix('\r').unwrap_or(line).to_owned())
}

/// The variable that holds the value of a secret: `PINNACE_SECRET_` and its name in capitals.
pub(crate) fn variable(name: &SecretName) -> String {
    let letters = name.0.chars().map(|char| match char {
        'a'..='z' | 'A'..='Z' | '0'..='9' => char.to_ascii_uppercase(),
        _ => '_',
    });
    format!("PINNACE_SECRET_{}", letters.collect::<String>())
}

/// What a variable holds, if it holds something.
pub(crate) fn from_variable(name: &str) -> Option<String> {
    // A name with such characters would make the lookup panic, and is no variable's.
    let is_possible = !name.is_empty() && !name.contains(['=', '\0']);
    let value = is_possible.then(|| std::env::var(name).ok()).flatten()?;
    (!value.is_empty()).then_some(value)
}

/// Asks for the value of a secret without an echo; nothing if there is no terminal, or no answer.
pub(crate) fn ask(name: &SecretName) -> Option<String> {
    let stdin = std::io::stdin();
    let mut stderr = std::io::stderr();
    if !stdin.is_terminal() || !stderr.is_terminal() {
        return None;
    }
    // A Ctrl-C must not leave the terminal without an echo, so it is let through when the echo is back.
    let signals = SigSet::from_iter([Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP]);
    signals.thread_block().ok()?;
    let before = tcgetattr(&stdin).ok()?;
    let mut silent = before.clone();
    silent.local_flags.remove(LocalFlags::ECHO);
    let mut line = String::new();
    if tcsetattr(&stdin, SetArg::TCSAFLUSH, &silent).is_ok() {
        // Whoever sees the question may answer: what is typed before it is dropped, after it read unseen.
        let _ = write!(stderr, "value of the secret `{name}`: ");
        if is_line_typed(&signals) {
            // The line is there, so this does not wait.
            let _ = stdin.lock().read_line(&mut line);
        }
        let _ = tcsetattr(&stdin, SetArg::TCSANOW, &before);
        let _ = writeln!(stderr);
    }
    let _ = signals.thread_unblock();
    let line = line.trim_end_matches(['\r', '\n']);
    (!line.is_empty()).then(|| line.to_owned())
}

/// Waits for a line or for a signal; false for a signal.
fn is_line_typed(signals: &SigSet) -> bool {
    let Ok(pending) = SignalFd::with_flags(signals, SfdFlags::SFD_CLOEXEC) else {
        return true;
    };
    let stdin = std::io::stdin();
    let mut waits = [
        PollFd::new(stdin.as_fd(), PollFlags::POLLIN),
        PollFd::new(pending.as_fd(), PollFlags::POLLIN),
    ];
    while poll(&mut waits, PollTimeout::NONE) == Err(nix::Error::EINTR) {}
    waits.get(1).and_then(PollFd::any) != Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_of_a_secret_can_be_written_in_a_shell() {
        let name = SecretName("registry.pass-word".to_owned());
        assert_eq!(variable(&name), "PINNACE_SECRET_REGISTRY_PASS_WORD");
    }

    #[test]
    fn a_secret_is_taken_from_a_variable_a_file_or_the_terminal() {
        let from = |word| SecretWord::parse(word).map(|word| (word.name, word.from));
        let name = || "token".to_owned();
        assert_eq!(from("token"), Ok((name(), From::OwnVariable)));
        assert_eq!(
            from("token=TOKEN_2"),
            Ok((name(), From::Variable("TOKEN_2".to_owned())))
        );
        assert_eq!(
            from("token=@/run/a=b"),
            Ok((name(), From::File(PathBuf::from("/run/a=b"))))
        );
        assert_eq!(from("token=-"), Ok((name(), From::Terminal)));
    }

    #[test]
    fn a_value_on_the_command_line_is_refused_and_not_repeated() {
        for word in ["token=s3cr3t!", "token=", "token=1abc", "=TOKEN"] {
            assert!(SecretWord::parse(word).is_err(), "{word}");
        }
        let refused = SecretWord::parse("token=s3cr3t!").err().unwrap_or_default();
        assert!(!refused.contains("s3cr3t"), "{refused}");
        // A value that looks like a variable's name.
        let unset = SecretWord::parse("token=s3cr3t").and_then(|word| word.value());
        let unset = unset.err().unwrap_or_default();
        assert!(
            unset.contains("is not set") && !unset.contains("s3cr3t"),
            "{unset}"
        );
    }
}
