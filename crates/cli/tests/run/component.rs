//! Components, run by the real program.

use std::fs;
use std::path::Path;

use crate::support::Place;

fn example(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/components");
    let path = folder.join(name).join("spec.yaml");
    path.to_str().unwrap().to_owned()
}

fn texts(place: &Place) -> String {
    let folder = place.folder("texts");
    for (name, text) in [("a.txt", "the cat"), ("b.txt", "dog"), ("c.txt", "the the")] {
        fs::write(folder.join(name), text).unwrap();
    }
    format!("texts={}", folder.display())
}

#[test]
fn a_command_reads_its_input_and_writes_its_output() {
    let place = Place::new();
    let said = place
        .pinnace(&[
            "run",
            &example("count"),
            "--input",
            &texts(&place),
            "--input",
            "least=2",
            "--input",
            "title=it's a $title",
            "--output",
            "counts=counts.txt",
        ])
        .succeeded();
    assert!(said.stdout.contains("counted in 3 lines"), "{said:?}");
    let counts = fs::read_to_string(place.path().join("counts.txt")).unwrap();
    assert_eq!(counts, "it's a $title\n2 a.txt\n2 c.txt\n");
}

#[test]
fn every_rank_knows_its_number() {
    let place = Place::new();
    place
        .pinnace(&[
            "run",
            &example("ranks"),
            "--set",
            "runsettings={node_count: 3, process_count_per_node: 1}",
            "--output",
            "greetings=out",
        ])
        .succeeded();
    for rank in 0..3 {
        let text = fs::read_to_string(place.path().join(format!("out/{rank}.txt"))).unwrap();
        assert_eq!(
            text,
            format!("hello from rank {rank} of 3 on node {rank}\n")
        );
    }
}

#[test]
fn a_parallel_component_shares_its_files_out() {
    let place = Place::new();
    let arguments = [
        "run",
        &example("score"),
        "--input",
        &texts(&place),
        "--output",
        "scores=out",
    ];
    place.pinnace(&arguments).succeeded();
    let rows = fs::read_to_string(place.path().join("out/parallel_run_step.txt")).unwrap();
    let mut rows: Vec<&str> = rows.lines().collect();
    rows.sort_unstable();
    assert_eq!(rows, ["a.txt 1", "b.txt 0", "c.txt 2"]);
}

const FAILING: &str = "\
name: company.team.fails
version: 1
type: ParallelComponent
inputs:
  texts: {type: path}
outputs:
  scores: {type: path}
parallel:
  input_data: inputs.texts
  output_data: outputs.scores
  entry: score.py
runsettings:
  parallel:
    error_threshold: 0
    run_max_try: 2
";

#[test]
fn a_parallel_component_fails_with_more_failures_than_it_may_have() {
    let place = Place::new();
    place.folder("code");
    let spec = place.file("code/spec.yaml", FAILING);
    place.file(
        "code/score.py",
        "def run(paths):\n    if 'b.txt' in paths[0]: raise ValueError('no dogs')\n    return paths\n",
    );
    let input = texts(&place);
    let said = place.pinnace(&["run", &spec, "--input", &input]);
    assert_eq!(said.code, Some(1), "{said:?}");
    let logs = format!("{}{}", said.stdout, said.stderr);
    assert_eq!(said.stdout.matches("tried again").count(), 1, "{logs}");
    assert_eq!(said.stdout.matches("batch failed:").count(), 1, "{logs}");
    assert!(logs.contains("1 files have failed, more than 0"), "{logs}");
    let lenient = [
        "run",
        &spec,
        "--input",
        &input,
        "--set",
        "runsettings.parallel.error_threshold=1",
    ];
    place.pinnace(&lenient).succeeded();
}

#[test]
fn a_part_that_fails_does_not_end_the_command_and_codes_may_mean_success() {
    let place = Place::new();
    let spec = place.file(
        "spec.yaml",
        "name: a\nversion: 1\ntype: CommandComponent\nsuccessful_return_code: ZeroOrGreater\ncommand: false; echo went on; exit 3\n",
    );
    let said = place.pinnace(&["run", &spec]).succeeded();
    assert!(said.stdout.contains("went on"), "{said:?}");
}

#[test]
fn what_is_missing_is_said_before_anything_runs() {
    let place = Place::new();
    let said = place.pinnace(&["run", &example("count")]);
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.stderr.contains("error[P1026]"), "{said:?}");
    assert!(!place.state().join("jobs").exists());
}
