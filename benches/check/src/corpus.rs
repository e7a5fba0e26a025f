//! Makes job files: valid, varied, of realistic size (about 1 to 5 KB), always the same for a number.

use std::fmt::Write as _;

use crate::dice::Dice;

const ROLES: &[&str] = &["worker", "ps_server", "master", "evaluator"];
const PARAMETERS: &[&str] = &[
    "model",
    "batch_size",
    "rate",
    "epochs",
    "momentum",
    "seed",
    "layers",
    "dropout",
    "optimizer",
    "log_every",
];
const IMAGES: &[&str] = &[
    "openpai/standard:python_3.6-pytorch_1.4.0-gpu",
    "registry.example.com/team/tensorflow:2.4",
    "ubuntu:22.04",
];
const REMARKS: &[&str] = &[
    "trains the model on the whole set",
    "a smaller variant, for a quick look",
    "the settings follow the last good run",
];

/// The text of job number `index`.
pub(crate) fn job(index: usize) -> String {
    let mut dice = Dice::new(index);
    let roles = &ROLES[..dice.between(1, 3)];
    let parameters = &PARAMETERS[..dice.between(3, PARAMETERS.len())];
    let scripts = dice.between(0, 3);
    let has_data = dice.often();
    let has_secret = dice.often();
    let has_deployment = dice.often();
    let mut out = String::with_capacity(5_000);

    let _ = writeln!(out, "# {}.", dice.pick(REMARKS));
    out.push_str("protocolVersion: 2\n");
    let _ = writeln!(
        out,
        "name: job_{index:04}\ntype: job\nversion: 1.{}",
        index % 10
    );
    out.push_str("contributor: \"The Crew\"\n");
    let _ = writeln!(
        out,
        "description: >\n  Job number {index} of the benchmark:\n  {}.\n",
        dice.pick(REMARKS)
    );

    out.push_str("parameters:\n");
    for (place, name) in parameters.iter().enumerate() {
        let value = match place % 4 {
            0 => format!("'resnet{}'", dice.between(18, 152)),
            1 => dice.between(1, 512).to_string(),
            2 => format!("0.{:03}", dice.between(1, 999)),
            _ => format!("[{}, {}, {}]", dice.up_to(9), dice.up_to(9), dice.up_to(9)),
        };
        let _ = writeln!(out, "  {name}: {value}");
    }
    if has_secret {
        let _ = writeln!(
            out,
            "\nsecrets:\n  access_token: \"hidden-{index:04}-token\""
        );
    }

    out.push_str("\nprerequisites:\n");
    let _ = writeln!(
        out,
        "  - protocolVersion: 2\n    name: image\n    type: dockerimage\n    version: latest\n    uri: '{}'",
        dice.pick(IMAGES)
    );
    if has_data {
        out.push_str(
            "  - name: dataset\n    type: data\n    description: where the samples lie\n    uri:\n",
        );
        for part in 0..dice.between(1, 3) {
            let _ = writeln!(
                out,
                "      - https://data.example.com/{index}/part-{part}.tar.gz"
            );
        }
    }
    for script in 0..scripts {
        let _ = writeln!(
            out,
            "  - name: prepare-{script}\n    type: script\n    plugin: com.microsoft.pai.runtimeplugin.cmd"
        );
        if script > 0 {
            let _ = writeln!(out, "    require: [prepare-{}]", script - 1);
        }
        if dice.often() {
            out.push_str("    failurePolicy: ignore\n");
        }
        let _ = writeln!(
            out,
            "    callbacks:\n      - event: taskStarts\n        commands:\n          - mkdir -p /tmp/stage-{script}\n          - echo \"stage {script} with <% $parameters.model %>\"\n      - event: taskSucceeds\n        commands:\n          - rm -r /tmp/stage-{script}"
        );
    }

    let _ = writeln!(out, "\njobRetryCount: {}\ntaskRoles:", dice.up_to(3));
    for (place, role) in roles.iter().enumerate() {
        let instances = dice.between(1, 8);
        let _ = writeln!(
            out,
            "  {role}:\n    instances: {instances}\n    completion:\n      minFailedInstances: 1\n      minSucceededInstances: {}\n    dockerImage: image",
            if place == 0 {
                instances.to_string()
            } else {
                "-1".to_owned()
            }
        );
        if has_data {
            out.push_str("    data: dataset\n");
        }
        if scripts > 0 {
            let _ = writeln!(out, "    prerequisites:\n      - prepare-{}", scripts - 1);
        }
        if dice.often() {
            let _ = writeln!(
                out,
                "    extraContainerOptions:\n      shmMB: {}",
                64 << dice.up_to(5)
            );
        }
        let _ = writeln!(
            out,
            "    resourcePerInstance:\n      cpu: {}\n      memoryMB: {}\n      gpu: {}\n      ports:\n        sync: {}",
            dice.between(1, 16),
            1024 * dice.between(1, 64),
            dice.up_to(5),
            dice.between(1, 3)
        );
        out.push_str("    commands:\n      - set -x # shows each command\n");
        if has_data {
            out.push_str("      - wget <% $data.uri[0] %> -P data_<% $data.name %>\n");
        }
        if has_secret {
            out.push_str("      - 'export TOKEN=<% $secrets.access_token %>'\n");
        }
        let _ = writeln!(out, "      - >\n        python train.py --role={role}");
        for name in parameters {
            let _ = writeln!(out, "        --{name}=<% $parameters.{name} %>");
        }
        let _ = writeln!(
            out,
            "        --peers=$PAI_TASK_ROLE_{role}_HOST_LIST\n        --index=$PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX"
        );
        if dice.often() {
            out.push_str("      - |\n        if [ -d results ]; then\n          tar czf results.tgz results\n          ls -l results.tgz\n        fi\n");
        }
    }

    if has_deployment {
        let _ = writeln!(
            out,
            "\ndeployments:\n  - name: prod\n    version: 1.0\n    taskRoles:\n      {}:\n        preCommands:\n          - echo \"before <% $parameters.model %>\"\n        postCommands:\n          - echo after",
            roles[0]
        );
    }
    out.push_str("\ndefaults:\n  virtualCluster: default\n");
    if has_deployment {
        out.push_str("  deployment: prod\n");
    }
    if dice.often() {
        out.push_str("\nextras:\n  com.microsoft.pai.runtimeplugin:\n    - plugin: ssh\n      parameters:\n        jobssh: true\n        userssh: {}\n  submitFrom: submit-job-v2\n");
        let _ = writeln!(
            out,
            "  hivedScheduler:\n    jobPriorityClass: {}\n    taskRoles:\n      {}:\n        skuType: K80",
            dice.pick(&["prod", "test", "oppo"]),
            roles[0]
        );
    }
    out
}
