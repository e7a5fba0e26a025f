use super::{GOOD, fixed, problems, report};

/// The good job with one place changed.
fn with(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    GOOD.replacen(from, to, 1)
}

#[test]
fn a_good_job_has_no_problems() {
    assert_eq!(report(GOOD), "");
}

#[test]
fn an_unknown_key_is_renamed_to_the_one_that_was_meant() {
    let text = with("instances", "instance");
    assert_eq!(
        report(&text),
        "10:5 P0201 [instance] unknown key `instance` in task role `worker`"
    );
    assert_eq!(fixed(&text), GOOD);
}

#[test]
fn a_misspelt_required_key_is_not_missing_as_well() {
    let text = with("commands", "command");
    assert_eq!(
        report(&text),
        "16:5 P0201 [command] unknown key `command` in task role `worker`"
    );
    assert_eq!(fixed(&text), GOOD);
}

#[test]
fn a_missing_key_is_reported_at_the_key_of_its_mapping() {
    assert_eq!(
        report(&with("    commands:\n      - echo hello\n", "")),
        "9:3 P0202 [worker] task role `worker` has no `commands`"
    );
    assert_eq!(
        report(&with("  - name: image\n    type", "  - type")),
        "5:5 P0202 [type] image prerequisite 1 has no `name`"
    );
    assert_eq!(
        report(&with("      cpu: 1\n", "")),
        "12:5 P0202 [resourcePerInstance] `resourcePerInstance` of task role `worker` has no `cpu`"
    );
}

#[test]
fn a_missing_key_with_an_obvious_value_is_put_in_at_the_right_indentation() {
    let text = with("      cpu: 1\n", "");
    assert_eq!(fixed(&text), GOOD);
    let text = with("protocolVersion: 2\n", "");
    assert_eq!(fixed(&text), GOOD);
    let text = with(
        "    resourcePerInstance:\n      cpu: 1\n      memoryMB: 1024\n      gpu: 0\n",
        "",
    );
    assert!(
        fixed(&text).contains(
            "  worker:\n    resourcePerInstance: { cpu: 1, memoryMB: 1024, gpu: 0 }\n    instances: 2\n"
        ),
        "{}",
        fixed(&text)
    );
}

#[test]
fn a_missing_key_is_put_into_braces_and_after_a_dash() {
    let flow = with(
        "    resourcePerInstance:\n      cpu: 1\n      memoryMB: 1024\n      gpu: 0\n",
        "    resourcePerInstance: {cpu: 1, memoryMB: 1024}\n",
    );
    assert!(fixed(&flow).contains("{gpu: 0, cpu: 1, memoryMB: 1024}"));
    let callback = with(
        "taskRoles:",
        "  - name: s\n    type: script\n    callbacks:\n      - commands: [ls]\ntaskRoles:",
    );
    assert!(fixed(&callback).contains("      - event: taskStarts\n        commands: [ls]\n"));
    assert_eq!(report(&fixed(&callback)), "");
}

