//! Claims of a job file: they are measured on the points of the study, and claims that do not hold
//! decide the exit code.

use serde_json::Value;

use crate::support::sweeping::{JOB, Sweep};

const CLAIM: &str = r#"
[[claims]]
id = "all-arrives"
says = "Far below saturation everything that is offered is accepted."
metric = "summary.accepted_load"
ratio = { metric = "summary.offered_load" }
within = 0.05
"#;

#[test]
fn claims_decide_the_exit_code() {
    let sweep = Sweep::new(&format!("{JOB}{CLAIM}"));
    let ran = sweep.go("run", &["--quiet"]).expect(0);
    assert!(ran.stdout.contains("1 of 1 claims hold"), "{}", ran.stdout);
    sweep.go("claims", &[]).expect(0);
    let wrong = CLAIM
        .replace("all-arrives", "nothing-arrives")
        .replace("within = 0.05", "max = 0.5");
    sweep.write(&format!("{JOB}{CLAIM}{wrong}"));
    let ran = sweep.go("run", &["--quiet"]).expect(3);
    assert!(ran.stdout.contains("DOES NOT HOLD"), "{}", ran.stdout);
    assert!(ran.stdout.contains("1 of 2 claims hold"), "{}", ran.stdout);
    let csv = sweep.go("claims", &["--csv"]).expect(3).stdout;
    assert_eq!(csv, sweep.read("claims.csv"));
    let mut lines = csv.lines();
    assert_eq!(
        lines.next(),
        Some("id,says,measured,bound,holds,seeds,simulated,settled,scale,command")
    );
    let good = lines.next().expect("a claim");
    assert!(good.starts_with("all-arrives,Far below"), "{good}");
    assert!(
        good.ends_with(",0.95 to 1.05,yes,3 of 3,5 us,,paper,weir sweep run job.toml --out out"),
        "{good}"
    );
    let bad = lines.next().expect("a claim");
    assert!(bad.contains(",at most 0.5,no,0 of 3,5 us,,paper,"), "{bad}");
    let json = sweep.go("claims", &["--json"]).expect(3).stdout;
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(
        (&json[0]["holds"], &json[1]["holds"]),
        (&true.into(), &false.into())
    );
}

#[test]
fn a_claim_without_its_points_does_not_hold() {
    let sweep = Sweep::new(&format!("{JOB}{CLAIM}"));
    sweep.go("run", &["--points", "0"]).expect(0);
    let ran = sweep.go("claims", &[]).expect(3);
    assert!(ran.stdout.contains("not measured"), "{}", ran.stdout);
    assert!(ran.stdout.contains("is waiting"), "{}", ran.stdout);
}

#[test]
fn reduced_is_a_smaller_study_with_its_own_claims() {
    let paper = CLAIM.replace("within", "scale = \"paper\"\nwithin");
    let reduced = CLAIM
        .replace("all-arrives", "small")
        .replace("within", "scale = \"reduced\"\nwithin");
    let section =
        "\n[reduced]\nset = { \"run.until\" = \"4 us\" }\naxis = { load = [0.4] }\nseeds = [7]\n";
    let sweep = Sweep::new(&format!("{JOB}{paper}{reduced}{section}"));
    let ran = sweep.go("run", &["--reduced", "--quiet"]).expect(0);
    assert!(
        ran.stdout.contains("small: holds") && !ran.stdout.contains("all-arrives"),
        "{}",
        ran.stdout
    );
    let table = sweep.read("table.csv");
    let rows: Vec<&str> = table.lines().skip(1).collect();
    assert_eq!(rows.len(), 1, "{table}");
    assert!(rows[0].contains(",done,0.4,7,"), "{table}");
    assert!(rows[0].contains(",4000"), "simulated 4 us: {table}");
    assert!(
        sweep
            .read("claims.csv")
            .contains(",reduced,weir sweep run job.toml --reduced --out out")
    );
}
