#![allow(clippy::unwrap_used)]

use super::EngineReason as E;
use super::*;

fn code_of(report: &ExitReport) -> i32 {
    classify(report).code
}

fn engine(reason: EngineReason) -> ExitReport {
    ExitReport::from_engine(reason, "")
}

fn start_failed(message: &str) -> ExitReport {
    ExitReport::from_engine(E::StartFailed, message)
}

fn failed_with(log: &str) -> ExitReport {
    ExitReport::exited(1).with_log(log)
}

fn raised(error: &str) -> ExitReport {
    failed_with(&format!(
        "epoch 1\nTraceback (most recent call last):\n  File \"train.py\", line 3, in <module>\n    step()\n{error}\n"
    ))
}

fn in_setup(code: i32) -> ExitReport {
    ExitReport {
        part: Part::Setup,
        ..ExitReport::exited(code)
    }
}

fn out_of_memory(part: Part) -> ExitReport {
    ExitReport {
        part,
        out_of_memory: true,
        ..ExitReport::signalled(9)
    }
}

/// One ending for each row that has a pattern, and one for each fallback.
fn cases() -> Vec<(i32, ExitReport)> {
    let broken_gpu = ExitReport {
        gpu_memory_broken: true,
        ..ExitReport::exited(1)
    };
    vec![
        (0, ExitReport::exited(0)),
        (-100, engine(E::AttemptRemoved)),
        (-101, engine(E::Removed)),
        (-110, engine(E::AttemptNeverSeen)),
        (-111, engine(E::NeverSeen)),
        (-120, engine(E::RefusedForNow)),
        (-200, engine(E::Refused)),
        (-210, engine(E::StopAsked)),
        (-220, engine(E::AttemptOver)),
        (-230, engine(E::Unwanted)),
        (-300, ExitReport::default()),
        (-310, engine(E::CreateFailed)),
        (-1000, engine(E::Evicted)),
        (-1001, engine(E::NodeLost)),
        (-1002, engine(E::NodeFull)),
        (-1003, engine(E::SystemPreempted)),
        (
            -1004,
            ExitReport {
                timed_out: true,
                ..ExitReport::signalled(15)
            },
        ),
        (-1005, engine(E::AdmissionForbidden)),
        (-1006, engine(E::AdmissionFailed)),
        (-1100, engine(E::JobRefused)),
        (-1300, out_of_memory(Part::Setup)),
        (-1200, out_of_memory(Part::Command)),
        (-1201, engine(E::ContainerNotCreated)),
        (
            -1202,
            start_failed("exec: \"./train.sh\": permission denied: unknown"),
        ),
        (
            -1203,
            start_failed("exec: \"bash\": executable file not found in $PATH: unknown"),
        ),
        (
            -1205,
            start_failed("nvidia-container-cli: device error: 3: unknown device"),
        ),
        (-1204, start_failed("the moon is in the wrong phase")),
        (128, broken_gpu),
        (130, ExitReport::signalled(2)),
        (131, ExitReport::signalled(3)),
        (132, ExitReport::signalled(4)),
        (134, ExitReport::signalled(6)),
        (135, ExitReport::signalled(7)),
        (136, ExitReport::signalled(8)),
        (137, ExitReport::signalled(9)),
        (139, ExitReport::signalled(11)),
        (141, ExitReport::signalled(13)),
        (143, ExitReport::exited(143)),
        (
            220,
            ExitReport::exited(127).with_log("user.sh: line 3: pyhton: command not found\n"),
        ),
        (
            221,
            raised(
                "tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor with shape[64]",
            ),
        ),
        (
            222,
            failed_with(
                "[node0:41] *** Process received signal ***\n[node0:41] Signal: Segmentation fault (11)\n",
            ),
        ),
        (
            223,
            raised("RuntimeError: CUDA error: uncorrectable ECC error encountered"),
        ),
        (
            224,
            raised("RuntimeError: CUDA driver version is insufficient for CUDA runtime version"),
        ),
        (
            225,
            failed_with(
                "E: Loaded runtime CuDNN library: 7.1.2 but source was compiled with: 7.6.0\n",
            ),
        ),
        (
            226,
            raised(
                "RuntimeError: cuda runtime error (2) : out of memory at /pytorch/THC/THCStorage.cu:58",
            ),
        ),
        (
            228,
            failed_with("usage: train.py [-h]\ntrain.py: error: unrecognized arguments: --lr\n"),
        ),
        (
            229,
            raised("FileNotFoundError: [Errno 2] No such file or directory: '/data/train.bin'"),
        ),
        (
            230,
            raised("ValueError: Parent directory of /out/a/model doesn't exist, can't save."),
        ),
        (
            231,
            failed_with(
                "  File \"train.py\", line 1\n    def f(\n         ^\nSyntaxError: '(' was never closed\n",
            ),
        ),
        (232, raised("ModuleNotFoundError: No module named 'torch'")),
        (233, raised("IndexError: list index out of range")),
        (
            234,
            failed_with("run.sh: line 2:    41 Segmentation fault      ./engine\n"),
        ),
        (
            235,
            failed_with("run.sh: line 2:    41 Aborted                 (core dumped) ./engine\n"),
        ),
        (249, engine(E::SshBarrierTimeout)),
        (-1400, engine(E::DataNotReady)),
        (-1401, engine(E::OutputsNotCollected)),
        (250, engine(E::PeersNotReady)),
        (251, engine(E::GangTimeout)),
        (252, engine(E::PeersImpossible)),
        (253, in_setup(253)),
        (254, engine(E::ImageMissing)),
        (255, ExitReport::exited(1)),
    ]
}