#[test]
fn a_value_of_the_wrong_type_says_what_was_found_and_is_mended() {
    let cases = [
        (
            "instances: 2",
            "instances: \"2\"",
            "`instances` must be an integer, found a text",
            "instances: 2",
        ),
        (
            "instances: 2",
            "instances: 1_000",
            "`instances` must be an integer, found a text",
            "instances: 1000",
        ),
        (
            "name: good",
            "name: 123",
            "`name` must be a text, found the number 123",
            "name: \"123\"",
        ),
        (
            "name: good",
            "name: true",
            "`name` must be a text, found `true`",
            "name: \"true\"",
        ),
        (
            "commands:\n      - echo hello",
            "commands: echo hello",
            "`commands` must be a list of texts, found a text",
            "commands: [echo hello]",
        ),
        (
            "commands:\n      - echo hello",
            "commands: echo {a,b}",
            "`commands` must be a list of texts, found a text",
            "commands: [\"echo {a,b}\"]",
        ),
        (
            "commands:\n      - echo hello",
            "commands: |\n      echo hello",
            "`commands` must be a list of texts, found a text",
            "commands:\n    - |\n      echo hello",
        ),
        (
            "uri: ubuntu:22.04",
            "uri: [\"ubuntu:22.04\"]",
            "`uri` must be a text, found a list",
            "uri: \"ubuntu:22.04\"",
        ),
        (
            "taskRoles:",
            "extras: []\ntaskRoles:",
            "`extras` must be a mapping, found a list",
            "extras: {}",
        ),
        (
            "- echo hello",
            "- 12",
            "`commands[0]` must be a text, found the number 12",
            "- \"12\"",
        ),
        (
            "taskRoles:",
            "extras:\n  gangAllocation: no\ntaskRoles:",
            "`gangAllocation` must be `true` or `false`, found a text",
            "gangAllocation: false\n",
        ),
    ];
    for (from, to, message, mended) in cases {
        let text = with(from, to);
        let (_, list) = problems(&text);
        let messages: Vec<_> = list.iter().map(|problem| &problem.message).collect();
        assert_eq!(messages, [message]);
        assert!(fixed(&text).contains(mended), "{}", fixed(&text));
        assert_eq!(report(&fixed(&text)), "");
    }
}

#[test]
fn dashes_before_the_entries_of_a_mapping_are_removed() {
    let text = with(
        "    resourcePerInstance:\n      cpu: 1\n      memoryMB: 1024\n      gpu: 0\n",
        "    resourcePerInstance:\n      - cpu: 1\n      - memoryMB: 1024\n      - gpu: 0\n",
    );
    assert_eq!(
        report(&text),
        "12:5 P0203 [resourcePerInstance] `resourcePerInstance` must be a mapping, found a list"
    );
    assert_eq!(report(&fixed(&text)), "");
    let roles = text.replace("  worker:", "- worker:");
    assert!(report(&roles).starts_with("8:1 P0203 [taskRoles] `taskRoles` must be a mapping"));
}

#[test]
fn a_value_that_cannot_be_mended_is_explained() {
    for (from, to, help) in [
        (
            "memoryMB: 1024",
            "memoryMB: 16GB",
            "write a plain number without a unit",
        ),
        ("cpu: 1", "cpu: 1.5", "write a whole number"),
        (
            "  worker:\n",
            "  - name: worker\n",
            "the role name is the key: write `worker:` in place of `- name: worker`",
        ),
    ] {
        let (_, list) = problems(&with(from, to));
        assert_eq!(list[0].help, [help]);
    }
}

#[test]
fn what_is_wrong_below_a_misspelt_key_is_reported_at_once() {
    let text = with("resourcePerInstance", "resourcesPerInstance").replace("gpu: 0", "gpu: -1");
    assert_eq!(
        report(&text),
        "12:5 P0201 [resourcesPerInstance] unknown key `resourcesPerInstance` in task role `worker`\n\
         15:12 P0204 [-1] `gpu` must be at least 0, found -1"
    );
}

#[test]
fn nothing_below_a_wrong_value_is_reported() {
    let text = with(
        "    resourcePerInstance:\n      cpu: 1\n      memoryMB: 1024\n      gpu: 0\n",
        "    resourcePerInstance: [{cpus: 1}]\n",
    );
    assert_eq!(
        report(&text),
        "12:26 P0203 [[{cpus: 1}]] `resourcePerInstance` must be a mapping, found a list"
    );
}

#[test]
fn numbers_have_limits() {
    for (from, to, message) in [
        (
            "instances: 2",
            "instances: 0",
            "`instances` must be at least 1, found 0",
        ),
        (
            "instances: 2",
            "instances: 10001",
            "`instances` must be at most 10000, found 10001",
        ),
        ("gpu: 0", "gpu: -1", "`gpu` must be at least 0, found -1"),
        (
            "gpu: 0",
            "gpu: 0\n      ports: {http: 0}",
            "`http` must be at least 1, found 0",
        ),
        (
            "instances: 2",
            "completion: {minFailedInstances: -2}",
            "`minFailedInstances` must be at least -1, found -2",
        ),
        (
            "instances: 2",
            "taskRetryCount: -3",
            "`taskRetryCount` must be at least -2, found -3",
        ),
    ] {
        let (_, list) = problems(&with(from, to));
        let messages: Vec<_> = list.iter().map(|problem| &problem.message).collect();
        assert_eq!(messages, [message]);
    }
}

