//! Components, as a user meets them.

use crate::environment::{TestEnv, assert_snapshot};

const GUID: &str = "c3d0fbd2-8b78-4231-a665-3a0de1796264";

/// The module of the Hemera documentation, its inner quotes without escapes as there.
const MODULE: &str = r#"<m c="Hemera" dm="1" n="Hemera module sample" i="run.bat -_TrainingDataDir "[(TrainingDataDir)]" %CLUSTER%=(YarnCluster:default,yarn_prod_bn2) -JobQueue (JobQueue:default,AdsCP)" />
"#;

#[test]
fn a_converted_module_is_a_component_that_passes_the_check() {
    let env = TestEnv::new();
    env.write("module.xml", MODULE);
    let run = env.run(&["convert", "module.xml", "--id", GUID]).expect(0);
    assert!(run.stderr.contains("warning[P1067]"), "{}", run.stderr);
    assert_snapshot("convert", &run.stdout);
    env.write("component.yaml", &run.stdout);
    env.run(&["check", "component.yaml", "--deny", "warnings"])
        .expect(0);
}

#[test]
fn a_module_without_its_id_or_with_unknown_parts_is_not_converted() {
    let env = TestEnv::new();
    env.write(
        "module.xml",
        MODULE.replace("(TrainingDataDir)", "{in:TrainingDataDir}"),
    );
    let run = env.run(&["convert", "module.xml", "--id", GUID]).expect(1);
    assert!(
        run.stdout.is_empty() && run.stderr.contains("error[P1066]"),
        "{}",
        run.stderr
    );
    env.run(&["convert", "module.xml"]).expect(2);
    env.run(&["convert", "module.xml", "--id", "zzz"]).expect(2);
}

/// The component of the Hemera documentation.
const HEMERA: &str = include_str!("../fixtures/component/hemera.yaml");

/// The entry script of the Hemera documentation, for all flags of the component, and the batch file before it.
const BATCH: &str = "@echo off\r\npowershell -File \"%~dp0Launch.ps1\" %*\r\n";
const SCRIPT: &str = "param([ValidateNotNull()] [string] $_TrainingDataDir,
[string] $_ValidationDataDir, [string] $_InitialModelDir,
[ValidateNotNullOrEmpty()] [string] $JobQueue,
[string] $_ModelOutputDir, [string] $_ValidationOutputDir)
Write-Host \"Hello World!\"
";

#[test]
fn an_argument_that_would_reach_the_wrong_parameter_is_told_before_the_run() {
    let env = TestEnv::new();
    env.write("hemera.yaml", HEMERA);
    let check = |more: &[&str]| {
        let mut arguments = vec!["check", "hemera.yaml", "--color", "never"];
        arguments.extend(more);
        env.run(&arguments).expect(0)
    };
    assert_snapshot("shift-suspected", &check(&[]).transcript());
    assert_snapshot(
        "shift-in-aether",
        &check(&["--manner", "aether"]).transcript(),
    );
    env.write("run.bat", BATCH);
    env.write("Launch.ps1", SCRIPT);
    assert_snapshot("shift-certain", &check(&[]).transcript());
    let with_cluster = SCRIPT.replace("param(", "param([string] $Cluster,\n");
    env.write("Launch.ps1", with_cluster);
    assert_eq!(check(&[]).stdout, "");
}

/// The command that a task of a component runs, its paths as a task sees them.
fn command_of(manner: &str) -> String {
    let env = TestEnv::new();
    env.write("hemera.yaml", HEMERA);
    let arguments = [
        "explain",
        "hemera.yaml",
        "--manner",
        manner,
        "--input",
        "YarnCluster=yarn_prod_bn2",
        "--input",
        "JobQueue=AdsCP",
        "--format",
        "json",
    ];
    let run = env.run(&arguments).expect(0);
    let shown: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let line = &shown["plan"]["roles"]["main"]["command"][0];
    let pieces = line.as_array().unwrap().iter();
    pieces
        .map(|piece| piece.as_str().or_else(|| piece["path"].as_str()).unwrap())
        .collect()
}

#[test]
fn both_manners_make_the_command_lines_of_the_documentation() {
    let rest = "%CLUSTER%=yarn_prod_bn2 -JobQueue AdsCP -_ModelOutputDir /mnt/outputs/default/output1 \
                -_ValidationOutputDir /mnt/outputs/default/output2";
    assert_eq!(command_of("aml"), format!("run.bat {rest}"));
    assert_eq!(
        command_of("aether"),
        format!(
            "run.bat -_TrainingDataDir \"\" -_ValidationDataDir \"\" -_InitialModelDir \"\" {rest}"
        )
    );
}

#[test]
fn explain_shows_words_line_and_what_the_script_gets_in_both_manners() {
    let env = TestEnv::new();
    env.write("hemera.yaml", HEMERA);
    let explain = |manner: &str| {
        let arguments = [
            "explain",
            "hemera.yaml",
            "--manner",
            manner,
            "--input",
            "YarnCluster=yarn_prod_bn2",
            "--input",
            "JobQueue=AdsCP",
            "--color",
            "never",
        ];
        env.run(&arguments).expect(0)
    };
    assert_snapshot("explain-hemera-aml", &explain("aml").stdout);
    assert_snapshot("explain-hemera-aether", &explain("aether").stdout);
    env.write("run.bat", BATCH);
    env.write("Launch.ps1", SCRIPT);
    assert_snapshot("explain-script-aml", &explain("aml").stdout);
    assert_snapshot("explain-script-aether", &explain("aether").stdout);
}

#[test]
fn programs_find_the_words_beside_the_plan() {
    let env = TestEnv::new();
    env.write(
        "spec.yaml",
        "$schema: https://componentsdk.azureedge.net/jsonschema/CommandComponent.json\nname: words\nversion: 1\ntype: CommandComponent\n\
         inputs:\n  text: {type: string}\n  more: {type: string, optional: true}\n\
         command: echo '{inputs.text}' [--more {inputs.more}] | cat\n",
    );
    let arguments = [
        "explain",
        "spec.yaml",
        "--format",
        "json",
        "--manner",
        "aether",
        "--input",
        "text=it's $HOME",
    ];
    let run = env.run(&arguments).expect(0);
    let shown: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(
        shown["commandLine"],
        serde_json::json!({
            "manner": "aether",
            "words": ["echo", "it's $HOME", "--more", "", "|", "cat"],
            "shell": r#"echo 'it'\''s $HOME' --more "" | cat"#,
            "needsShell": true,
        })
    );
}
