#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::super::read;
use super::*;
use crate::diagnostic::Diagnostic;
use crate::yaml;

/// A job with one role whose parts can be replaced; `{}` of `rest` is the file's end.
fn job(command: &str, rest: &str) -> String {
    format!(
        "prerequisites:\n  - {{name: image, type: dockerimage, uri: 'ubuntu:22.04'}}\ntaskRoles:\n  worker:\n    instances: 3\n    dockerImage: image\n    resourcePerInstance: {{cpu: 1, memoryMB: 1, gpu: 0, ports: {{tensor: 1}}}}\n    commands:\n      - {command}\n{rest}"
    )
}

struct Found {
    text: String,
    diagnostics: Vec<Diagnostic>,
}

fn lint(text: impl Into<String>) -> Found {
    let text = text.into();
    let sources = Sources::default();
    let document = yaml::load(sources.add("job.yaml", &*text), &yaml::Limits::default());
    assert!(
        document.diagnostics.is_empty(),
        "{:?}",
        document.diagnostics
    );
    let job = read::job(document.root.as_ref().unwrap());
    let subject = Subject {
        job: &job,
        prerequisites: &job.prerequisites,
        comments: &document.comments,
        named: Named::default(),
        sources: &sources,
    };
    let mut out = Diagnostics::default();
    check(&subject, &mut out);
    Found {
        diagnostics: out.into_vec(),
        text,
    }
}

impl Found {
    /// Each as `name: blamed text: message | help…`.
    fn words(&self) -> Vec<String> {
        let words = self.diagnostics.iter().map(|found| {
            let mut words = vec![found.message.clone()];
            words.extend(Some(found.label.clone()).filter(|label| !label.is_empty()));
            words.extend(found.help.iter().cloned());
            let blamed = &self.text[found.span.range()];
            format!("{} at `{blamed}`: {}", found.code.name, words.join(" | "))
        });
        words.collect()
    }

    fn names(&self) -> Vec<&'static str> {
        self.diagnostics
            .iter()
            .map(|found| found.code.name)
            .collect()
    }

    /// What is blamed, for each.
    fn blamed(&self) -> Vec<&str> {
        let spans = self.diagnostics.iter().map(|found| found.span.range());
        spans.map(|range| &self.text[range]).collect()
    }

    /// The text after the fix of the only diagnostic.
    fn fixed(&self) -> String {
        let [found] = self.diagnostics.as_slice() else {
            panic!("{:?}", self.words());
        };
        let mut edits = found.fix.clone().expect("a fix").edits;
        edits.sort_by_key(|edit| std::cmp::Reverse(edit.span.start));
        let mut text = self.text.clone();
        for edit in edits {
            text.replace_range(edit.span.range(), &edit.replacement);
        }
        text
    }
}

#[track_caller]
fn clean(text: impl Into<String>) {
    let found = lint(text);
    assert_eq!(found.words(), Vec::<String>::new(), "{}", found.text);
}

fn roles(first: &str, second: &str) -> String {
    format!(
        "prerequisites:\n- {{name: image, type: dockerimage}}\ntaskRoles:\n  worker:\n    instances: 2\n    dockerImage: image{first}\n  ps:\n    dockerImage: image{second}\n"
    )
}

const ONE_NEVER: &str =
    "\n    completion:\n      minFailedInstances: 1\n      minSucceededInstances: -1";

#[test]
fn the_shipped_jobs_are_clean() {
    for text in [
        include_str!("../../../../../examples/completion-policies.yaml"),
        include_str!("../../../../../examples/deployments.yaml"),
        include_str!("../../../../../examples/hello.yaml"),
        include_str!("../../../../../examples/hived-scheduling.yaml"),
        include_str!("../../../../../examples/parameters-and-secrets.yaml"),
        include_str!("../../../../../examples/prerequisites-with-require.yaml"),
        include_str!("../../../../../examples/quickstart.yaml"),
        include_str!("../../../../../examples/sweep.yaml"),
        include_str!("../../../../../examples/two-roles-over-a-port.yaml"),
        include_str!("../../../tests/fixtures/openpai/distributed-tensorflow.yaml"),
        include_str!("../../../tests/fixtures/openpai/prerequisites-backward.yaml"),
        include_str!("../../../tests/fixtures/openpai/prerequisites-cmd.yaml"),
        include_str!("../../../tests/fixtures/openpai/prerequisites-data.yaml"),
        include_str!("../../../tests/fixtures/openpai/prerequisites-marketplace.yaml"),
        include_str!("../../../tests/fixtures/openpai/prerequisites-multiple.yaml"),
        include_str!("../../../tests/fixtures/openpai/prerequisites-proposal.yaml"),
        include_str!("../../../tests/fixtures/openpai/prerequisites-wrong.yaml"),
    ] {
        clean(text);
    }
}

