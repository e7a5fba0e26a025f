//! How the program of a module is started on this machine.
//!
//! Modules are written for Windows: their commands name `run.bat` or `Launch.ps1`. What is started instead of such a
//! file is found beside it, by the first rule that fits.

use super::paths;
use crate::library::{Library, Look};

/// Endings of programs that this machine cannot start by themselves.
const WINDOWS: [&str; 4] = ["bat", "cmd", "ps1", "exe"];

/// Programs that only start another one; their options come before its name.
const LAUNCHERS: [&str; 3] = ["powershell", "pwsh", "cmd"];

/// How PowerShell is asked to run a script and do nothing else.
const POWERSHELL: [&str; 5] = ["pwsh", "-NoLogo", "-NoProfile", "-NonInteractive", "-File"];

/// Why a program cannot be started here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoStart {
    /// The command names no program.
    Nothing,
    /// The module does not have it.
    Missing {
        /// Its path in the module.
        name: String,
    },
    /// It is there, and nothing on this machine can run it.
    Foreign {
        /// Its path in the module.
        name: String,
        /// The paths at which a program for this machine was looked for.
        wanted: Vec<String>,
        /// Files at such paths that may not be started.
        not_executable: Vec<String>,
    },
}

/// Which of the words of a command is the program; those before it only start it.
pub fn place(words: &[&str]) -> usize {
    let is_launcher = words.first().is_some_and(|word| {
        let name = tidy(word).to_ascii_lowercase();
        LAUNCHERS.contains(&name.strip_suffix(".exe").unwrap_or(&name))
    });
    let script = words.iter().position(|word| {
        ending(&tidy(word)).is_some_and(|(_, ending)| WINDOWS[..3].contains(&&*ending))
    });
    script.filter(|_| is_launcher).unwrap_or(0)
}

/// The words that start a program of a module, in the module's folder.
pub fn start(word: &str, folder: &str, library: &dyn Library) -> Result<Vec<String>, NoStart> {
    let name = tidy(word);
    if name.is_empty() {
        return Err(NoStart::Nothing);
    }
    let at = |name: &str| paths::absolute(folder, name);
    let is_file = |name: &str| {
        let leads_out = name.starts_with('/') || name.split('/').any(|part| part == "..");
        !leads_out && matches!(library.look(&at(name)), Look::File { .. })
    };
    let is_program = |name: &str| is_file(name) && library.is_executable(&at(name));
    let here = |name: &str| Ok(vec![format!("./{name}")]);
    let windows = ending(&name).filter(|(_, ending)| WINDOWS.contains(&&**ending));
    let Some((stem, _)) = windows else {
        return match is_file(&name) {
            true if is_program(&name) => here(&name),
            true => Err(NoStart::Foreign {
                wanted: vec![name.clone()],
                not_executable: vec![name.clone()],
                name,
            }),
            false if !name.contains('/') && library.has_program(&name) => Ok(vec![name]),
            false if name.starts_with('/') && library.is_executable(&name) => Ok(vec![name]),
            false => Err(NoStart::Missing { name }),
        };
    };
    if is_program(&name) && has_shebang(&at(&name), library) {
        return here(&name);
    }
    let beside = [format!("{stem}.sh"), stem.to_owned()];
    if let Some(found) = beside.iter().find(|name| is_program(name)) {
        return here(found);
    }
    let script = if is_file(&format!("{stem}.ps1")) {
        format!("{stem}.ps1")
    } else {
        name.clone()
    };
    if script.to_ascii_lowercase().ends_with(".ps1")
        && is_file(&script)
        && library.has_program(POWERSHELL[0])
    {
        let words = POWERSHELL.iter().map(|word| (*word).to_owned());
        return Ok(words.chain([format!("./{script}")]).collect());
    }
    if !is_file(&name) && !is_file(&script) && !beside.iter().any(|name| is_file(name)) {
        return Err(NoStart::Missing { name });
    }
    Err(NoStart::Foreign {
        not_executable: beside
            .iter()
            .filter(|name| is_file(name))
            .cloned()
            .collect(),
        wanted: beside.to_vec(),
        name,
    })
}

fn has_shebang(path: &str, library: &dyn Library) -> bool {
    library
        .bytes(path)
        .is_ok_and(|bytes| bytes.starts_with(b"#!"))
}

/// The path before the last dot, and what stands behind it, in small letters.
fn ending(name: &str) -> Option<(&str, String)> {
    let (stem, ending) = name.rsplit_once('.')?;
    let is_ending = !stem.is_empty() && !stem.ends_with('/') && !ending.contains('/');
    is_ending.then(|| (stem, ending.to_ascii_lowercase()))
}

