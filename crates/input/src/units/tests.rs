//! Times, bandwidths and sizes as users write them.

use super::*;
use proptest::prelude::*;

fn ps(text: &str) -> Result<u64, String> {
    text.parse().map(|Duration(ps)| ps)
}

fn bps(text: &str) -> Result<u64, String> {
    text.parse().map(|rate: Rate| rate.0.0)
}

fn refusal<T: FromStr<Err = String> + fmt::Debug>(text: &str) -> String {
    text.parse::<T>().expect_err(text)
}

#[test]
fn times_are_exact() {
    assert_eq!(ps("0.1 us"), Ok(100_000));
    assert_eq!(ps("50ns"), Ok(50_000));
    assert_eq!(ps(" 1_000.5 ns "), Ok(1_000_500));
    assert_eq!(ps("0.000000000001 s"), Ok(1));
    assert_eq!(ps("4.35 us"), Ok(4_350_000), "4.35 has no exact f64");
    assert_eq!(ps("1.5 min"), Ok(90_000_000_000_000));
    assert_eq!(ps("2 h"), Ok(7_200_000_000_000_000));
    assert_eq!(ps("2 µs"), ps("2 us"));
    assert_eq!(ps("0 ns"), Ok(0));
}

#[test]
fn bandwidths_in_bits_and_bytes() {
    for (text, expected) in [
        ("100 Gbps", 100_000_000_000),
        ("100 Gb/s", 100_000_000_000),
        ("100 Gbit/s", 100_000_000_000),
        ("12.5 GB/s", 100_000_000_000),
        ("25 GiB/s", 25 << 33),
        ("1.6 Tbps", 1_600_000_000_000),
        ("9600 bps", 9_600),
        ("4 kB/s", 32_000),
    ] {
        assert_eq!(bps(text), Ok(expected), "{text}");
    }
}

#[test]
fn sizes_in_every_unit() {
    for (text, expected) in [
        ("100 bits", Size::Bits(100)),
        ("1 bit", Size::Bits(1)),
        ("2 KiB", Size::Bits(16_384)),
        ("2 kB", Size::Bits(16_000)),
        ("512 bytes", Size::Bits(4_096)),
        ("0.5 B", Size::Bits(4)),
        ("24 flits", Size::Flits(24)),
        ("16 packets", Size::Packets(16)),
    ] {
        assert_eq!(text.parse(), Ok(expected), "{text}");
    }
}

#[test]
fn what_is_refused_and_why() {
    for (message, parts) in [
        (refusal::<Duration>("50"), ["\"50\" has no unit", "50 ns"]),
        (refusal::<Duration>("-5 ns"), ["negative", "50 ns"]),
        (
            refusal::<Duration>("5 nsec"),
            ["\"nsec\" is not a unit of time", "did you mean ns?"],
        ),
        (
            refusal::<Duration>("0.5 ps"),
            ["not a whole number of picoseconds", "round"],
        ),
        (
            refusal::<Duration>("99999 h"),
            ["too large", "at most \"1000000 s\""],
        ),
        (
            refusal::<Duration>("1000000000000000001 ps"),
            ["too large", "at most \"1000000 s\""],
        ),
        (
            refusal::<Rate>("18446744073709551616 bps"),
            ["too large", "at most \"18446744073709551615 bps\""],
        ),
        (
            refusal::<Size>("18446744073709551616 packets"),
            ["too large", "at most \"18446744073709551615\""],
        ),
        (
            refusal::<Duration>("1e3 ns"),
            ["\"e3 ns\" is not a unit", "units: ps, ns"],
        ),
        (
            refusal::<Duration>("soon"),
            ["\"soon\" is not a length of time", "decimal number"],
        ),
        (
            refusal::<Duration>("5. ns"),
            ["is not a length of time", "decimal number"],
        ),
        (refusal::<Rate>("0 Gbps"), ["is zero", "100 Gbps"]),
        (
            refusal::<Rate>("100 Gb"),
            ["\"Gb\" is not a unit of bandwidth", "did you mean Gbps?"],
        ),
        (refusal::<Size>("16 b"), ["bits or bytes", "`bits` or `B`"]),
        (
            refusal::<Size>("16 KB"),
            ["\"KB\" is not a unit of data", "did you mean kB?"],
        ),
        (refusal::<Size>("0 flits"), ["is zero", "128 KiB"]),
        (
            refusal::<Size>("0.5 flits"),
            ["not a whole number of flits", "round"],
        ),
    ] {
        for part in parts {
            assert!(message.contains(part), "{message:?} lacks {part:?}");
        }
    }
}