#[test]
fn two_roles_that_can_end_the_job_race() {
    let found = lint(roles("", "\n    completion: {minSucceededInstances: 1}"));
    insta::assert_snapshot!(found.words().join("\n"), @"early-success at `worker`: the task role that succeeds first ends the job and stops the others | `worker` ends the job once all 2 of its tasks have succeeded, by default | set `completion.minSucceededInstances: -1` in each role that must not end the job | with -1 in every role the job waits for all tasks");
    let [found] = found.diagnostics.as_slice() else {
        panic!()
    };
    assert_eq!(
        found.related[0].message,
        "`ps` ends the job once its task has succeeded"
    );
}

#[test]
fn the_fix_for_a_race_waits_for_all() {
    let completion = |text: &str| format!("\n    completion: {text}");
    let block = "\n    completion:\n      minFailedInstances: 1";
    let found = lint(roles(block, &completion("{minSucceededInstances: 1}")));
    let fixed = found.fixed();
    assert!(
        fixed.contains(
            "    completion:\n      minSucceededInstances: -1\n      minFailedInstances: 1\n"
        ),
        "{fixed}"
    );
    assert!(
        fixed.contains("completion: {minSucceededInstances: -1}"),
        "{fixed}"
    );
    clean(fixed);
    let found = lint(roles("", &completion("{minFailedInstances: 1}")));
    let fixed = found.fixed();
    assert!(
        fixed.contains("    completion:\n      minSucceededInstances: -1\n    instances: 2\n"),
        "{fixed}"
    );
    assert!(
        fixed.contains("{minSucceededInstances: -1, minFailedInstances: 1}"),
        "{fixed}"
    );
    clean(fixed);
}

#[test]
fn of_many_racing_roles_a_few_are_shown() {
    let more = (0..10).map(|index| format!("  more{index}: {{dockerImage: image}}\n"));
    let found = lint(roles("", "") + &more.collect::<String>());
    assert_eq!(found.names(), ["early-success"]);
    assert_eq!(found.diagnostics[0].related.len(), 5);
    assert_eq!(
        found.diagnostics[0].help[2],
        "6 more task roles can end the job as well"
    );
}

#[test]
fn the_recipes_are_clean() {
    let with = |failed: i32, succeeded: i32| {
        format!(
            "\n    completion: {{minFailedInstances: {failed}, minSucceededInstances: {succeeded}}}"
        )
    };
    clean(roles(&with(1, -1), &with(1, -1)));
    clean(roles(&with(-1, -1), &with(1, 1)));
    clean(roles(&with(1, 2), &with(1, -1)));
    clean(roles("", ONE_NEVER));
    clean(roles(&with(1, 5), &with(1, 1)));
}

#[test]
fn a_policy_that_cannot_be_read_is_not_judged() {
    clean(roles("\n    completion: {minSucceeded: -1}", ""));
    clean(roles(
        "\n    completion: {minSucceededInstances: never}",
        "",
    ));
}

#[test]
fn a_job_that_no_failure_fails_is_told() {
    let never = "\n    completion: {minFailedInstances: -1, minSucceededInstances: -1}";
    let found = lint(roles(never, never));
    insta::assert_snapshot!(found.words().join("\n"), @"never-fails at `-1`: the job succeeds even if every task fails | no failure in `worker` fails the job | set `minFailedInstances` to 1 or more in each role whose failure matters");
    assert_eq!(found.diagnostics[0].related.len(), 1);
    let one = job("echo", "").replace(
        "    dockerImage",
        "    completion: {minFailedInstances: -1}\n    dockerImage",
    );
    let fixed = lint(&*one).fixed();
    assert!(fixed.contains("minFailedInstances: 1}"));
    clean(fixed);
    assert_eq!(lint(one.replace("-1", "4")).names(), ["never-fails"]);
    clean(one.replace("-1", "3"));
}

