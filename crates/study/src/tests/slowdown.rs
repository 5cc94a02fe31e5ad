//! Runs of jobs alone: their number, their content, and names that are no slowdown.

use super::{AXES, BASE, Whole, points, study, study_with};
use crate::{Metric, Options, Role, Study};
use weir_workload::open::endpoints::Endpoints;

fn with_metrics(metrics: &str, more: &str) -> Study {
    let top = format!("metrics = [{metrics}]");
    study_with(&top, more, &Options::default())
        .unwrap_or_else(|error| panic!("{}", error.render(false)))
}

fn alone(points: &[Whole]) -> Vec<&Whole> {
    points.iter().filter(|point| !point.is_own()).collect()
}

#[test]
fn points_that_differ_in_other_jobs_share_a_run() {
    let study = with_metrics("\"slowdown.cold\"", AXES);
    let points = points(&study);
    let runs = alone(&points);
    let labels: Vec<String> = runs.iter().map(|point| point.label(&study)).collect();
    let expected = ["minimal", "par", "valiant"].map(|one| format!("cold alone routing={one}"));
    assert_eq!(labels, expected);
    for point in points.iter().filter(|point| point.is_own()) {
        let Role::Own { alone } = &point.role else {
            unreachable!()
        };
        let [(job, run)] = alone.as_slice() else {
            panic!("{alone:?}");
        };
        assert_eq!((job.as_str(), points[*run].at[0]), ("cold", point.at[0]));
    }
    // The job whose load is the axis has a run for each; later workloads of the file are gone.
    let study = with_metrics("\"slowdown.hot\"", AXES);
    let runs = super::points(&study);
    assert_eq!(alone(&runs).len(), 12);
    assert_eq!(alone(&runs)[0].experiment.workloads.len(), 1);
}

#[test]
fn a_point_in_which_a_job_is_alone_is_what_others_are_compared_with() {
    let axis = "[[axis]]\nname = \"beside\"\nvalues = [{ label = \"no\", \"workload.hot.enabled\" = false }, \
                { label = \"yes\", \"workload.hot.enabled\" = true }]";
    let points = points(&with_metrics("\"slowdown.cold\"", axis));
    assert_eq!(points.len(), 2);
    for point in &points {
        let alone = vec![("cold".to_string(), 0)];
        assert_eq!(point.role, Role::Own { alone });
    }
}

#[test]
fn a_job_alone_is_where_it_is_beside_others() {
    let base = BASE.replace(
        "endpoints = \"0..6\"",
        "endpoints = { count = 5, placement = \"random\" }",
    );
    let base = base.replace("endpoints = \"6..12\"", "endpoints = \"rest\"");
    let text = format!("metrics = [\"slowdown.cold\"]\n{base}");
    let study = Study::parse(&text, std::path::Path::new(""), &Options::default());
    let points = points(&study.unwrap_or_else(|error| panic!("{}", error.render(false))));
    let places = |point: &Whole| {
        let plan = weir_simulation::Plan::new(&point.experiment, None).expect("a plan");
        let traffic = plan.blueprint.traffic.iter();
        let mut cold = traffic.filter(|one| one.name == "cold");
        let cold = cold.next().expect("it runs");
        cold.tasks.to_vec()
    };
    assert_eq!(places(&points[0]), places(&points[1]));
    let [own] = &points[1].experiment.workloads[..] else {
        panic!("others beside it");
    };
    assert!(matches!(&own.endpoints, Endpoints::List(list) if list.len() == 7));
}

/// Rates of others that are recorded beside it are not there when it is alone.
#[test]
fn only_its_own_rates_are_recorded() {
    let rates = "[output]\nrates = { interval = \"1 us\", tasks = { hot = [0], cold = [1] } }";
    let run = points(&with_metrics("\"slowdown.hot\"", rates))
        .pop()
        .expect("a run");
    let rates = run.experiment.output.rates.expect("recorded");
    assert_eq!(rates.tasks.keys().collect::<Vec<_>>(), ["hot"]);
    let others = "[output]\nrates = { interval = \"1 us\", tasks = { cold = [1] } }";
    let run = points(&with_metrics("\"slowdown.hot\"", others))
        .pop()
        .expect("a run");
    assert!(run.experiment.output.rates.is_none());
}

#[test]
fn what_is_asked_for_at_some_points_is_run_for_those() {
    let figure = "[[figure]]\nid = \"f\"\nkind = \"line\"\nx = \"load\"\ny = \"slowdown.*.max\"\nwhere = { routing = \"par\" }";
    let points = points(&study(&format!("{AXES}{figure}")));
    let jobs: Vec<String> = (alone(&points).iter())
        .map(|point| point.label(&study(AXES)))
        .collect();
    assert_eq!(jobs.len(), 4 + 1, "{jobs:?}");
    assert!(jobs.iter().all(|label| label.contains("routing=par")));
}

#[test]
fn what_is_no_slowdown() {
    let jobs = ["md-0", "md-1"].map(str::to_string);
    for (name, words) in [
        ("slowdown.md", "no workload called \"md\""),
        ("slowdown", "no workload called \"\""),
        ("slowdown.md-*", "`slowdown.md-*.max`"),
        ("slowdown.md-*.median", "no metric"),
        ("slowdown.jobs.md-0.finish", "does not say how fast"),
        (
            "slowdown.jobs.md-*.communication.max",
            "does not say how fast",
        ),
        ("slowdown.latency.message.mean", "does not say how fast"),
        ("slowdown.jobs.md-0.communikation", "no metric"),
        ("slowdown.md-0 @ 1 us..2 us", "one number for the whole run"),
    ] {
        let error = Metric::parse(name, &jobs).expect_err(name);
        let text = format!("{} {}", error.message, error.remedy);
        assert!(text.contains(words), "{name}: {text}");
    }
    let windowed = "slowdown.series.job.md-0.delivered_bytes.mean @ 1 us..2 us";
    assert_eq!(
        Metric::parse(windowed, &jobs).expect("good").name(),
        windowed
    );
}

#[test]
fn a_job_that_never_ends_alone_is_refused() {
    let more = "[[workload]]\nname = \"md\"\nendpoints = [0, 1]\nshared = true\nmotif = { kind = \"allreduce\" }";
    let base = BASE.replace("until = \"5 us\"", "until = \"completion\"");
    let base = base.replace(
        "endpoints = \"0..6\"",
        "endpoints = \"0..6\"\nshared = true",
    );
    let text = format!("metrics = [\"slowdown.hot\"]\n{base}{more}");
    let study = Study::parse(&text, std::path::Path::new(""), &Options::default());
    let error = study
        .and_then(|study| super::checked(&study))
        .expect_err("endless");
    assert!(
        error.message.contains("alone never ends"),
        "{}",
        error.message
    );
    assert_eq!(error.line(), Some(1));
}