#[test]
fn the_shortest_text_is_written() {
    for (ps, text) in [
        (0, "0 ns"),
        (1, "1 ps"),
        (1_500, "1.5 ns"),
        (500_000_000, "500 us"),
        (90_000_000_000_000, "90 s"),
        (3_600_000_000_000_000, "1 h"),
        (1_234_567, "1234567 ps"),
    ] {
        assert_eq!(Duration(ps).to_string(), text);
    }
    assert_eq!(Rate(Bandwidth(100_000_000_000)).to_string(), "100 Gbps");
    assert_eq!(Rate(Bandwidth(25 << 33)).to_string(), "25 GiB/s");
    assert_eq!(Size::Bits(100).to_string(), "100 bits");
    assert_eq!(Size::Bits(16_384).to_string(), "2 KiB");
    assert_eq!(Size::Flits(1).to_string(), "1 flit");
}

proptest! {
    #[test]
    fn a_written_time_reads_back(value in 0..=LATEST) {
        prop_assert_eq!(Duration(value).to_string().parse(), Ok(Duration(value)));
    }

    #[test]
    fn a_round_time_reads_back(value in 0..10_000u64, zeros in 0..12u32) {
        let time = Duration(value * 10u64.pow(zeros));
        prop_assert_eq!(time.to_string().parse(), Ok(time));
    }

    #[test]
    fn a_written_bandwidth_reads_back(value in 1..u64::MAX) {
        let rate = Rate(Bandwidth(value));
        prop_assert_eq!(rate.to_string().parse(), Ok(rate));
    }

    #[test]
    fn a_written_size_reads_back(value in 1..u64::MAX, unit in 0..3) {
        let size = [Size::Bits(value), Size::Flits(value), Size::Packets(value)][unit as usize];
        prop_assert_eq!(size.to_string().parse(), Ok(size));
    }

    #[test]
    fn no_text_makes_it_panic(text in ".*") {
        let _ = (ps(&text), bps(&text), text.parse::<Size>());
    }
}

/// A wrong unit of bytes is never corrected to one of bits, nor the other way round: that would be
/// an eighth, or eight times as much.
#[test]
fn bits_and_bytes_are_told_apart() {
    let error = |text: &str| text.parse::<Rate>().expect_err(text);
    for (unit, meant) in [
        ("GBps", "GB/s"),
        ("MBps", "MB/s"),
        ("kBps", "kB/s"),
        ("TBps", "TB/s"),
        ("GiBps", "GiB/s"),
        ("GB", "GB/s"),
        ("gbps", "Gbps"),
        ("mbps", "Mbps"),
        ("Gbits/s", "Gbit/s"),
    ] {
        let said = error(&format!("12.5 {unit}"));
        assert!(
            said.contains(&format!("did you mean {meant}?")),
            "{unit}: {said}"
        );
    }
    for unit in ["Kb", "Mb", "Gb", "KB", "MBytes", "GIB", "kbits"] {
        let said = format!("3 {unit}").parse::<Size>().expect_err(unit);
        let (_, near) = said.split_once("did you mean ").unwrap_or(("", ""));
        let near = near.split('?').next().unwrap_or_default();
        let bytes = near.contains('B') || near.contains("byte");
        let given = unit.contains('B') || unit.contains("yte");
        assert!(near.is_empty() || bytes == given, "{unit}: {said}");
    }
}
