//! The value of a secret is known to the job's own tasks and to nobody else.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Place, job, processes_of, until, with_shared};

/// Of a kind that looks different in a URL, in base64 and in JSON.
const VALUE: &str = "open sesame/4711+\"x\"";
/// The shortest that is kept out of logs.
const SHORT: &str = "q7Zw";

/// Says the secret in many ways, and waits for a word.
const TELLS: &str = r#"export TOKEN='<% $secrets.token %>' SHORT='<% $secrets.short %>'
[ ${#TOKEN} = 20 ] && [ ${#SHORT} = 4 ] || exit 5
echo "token: $TOKEN, short: $SHORT"; echo "$TOKEN" >&2
printf %s "$TOKEN" | base64; echo "user:$TOKEN" | base64; echo "$TOKEN" | base64 -w 0 | tr +/ -_; echo
printf %s "$TOKEN" | sed 's/ /%20/g; s/\//%2F/g; s/+/%2B/g; s/"/%22/g'; echo
printf %s "$TOKEN" | sed 's/"/\\"/g'; echo
printf %s "${TOKEN%4711*}"; sleep 0.1; echo "4711${TOKEN#*4711}"
echo said
while [ ! -e /mnt/shared/go ]; do sleep 0.05; done"#;

/// What must be found nowhere: the values, and those parts of their other forms that depend on them alone.
fn forbidden() -> Vec<Vec<u8>> {
    let mut all: Vec<String> = [VALUE, SHORT, "open%20sesame%2F4711", "sesame/4711+\\\"x"]
        .map(ToOwned::to_owned)
        .to_vec();
    for before in ["", "u", "us"] {
        let script = format!("printf %s '{before}{VALUE}' | base64 -w 0");
        let output = Command::new("sh").args(["-c", &script]).output().unwrap();
        let encoded = String::from_utf8(output.stdout).unwrap();
        // The first and the last four digits may hold something else.
        let core = encoded[4..encoded.len() - 4].to_owned();
        all.push(core.replace('+', "-").replace('/', "_"));
        all.push(core);
    }
    all.into_iter().map(String::into_bytes).collect()
}

fn holds(bytes: &[u8], what: &[u8]) -> bool {
    bytes.windows(what.len()).any(|window| window == what)
}

/// The files below a folder in which something forbidden stands.
fn betrayed(path: &Path, forbidden: &[Vec<u8>]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![path.to_owned()];
    while let Some(path) = open.pop() {
        if path.is_dir() && !path.is_symlink() {
            open.extend(
                fs::read_dir(path)
                    .into_iter()
                    .flatten()
                    .flatten()
                    .map(|entry| entry.path()),
            );
        } else if path.is_file() {
            let bytes = fs::read(&path).unwrap_or_default();
            if forbidden.iter().any(|what| holds(&bytes, what)) {
                found.push(path);
            }
        }
    }
    found
}

/// Nobody tells the value in their arguments, and no process of Pinnace holds it in its variables.
fn nobody_shows_it(place: &Place) {
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let bytes = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        assert!(
            !holds(&bytes, VALUE.as_bytes()),
            "{}",
            String::from_utf8_lossy(&bytes)
        );
    }
    let ours = processes_of(&place.state());
    let ours = ours.iter().filter(|(_, line)| line.contains("pinnace\0"));
    let mut seen = 0;
    for (pid, line) in ours {
        seen += 1;
        let variables = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        assert!(!holds(&variables, VALUE.as_bytes()), "{line}");
    }
    assert!(seen > 0);
}

fn with_secrets(text: &str) -> String {
    let secrets = format!("secrets:\n  token: '{VALUE}'\n  short: {SHORT}\ntaskRoles:");
    with_shared(text).replace("taskRoles:", &secrets)
}

/// A job that tells, and then does this.
fn tells(place: &Place, name: &str, then: &str) -> String {
    let text = job(name, &[("worker", 1, (1, -1), &format!("{TELLS}\n{then}"))]);
    let hook = "  - name: hook\n    type: script\n    callbacks:\n      - {event: taskStarts, commands: ['echo hook says \
                <% $secrets.token %>']}\n      - {event: taskCompletes, commands: ['echo at last <% $secrets.token %>']}\nsecrets:";
    let text = with_secrets(&text)
        .replace("secrets:", hook)
        .replace("[shared]", "[shared, hook]");
    place.file(&format!("{name}.yaml"), &text)
}

#[test]
fn a_secret_reaches_its_task_and_is_in_no_file_log_or_list_of_processes() {
    let place = Place::new();
    let shared = place.folder("shared");
    let forbidden = forbidden();
    let run = |name: &str, then: &str, more: &[&str]| {
        let file = tells(&place, name, then);
        let arguments = ["run", "--detach", &file, "--storage", "shared=shared"];
        let said = place.pinnace(&[&arguments[..], more].concat()).succeeded();
        said.stdout.trim().to_owned()
    };
    let fine = run("fine", "true", &[]);
    let fails = run("fails", "exit 6", &[]);
    let again = run("again", "rm /mnt/shared/once && exit 7", &[]);
    fs::write(shared.join("once"), "").unwrap();
    let stopped = run("stopped", "sleep 60", &[]);
    let kept = run("kept", "exit 8", &["--keep-on-failure", "10m"]);
    let clones = {
        let text = job("clones", &[("worker", 1, (1, -1), "true")])
            + "extras:\n  com.microsoft.pai.runtimeplugin:\n    - plugin: git\n      parameters: {repo_uri: 'http://me:<% \
               $secrets.short %>@127.0.0.1:1/x.git'}\n";
        let file = place.file("clones.yaml", &with_secrets(&text));
        let said = place.pinnace(&["run", "-d", &file, "--storage", "shared=shared"]);
        said.succeeded().stdout.trim().to_owned()
    };
    let mut front = place.start(&[
        "run",
        &tells(&place, "killed", "true"),
        "--storage",
        "shared=shared",
    ]);
    for id in [&fine, &fails, &again, &stopped, &kept, "killed"] {
        until("the task has said it", || {
            place.pinnace(&["logs", id]).stdout.contains("| said\n")
        });
    }
    nobody_shows_it(&place);
    front.kill().unwrap();
    front.wait().unwrap();
    assert_eq!(betrayed(&place.state(), &forbidden), [] as [PathBuf; 0]);

    place.file("shared/go", "");
    for (id, code) in [
        (&*fine, 0),
        (&fails, 1),
        (&again, 1),
        (&clones, 1),
        ("killed", 0),
    ] {
        let said = place.pinnace(&["wait", id]);
        assert_eq!(said.code, Some(code), "{id}: {said:?}");
    }
    place.pinnace(&["stop", "--force", &stopped]).succeeded();
    until("the task is kept", || {
        place.show(&kept)["tasks"][0]["facts"]["keptUntil"].is_u64()
    });
    let entered = place
        .pinnace(&["shell", &kept, "worker[0]", "--", "env"])
        .succeeded();
    assert!(!entered.stdout.contains(VALUE), "{entered:?}");
    place.pinnace(&["stop", "--force", &kept]).succeeded();
    let repeated = place
        .command(&["retry", "fails"])
        .env("PINNACE_SECRET_TOKEN", VALUE)
        .env("PINNACE_SECRET_SHORT", SHORT)
        .output()
        .unwrap();
    assert_eq!(repeated.status.code(), Some(1), "{repeated:?}");

    assert_eq!(betrayed(&place.state(), &forbidden), [] as [PathBuf; 0]);
    let mut outputs = vec![repeated.stdout, repeated.stderr];
    for arguments in [
        &["ps", "--all", "-o", "json"] as &[&str],
        &["show", &fails],
        &["show", &fails, "-o", "json"],
        &["logs", &fine, "--all"],
        &["logs", &fine, "--runtime"],
        &["logs", &clones, "--runtime"],
    ] {
        let said = place.pinnace(arguments).succeeded();
        outputs.extend([said.stdout.into_bytes(), said.stderr.into_bytes()]);
    }
    for output in outputs {
        let text = String::from_utf8_lossy(&output);
        assert!(!forbidden.iter().any(|what| holds(&output, what)), "{text}");
    }
}
