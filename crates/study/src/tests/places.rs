//! Some points of a study without the others: the same as among all of them.

use super::{AXES, checked, study, study_with};
use crate::{Options, Point};
use weir_simulation::catalog::catalog;

/// Three axes, an exclusion and seeds, so that places are no simple function of the index.
fn several() -> String {
    format!(
        "{AXES}[[axis]]\nname = \"bin\"\nkey = \"output.bin\"\nvalues = [\"1 us\", \"2 us\"]\n\
         [[exclude]]\nrouting = \"par\"\nload = [0.2, 0.8]\n"
    )
}

#[test]
fn some_points_are_those_of_the_whole_study() {
    let study = study_with("seeds = [4, 2]", &several(), &Options::default()).expect("a study");
    let all = checked(&study).expect("good points");
    assert_eq!(all.len(), (3 * 4 - 2) * 2 * 2);
    assert_eq!(study.rows().expect("a number"), all.len());
    let text = |point: &Point| {
        let experiment = study.experiment(point, &catalog()).expect("it was read");
        (
            point.label(&study),
            point.hash.clone(),
            point.index,
            experiment.resolved,
        )
    };
    for places in [vec![0], vec![39], vec![7, 8, 20]] {
        let some = study.some_points(&places, &catalog()).expect("points");
        let some: Vec<_> = some.iter().map(text).collect();
        let expected: Vec<_> = places.iter().map(|&place| text(&all[place])).collect();
        assert_eq!(some, expected);
    }
}

/// Several threads examine points; the error is that of the first invalid one, regardless of the
/// thread.
#[test]
fn the_first_wrong_point_is_told() {
    let axis = "[[axis]]\nname = \"bin\"\nkey = \"output.bin\"\n\
                values = { from = 1, to = 400, step = 1 }\n\
                [[axis]]\nname = \"load\"\nkey = \"workload.hot.load\"\nvalues = [0.1, 7.0, -1.0]\n";
    let axis = axis.replace("output.bin", "run.seed");
    for _ in 0..20 {
        let error = study(&axis).points(&catalog()).expect_err("loads");
        let words = "bin = 1, load = -1.0";
        assert!(error.message.contains(words), "{error}");
    }
}

#[test]
fn a_sample_has_every_value_of_every_axis() {
    let study = study(&several());
    let sample = study.sample(100).expect("a sample");
    let points = study.some_points(&sample, &catalog()).expect("points");
    for (axis, own) in study.axes.iter().enumerate() {
        for value in 0..own.values.len() {
            let there = points.iter().any(|point| point.at[axis] == value);
            assert!(there, "{} {value}", own.name);
        }
    }
    assert!(sample.len() <= 3 + 4 + 2, "{sample:?}");
    assert!(study.sample(3).expect("a sample").len() <= 3);
}

#[test]
fn seeds_count_among_too_many_points() {
    let axis = "[[axis]]\nname = \"load\"\nkey = \"workload.hot.load\"\n\
                values = { from = 0.001, to = 1.0, count = 1000 }";
    let many = study_with("seeds = 1001", axis, &Options::default()).expect("a study");
    let error = many.points(&catalog()).expect_err("1,001,000 points");
    assert!(
        error.message.contains("more than 1000000 points"),
        "{error}"
    );
}
