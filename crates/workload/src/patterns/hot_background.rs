//! `hot_background`: uniform traffic; some members divert part of it to one endpoint for a while.

use rustc_hash::FxHashSet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::tasks::Tasks;
use super::{Build, Members, Pattern};
use crate::open::draw;
use weir_input::registry::{Entry, Keys};
use weir_input::{ConfigError, Duration, Section};
use weir_model::{EndpointId, Invalid, NEVER, Rng, Time, below, stream, unit};

/// Uniform background traffic of all members; between `from` and `to`, some of them divert a part
/// of their messages to one hot endpoint. The load of a source does not change.
///
/// Terms of Pfister et al., HPIDC 2005: the hot spot degree HSD is the number of diverting sources.
/// The hot spot severity HSV is the load offered to the hot endpoint, from diverted and background
/// messages, as a fraction of its link. With N members at load L and hot_fraction f,
///
/// HSV = L · (1 + HSD · f · (N - 2) / (N - 1)), so f = (HSV / L - 1) / HSD · (N - 1) / (N - 2).
///
/// `severity` computes it. If this requires f > 1 (Pfister et al., HPIDC 2005, table 1, case 1: L =
/// 0.5, HSD = 3, HSV = 3), diverting alone cannot reach the severity. Let the sources divert all
/// that they send, and add a second, shared workload with the pattern `hotspot`, `start`, `stop`,
/// and for each of them the load
///
/// (HSV - L · (HSD + (N - 1 - HSD) / (N - 1))) / HSD.
///
/// Yebenes et al.: share = 0.25, hot_fraction = 1.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Params {
    /// The hot endpoint, a member (default: drawn at random among the members).
    #[serde(skip_serializing_if = "Option::is_none")]
    hot: Option<EndpointId>,
    /// Number of diverting members, drawn at random among all but the hot endpoint, or "all" of
    /// these (default: "all").
    #[serde(skip_serializing_if = "Option::is_none")]
    sources: Option<Sources>,
    /// Fraction of all members that divert, more than 0 and at most 1 (instead of `sources`).
    #[serde(skip_serializing_if = "Option::is_none")]
    share: Option<f64>,
    /// Diverting members, by number of endpoint (instead of `sources`).
    #[serde(skip_serializing_if = "Option::is_none")]
    source_list: Option<Vec<EndpointId>>,
    /// The fraction of its messages that a diverting source sends to the hot endpoint, more than 0
    /// and at most 1 (default: 1).
    #[serde(skip_serializing_if = "Option::is_none")]
    hot_fraction: Option<f64>,
    /// Instead of `hot_fraction`: the load offered to the hot endpoint during the diversion, as a
    /// multiple of its link; more than `load`.
    #[serde(skip_serializing_if = "Option::is_none")]
    severity: Option<f64>,
    /// Start of the diversion, from the start of the run.
    from: Duration,
    /// Its end (default: never).
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<Duration>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged, expecting = "expected a number of members, or \"all\"")]
enum Sources {
    Count(u32),
    Word(All),
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum All {
    All,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            hot: None,
            sources: None,
            share: None,
            source_list: None,
            hot_fraction: None,
            severity: None,
            from: Duration(0),
            to: None,
        }
    }
}