#[test]
fn a_retry_that_gang_allocation_makes_void_is_told() {
    let text = job("echo", "").replace(
        "    dockerImage",
        "    taskRetryCount: 2 # hm\n    dockerImage",
    );
    let found = lint(&*text);
    insta::assert_snapshot!(found.words().join("\n"), @"void-retry at `2`: a failed task of `worker` is not tried again | void, because all tasks are allocated together | use `jobRetryCount` to try the whole job again | or set `extras.gangAllocation: false`, so that each task starts for itself");
    assert_eq!(found.fixed(), job("echo", ""));
    assert_eq!(
        lint(text.clone() + "extras: {gangAllocation: true}\n").names(),
        ["void-retry"]
    );
    clean(text.clone() + "extras: {gangAllocation: false}\n");
    clean(text.replace(": 2", ": 0"));
}

#[test]
fn unused_parameters_and_secrets_are_told() {
    let text = job(
        "echo <% $parameters.b %>",
        "parameters:\n  a: 1 # one\n  b:\n    c: 2\nsecrets:\n  token: hunter-22\n  other: hunter-33\n",
    );
    let found = lint(text);
    insta::assert_snapshot!(found.words().join("\n"), @"
    unused-parameter at `a`: nothing uses the parameter `a` | name it as `<% $parameters.a %>`, or remove it
    unused-secret at `token`: nothing uses the secret `token` | name it as `<% $secrets.token %>`, or remove it
    unused-secret at `other`: nothing uses the secret `other` | name it as `<% $secrets.other %>`, or remove it
    ");
}

#[test]
fn the_fix_for_something_unused_removes_its_lines_alone() {
    let found = lint(job(
        "echo <% $parameters.b %>",
        "parameters:\n  a:\n    - 1\n    - 2 # two\n  # about b\n  b: 3\n",
    ));
    assert_eq!(
        found.fixed(),
        job(
            "echo <% $parameters.b %>",
            "parameters:\n  # about b\n  b: 3\n"
        )
    );
    for rest in [
        "parameters: {a: 1, b: 2}\n",
        "parameters: {a: 1,\n  b: 2}\n",
        "parameters:\n  a: &x 1\n  b: 2\n",
    ] {
        let found = lint(job("echo <% $parameters.b %>", rest));
        assert_eq!(found.names(), ["unused-parameter"]);
        assert_eq!(found.diagnostics[0].fix, None, "{rest}");
    }
    let found = lint(job("echo", "parameters:\n  a: 1\n"));
    assert_eq!(
        found.diagnostics[0].fix, None,
        "an empty mapping would remain"
    );
}

#[test]
fn whatever_a_tag_names_is_used() {
    let parameters = "parameters: {model: 1, a.b: 2}\n";
    for command in [
        "echo <% $parameters %>",
        "echo <% $parameters.model.x %> <% $parameters['a.b'] %>",
        "echo <% $parameters.something_else %>",
        "echo <% $parameters.modell %> <% $parameters['a.b'] %>",
        "echo <% $parameter.model %> <% $parameters.a.b %> '<% x %>'",
        "echo <% $parameters.model a.b",
    ] {
        clean(job(
            &format!("\"{}\"", command.replace('"', "'")),
            parameters,
        ));
    }
    clean(job("*x", "deployments:\n  - name: a\n    taskRoles: {worker: {preCommands: ['<% $parameters.a %>']}}\nparameters: {a: 1}\n").replace("commands:\n      - *x", "commands: [echo]"));
}

#[test]
fn what_an_alias_copies_is_used() {
    clean(
        "parameters:\n  a: &command echo\n  b: {c: &n 3}\n".to_owned()
            + &job("*command", "").replace("instances: 3", "instances: *n"),
    );
}

#[test]
fn an_unused_prerequisite_is_told_and_can_be_removed() {
    let extra = "  - name: spare\n    type: dockerimage\n    uri: alpine\n";
    let text = job("echo", "").replace("taskRoles:", &format!("{extra}taskRoles:"));
    let found = lint(text);
    insta::assert_snapshot!(found.words().join("\n"), @"unused-prerequisite at `spare`: nothing uses the prerequisite `spare` | name it as `dockerImage` of a task role, or remove it");
    assert_eq!(found.fixed(), job("echo", ""));
}

#[test]
fn a_prerequisite_is_used_by_whoever_names_it() {
    let with = |extra: &str, role: &str| {
        job("echo", "")
            .replace("taskRoles:", &format!("{extra}taskRoles:"))
            .replace("    dockerImage", &format!("{role}    dockerImage"))
    };
    let data = "  - {name: digits, type: data, uri: [x]}\n";
    let script = "  - {name: fetch, type: script, require: [digits]}\n";
    clean(with(data, "    data: digits\n"));
    clean(with(data, "    prerequisites: [digits]\n"));
    clean(with(
        &format!("{data}{script}"),
        "    prerequisites: [fetch]\n",
    ));
    assert_eq!(
        lint(with(&format!("{data}{script}"), "")).blamed(),
        ["fetch"]
    );
    let same_name = "  - {name: image, type: data, uri: [x]}\n";
    assert_eq!(lint(with(same_name, "")).names(), ["unused-prerequisite"]);
    clean(with(same_name, "    prerequisites: [image]\n"));
    // Errors elsewhere: a misspelt name, and a name of another type.
    clean(with(data, "    prerequisites: [digitz]\n"));
    clean(with(data, "    script: digits\n"));
}

#[test]
fn a_short_secret_is_told_without_its_value() {
    let found = lint(job(
        "echo <% $secrets.pins %>",
        "secrets:\n  pins: [abc, abcd, '', 12]\n",
    ));
    insta::assert_snapshot!(found.words().join("\n"), @"
    short-secret at `abc`: the secret `pins.0` is shorter than 4 characters | cannot be masked in logs | choose a longer value; a short one would be found in ordinary text
    short-secret at `12`: the secret `pins.3` is shorter than 4 characters | cannot be masked in logs | choose a longer value; a short one would be found in ordinary text
    ");
}

#[test]
fn a_password_in_an_image_login_is_told() {
    let with = |password: &str, rest: &str| {
        job("echo", rest).replace(
            "uri: 'ubuntu:22.04'",
            &format!("auth: {{username: me, password: {password}}}"),
        )
    };
    let found = lint(with("hunter22", ""));
    insta::assert_snapshot!(found.words().join("\n"), @"clear-password at `hunter22`: the password of the image `image` is written in clear | put it below `secrets` and name it here: `<% $secrets.password %>`");
    let secrets = "secrets: {token: hunter22}\n";
    clean(with("<% $secrets.token %>", secrets));
    let found = lint(with("hunter22", secrets));
    assert_eq!(found.names(), ["secret-in-clear"]);
}

#[test]
fn a_secret_in_clear_is_told_where_it_stands() {
    let secrets = "secrets:\n  token: s3cr3t-t0ken # s3cr3t-t0ken\n# s3cr3t-t0ken\n";
    let found = lint(job(
        "|\n        login <% $secrets.token %>\n        curl -H 's3cr3t-t0ken' https://s3cr3t-t0ken@host xs3cr3t-t0ken",
        secrets,
    ));
    insta::assert_snapshot!(found.words().join("\n"), @"
    secret-in-clear at `s3cr3t-t0ken`: the value of the secret `token` is written here in clear | write `<% $secrets.token %>` instead
    secret-in-clear at `s3cr3t-t0ken`: the value of the secret `token` is written here in clear | write `<% $secrets.token %>` instead
    secret-in-clear at `s3cr3t-t0ken`: the value of the secret `token` stands in a comment | remove it: comments are kept and shown with the job
    ");
    let found = lint(job(
        "login <% $secrets.token %> s3cr3t-t0ken",
        "secrets: {token: s3cr3t-t0ken}\n",
    ));
    clean(found.fixed());
}

#[test]
fn a_secret_that_is_an_ordinary_word_must_stand_out() {
    let with = |command: &str| {
        job(
            &format!("\"<% $secrets.password %> {command}\""),
            "description: my password\nsecrets: {password: password}\ndefaults: {virtualCluster: password}\n",
        )
    };
    clean(with("cat password"));
    clean(with("mysql --password"));
    assert_eq!(
        lint(with("mysql --password=password")).blamed(),
        ["password"]
    );
    assert_eq!(
        lint(with("curl https://me:password@host")).names(),
        ["secret-in-clear"]
    );
    clean(job(
        "echo <% $secrets.pin %> 8080",
        "secrets: {pin: '8080'}\n",
    ));
    assert_eq!(
        lint(job(
            "echo <% $secrets.a %> <% $parameters.b %>",
            "secrets: {a: sesame}\nparameters: {b: sesame}\n"
        ))
        .names(),
        ["secret-in-clear"]
    );
}

#[test]
fn an_alias_of_a_secret_is_a_secret_in_clear() {
    let found = lint(
        "secrets:\n  token: &token s3cr3t-t0ken\n".to_owned()
            + &job("<% $secrets.token %>", "parameters: {a: *token}\n"),
    );
    assert_eq!(found.names(), ["unused-parameter", "secret-in-clear"]);
    assert_eq!(found.blamed(), ["a", "*token"]);
}

#[test]
fn no_message_shows_a_secret() {
    let found = lint(job(
        "login s3cr3t-t0ken",
        "secrets: {token: s3cr3t-t0ken, x: ab}\nparameters: {p: s3cr3t-t0ken}\n# s3cr3t-t0ken\n",
    ));
    assert_eq!(found.diagnostics.len(), 6);
    for found in &found.diagnostics {
        assert!(!format!("{found:?}").contains("s3cr3t"), "{found:?}");
    }
}

#[test]
fn a_variable_that_no_task_finds_is_told() {
    let found = lint(job(
        "|\n        cd $PAI_WORKDIR && ping ${PAI_HOST_IP_worker_3}\n        echo $PAI_worker_0_web_PORT $PAI_TASK_ROLE_master_HOST_LIST $PAI_NONSENSE",
        "",
    ));
    insta::assert_snapshot!(found.words().join("\n"), @"
    unknown-variable at `PAI_WORKDIR`: no task finds a variable `PAI_WORKDIR` | did you mean `PAI_WORK_DIR`?
    unknown-variable at `PAI_HOST_IP_worker_3`: no task finds a variable `PAI_HOST_IP_worker_3` | `worker` has 3 tasks, 0 to 2
    unknown-variable at `PAI_worker_0_web_PORT`: no task finds a variable `PAI_worker_0_web_PORT` | `worker` has the ports `ssh`, `http`, `tensor` | did you mean `PAI_worker_0_ssh_PORT`?
    unknown-variable at `PAI_TASK_ROLE_master_HOST_LIST`: no task finds a variable `PAI_TASK_ROLE_master_HOST_LIST` | did you mean `PAI_TASK_ROLE_worker_HOST_LIST`?
    unknown-variable at `PAI_NONSENSE`: no task finds a variable `PAI_NONSENSE` | names are made of the task roles and their ports; `docs/environment.md` lists them
    ");
    let found = lint(job("cd $PAI_WORKDIR", ""));
    assert_eq!(found.fixed(), job("cd $PAI_WORK_DIR", ""));
}

#[test]
fn variables_in_every_kind_of_command_are_checked() {
    let found = lint(
        job(
            "echo $PAI_A",
            "deployments:\n  - name: d\n    taskRoles:\n      worker:\n        preCommands: [echo $PAI_B]\n        postCommands: ['echo $PAI_C']\nextras:\n  com.microsoft.pai.runtimeplugin:\n    - plugin: cmd\n      parameters:\n        preCommands: [echo $PAI_D]\n",
        )
        .replace("taskRoles:\n  worker:\n    instances", "  - name: hooks\n    type: script\n    callbacks:\n      - event: taskStarts\n        commands: [echo $PAI_E]\ntaskRoles:\n  worker:\n    prerequisites: [hooks]\n    instances"),
    );
    let mut blamed = found.blamed();
    blamed.sort_unstable();
    assert_eq!(blamed, ["PAI_A", "PAI_B", "PAI_C", "PAI_D", "PAI_E"]);
}

#[test]
fn variables_that_are_there_or_provided_for_are_clean() {
    for command in [
        "echo $PAI_WORK_DIR ${PAI_HOST_IP_worker_0} \"$PAI_PORT_LIST_worker_2_tensor\"",
        "echo ${PAI_CONTAINER_HOST_tensor_PORT_LIST%%,*}",
        "echo ${PAI_X:-0} ${PAI_X-} ${PAI_X+1} ${PAI_X:=2}",
        "echo \\$PAI_X $$PAI_X MY_$PAI_WORK_DIR PAI_X",
        "eval 'echo $PAI_HOST_IP_worker_'$i",
        "echo $PAI_HOST_IP_<% $parameters.a %>_0",
        "export PAI_X=1; PAI_Y+=2; echo $PAI_X $PAI_Y; for PAI_Z in 1 2; do echo $PAI_Z; done",
    ] {
        clean(job(
            &format!("|\n        {command} <% $parameters.a %>"),
            "parameters: {a: 1}\n",
        ));
    }
}