/// A path of Windows as one from the folder of the module.
pub fn tidy(word: &str) -> String {
    let word = word.trim_matches(['"', '\'']).replace('\\', "/");
    let word = match word.strip_prefix("%~dp0") {
        Some(rest) => rest.trim_start_matches('/'),
        None => &word,
    };
    word.trim_start_matches("./").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::{Answer, ItemRef};

    /// A module's files, those that may be started with a `*` behind them, and the machine's programs.
    struct Machine {
        files: &'static [&'static str],
        programs: &'static [&'static str],
    }

    impl Library for Machine {
        fn find(&self, _: &ItemRef) -> Answer {
            Answer::NoMarketplace
        }

        fn look(&self, path: &str) -> Look {
            let is_it = |file: &&&str| path == format!("/m/{}", file.trim_end_matches('*'));
            match self.files.iter().any(|file| is_it(&file)) {
                true => Look::File { size: 1 },
                false => Look::Missing,
            }
        }

        fn is_executable(&self, path: &str) -> bool {
            path == "/bin/tool"
                || path
                    .strip_prefix("/m/")
                    .is_some_and(|name| self.files.contains(&&*format!("{name}*")))
        }

        fn has_program(&self, name: &str) -> bool {
            self.programs.contains(&name)
        }

        fn bytes(&self, path: &str) -> Result<Vec<u8>, String> {
            Ok(if path.ends_with("real.bat") {
                "#!/bin/sh"
            } else {
                "@echo off"
            }
            .into())
        }
    }

    fn start_of(
        word: &str,
        files: &'static [&'static str],
        programs: &'static [&'static str],
    ) -> String {
        match start(word, "/m", &Machine { files, programs }) {
            Ok(words) => words.join(" "),
            Err(NoStart::Nothing) => "nothing".to_owned(),
            Err(NoStart::Missing { name }) => format!("missing {name}"),
            Err(NoStart::Foreign {
                not_executable,
                wanted,
                ..
            }) => {
                format!(
                    "wants {} has {}",
                    wanted.join(","),
                    not_executable.join(",")
                )
            }
        }
    }

    #[test]
    fn the_first_rule_that_fits_says_what_is_started() {
        let pwsh: &[&str] = &["pwsh", "python3"];
        let cases: &[(&str, &'static [&str], &'static [&str], &str)] = &[
            ("real.bat", &["real.bat*", "real.sh*"], pwsh, "./real.bat"),
            ("real.bat", &["real.bat", "real.sh*"], pwsh, "./real.sh"),
            (
                "run.bat",
                &["run.bat*", "run.sh*", "run*"],
                pwsh,
                "./run.sh",
            ),
            ("run.bat", &["run.bat", "run*"], &[], "./run"),
            ("run.bat", &["run.sh*"], &[], "./run.sh"),
            (
                "run.bat",
                &["run.bat", "run.ps1"],
                pwsh,
                "pwsh -NoLogo -NoProfile -NonInteractive -File ./run.ps1",
            ),
            (
                ".\\a\\Launch.ps1",
                &["a/Launch.ps1"],
                pwsh,
                "pwsh -NoLogo -NoProfile -NonInteractive -File ./a/Launch.ps1",
            ),
            (
                "Launch.ps1",
                &["Launch.ps1"],
                &[],
                "wants Launch.sh,Launch has ",
            ),
            (
                "run.bat",
                &["run.bat", "run.sh"],
                &[],
                "wants run.sh,run has run.sh",
            ),
            ("run.bat", &["other.bat"], pwsh, "missing run.bat"),
            ("train", &["train*"], &[], "./train"),
            (
                "train.py",
                &["train.py"],
                &[],
                "wants train.py has train.py",
            ),
            ("python3", &[], pwsh, "python3"),
            ("python3", &[], &[], "missing python3"),
            ("/bin/tool", &[], &[], "/bin/tool"),
            ("../x/run.sh", &["run.sh*"], &[], "missing ../x/run.sh"),
            ("\"%~dp0\\run.cmd\"", &["run.sh*"], &[], "./run.sh"),
            ("", &[], &[], "nothing"),
        ];
        for (word, files, programs, wanted) in cases {
            assert_eq!(start_of(word, files, programs), *wanted, "{word} {files:?}");
        }
    }

    #[test]
    fn what_only_starts_a_program_is_not_the_program() {
        assert_eq!(place(&["run.bat", "x.ps1"]), 0);
        assert_eq!(place(&["powershell.exe", "-File", "Launch.ps1", "-x"]), 2);
        assert_eq!(place(&["cmd", "/c", "run.bat"]), 2);
        assert_eq!(place(&["pwsh", "-Command", "1"]), 0);
        assert_eq!(place(&[]), 0);
    }
}