#[test]
fn whole_numbers_and_defaults_are_read_in_all_their_forms() {
    for (from, to) in [
        ("instances: 2", "instances: 2.0"),
        ("protocolVersion: 2", "protocolVersion: 2.0"),
        ("protocolVersion: 2", "protocolVersion: '2'"),
        (
            "instances: 2",
            "completion: {minFailedInstances: null, minSucceededInstances: 0}",
        ),
        (
            "instances: 2",
            "completion: {minFailedInstances: , minSucceededInstances: -1}",
        ),
        ("type: job", "type: job\nversion: 1.0"),
    ] {
        assert_eq!(report(&with(from, to)), "", "{to}");
    }
    assert_eq!(
        report(&with("protocolVersion: 2", "protocolVersion: 1")),
        "1:18 P0206 [1] `protocolVersion` must be 2, found `1`"
    );
}

#[test]
fn names_have_a_form() {
    assert_eq!(
        report(&with("name: good", "name: not good")),
        "2:7 P0205 [not good] `name` must be made of letters, digits, `_` and `-`"
    );
    let text = with("worker:", "my-worker:");
    assert_eq!(
        report(&text),
        "9:3 P0205 [my-worker] role name `my-worker` must be made of letters, digits and `_`, and not begin with a digit"
    );
    assert_eq!(problems(&text).1[0].help, ["for example `my_worker`"]);
    let long = "a".repeat(256);
    assert!(report(&with("good", &long)).ends_with("`name` must have at most 255 characters"));
    assert_eq!(report(&with("good", &"a".repeat(255))), "");
}

#[test]
fn a_word_that_is_not_known_gets_the_nearest_one() {
    let text = with("type: dockerimage", "type: dockerImage");
    assert_eq!(
        report(&text),
        "6:11 P0206 [dockerImage] `type` cannot be `dockerImage`"
    );
    assert_eq!(fixed(&text), GOOD);
    let text = with("type: job", "type: task");
    assert_eq!(
        report(&text),
        "3:7 P0206 [task] `type` must be `job`, found `task`"
    );
    assert_eq!(fixed(&text), GOOD);
}

#[test]
fn empty_lists_and_missing_values_are_refused() {
    let start = "prerequisites:\n  - name: image\n    type: dockerimage\n    uri: ubuntu:22.04\n";
    assert_eq!(
        report(&with(start, "prerequisites: []\n")),
        "4:16 P0207 [[]] `prerequisites` needs at least one item"
    );
    assert_eq!(
        report(&with(start, "prerequisites:\n")),
        "4:1 P0203 [prerequisites] `prerequisites` must be a list of mappings, found nothing"
    );
    assert_eq!(
        report("protocolVersion: 2\nname: a\ntype: job\ntaskRoles: {}\n"),
        "4:12 P0207 [{}] `taskRoles` needs at least one entry"
    );
}

#[test]
fn a_key_in_the_wrong_mapping_is_sent_home() {
    let (_, list) = problems(&with("    instances: 2", "    gpu: 2"));
    assert_eq!(list[0].message, "unknown key `gpu` in task role `worker`");
    assert_eq!(list[0].help, ["`gpu` belongs in `resourcePerInstance`"]);
    let (_, list) = problems(&with("    instances: 2", "    jobRetryCount: 2"));
    assert_eq!(list[0].help, ["`jobRetryCount` belongs to the job"]);
    let (_, list) = problems(&with("    instances: 2", "    name: 2"));
    assert!(list[0].help[0].starts_with("the keys here are `protocolVersion`, `instances`"));
}

