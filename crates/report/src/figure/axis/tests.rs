//! Ticks and labels of axes.

use super::*;

fn labels(axis: &Axis, values: &[f64]) -> Vec<String> {
    let coord = axis.coord(values.iter().copied(), 6);
    coord.ticks().iter().map(|(_, text)| text.clone()).collect()
}

#[test]
fn linear_ticks_are_round_numbers_in_a_unit_for_people() {
    let latency = Axis::new("latency", "ps").from_zero();
    assert_eq!(
        labels(&latency, &[1.2e6, 6.4e6]),
        ["0", "1", "2", "3", "4", "5", "6"],
        "µs"
    );
    assert_eq!(latency.coord([6.4e6], 6).title(), "latency (µs)");
    assert_eq!(
        labels(&Axis::new("load", "1"), &[0.1, 0.9]),
        ["0.2", "0.4", "0.6", "0.8"]
    );
    let permutations = Axis::new("permutations", "1");
    assert_eq!(labels(&permutations, &[1.0, 3.0]), ["1", "2", "3"]);
    assert_eq!(labels(&permutations, &[1.0, 1.0]), ["1"]);
    assert_eq!(
        labels(&permutations, &[1.0, 2.9]),
        ["1.0", "1.5", "2.0", "2.5"]
    );
    let mut part = permutations.clone();
    part.range = Some([0.0, 3.1]);
    assert_eq!(labels(&part, &[1.0, 3.0]), ["0", "1", "2", "3"]);
    part.range = Some([0.2, 0.8]);
    assert_eq!(labels(&part, &[0.0, 1.0])[..2], ["0.2", "0.3"]);
    assert_eq!(
        labels(&Axis::new("x", "1"), &[-0.03, 0.031]),
        ["-0.03", "-0.02", "-0.01", "0.00", "0.01", "0.02", "0.03"]
    );
    assert_eq!(
        labels(&Axis::new("packets", "1").from_zero(), &[45_000.0]),
        ["0", "10,000", "20,000", "30,000", "40,000"]
    );
    assert_eq!(
        labels(&Axis::new("events", "1").from_zero(), &[3.1e7]),
        ["0", "5e6", "1.0e7", "1.5e7", "2.0e7", "2.5e7", "3.0e7"]
    );
}

#[test]
fn logarithmic_ticks_are_powers_of_ten() {
    let axis = Axis::new("latency", "ps").log();
    assert_eq!(labels(&axis, &[5e5, 2e9]), ["0.001", "0.01", "0.1", "1"]);
    // A little more than a decade has numbers between.
    assert_eq!(labels(&axis, &[1e6, 20e6]), ["1", "2", "5", "10", "20"]);
    // Many decades have not all of theirs.
    let share = Axis::new("share", "1").log();
    let all = labels(&share, &[1e-12, 1.0]);
    assert!(all.len() <= 6 && all.contains(&"1".to_string()), "{all:?}");
    // Less than half a decade is almost linear.
    let mut close = axis.clone();
    close.range = Some([2.0e6, 2.6e6]);
    assert_eq!(
        labels(&close, &[]),
        ["2.0", "2.1", "2.2", "2.3", "2.4", "2.5", "2.6"]
    );
}

#[test]
fn the_ticks_lie_inside_their_axis() {
    let mut rng = weir_model::stream(1, &[]);
    use rand_core::Rng;
    for _ in 0..2_000 {
        let mut draw = || 10f64.powf((rng.next_u64() % 30_000) as f64 / 1_000.0 - 15.0);
        let values = [draw(), draw()];
        for axis in [
            Axis::new("", "1"),
            Axis::new("", "1").from_zero(),
            Axis::new("", "ps").log(),
        ] {
            let coord = axis.coord(values, 6);
            for value in values {
                let share = coord.share(value);
                assert!((0.0..=1.0).contains(&share), "{value} of {values:?}");
            }
            assert!(!coord.ticks().is_empty(), "{axis:?} {values:?}");
            assert!(coord.ticks().len() <= 9, "{coord:?}");
            for (at, _) in coord.ticks() {
                let share = coord.share(*at);
                assert!((-1e-6..=1.0 + 1e-6).contains(&share), "{at} of {values:?}");
            }
            let mut texts: Vec<_> = coord.ticks().iter().map(|(_, text)| text).collect();
            texts.dedup();
            assert_eq!(texts.len(), coord.ticks().len(), "{coord:?}");
        }
    }
}

#[test]
fn nothing_one_value_and_no_numbers_have_an_axis_too() {
    for axis in [
        Axis::new("", "ps"),
        Axis::new("", "1").from_zero(),
        Axis::new("", "1").log(),
    ] {
        for values in [
            &[][..],
            &[5.0],
            &[0.0],
            &[f64::NAN, f64::INFINITY],
            &[-3.0, 0.0],
        ] {
            let coord = axis.coord(values.iter().copied(), 6);
            let [low, high] = coord.ends();
            assert!(
                low < high && (high - low).is_finite(),
                "{axis:?} {values:?}"
            );
            assert!(!coord.ticks().is_empty(), "{axis:?} {values:?}");
        }
    }
}

#[test]
fn a_range_that_is_given_is_kept_and_values_beyond_it_are_off_the_scale() {
    let mut axis = Axis::new("latency", "ps").from_zero();
    axis.range = Some([0.0, 5e6]);
    let coord = axis.coord([1e6, 80e6], 6);
    assert_eq!(coord.share(5e6), 1.0);
    assert!(coord.share(80e6) > 1.0);
    assert_eq!(coord.share(f64::INFINITY), f64::INFINITY);
    assert!(coord.share(f64::NAN).is_nan());
    // A range that cannot be used is as good as none.
    axis.range = Some([5e6, 5e6]);
    assert!(axis.coord([1e6, 80e6], 6).share(80e6) <= 1.0);
}

#[test]
fn a_logarithmic_axis_has_no_place_for_zero() {
    let coord = Axis::new("", "1").log().coord([0.0, 1.0, 1_000.0], 6);
    assert_eq!(coord.share(0.0), f64::NEG_INFINITY);
    assert!((0.0..1.0).contains(&coord.share(1.0)));
}

#[test]
fn the_middle_of_a_logarithmic_axis_is_the_geometric_mean() {
    let mut axis = Axis::new("", "1").log();
    axis.range = Some([1.0, 10_000.0]);
    let coord = axis.coord([], 6);
    assert!((coord.share(100.0) - 0.5).abs() < 1e-12);
}