pub const ENTRY: Entry<Build> = Entry {
    name: "hot_background",
    summary: "Uniform traffic of all members; for a while some of them divert a part of it to one \
              hot endpoint.",
    source: "Pfister et al., HPIDC 2005, section V.B; Yebenes et al., sections 5.1 and 5.3",
    examples: &[r#"share = 0.25, hot_fraction = 1.0"#, "severity = 2.0"],
    parameters: Keys::of::<Params>(),
    build,
};

/// The random streams of the two choices, so that changing the hot endpoint or the number of
/// sources does not affect the other choice.
const HOT: u64 = 1;
const DIVERTING: u64 = 2;

fn build(section: &Section, members: &Members) -> Result<Box<dyn Pattern>, ConfigError> {
    let params: Params = section.parse()?;
    let refuse = |key: &str, message: String, remedy: &str| {
        section.refuse(Invalid::new(key, message, remedy))
    };
    if members.endpoints.len() < 3 {
        let message = format!("{} endpoints take part", members.endpoints.len());
        let remedy =
            "a hot endpoint, a source and another destination are needed: let at least 3 take part";
        return Err(refuse("", message, remedy));
    }
    let given = params.hot_fraction.unwrap_or(1.0);
    if !(given > 0.0 && given <= 1.0) {
        let remedy = "give a fraction of the messages, more than 0 and at most 1";
        return Err(refuse(
            "hot_fraction",
            format!("{given} is not allowed"),
            remedy,
        ));
    }
    let to = params.to.map_or(NEVER, |to| to.0);
    if to <= params.from.0 {
        let message = format!(
            "the diversion would end at {to} ps and begin at {} ps",
            params.from.0
        );
        return Err(refuse("to", message, "let `to` be later than `from`"));
    }
    let tasks = Tasks::new(members.endpoints);
    let hot = match params.hot {
        Some(hot) if tasks.task(hot).is_none() => {
            let message = format!("endpoint {hot} does not take part in this workload");
            return Err(refuse("hot", message, "name an endpoint of this workload"));
        }
        Some(hot) => hot,
        None => tasks.endpoint(below(&mut stream(members.seed, &[HOT]), tasks.count())),
    };
    let diverting = diverting(section, &params, members, &tasks, hot)?;
    let fraction = match params.severity {
        None => given,
        Some(severity) => {
            let others = tasks.count() - 1;
            let degree = diverting.count(others);
            fraction_of(severity, degree, &params, members.load, others)
                .map_err(|invalid| section.refuse(invalid))?
        }
    };
    Ok(Box::new(HotBackground {
        tasks,
        hot,
        diverting,
        fraction,
        from: params.from.0,
        to,
    }))
}

/// Diverting sources.
enum Diverting {
    All,
    Some(FxHashSet<EndpointId>),
}

impl Diverting {
    /// Number of diverting sources, of `others` that can divert.
    fn count(&self, others: u32) -> u32 {
        match self {
            Diverting::All => others,
            Diverting::Some(sources) => sources.len() as u32,
        }
    }
}

/// The fraction that sources must divert for a severity.
fn fraction_of(
    severity: f64,
    degree: u32,
    params: &Params,
    load: f64,
    others: u32,
) -> Result<f64, Invalid> {
    let refuse = |message: String, remedy: String| Err(Invalid::new("severity", message, remedy));
    if params.hot_fraction.is_some() {
        let message = "this and `hot_fraction` say the same".into();
        return refuse(message, "keep one of them".into());
    }
    if !(severity > load && severity.is_finite()) {
        let message = format!("{severity} is not above the load of the background ({load})");
        return refuse(
            message,
            "give a multiple of the hot endpoint's link, such as 3.0".into(),
        );
    }
    let (degree, others) = (f64::from(degree), f64::from(others));
    let fraction = (severity / load - 1.0) / degree * others / (others - 1.0);
    if fraction <= 1.0 {
        return Ok(fraction);
    }
    let most = load * (1.0 + degree * (others - 1.0) / others);
    let more = (severity - load * (degree + (others - degree) / others)) / degree;
    let message = format!(
        "{degree} sources at a load of {load} that divert everything make {most:.3}, not {severity}"
    );
    let remedy = format!(
        "let more sources divert, or write hot_fraction = 1.0 and add a shared workload \
         {{ kind = \"hotspot\" }} of the same sources with load = {more:.4}"
    );
    refuse(message, remedy)
}

fn diverting(
    section: &Section,
    params: &Params,
    members: &Members,
    tasks: &Tasks,
    hot: EndpointId,
) -> Result<Diverting, ConfigError> {
    let refuse = |key: &str, message: String, remedy: &str| {
        Err(section.refuse(Invalid::new(key, message, remedy)))
    };
    let others = tasks.count() - 1;
    let (key, count) = match (&params.sources, params.share, &params.source_list) {
        (None, None, None) => return Ok(Diverting::All),
        (Some(Sources::Word(All::All)), None, None) => return Ok(Diverting::All),
        (Some(Sources::Count(count)), None, None) => ("sources", *count),
        (None, Some(share), None) => {
            if !(share > 0.0 && share <= 1.0) {
                let remedy = "give a fraction of the members, more than 0 and at most 1";
                return refuse("share", format!("{share} is not allowed"), remedy);
            }
            let count = (share * f64::from(tasks.count())).round() as u32;
            ("share", count.min(others))
        }
        (None, None, Some(list)) => {
            let stranger = list
                .iter()
                .find(|&&one| one == hot || tasks.task(one).is_none());
            return match stranger {
                _ if list.is_empty() => refuse(
                    "source_list",
                    "the list is empty".into(),
                    "name 1 endpoint or more",
                ),
                Some(one) if *one == hot => {
                    let message = format!("endpoint {one} is the hot endpoint");
                    refuse(
                        "source_list",
                        message,
                        "name other endpoints, or another `hot`",
                    )
                }
                Some(one) => {
                    let message = format!("endpoint {one} does not take part in this workload");
                    refuse(
                        "source_list",
                        message,
                        "name endpoints of this workload only",
                    )
                }
                None => Ok(Diverting::Some(list.iter().copied().collect())),
            };
        }
        _ => {
            let message = "more than one of `sources`, `share` and `source_list` is given";
            let key = if params.share.is_some() {
                "share"
            } else {
                "source_list"
            };
            return refuse(key, message.into(), "keep one of them");
        }
    };
    if count == 0 || count > others {
        let message = format!("{count} of {others} endpoints other than the hot one would divert");
        return refuse(key, message, &format!("let 1 to {others} of them divert"));
    }
    let mut pool: Vec<EndpointId> = members
        .endpoints
        .iter()
        .copied()
        .filter(|&endpoint| endpoint != hot)
        .collect();
    let drawn = draw::take(
        &mut pool,
        count as usize,
        &mut stream(members.seed, &[DIVERTING]),
    );
    Ok(Diverting::Some(drawn.into_iter().collect()))
}

struct HotBackground {
    tasks: Tasks,
    hot: EndpointId,
    diverting: Diverting,
    fraction: f64,
    from: Time,
    to: Time,
}

impl HotBackground {
    fn diverts(&self, source: EndpointId) -> bool {
        source != self.hot
            && match &self.diverting {
                Diverting::All => true,
                Diverting::Some(sources) => sources.contains(&source),
            }
    }
}

impl Pattern for HotBackground {
    fn destination(&self, source: EndpointId, now: Time, rng: &mut Rng) -> Option<EndpointId> {
        let time = self.from <= now && now < self.to;
        if time && self.diverts(source) && unit(rng) < self.fraction {
            return Some(self.hot);
        }
        self.tasks.another(source, rng)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Pattern;
    use super::super::testing::{Grouped, flat, loaded, plausible, refusal, tally};

    /// Number of `messages` of each source that go to endpoint 31 at `now`.
    fn to_31(pattern: &dyn Pattern, now: u64, messages: u32) -> Vec<u32> {
        (0..31)
            .map(|source| tally(pattern, source, 32, messages, now)[31])
            .collect()
    }

    #[test]
    fn three_sources_divert_between_from_and_to_only() {
        let text = "hot = 31\nsources = 3\nhot_fraction = 0.8\nfrom = \"1 us\"\nto = \"2 us\"";
        let pattern = flat("hot_background", text, 32, 4);
        let uniform = 1.0 / 31.0;
        for now in [0, 999_999, 2_000_000] {
            let counts = to_31(&*pattern, now, 2_000);
            assert!(
                counts.iter().all(|&count| plausible(count, 2_000, uniform)),
                "{now}: {counts:?}"
            );
        }
        for now in [1_000_000, 1_999_999] {
            let counts = to_31(&*pattern, now, 2_000);
            let (hot, cold): (Vec<u32>, Vec<u32>) =
                counts.iter().partition(|&&count| count > 1_000);
            assert_eq!(hot.len(), 3);
            assert!(
                hot.iter()
                    .all(|&count| plausible(count, 2_000, 0.8 + 0.2 * uniform)),
                "{hot:?}"
            );
            assert!(
                cold.iter().all(|&count| plausible(count, 2_000, uniform)),
                "{cold:?}"
            );
        }
        // The hot endpoint takes part in the background.
        assert_eq!(tally(&*pattern, 31, 32, 100, 1_500_000)[31], 0);
    }

    #[test]
    fn the_formula_gives_the_severity_of_paper_001() {
        // Table 1, cases 2, 3 and 4: offered load, degree; severity 3 everywhere. N = 32.
        for (load, degree) in [(0.5, 31.0), (0.9, 3.0), (0.9, 31.0)] {
            let fraction = (3.0 / load - 1.0) / degree * 31.0 / 30.0;
            let text = format!("hot = 31\nsources = {degree:.0}\nhot_fraction = {fraction}");
            let same = format!("hot = 31\nsources = {degree:.0}\nseverity = 3.0");
            for text in [text, same] {
                let pattern = loaded("hot_background", &text, 32, 1, load);
                let messages = 4_000;
                let arrived: u32 = to_31(&*pattern, 0, messages).iter().sum();
                let severity = load * f64::from(arrived) / f64::from(messages);
                assert!((severity - 3.0).abs() < 0.05, "{load} {degree}: {severity}");
            }
        }
    }

    #[test]
    fn a_quarter_sends_to_the_hot_spot_only() {
        let pattern = flat("hot_background", "hot = 31\nshare = 0.25", 32, 9);
        let counts = to_31(&*pattern, 0, 500);
        assert_eq!(counts.iter().filter(|&&count| count == 500).count(), 8);
        assert_eq!(counts.iter().filter(|&&count| count < 60).count(), 23);
    }

    #[test]
    fn all_and_lists_divert_as_named() {
        for text in [
            "hot = 31",
            "hot = 31\nsources = \"all\"",
            "hot = 31\nshare = 1.0",
        ] {
            assert_eq!(
                to_31(&*flat("hot_background", text, 32, 9), 0, 20),
                [20; 31],
                "{text}"
            );
        }
        let pattern = flat("hot_background", "hot = 31\nsource_list = [7]", 32, 9);
        let counts = to_31(&*pattern, 0, 200);
        assert!(
            counts
                .iter()
                .enumerate()
                .all(|(source, &count)| (count == 200) == (source == 7))
        );
    }

    #[test]
    fn the_hot_endpoint_is_drawn_from_the_seed() {
        // All others divert everything to it, so two of them know it.
        let hot = |seed| {
            let pattern = flat("hot_background", "", 32, seed);
            let [a, b] = [0, 1].map(|source| tally(&*pattern, source, 32, 9, 0));
            (0..32).find(|&to| a[to] == 9 || b[to] == 9)
        };
        assert_eq!(hot(1), hot(1));
        assert!((2..20).any(|seed| hot(seed) != hot(1)));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let topology = Grouped::network(1, 16, 1);
        let members: Vec<u32> = (0..8).collect();
        for (parameters, words) in [
            ("hot = 8", "endpoint 8 does not take part"),
            ("sources = 8", "8 of 7 endpoints"),
            ("sources = 0", "0 of 7 endpoints"),
            ("sources = \"some\"", "or \\\"all\\\""),
            ("share = 1.5", "1.5 is not allowed"),
            ("share = 0.01", "0 of 7"),
            ("sources = 1\nshare = 0.5", "more than one of"),
            ("source_list = []", "empty"),
            (
                "hot = 1\nsource_list = [1]",
                "endpoint 1 is the hot endpoint",
            ),
            (
                "hot = 1\nsource_list = [9]",
                "endpoint 9 does not take part",
            ),
            ("hot_fraction = 0.0", "0 is not allowed"),
            ("hot_fraction = 1.72", "1.72 is not allowed"),
            ("hot_fraction = 0.5\nseverity = 3.0", "say the same"),
            (
                "severity = 0.5",
                "not above the load of the background (0.5)",
            ),
            // 0.5 · (1 + 3 · 6 / 7); and (3 - 0.5 · (3 + 4 / 7)) / 3.
            ("sources = 3\nseverity = 3.0", "make 1.786, not 3"),
            ("sources = 3\nseverity = 3.0", "with load = 0.4048"),
            ("from = \"2 us\"\nto = \"2 us\"", "end at 2000000 ps"),
        ] {
            let refusal = refusal("hot_background", parameters, &members, &topology);
            assert!(refusal.contains(words), "{parameters}: {refusal}");
        }
        assert!(refusal("hot_background", "", &members[..2], &topology).contains("2 endpoints"));
    }
}
