#![expect(clippy::disallowed_methods, reason = "a test has a deadline and looks at the processes itself")]

use std::path::PathBuf;
use std::time::Instant;

use super::*;

const PLENTY: Duration = Duration::from_mins(1);

fn environment() -> Environment {
    Environment::for_commands(&[])
}

async fn shell(command: &str, time: Duration, shares: Shares) -> Finished {
    let folder = std::env::temp_dir();
    let environment = environment();
    Program {
        name: "/bin/sh",
        arguments: vec!["-c".to_owned(), command.to_owned()],
        folder: &folder,
        environment: &environment,
        stdin: None,
        time,
        shares,
    }
    .run()
    .await
    .unwrap()
}

/// Looks until `done`; a test that never gets there fails at the deadline.
async fn until(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !done() {
        assert!(Instant::now() < deadline, "never: {what}");
        tokio::task::yield_now().await;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The process ids that a command wrote to a file, once it wrote `count` of them.
async fn pids(file: &PathBuf, count: usize) -> Vec<i32> {
    let read = || -> Vec<i32> {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        text.lines().filter_map(|line| line.trim().parse().ok()).collect()
    };
    until("the processes write their ids", || read().len() >= count).await;
    read()
}

/// Gone, or a zombie that nobody has waited for yet.
fn is_dead(pid: i32) -> bool {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z')),
        Err(_) => rustix::process::test_kill_process(Pid::from_raw(pid).unwrap()).is_err(),
    }
}

/// A command that starts a child and a grandchild, writes all three ids and then waits for ever.
fn family(file: &std::path::Path) -> String {
    let file = file.display();
    format!("(sh -c 'echo $$ >> {file}; sleep 100' & echo $$ >> {file}; sleep 100 & echo $! >> {file}; wait)")
}

#[tokio::test]
async fn a_quick_child_ends_with_its_code_and_both_streams() {
    let finished = shell("echo out; echo err >&2; exit 3", PLENTY, Shares::Together(100)).await;
    assert_eq!((finished.exit, finished.stdout.as_str(), finished.stderr.as_str()), (Exit::Code(3), "out\n", "err\n"));
    assert_eq!(shell("kill -9 $$", PLENTY, Shares::Each(9)).await.exit, Exit::Signal(9));
}

#[tokio::test]
async fn input_is_closed() {
    assert_eq!(shell("cat; echo end", PLENTY, Shares::Each(99)).await.stdout, "end\n");
}

#[tokio::test]
async fn time_over_kills_the_whole_group_and_keeps_what_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pids");
    let command = format!("echo begun; {}", family(&file));
    let finished = shell(&command, Duration::from_millis(1_500), Shares::Each(99)).await;
    assert_eq!((finished.exit, finished.stdout.as_str()), (Exit::TimedOut, "begun\n"));
    for pid in pids(&file, 3).await {
        until("the group is dead", || is_dead(pid)).await;
    }
}

#[tokio::test]
async fn dropping_the_run_kills_the_whole_group() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pids");
    let command = family(&file);
    let run = tokio::spawn(async move { shell(&command, PLENTY, Shares::Each(99)).await });
    let pids = pids(&file, 3).await;
    assert!(pids.iter().all(|pid| !is_dead(*pid)));
    run.abort();
    for pid in pids {
        until("the group is dead", || is_dead(pid)).await;
    }
}

/// Bug 49: something in the background that holds the streams open.
#[tokio::test]
async fn a_background_process_keeps_nobody_waiting_and_survives_a_quick_end() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pids");
    let command = format!("sleep 100 & echo $! > {}; echo done", file.display());
    let finished = shell(&command, PLENTY, Shares::Each(99)).await;
    assert_eq!((finished.exit, finished.stdout.as_str()), (Exit::Code(0), "done\n"));
    let pid = pids(&file, 1).await[0];
    assert!(!is_dead(pid));
    rustix::process::kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
}

#[tokio::test]
async fn endless_output_is_stopped() {
    let finished = shell("yes", PLENTY, Shares::Together(1_000)).await;
    assert_eq!(finished.exit, Exit::TooMuchOutput);
    assert!(finished.stdout.len() < 1_100 && finished.stdout.contains("more bytes]"));
}

/// Bug 50: both streams together, not each.
#[test]
fn an_unused_share_goes_to_the_other_stream() {
    let table = [
        ((30_000, 30_000), (10_000, 10_000)),
        ((30_000, 100), (19_900, 100)),
        ((100, 30_000), (100, 19_900)),
        ((10_000, 10_000), (10_000, 10_000)),
        ((10_001, 10_000), (10_000, 10_000)),
        ((0, 50_000), (0, 20_000)),
        ((5, 7), (5, 7)),
    ];
    for (sizes, expected) in table {
        assert_eq!(split(Shares::Together(20_000), sizes), expected, "{sizes:?}");
    }
    assert_eq!(split(Shares::Each(20_000), (30_000, 30_000)), (20_000, 20_000));
}

#[test]
fn a_stream_is_never_cut_inside_a_character() {
    use std::io::Write as _;
    let mut file = tempfile::tempfile().unwrap();
    let text = "aé€😀".repeat(10);
    file.write_all(text.as_bytes()).unwrap();
    let size = u64::try_from(text.len()).unwrap();
    for most in 0..text.len() {
        let shown = head(&mut file, size, most).unwrap();
        assert!(!shown.contains('\u{fffd}'), "{most}: {shown}");
        let (kept, marker) = shown.rsplit_once("[... truncated ").unwrap();
        let missing: usize = marker.trim_end_matches(" more bytes]").parse().unwrap();
        assert_eq!(kept.trim_end_matches('\n').len() + missing, text.len());
    }
    assert_eq!(head(&mut file, size, text.len()).unwrap(), text);
}

/// Bug 51: a variable that is not set is left out, not passed as an empty one.
#[tokio::test]
async fn the_environment_is_an_allow_list() {
    let environment = Environment::for_commands(&[
        "KOKUA_TEST_NOT_SET".to_owned(),
        "CARGO_MANIFEST_DIR".to_owned(),
        "A=B".to_owned(),
    ]);
    let folder = std::env::temp_dir();
    let finished = Program {
        name: "/bin/sh",
        arguments: vec!["-c".to_owned(), "env".to_owned()],
        folder: &folder,
        environment: &environment,
        stdin: None,
        time: PLENTY,
        shares: Shares::Each(20_000),
    }
    .run()
    .await
    .unwrap();
    let names: Vec<&str> =
        finished.stdout.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name).collect();
    assert!(names.contains(&"PATH") && names.contains(&"CARGO_MANIFEST_DIR"), "{names:?}");
    assert!(!names.contains(&"KOKUA_TEST_NOT_SET") && !names.contains(&"CARGO"), "{names:?}");
}

#[tokio::test]
async fn a_program_that_is_not_there_is_an_error() {
    let folder = std::env::temp_dir();
    let program = Program {
        name: "python3",
        arguments: Vec::new(),
        folder: &folder,
        environment: &Environment::of(&[("PATH", "/nowhere")]),
        stdin: None,
        time: PLENTY,
        shares: Shares::Each(9),
    };
    assert_eq!(program.run().await.unwrap_err().kind(), io::ErrorKind::NotFound);
}