#[test]
fn every_row_is_reached_by_its_case() {
    for (code, report) in cases() {
        assert_eq!(code_of(&report), code, "{report:?}");
    }
}

#[test]
fn every_row_has_a_case() {
    let mut expected: Vec<i32> = ROWS.iter().map(|row| row.code).collect();
    let mut shown: Vec<i32> = cases().into_iter().map(|(code, _)| code).collect();
    shown.extend([256, -8000]);
    expected.sort_unstable();
    shown.sort_unstable();
    assert_eq!(shown, expected);
}

#[test]
fn the_table_has_as_many_rows_of_each_behaviour_as_openpai() {
    let count = |behaviour| ROWS.iter().filter(|row| row.behaviour == behaviour).count();
    // Two rows of our own are of the last kind.
    assert_eq!(Behaviour::ALL.map(count), [1, 19, 1, 31, 10 + 2]);
}

#[test]
fn every_failure_has_words_for_people() {
    for row in &ROWS {
        assert!(!row.reason.is_empty(), "{}", row.code);
        assert_eq!(row.solution.is_empty(), row.code == 0, "{}", row.code);
        assert!(!row.reason.ends_with('.') && !row.solution.ends_with('.'));
    }
}

#[test]
fn unlisted_codes_keep_their_number_and_borrow_a_row() {
    let prepared = classify(&in_setup(7));
    assert_eq!(
        (prepared.code, prepared.phrase()),
        (7, "PAIRuntimeExitAbnormally")
    );
    let negative = classify(&ExitReport::exited(-7));
    assert_eq!(
        (negative.code, negative.phrase()),
        (-7, "ContainerUndefinedNegativeExitCode")
    );
    assert_eq!(negative.behaviour, Behaviour::Unknown);
}

#[test]
fn the_commands_own_code_is_kept_beside_255() {
    let verdict = classify(&ExitReport::exited(3));
    assert_eq!((verdict.code, verdict.exit), (255, Some(Status::Code(3))));
    assert_eq!(verdict.reason(), "the command failed (exit code 3)");
}

#[test]
fn a_command_cannot_pretend_to_be_the_platform() {
    for code in [200, 201, 210, 249, 250, 251, 252, 253, 254, 255] {
        assert_eq!(code_of(&ExitReport::exited(code)), 255);
    }
}

#[test]
fn success_is_success_whatever_the_log_says() {
    let log = "Traceback (most recent call last):\n  File \"a.py\"\nImportError: no apex\n";
    assert_eq!(code_of(&ExitReport::exited(0).with_log(log)), 0);
    let reaped = ExitReport {
        out_of_memory: true,
        ..ExitReport::exited(0)
    };
    assert_eq!(code_of(&reaped), 0);
}

#[test]
fn ending_with_zero_after_the_time_limit_is_no_success() {
    let late = ExitReport {
        timed_out: true,
        ..ExitReport::exited(0)
    };
    assert_eq!(code_of(&late), -1004);
}

#[test]
fn the_engines_reason_goes_before_the_exit_code() {
    let evicted = ExitReport {
        status: Some(Status::Signal(9)),
        ..engine(E::Evicted)
    };
    assert_eq!(code_of(&evicted), -1000);
}

#[test]
fn a_missing_gpu_is_not_hidden_by_the_row_for_any_start_failure() {
    let place = |code| ROWS.iter().position(|row| row.code == code).unwrap();
    assert!(place(-1205) < place(-1204));
}

