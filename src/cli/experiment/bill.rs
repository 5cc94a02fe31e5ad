//! `weir check --bill`: the parts of a network, what they carry, and what they cost.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value as Json, json};

use weir_input::{ConfigError, Rate};
use weir_model::Bandwidth;
use weir_network::bill::Bill;
use weir_report::format;

/// The price of a part: `KIND=NUMBER`.
///
/// # Errors
/// Another form, or a number below 0.
pub fn price(text: &str) -> Result<(String, f64), String> {
    let parts = text.split_once('=');
    let price = parts.and_then(|(kind, number)| Some((kind, number.trim().parse().ok()?)));
    match price {
        Some((kind, price)) if (0.0..1e15).contains(&price) => Ok((kind.trim().to_string(), price)),
        _ => Err("write the kind of a router or link and a number of 0 or more: router=50".into()),
    }
}

/// The cost of a network; None without prices.
///
/// # Errors
/// A price of a part that the network does not have.
pub fn cost(bill: &Bill, prices: &[(String, f64)]) -> Result<Option<f64>, ConfigError> {
    let kinds = bill.kinds();
    if let Some((kind, _)) = prices
        .iter()
        .find(|(kind, _)| !kinds.contains(&kind.as_str()))
    {
        return Err(ConfigError::new(
            format!("--price: the network has no {kind:?}"),
            format!("name one of its kinds: {}", kinds.join(", ")),
        ));
    }
    let all = prices.len();
    let prices: BTreeMap<String, f64> = prices.iter().cloned().collect();
    if prices.len() < all {
        return Err(ConfigError::new(
            "--price: a kind has two prices",
            "give each kind once",
        ));
    }
    Ok((!prices.is_empty()).then(|| bill.cost(&prices)))
}

/// The bill as lines of `weir check`.
pub fn lines(bill: &Bill, cost: Option<f64>) -> String {
    let mut text = String::new();
    let rate = |bps: u64| Rate(Bandwidth(bps)).to_string();
    let mut add = |title: &str, words: String| {
        let _ = writeln!(text, "# {title:<10} {words}");
    };
    for (class, at) in bill.routers.iter().zip(0..) {
        // "40 leaf routers", but not "40 router routers".
        let kind = match class.kind.as_str() {
            "router" => String::new(),
            kind => format!("{kind} "),
        };
        add(
            if at == 0 { "parts" } else { "" },
            format!(
                "{} {kind}{} of {} ports, of which {} are used and {} not",
                format::whole(class.count),
                plural("router", class.count),
                class.ports,
                format::whole(class.used),
                format::whole(class.unused),
            ),
        );
    }
    for class in &bill.links {
        add(
            "",
            format!(
                "{} {} {} of {} and {}",
                format::whole(class.count),
                class.kind,
                plural("link", class.count),
                rate(class.bandwidth_bps),
                format::simulated(class.latency_ps),
            ),
        );
    }
    if let Some(halves) = &bill.halves {
        let words = format!(
            "{} from one half of the endpoints (by {}) to the other: {:.1}% of what it can send",
            rate(halves.bandwidth_bps),
            halves.by,
            100.0 * halves.share,
        );
        add("halves", words);
    }
    if let Some(ways) = &bill.ways {
        let words = format!(
            "{} shortest (least {}), {:.1} without a common link (least {}), on average of {} \
             pairs of routers",
            number(ways.shortest_mean),
            number(ways.shortest_least),
            ways.separate_mean,
            ways.separate_least,
            ways.pairs,
        );
        add("ways", words);
    }
    if let Some(cost) = cost {
        add(
            "cost",
            format!("{} at these prices", format::whole(cost.round() as u64)),
        );
    }
    text
}

/// A number of ways, which may be huge.
fn number(ways: f64) -> String {
    match ways {
        huge if huge >= 1e6 => format!("{huge:.1e}"),
        ways => format!("{}", (10.0 * ways).round() / 10.0),
    }
}

fn plural(word: &str, count: u64) -> String {
    match count {
        1 => word.to_string(),
        _ => format!("{word}s"),
    }
}

/// The bill for programs.
pub fn json(bill: &Bill, cost: Option<f64>) -> Json {
    let mut all = json!(bill);
    all["cost"] = json!(cost);
    all
}
