//! One run at a time works in an output directory, and nothing in it mixes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;

use crate::support::attack::cases;
use crate::support::process::{LOCK, files, holder_of, kill, start};
use crate::support::{Cli, Experiment};

/// Far longer than any test waits for.
fn endless() -> Experiment {
    Experiment::dragonfly(2, 4, 2).uniform(0.5).until("100 s")
}

#[test]
fn the_second_run_in_a_directory_is_told_who_is_there() {
    for ranks in [None, Some(2)] {
        let first = endless().cli();
        let out = first.folder().join("out");
        let mut run = start(&first);
        let holder = holder_of(&out);
        // Except the run's own progress, and the file by which it tests at its start whether it may
        // write.
        let its_own = [".progress".to_string(), format!("probe-{}", run.id())];
        let contents = || -> Vec<_> {
            let of_others = |file: &PathBuf| {
                let name = file.to_string_lossy();
                !its_own.iter().any(|part| name.contains(part))
            };
            let files = files(&out).into_iter().filter(of_others);
            files.map(|file| fs::read(file).ok()).collect()
        };
        let before = contents();
        for more in [&[][..], &["--force"]] {
            let directory = out.to_str().expect("UTF-8");
            let arguments = [&["run", "experiment.toml", "--out", directory], more].concat();
            let mut second = Cli::weir(&endless().text(), &arguments);
            if let Some(ranks) = ranks {
                second = second.ranks(ranks);
            }
            let ran = second.go();
            assert_eq!(ran.code, Some(2), "{}", ran.stderr);
            let told = format!("is in use by another run of weir (process {} on ", run.id());
            assert_eq!(ran.stderr.matches(&told).count(), 1, "{}", ran.stderr);
            for word in ["--out", &holder.since, &holder.host] {
                assert!(ran.stderr.contains(word), "{word}: {}", ran.stderr);
            }
            assert_eq!(contents(), before);
        }
        kill(run.id());
        run.wait().expect("a status");
    }
}

/// Results of several runs that were started at once into one directory: their exit codes and
/// messages.
fn at_once(experiments: &[Experiment], out: &Path) -> Vec<(Option<i32>, String)> {
    let directory = out.to_str().expect("UTF-8");
    let arguments = ["run", "experiment.toml", "--quiet", "--out", directory];
    let clis = experiments
        .iter()
        .map(|experiment| Cli::weir(&experiment.text(), &arguments));
    let clis: Vec<Cli> = clis.collect();
    let runs: Vec<Child> = clis.iter().map(start).collect();
    let ended = runs.into_iter().zip(clis).map(|(run, cli)| {
        let ran = cli.ran(run.wait_with_output().expect("an end"));
        (ran.code, ran.stderr)
    });
    ended.collect()
}

#[test]
fn runs_at_once_into_one_directory_do_not_mix() {
    let folder = tempfile::tempdir().expect("a directory");
    let seeds = 1..=6;
    let experiment = |seed| {
        let experiment = Experiment::dragonfly(2, 4, 2).uniform(0.3).until("5 us");
        experiment.set("run.seed", seed).set("output.packets", true)
    };
    for round in 0..cases(3) {
        let out = folder.path().join(format!("others-{round}"));
        let others: Vec<_> = seeds.clone().map(experiment).collect();
        let ended = at_once(&others, &out);
        let done: Vec<_> = (0..)
            .zip(&ended)
            .filter(|(_, (code, _))| *code == Some(0))
            .collect();
        let [(winner, _)] = done[..] else {
            panic!("one of them wins: {ended:?}");
        };
        for (code, told) in ended.iter().filter(|(code, _)| *code != Some(0)) {
            assert_eq!(*code, Some(2), "{told}");
            let known = ["is in use by", "the result of another experiment"];
            assert!(known.iter().any(|words| told.contains(words)), "{told}");
        }
        let stored = weir::result::read(&out.join("result.h5")).expect("a whole result");
        assert_eq!(stored.header.seed, 1 + winner, "{ended:?}");
        assert_eq!(files(&out), [out.join("result.h5")]);

        let out = folder.path().join(format!("same-{round}"));
        let ended = at_once(&vec![experiment(1); 6], &out);
        assert!(ended.iter().any(|(code, _)| *code == Some(0)), "{ended:?}");
        let known = |(code, told): &(Option<i32>, String)| {
            *code == Some(0) || (*code == Some(2) && told.contains("is in use by"))
        };
        assert!(ended.iter().all(known), "{ended:?}");
        weir::result::read(&out.join("result.h5")).expect("a whole result");
        assert_eq!(files(&out), [out.join("result.h5")]);
    }
}

#[test]
fn links_in_the_output_directory_are_not_followed() {
    let cli = Experiment::dragonfly(2, 4, 2)
        .uniform(0.3)
        .until("1 us")
        .cli();
    let (out, outside) = (cli.folder().join("out"), cli.folder().join("outside"));
    fs::create_dir(&out).expect("creates");
    fs::write(&outside, "mine").expect("writes");
    let link = |name: &str| std::os::unix::fs::symlink(&outside, out.join(name)).expect("links");
    link(".result.h5.partial");
    let ran = cli.succeeds();
    assert_eq!(fs::read_to_string(&outside).expect("reads"), "mine");
    assert!(weir::result::read(&ran.result()).is_ok());
    link(LOCK);
    let directory = out.to_str().expect("UTF-8");
    let text = Experiment::dragonfly(2, 4, 2)
        .uniform(0.3)
        .until("1 us")
        .text();
    let ran = Cli::weir(&text, &["run", "experiment.toml", "--out", directory]).go();
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("symbolic link"), "{}", ran.stderr);
    assert_eq!(fs::read_to_string(&outside).expect("reads"), "mine");
}