#[test]
fn an_error_that_was_caught_does_not_make_a_failure_permanent() {
    let caught = "Traceback (most recent call last):\n  File \"a.py\", line 1\nImportError: no apex\nusing the slow path\n";
    let long_ago = format!("{caught}{}", "step\n".repeat(41));
    assert_eq!(code_of(&failed_with(&long_ago)), 255);
    assert_eq!(
        code_of(&failed_with("ImportError: no apex, using the slow path\n")),
        255
    );
    let then_another = format!(
        "{caught}Traceback (most recent call last):\n  File \"a.py\", line 9\nValueError: bad loss\n"
    );
    assert_eq!(code_of(&failed_with(&then_another)), 255);
    assert_eq!(
        code_of(&failed_with("warning: invalid argument: x ignored\nstep\n")),
        255
    );
}

#[test]
fn the_error_below_a_launchers_own_error_is_found() {
    let log = "[rank0]: Traceback (most recent call last):\n[rank0]:   File \"t.py\", line 1, in <module>\n[rank0]:     import apex\n[rank0]: ModuleNotFoundError: No module named 'apex'\nTraceback (most recent call last):\n  File \"run.py\", line 9, in launch\n    raise ChildFailedError(\ntorch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n============\ntrain.py FAILED\n";
    let verdict = classify(&failed_with(log));
    assert_eq!(verdict.code, 232);
    assert_eq!(
        verdict.matched.as_deref(),
        Some("[rank0]: ModuleNotFoundError: No module named 'apex'")
    );
}

#[test]
fn a_failing_step_is_judged_by_the_runtime_log() {
    let step = ExitReport {
        part: Part::Step,
        runtime_log: "[Mon Feb 1] [openpai-runtime] git: command not found\n".into(),
        user_log: "CUDA out of memory\n".into(),
        ..ExitReport::exited(127)
    };
    assert_eq!(code_of(&step), 220);
}

#[test]
fn huge_and_odd_logs_do_no_harm() {
    let long_line = "é".repeat(200_000);
    assert_eq!(code_of(&failed_with(&long_line)), 255);
    let matched = classify(&failed_with(&format!("CUDA out of memory {long_line}")));
    assert_eq!(matched.code, 255);
    let long_match = classify(&failed_with(&format!(
        "CUDA out of memory {}",
        "é".repeat(9_000)
    )));
    assert!(long_match.matched.unwrap().len() <= 2048);
    assert_eq!(
        code_of(&failed_with("\r\n\r\n \n[rank0]\n[rank0]:\n[")),
        255
    );
    assert_eq!(code_of(&ExitReport::signalled(i32::MAX)), 255);
}

#[test]
fn a_verdict_survives_json() {
    let verdict = classify(&failed_with("RuntimeError: CUDA out of memory\n"));
    let json = serde_json::to_string(&verdict).unwrap();
    assert_eq!(
        json,
        r#"{"code":226,"behaviour":"permanent","exit":{"code":1},"matched":"RuntimeError: CUDA out of memory"}"#
    );
    assert_eq!(serde_json::from_str::<Verdict>(&json).unwrap(), verdict);
}

#[test]
fn a_verdict_is_explained_in_full() {
    let verdict = classify(&raised("ModuleNotFoundError: No module named 'torch'"));
    assert_eq!(
        serde_json::to_value(verdict.explain()).unwrap(),
        serde_json::json!({
            "code": 232,
            "phrase": "ContainerImportError",
            "type": "USER_FAILURE",
            "stage": "RUNNING",
            "causer": "user",
            "behaviour": "permanent",
            "reason": "a Python module could not be imported (exit code 1)",
            "solution": "install the module in the image or in a prerequisite, and check its version",
            "exit": {"code": 1},
            "matched": "ModuleNotFoundError: No module named 'torch'",
        })
    );
}

#[test]
fn the_page_of_exit_codes_is_current() {
    assert_eq!(include_str!("../../../../docs/exit-codes.md"), reference());
}

proptest::proptest! {
    #[test]
    fn any_ending_has_a_verdict(
        code in -300..300i32,
        log in "(([a-zA-Z]*Error: |  File |\\[rank0\\]: |cuda out of memory|é|\\PC){0,6}\n){0,8}",
        out_of_memory: bool,
        timed_out: bool,
    ) {
        let report = ExitReport { out_of_memory, timed_out, ..ExitReport::exited(code).with_log(log.clone()) };
        let verdict = classify(&report);
        assert_eq!(verdict.is_success(), code == 0 && !timed_out);
        assert!(verdict.matched.is_none_or(|line| log.contains(&line)));
    }
}
