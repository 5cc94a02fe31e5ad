//! What weir tells shells and `man`.

use std::process::Command;

use crate::support::Cli;

fn weir(arguments: &[&str]) -> Cli {
    Cli::weir("", arguments)
}

/// What bash offers for the last of these words, with the script read.
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