#[test]
fn an_image_with_callbacks_is_told_where_they_go() {
    let (_, list) = problems(&with(
        "    type: dockerimage",
        "    type: dockerimage\n    callbacks: []",
    ));
    assert_eq!(
        list[0].message,
        "unknown key `callbacks` in image prerequisite `image`"
    );
    assert!(list[0].help[0].contains("of type `script`"));
    assert_eq!(
        report(&with(
            "    type: dockerimage",
            "    type: dockerimage\n    plugin: docker"
        )),
        ""
    );
}

#[test]
fn keys_that_upstream_accepts_and_nobody_reads_get_a_warning() {
    let text = with(
        "taskRoles:",
        "defaults: {virtualCluster: default, queue: q}\nextras: {submitForm: x, mine: {}}\ntaskRoles:",
    );
    assert_eq!(
        report(&text),
        "8:37 P0208 [queue] nothing reads the key `queue` in `defaults`\n\
         9:10 P0208 [submitForm] nothing reads the key `submitForm` in `extras`\n\
         9:25 P0208 [mine] nothing reads the key `mine` in `extras`"
    );
    let fix = problems(&text).1[1].fix.clone().unwrap();
    assert_eq!(fix.title, "did you mean `submitFrom`?");
}

#[test]
fn own_keys_of_a_prerequisite_are_its_parameters_unless_they_look_misspelt() {
    let text = with(
        "taskRoles:",
        "  - name: s\n    type: data\n    url: x\n    mountPoint: /mnt\n    callback: []\n    failurepolicy: ignore\n    requires: [a]\ntaskRoles:",
    );
    assert_eq!(
        report(&text),
        "12:5 P0212 [callback] `callback` looks like `callbacks` misspelt\n\
         13:5 P0212 [failurepolicy] `failurepolicy` looks like `failurePolicy` misspelt\n\
         14:5 P0212 [requires] `requires` looks like `require` misspelt"
    );
}

#[test]
fn masked_secrets_are_explained_and_values_never_quoted() {
    assert_eq!(
        report(&with("taskRoles:", "secrets: \"******\"\ntaskRoles:")),
        "8:1 P0210 [secrets] the values of `secrets` are masked"
    );
    assert_eq!(
        report(&with("taskRoles:", "secrets: hunter2\ntaskRoles:")),
        "8:1 P0203 [secrets] `secrets` must be a mapping of names to values, found a text"
    );
    assert_eq!(
        report(&with(
            "taskRoles:",
            "secrets: {a: 1, b: {c: x}}\ntaskRoles:"
        )),
        ""
    );
}

#[test]
fn two_spellings_of_one_field_are_refused() {
    let hived =
        "extras:\n  hivedScheduler: {taskRoles: {worker: {skuType: A, gpuType: B}}}\ntaskRoles:";
    assert_eq!(
        report(&with("taskRoles:", hived)),
        "9:53 P0211 [gpuType] `gpuType` in HiveD role `worker` is another spelling of a key that is already there"
    );
}

#[test]
fn a_problem_that_came_by_an_alias_or_a_merge_shows_where_it_was_used() {
    let text = "\
protocolVersion: 2
name: good
type: job
parameters:
  base: &base
    dockerImage: image
    instances: none
    resourcePerInstance: {cpu: 1, memoryMB: 1, gpu: 0}
  count: &count many
taskRoles:
  a:
    <<: *base
    commands: [ls]
  b:
    dockerImage: image
    instances: *count
    resourcePerInstance: {cpu: 1, memoryMB: 1, gpu: 0}
    commands: [ls]
";
    assert_eq!(
        report(text),
        "7:16 P0203 [none] `instances` must be an integer, found a text\n\
         9:17 P0203 [many] `instances` must be an integer, found a text"
    );
    let (sources, list) = problems(text);
    let related: Vec<_> = list
        .iter()
        .map(|problem| sources.place(problem.related[0].span).line)
        .collect();
    assert_eq!(related, [12, 16]);
}

#[test]
fn a_template_where_none_is_read_is_explained() {
    let (_, list) = problems(&with("instances: 2", "instances: <% $parameters.n %>"));
    assert_eq!(
        list[0].help,
        ["templates are not filled in here: write the value itself"]
    );
}
