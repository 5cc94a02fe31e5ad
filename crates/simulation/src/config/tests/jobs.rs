//! Workloads that are applications.

use super::*;
use crate::config::ApplicationConfig;
use weir_workload::open::endpoints::{Endpoints, Placement};

const OPEN: &str = "load = 0.4\nmessage = \"4 flits\"\npattern = { kind = \"uniform\" }\n";

/// The least experiment with an application instead of its traffic.
fn with(job: &str) -> String {
    assert!(LEAST.contains(OPEN));
    LEAST.replace(OPEN, job)
}

fn loaded(job: &str) -> Experiment {
    load(&with(job), &[]).unwrap_or_else(|error| panic!("{}", error.render(false)))
}

fn job(experiment: &Experiment) -> &ApplicationConfig {
    experiment.workloads[0].job().expect("an application")
}

fn refused(job: &str, parts: &[&str]) {
    let error = load(&with(job), &[]).expect_err(job);
    let page = error.render(false);
    let words: Vec<&str> = page.split_whitespace().collect();
    let words = words.join(" ");
    for part in parts {
        assert!(words.contains(part), "{page}\nlacks {part:?}");
    }
    assert!(error.line().is_some(), "{page}");
}

#[test]
fn a_name_is_enough() {
    let experiment = loaded("motif = \"barrier\"\n");
    let workload = &experiment.workloads[0];
    assert_eq!(workload.endpoints, Endpoints::All);
    assert_eq!(
        job(&experiment).program.section().kind().unwrap(),
        "barrier"
    );
    assert_eq!(job(&experiment).repetitions, 1);
    assert_eq!(job(&experiment).tasks, None);
}

#[test]
fn tasks_are_placed() {
    let text = "motif = { kind = \"pump\", by = 2 }\ntasks = 5\nplacement = \"random\"\nplacement_seed = 7\n";
    let experiment = loaded(text);
    let expected = Endpoints::Count {
        count: 5,
        placement: Placement::Random,
        seed: Some(7),
    };
    assert_eq!(experiment.workloads[0].endpoints, expected);
    let linear = loaded("motif = \"pump\"\ntasks = 5\n");
    assert!(matches!(
        linear.workloads[0].endpoints,
        Endpoints::Count {
            count: 5,
            placement: Placement::Linear,
            seed: None
        }
    ));
}

#[test]
fn a_ready_application_and_what_is_changed_of_it() {
    let experiment = loaded("file = \"pump-8\"\nplacement = \"random\"\nmotif.by = 4\n");
    let job = job(&experiment);
    assert_eq!(job.program.section().kind().unwrap(), "pump");
    assert!(job.program.section().has("by") && job.mpi.has("preset"));
    assert_eq!(job.tasks, Some(8));
    assert!(
        experiment.resolved.contains("by = 4"),
        "{}",
        experiment.resolved
    );
    assert!(experiment.resolved.contains("preset = \"codes\""));
}

#[test]
fn the_resolved_experiment_is_read_the_same() {
    for text in [
        "motif = \"pump\"\ntasks = 3\nrepetitions = 2\nstart = \"1 us\"\n",
        "file = \"pump-8\"\nplacement = \"random_groups\"\nmpi.collectives.allreduce = \"ring\"\n",
        "motif = \"barrier\"\nendpoints = [3, 1]\n",
    ] {
        let first = loaded(text);
        let again = load(&first.resolved, &[]).unwrap_or_else(|e| panic!("{}", e.render(false)));
        assert_eq!(first.resolved, again.resolved);
    }
}

#[test]
fn an_application_completes_beside_traffic_that_never_stops() {
    let both = with(&format!("{OPEN}\n[[workload]]\nmotif = \"barrier\"\n"));
    let text = both.replace("\"500 us\"", "\"completion\"");
    assert!(load(&text, &[]).is_ok());
    let alone = LEAST.replace("\"500 us\"", "\"completion\"");
    assert!(load(&alone, &[]).is_err());
}

#[test]
fn mistakes_are_named() {
    refused(
        "motif = \"barier\"\n",
        &[
            "\"barier\" is not known",
            "did you mean \"barrier\"?",
            "weir list motifs",
        ],
    );
    refused("motif = 3\n", &["motif", "expected a name or a table"]);
    refused(
        "motif = { kind = \"pump\", buy = 1 }\n",
        &["unknown key `buy`", "did you mean `by`?"],
    );
    refused(
        "motif = \"pump\"\nload = 0.4\n",
        &["a key of traffic with a `pattern`", "`motif`"],
    );
    refused("motif = \"pump\"\ntasks = 0\n", &["0 tasks do nothing"]);
    refused(
        "motif = \"pump\"\ntasks = 2\nplacement = \"random\"\nendpoints = \"all\"\n",
        &["placement: `endpoints` says already"],
    );
    refused("motif = \"pump\"\nplacement = \"random\"\n", &["add tasks"]);
    refused(
        "motif = \"pump\"\nmpi = { presset = \"codes\" }\n",
        &["unknown key `presset`", "did you mean `preset`?"],
    );
    refused(
        "motif = \"pump\"\nmpi = { collectives = { alreduce = \"ring\" } }\n",
        &["unknown key `alreduce`", "did you mean `allreduce`?"],
    );
    refused(
        "file = \"pump-9\"\n",
        &[
            "\"pump-9\" is not a ready application",
            "did you mean \"pump-8\"?",
        ],
    );
    refused(
        "motif = \"pump\"\nname = \"a b\"\n",
        &["\"a b\" is not a name"],
    );
}
