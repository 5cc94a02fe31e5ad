//! Shell completion and man pages.

use std::process::Command;

use crate::support::{Cli, Experiment};

fn weir(arguments: &[&str]) -> Cli {
    Cli::weir("", arguments)
}

/// Completions that bash offers for the last of these words, with the script read.
fn offered(words: &[&str]) -> Vec<String> {
    let script = weir(&["completions", "bash"]).succeeds().stdout;
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("weir.bash");
    std::fs::write(&path, script).expect("writes");
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let program = format!(
        "source {} || exit 1; COMP_WORDS=({}); COMP_CWORD={}; \
         _weir weir '{}' '{}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        path.display(),
        quoted.join(" "),
        words.len() - 1,
        words[words.len() - 1],
        words[words.len() - 2],
    );
    let mut bash = Command::new("bash");
    let bash = bash.args(["--norc", "-c", &program]);
    let ran = bash.output().expect("bash starts");
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    let text = String::from_utf8(ran.stdout).expect("text");
    text.lines().map(str::to_string).collect()
}

#[test]
fn bash_completes_commands_and_options() {
    assert_eq!(offered(&["weir", "ins"]), ["inspect"]);
    assert_eq!(offered(&["weir", "run", "--wat"]), ["--watch-packet"]);
    assert_eq!(offered(&["weir", "completions", "zs"]), ["zsh"]);
    assert_eq!(
        offered(&["weir", "check", "--wat"]),
        [""],
        "not an option of check"
    );
}

#[test]
fn each_shell_has_its_script() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = weir(&["completions", shell]).succeeds().stdout;
        assert!(script.contains("inspect"), "{shell}");
    }
    let ran = weir(&["completions", "csh"]).go();
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("bash"), "{}", ran.stderr);
}

#[test]
fn the_manual_goes_to_standard_output_or_into_a_directory() {
    let page = weir(&["man"]).succeeds().stdout;
    assert!(page.contains(".TH weir 1"), "{page}");
    let ran = weir(&["man", "out/man1"]).succeeds();
    assert!(ran.stdout.lines().count() > 5, "{}", ran.stdout);
    for line in ran.stdout.lines() {
        let name = line.strip_prefix("out/").expect("a path below out");
        assert!(ran.out().join(name).is_file(), "{line}");
    }
    let run = std::fs::read_to_string(ran.out().join("man1/weir-run.1")).expect("reads");
    assert!(
        run.contains(".TH weir-run 1") && run.contains("\\-\\-watch\\-packet"),
        "{run}"
    );
}

/// The codes in the table of a page, or of the help.
fn codes<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<u32> {
    let codes = lines.flat_map(|line| line.split(',').map_while(|word| word.trim().parse().ok()));
    codes.collect()
}

/// Help and manual have the same exit codes, and include all that can occur.
#[test]
fn every_exit_code_is_documented() {
    let help = weir(&["--help"]).succeeds().stdout;
    let (_, listed) = help.split_once("Exit codes:\n").expect("they are listed");
    // "129, 130, 143  stopped by": two spaces end the numbers.
    let numbers = listed
        .lines()
        .map(|line| line.trim().split("  ").next().unwrap_or_default());
    let listed = codes(numbers);
    let page = include_str!("../../docs/running.md");
    let (_, page) = page.split_once("## Exit codes\n").expect("a section");
    let (page, _) = page.split_once("\n## ").expect("a section after it");
    let rows = page
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    let sorted = |mut codes: Vec<u32>| {
        codes.sort_unstable();
        codes
    };
    assert_eq!(sorted(codes(rows)), sorted(listed.clone()));
    for code in [0, 1, 2, 3, 4, 85, 101, 129, 130, 134, 137, 138, 143, 153] {
        assert!(listed.contains(&code), "{code}");
    }
}

/// Limits of the shell end a run with the codes that are documented.
#[test]
fn limits_of_the_shell_have_their_codes() {
    let experiment = Experiment::dragonfly(2, 4, 2)
        .uniform(0.3)
        .until("20 us")
        .text();
    let folder = tempfile::tempdir().expect("a directory");
    std::fs::write(folder.path().join("e.toml"), experiment).expect("writes");
    let code = |limit: &str| {
        let line = format!(
            "ulimit -c 0; ulimit {limit}; {} run e.toml --out o --force --quiet; exit $?",
            env!("CARGO_BIN_EXE_weir")
        );
        let mut shell = Command::new("sh");
        let ran = shell
            .args(["-c", &line])
            .current_dir(folder.path())
            .output();
        ran.expect("sh starts").status.code()
    };
    assert_eq!(code("-t 100"), Some(0));
    assert_eq!(code("-f 1"), Some(128 + 25), "SIGXFSZ");
}

#[test]
fn a_full_standard_output_is_a_failure() {
    let code = |arguments: &str, to: &str| {
        let line = format!("{} {arguments} {to}; exit $?", env!("CARGO_BIN_EXE_weir"));
        let mut shell = Command::new("sh");
        shell
            .args(["-c", &line])
            .output()
            .expect("sh starts")
            .status
            .code()
    };
    for arguments in ["--help", "--version", "sweep --help", "list"] {
        assert_eq!(code(arguments, ">/dev/full"), Some(1), "{arguments}");
        assert_eq!(code(arguments, ">/dev/null"), Some(0), "{arguments}");
    }
    assert_eq!(code("--no-such-option", "2>/dev/full"), Some(2));
}
