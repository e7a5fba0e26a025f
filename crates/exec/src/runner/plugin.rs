//! What a shell needs help with, as lines of shell: clones, SSH, TensorBoard.

use std::fmt::Write as _;

use pinnace_core::plan::Action;
use pinnace_core::text::Text;

use super::script::quoted;
use super::ssh;

/// Writes the lines of an action; `plain` gives a text with the values of its secrets.
pub(crate) fn lines(action: &Action, plain: impl Fn(&Text) -> String, out: &mut String) {
    let word = |text: &Text| quoted(&plain(text));
    match action {
        Action::Shell { .. } => {}
        Action::GitClone {
            repository,
            options,
            directory,
        } => git_clone(
            &plain(repository),
            &options.iter().map(word).collect::<Vec<_>>(),
            directory.as_ref().map(word),
            out,
        ),
        Action::Ssh {
            between_tasks,
            public_keys,
            barrier,
            barrier_timeout_minutes,
        } => ssh::lines(
            *between_tasks,
            &public_keys.iter().map(word).collect::<Vec<_>>(),
            barrier.then_some(*barrier_timeout_minutes),
            out,
        ),
        Action::TensorBoard { port, logdir } => {
            let folders: Vec<(String, String)> = logdir
                .iter()
                .map(|(name, folder)| (name.clone(), word(folder)))
                .collect();
            tensorboard(*port, &folders, out);
        }
    }
}

/// Three tries; a folder that is not empty is refused, as OpenPAI does. A name and password in the address
/// go to `git` through its environment: its arguments, and those of its helpers, are seen by all.
fn git_clone(repository: &str, options: &[String], directory: Option<String>, out: &mut String) {
    let folder = directory.unwrap_or_else(|| "\"$PINNACE_CODE_DIR\"".to_owned());
    let options = options.join(" ");
    let (address, login) = split_login(repository);
    let address = quoted(&address);
    let login = login.map_or_else(String::new, |(name, password)| {
        const HELPER: &str = "!f() { printf \"username=%s\\npassword=%s\\n\" \"$PINNACE_GIT_NAME\" \"$PINNACE_GIT_PASSWORD\"; }; f";
        format!(
            "PINNACE_GIT_NAME={} PINNACE_GIT_PASSWORD={} GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=credential.helper \
             GIT_CONFIG_VALUE_0={} ",
            quoted(&name),
            quoted(&password),
            quoted(HELPER)
        )
    });
    let _ = write!(
        out,
        r#"command -v git >/dev/null 2>&1 || {{ echo '[ERROR] `git` is not installed on this machine'; exit 127; }}
if [ -d {folder} ] && [ -n "$(ls -A {folder})" ]; then echo '[ERROR] the folder to clone into is not empty:' {folder}; exit 1; fi
mkdir -p {folder}
pinnace_try=1
until {login}GIT_TERMINAL_PROMPT=0 git clone {options} -- {address} {folder}; do
  if [ "$pinnace_try" -ge 3 ]; then echo '[ERROR] the clone failed three times'; exit 1; fi
  sleep "$pinnace_try"
  pinnace_try=$((pinnace_try + 1))
done
unset pinnace_try
"#
    );
}

/// An address of the web without its name and password, and these.
fn split_login(address: &str) -> (String, Option<(String, String)>) {
    let split = || {
        let (scheme, rest) = address.split_once("://")?;
        let (login, host) = rest
            .split_once('/')
            .map_or(rest, |(host, _)| host)
            .rsplit_once('@')?;
        let path = rest.get(login.len() + 1 + host.len()..)?;
        let (name, password) = login.split_once(':').unwrap_or((login, ""));
        matches!(scheme, "http" | "https").then(|| {
            let login = (percent_decoded(name), percent_decoded(password));
            (format!("{scheme}://{host}{path}"), Some(login))
        })
    };
    split().unwrap_or_else(|| (address.to_owned(), None))
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, following)) = rest.split_first() {
        let digits = following.get(..2).filter(|_| *first == b'%');
        let byte = digits
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() {
            &following[2..]
        } else {
            following
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn tensorboard(port: Option<u32>, folders: &[(String, String)], out: &mut String) {
    let port = port.map_or_else(
        || "${PAI_CONTAINER_HOST_PORT}".to_owned(),
        |port| port.to_string(),
    );
    let mut options = String::new();
    if let [(_, folder)] = folders {
        let _ = write!(options, " --logdir {folder}");
    } else if !folders.is_empty() {
        options.push_str(" --logdir_spec ");
        for (place, (name, folder)) in folders.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            let _ = write!(options, "{comma}{}:{folder}", quoted(name));
        }
    }
    let _ = write!(
        out,
        r#"if [ "$RANK" = 0 ]; then
  command -v tensorboard >/dev/null 2>&1 || {{ echo '[ERROR] `tensorboard` is not installed: `pip install tensorboard`'; exit 1; }}
  tensorboard --bind_all --port {port}{options} >"$PINNACE_TASK_DIR/tensorboard.log" 2>&1 &
  echo '[INFO] TensorBoard listens on port' {port}
fi
"#
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_is_taken_out_of_an_address() {
        let login = |name: &str, password: &str| Some((name.to_owned(), password.to_owned()));
        for (address, expected, who) in [
            (
                "https://a:p%40b@host/x/y.git",
                "https://host/x/y.git",
                login("a", "p@b"),
            ),
            ("https://token@host", "https://host", login("token", "")),
            ("https://host/a@b", "https://host/a@b", None),
            ("git@host:x/y.git", "git@host:x/y.git", None),
            ("ssh://git@host/x", "ssh://git@host/x", None),
        ] {
            assert_eq!(
                split_login(address),
                (expected.to_owned(), who),
                "{address}"
            );
        }
    }
}
