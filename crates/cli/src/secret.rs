//! The values of secrets from outside the job file: a variable, or the user at the terminal.

use std::io::{BufRead as _, IsTerminal as _, Write as _};

use nix::sys::termios::{LocalFlags, SetArg, tcgetattr, tcsetattr};
use pinnace_core::text::SecretName;

/// The variable that holds the value of a secret: `PINNACE_SECRET_` and its name in capitals.
pub(crate) fn variable(name: &SecretName) -> String {
    let letters = name.0.chars().map(|char| match char {
        'a'..='z' | 'A'..='Z' | '0'..='9' => char.to_ascii_uppercase(),
        _ => '_',
    });
    format!("PINNACE_SECRET_{}", letters.collect::<String>())
}

/// The value of a secret, from its variable or asked for without an echo.
pub(crate) fn ask(name: &SecretName) -> Option<String> {
    if let Ok(value) = std::env::var(variable(name)) {
        return Some(value);
    }
    let stdin = std::io::stdin();
    if !stdin.is_terminal() || !std::io::stderr().is_terminal() {
        return None;
    }
    let mut stderr = std::io::stderr();
    let _ = write!(stderr, "value of the secret `{name}`: ");
    let before = tcgetattr(&stdin).ok()?;
    let mut silent = before.clone();
    silent.local_flags.remove(LocalFlags::ECHO);
    tcsetattr(&stdin, SetArg::TCSAFLUSH, &silent).ok()?;
    let mut line = String::new();
    let read = stdin.lock().read_line(&mut line);
    let _ = tcsetattr(&stdin, SetArg::TCSAFLUSH, &before);
    let _ = writeln!(stderr);
    read.ok()?;
    Some(line.trim_end_matches(['\r', '\n']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_of_a_secret_can_be_written_in_a_shell() {
        let name = SecretName("registry.pass-word".to_owned());
        assert_eq!(variable(&name), "PINNACE_SECRET_REGISTRY_PASS_WORD");
    }
}
