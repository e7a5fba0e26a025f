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

#[test]
fn the_files_that_may_fail_are_counted_over_all_tasks() {
    let place = Place::new();
    place.folder("code");
    let spec = place.file("code/spec.yaml", FAILING);
    place.file(
        "code/score.py",
        "def run(paths):\n    raise ValueError('nothing works')\n",
    );
    let input = texts(&place);
    let run = |threshold: &str| {
        let threshold = format!("runsettings.parallel.error_threshold={threshold}");
        let arguments = [
            "run",
            &spec,
            "--input",
            &input,
            "--set",
            "runsettings.node_count=3",
            "--set",
            &threshold,
        ];
        place.pinnace(&arguments)
    };
    // Each of the three tasks has one file, and all of them fail.
    let said = run("2");
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(
        said.stdout.contains("3 files have failed, more than 2"),
        "{said:?}"
    );
    run("3").succeeded();
    run("-1").succeeded();
}

#[test]
fn mini_batches_are_right_without_files_and_with_more_room_than_files() {
    let place = Place::new();
    place.folder("code");
    let spec = place.file("code/spec.yaml", FAILING);
    place.file(
        "code/score.py",
        "def run(paths):\n    return [f'{len(paths)} files']\n",
    );
    let run = |input: &str, output: &str, more: &str| {
        let arguments = [
            "run", &spec, "--input", input, "--output", output, "--set", more,
        ];
        place.pinnace(&arguments)
    };
    let empty = format!("texts={}", place.folder("empty").display());
    run(
        &empty,
        "scores=none",
        "runsettings.parallel.mini_batch_size=2",
    )
    .succeeded();
    assert!(!place.path().join("none/parallel_run_step.txt").exists());
    let more = "runsettings.parallel={mini_batch_size: 100, error_threshold: -1}";
    run(&texts(&place), "scores=out", more).succeeded();
    let rows = fs::read_to_string(place.path().join("out/parallel_run_step.txt")).unwrap();
    assert_eq!(rows, "3 files\n");
}

/// Rank 0 adds up what the others send it and tells them the sum; all use only what a launcher tells them.
const EXCHANGE: &str = r#"
import os, socket, sys, time

e = os.environ
rank, size = int(e["OMPI_COMM_WORLD_RANK"]), int(e["OMPI_COMM_WORLD_SIZE"])
assert (e["PMI_RANK"], e["PMI_SIZE"]) == (str(rank), str(size))
assert (e["RANK"], e["WORLD_SIZE"]) == (str(rank), str(size))
assert (e["OMPI_COMM_WORLD_LOCAL_RANK"], e["OMPI_COMM_WORLD_LOCAL_SIZE"]) == (e["LOCAL_RANK"], e["LOCAL_WORLD_SIZE"])
address = e["MASTER_ADDR"], int(e["MASTER_PORT"])
if rank == 0:
    server = socket.create_server(address)
    others = [server.accept()[0] for _ in range(size - 1)]
    total = sum(int(other.makefile().readline()) for other in others)
    for other in others:
        other.sendall(b"%d\n" % total)
else:
    deadline = time.monotonic() + 50
    while True:
        try:
            peer = socket.create_connection(address)
            break
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
    peer.sendall(b"%d\n" % rank)
    total = int(peer.makefile().readline())
with open(os.path.join(sys.argv[1], "%d.txt" % rank), "w") as out:
    print(total, e["OMPI_COMM_WORLD_LOCAL_RANK"], e["NODE_RANK"], file=out)
"#;

#[test]
fn ranks_of_mpi_find_and_reach_each_other() {
    let place = Place::new();
    place.folder("code");
    place.file("code/exchange.py", EXCHANGE);
    let spec = place.file(
        "code/spec.yaml",
        "name: exchange\nversion: 1\ntype: DistributedComponent\noutputs:\n  sums: {type: path}\nlauncher:\n  type: mpi\n  \
         additional_arguments: python3 exchange.py {outputs.sums}\nrunsettings: {node_count: 2, process_count_per_node: 2}\n",
    );
    place
        .pinnace(&["run", &spec, "--output", "sums=out"])
        .succeeded();
    for (rank, local, node) in [(0, 0, 0), (1, 1, 0), (2, 0, 1), (3, 1, 1)] {
        let text = fs::read_to_string(place.path().join(format!("out/{rank}.txt"))).unwrap();
        assert_eq!(text, format!("6 {local} {node}\n"));
    }
}

#[test]
fn an_output_is_registered_and_read_by_its_name() {
    let place = Place::new();
    let make = place.file(
        "make.yaml",
        "name: make\nversion: 1\ntype: CommandComponent\ncode: none\ninputs:\n  text: {type: string}\noutputs:\n  words: {type: path}\n\
         command: echo '{inputs.text}' > {outputs.words}/words.txt\n",
    );
    place.folder("none");
    let run = |text: &str, more: &[&str]| {
        let text = format!("text={text}");
        let mut arguments = vec!["run", &make, "--input", &text];
        arguments.extend(more);
        place.pinnace(&arguments)
    };
    run("one", &["--register", "words=my-words"]).succeeded();
    let settings = place.file(
        "settings.yaml",
        "register_as: {words: {name: my-words, description: better}}\n",
    );
    run(
        "two",
        &["--runsettings", &settings, "--output", "words=kept"],
    )
    .succeeded();
    // What fails is not registered.
    let said = run(
        "three",
        &["--register", "words=my-words", "--set", "command=exit 3"],
    );
    assert_eq!(said.code, Some(1), "{said:?}");
    let shown = place
        .pinnace(&["data", "show", "my-words", "-o", "json"])
        .succeeded()
        .json();
    let versions = shown.as_array().unwrap();
    assert_eq!(versions.len(), 2, "{shown}");
    for version in versions {
        assert!(version["digest"].as_str().is_some(), "{shown}");
        assert_eq!(version["output"], "words", "{shown}");
        assert!(version["job"].as_str().is_some(), "{shown}");
    }
    let read = place.file(
        "read.yaml",
        "name: read\nversion: 1\ntype: CommandComponent\ncode: none\ninputs:\n  words: {type: path}\ncommand: cat {inputs.words}/words.txt\n",
    );
    for (dataset, text) in [("my-words", "two"), ("my-words:1", "one")] {
        let input = format!("words=dataset:{dataset}");
        let said = place
            .pinnace(&["run", &read, "--input", &input])
            .succeeded();
        assert!(said.stdout.contains(text), "{said:?}");
    }
}
