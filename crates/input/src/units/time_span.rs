//! Times that may be given in units of the network.

use std::fmt;
use std::str::FromStr;

use super::*;

/// A length of time: in whole picoseconds (`"50 ns"`), or in times that the network has
/// (`"4 packet times"`, `"0.5 round trips"`). A packet time is the time of a longest packet on an
/// endpoint's link. A round trip is that of a longest packet and its acknowledgement between the
/// two ends of the empty network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeSpan {
    /// As given.
    Time(Duration),
    /// Millionths of a packet time.
    PacketTimes(u64),
    /// Millionths of a round trip.
    RoundTrips(u64),
}

/// Precision of a number: parts of one.
const PARTS: u64 = 1_000_000;

/// Names of the two units of the network: one of it, and several.
const PACKET_TIMES: [&str; 2] = ["packet time", "packet times"];
const ROUND_TRIPS: [&str; 2] = ["round trip", "round trips"];

/// Millions of the network's units: more than any run is long.
const SPAN: Words = Words {
    base: "millionths",
    most: (LATEST, "1000000000000"),
    ..TIME
};

impl TimeSpan {
    /// The length of time, ps, on a network with these two units; [`LATEST`] if it is longer, which
    /// no run is.
    pub fn time(self, packet_time: Time, round_trip: Time) -> Time {
        let of = |millionths: u64, unit: Time| {
            // 60 bits and 60.
            let ps = u128::from(millionths) * u128::from(unit) / u128::from(PARTS);
            Time::try_from(ps).unwrap_or(LATEST).min(LATEST)
        };
        match self {
            TimeSpan::Time(time) => time.0,
            TimeSpan::PacketTimes(parts) => of(parts, packet_time),
            TimeSpan::RoundTrips(parts) => of(parts, round_trip),
        }
    }

    /// True if it is none.
    pub fn is_zero(self) -> bool {
        let (TimeSpan::Time(Duration(amount))
        | TimeSpan::PacketTimes(amount)
        | TimeSpan::RoundTrips(amount)) = self;
        amount == 0
    }
}

impl From<Duration> for TimeSpan {
    fn from(time: Duration) -> TimeSpan {
        TimeSpan::Time(time)
    }
}

impl FromStr for TimeSpan {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let (number, unit) = split(text, &SPAN)?;
        let parts = || scale(&number, PARTS, text, &SPAN);
        if PACKET_TIMES.contains(&unit) {
            return parts().map(TimeSpan::PacketTimes);
        }
        if ROUND_TRIPS.contains(&unit) {
            return parts().map(TimeSpan::RoundTrips);
        }
        match TIMES.iter().any(|(name, ..)| *name == unit) {
            true => text.parse().map(TimeSpan::Time),
            false => {
                let names = TIMES.iter().map(|(name, ..)| *name);
                let names: Vec<&str> = names.chain([PACKET_TIMES[1], ROUND_TRIPS[1]]).collect();
                Err(unknown_unit(unit, &names, &TIME))
            }
        }
    }
}

impl fmt::Display for TimeSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (parts, names) = match self {
            TimeSpan::Time(time) => return time.fmt(f),
            TimeSpan::PacketTimes(parts) => (*parts, PACKET_TIMES),
            TimeSpan::RoundTrips(parts) => (*parts, ROUND_TRIPS),
        };
        let name = names[usize::from(parts != PARTS)];
        // Six places are enough for millionths.
        write!(f, "{} {name}", decimal(parts, PARTS).unwrap_or_default())
    }
}

text_quantity!(TimeSpan, SPAN_WORDS);

/// Words for it in messages.
const SPAN_WORDS: Words = Words {
    what: "a length of time",
    example: "4 packet times",
    ..TIME
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_the_network_are_exact() {
        for (text, ps) in [
            ("50 ns", 50_000),
            ("1 packet time", 24_000),
            ("0.041667 packet times", 1_000),
            ("42 packet times", 1_008_000),
            ("0.5 round trips", 1_300_000),
            ("0 packet times", 0),
        ] {
            let span: TimeSpan = text.parse().expect(text);
            assert_eq!(span.time(24_000, 2_600_000), ps, "{text}");
            assert_eq!(span.to_string().parse(), Ok(span), "{text}");
        }
        let longest = TimeSpan::PacketTimes(u64::MAX).time(LATEST, 1);
        assert_eq!(longest, LATEST);
    }

    #[test]
    fn other_units_are_refused_with_those_that_there_are() {
        for (text, part) in [
            ("4 packets", "did you mean"),
            ("4 packets", "packet times, round trips"),
            ("0.0000001 packet times", "not a whole number of millionths"),
            ("-1 round trips", "negative"),
        ] {
            let refusal = text.parse::<TimeSpan>().expect_err(text);
            assert!(refusal.contains(part), "{refusal}");
        }
    }
}
