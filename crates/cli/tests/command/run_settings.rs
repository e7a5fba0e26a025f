//! `--runsettings FILE`, as a user meets it.

use crate::environment::{TestEnv, assert_snapshot};

const SPEC: &str = "\
name: company.team.train
version: 1
type: DistributedComponent
outputs:
  model: {type: path}
launcher:
  type: mpi
  additional_arguments: python train.py {outputs.model}
runsettings:
  node_count: 5
  priority: 3
";

const SETTINGS: &str = "\
# as the SDK groups them
resource_layout:
  node_count: 2
  process_count_per_node: 4
node_count: 3
timeout_seconds: 600
environment_variables: '{\"LEVEL\": \"3\", \"NAME\": \"a b\"}'
docker_configuration:
  shm_size: 2g
target: gpu-cluster
register_as:
  model: {name: the-model, description: of the night}
";

#[test]
fn a_file_of_run_settings_wins_over_the_spec_and_a_flag_over_the_file() {
    let env = TestEnv::new();
    env.write("spec.yaml", SPEC);
    env.write("settings.yaml", SETTINGS);
    let explain = |more: &[&str]| {
        let mut arguments = vec![
            "explain",
            "spec.yaml",
            "--runsettings",
            "settings.yaml",
            "--format",
            "json",
        ];
        arguments.extend(more);
        let run = env.run(&arguments).expect(0);
        serde_json::from_str::<serde_json::Value>(&run.stdout).unwrap()
    };
    let shown = explain(&[]);
    let main = &shown["plan"]["roles"]["main"];
    assert_eq!(main["instances"], 12);
    assert_eq!(main["env"]["NAME"], "a b");
    assert_eq!(main["resources"]["shmMB"], 2048);
    assert_eq!(main["outputs"]["model"]["register"]["name"], "the-model");
    assert_eq!(shown["plan"]["timeLimitSeconds"], 600);
    let limit = &shown["origins"]["timeLimitSeconds"]["place"];
    assert_eq!(
        (&limit["file"], &limit["line"]),
        (&"settings.yaml".into(), &6.into())
    );
    let account = |path: &str| {
        let accounts = shown["fidelity"].as_array().unwrap().iter();
        let found = accounts.clone().find(|account| account["path"] == path);
        let found = found.unwrap_or_else(|| panic!("{path} in {:?}", shown["fidelity"]));
        (
            found["status"].clone(),
            found["place"]["file"].clone(),
            found["place"]["line"].clone(),
        )
    };
    let expected = [
        ("runsettings.node_count", "honoured", "settings.yaml", 5),
        ("runsettings.priority", "notHonoured", "spec.yaml", 11),
        ("runsettings.target", "notHonoured", "settings.yaml", 10),
        (
            "runsettings.docker_configuration.shm_size",
            "approximated",
            "settings.yaml",
            9,
        ),
        (
            "runsettings.resource_layout.process_count_per_node",
            "honoured",
            "settings.yaml",
            4,
        ),
    ];
    for (path, status, file, line) in expected {
        assert_eq!(
            account(path),
            (status.into(), file.into(), line.into()),
            "{path}"
        );
    }
    let shown = explain(&["--set", "runsettings.node_count=1"]);
    assert_eq!(shown["plan"]["roles"]["main"]["instances"], 4);
}

#[test]
fn the_names_of_version_2_are_understood() {
    let env = TestEnv::new();
    env.write(
        "spec.yaml",
        "type: command\nname: train\nenvironment: azureml:x:1\ncommand: python train.py\nresources: {instance_count: 7}\n",
    );
    env.write(
        "settings.yaml",
        "runsettings:\n  compute: gpu\n  resources: {instance_count: 2, shm_size: 1g}\n  distribution: {type: pytorch, process_count_per_instance: 3}\n  \
         limits: {timeout: 300}\n  environment_variables: {LEVEL: 3}\n",
    );
    let arguments = [
        "explain",
        "spec.yaml",
        "--runsettings",
        "settings.yaml",
        "--format",
        "json",
    ];
    let run = env.run(&arguments).expect(0);
    let shown: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let main = &shown["plan"]["roles"]["main"];
    assert_eq!(main["instances"], 6);
    assert_eq!(main["env"]["LEVEL"], "3");
    assert_eq!(main["resources"]["shmMB"], 1024);
    assert_eq!(shown["plan"]["timeLimitSeconds"], 300);
}

#[test]
fn wrong_run_settings_are_told_at_their_place() {
    let env = TestEnv::new();
    env.write("spec.yaml", SPEC);
    env.write(
        "settings.yaml",
        "timeout_second: 3\nresource_layout:\n  nodecount: 2\nnode_count: many\nregister_as: {modle: x, model: 'a:1'}\n",
    );
    let run = env.run(&[
        "check",
        "spec.yaml",
        "--runsettings",
        "settings.yaml",
        "--color",
        "never",
    ]);
    assert_snapshot("run-settings-wrong", &run.expect(1).transcript());
    env.write(
        "job.yaml",
        "protocolVersion: 2\nname: a\ntype: job\ntaskRoles: {}\n",
    );
    let run = env
        .run(&["check", "job.yaml", "--runsettings", "settings.yaml"])
        .expect(1);
    assert!(run.stdout.contains("error[P1068]"), "{}", run.stdout);
    let run = env
        .run(&["check", "spec.yaml", "--runsettings", "none.yaml"])
        .expect(2);
    assert!(run.stderr.contains("none.yaml"), "{}", run.stderr);
}
