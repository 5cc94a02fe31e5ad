//! Checks of a failure that need no network.

use super::{Direction, FailedLinks, FailedRouters, FailureConfig, NewBandwidth};
use weir_model::Invalid;

fn refuse(key: &str, message: impl Into<String>, remedy: &str) -> Result<(), Invalid> {
    Err(Invalid::new(key, message, remedy))
}

/// Checks a failure by itself.
pub(super) fn check(own: &FailureConfig) -> Result<(), Invalid> {
    check_effect(own)?;
    check_times(own)?;
    match (&own.links, &own.routers) {
        (None, None) => refuse(
            "",
            "the links are missing",
            "add links = \"global\" and share = 0.05, links = [{ router = 3, port = 7 }], or \
             routers = [3]",
        ),
        (Some(_), Some(_)) => refuse(
            "routers",
            "the links are given by `links`",
            "leave out one of them, or write two failures",
        ),
        (Some(FailedLinks::Named(_)), None) => check_named(own, "links", "\"global\""),
        (None, Some(FailedRouters::Named(routers))) if routers.is_empty() => refuse(
            "routers",
            "the list is empty",
            "write the numbers of routers such as [3, 9], or \"all\" and count = 1",
        ),
        (None, Some(FailedRouters::Named(_))) => check_named(own, "routers", "\"all\""),
        (Some(FailedLinks::Kind(_)), None) => check_drawn(own, "links"),
        (None, Some(FailedRouters::Kind(_))) => check_drawn(own, "routers"),
    }
}

/// Checks what happens to the links.
fn check_effect(own: &FailureConfig) -> Result<(), Invalid> {
    let slow = [
        ("bandwidth", own.bandwidth.is_some()),
        ("added_latency", own.added_latency.is_some()),
        ("bit_error_rate", own.bit_error_rate.is_some()),
    ];
    let slow = slow.iter().find(|(_, given)| *given);
    match (own.down, slow) {
        (false, None) => {
            return refuse(
                "",
                "this changes nothing",
                "add down = true, bandwidth = 0.25 (or \"25 Gbps\"), added_latency = \"1 us\", or \
                 bit_error_rate = 1e-9",
            );
        }
        (true, Some((key, _))) => {
            return refuse(
                key,
                "these links are down and carry nothing",
                "leave out one of them",
            );
        }
        _ => {}
    }
    if own.down && own.direction == Direction::Out {
        let remedy = "leave it out";
        return refuse("direction", "a link is down in both directions", remedy);
    }
    if let Some(NewBandwidth::Share(share)) = own.bandwidth
        && !(share > 0.0 && share <= 1.0)
    {
        let message = format!("{share} is not a share of a link's bandwidth");
        return refuse("bandwidth", message, "write more than 0 and at most 1");
    }
    match own.bit_error_rate {
        Some(rate) if !(0.0..=MOST_ERRORS).contains(&rate) => refuse(
            "bit_error_rate",
            format!("{rate} is not a probability of an error that a link can work with"),
            "write a number from 0 to 0.0001, such as 1e-9",
        ),
        _ => Ok(()),
    }
}

/// The highest bit error rate.
const MOST_ERRORS: f64 = 1e-4;

/// Checks when it happens.
fn check_times(own: &FailureConfig) -> Result<(), Invalid> {
    let span = own.span();
    if span.to <= span.from {
        let remedy = "write a later time, or leave it out";
        return refuse("until", "the repair is not after the failure", remedy);
    }
    let timed = own.at.is_some() || own.until.is_some();
    if timed && own.added_latency.is_some() {
        return refuse(
            "added_latency",
            "a link has one length for the whole run",
            "leave out `at` and `until`",
        );
    }
    let only_down = [
        ("rerouted_after", own.rerouted_after.is_some(), timed),
        ("packets", own.packets.is_some(), own.at.is_some()),
    ];
    match only_down
        .iter()
        .find(|(_, given, use_of)| *given && !(own.down && *use_of))
    {
        Some((key, ..)) => refuse(
            key,
            "this is for links that go down during the run",
            "add down = true and at = \"10 us\", or leave it out",
        ),
        None => Ok(()),
    }
}

/// Checks the keys beside a list of names.
fn check_named(own: &FailureConfig, names: &str, kind: &str) -> Result<(), Invalid> {
    if names == "routers" && own.direction == Direction::Out {
        let remedy = "leave it out, or name the links: links = [{ router = 3, port = 7 }]";
        return refuse("direction", "these are all links of routers", remedy);
    }
    let drawn = [
        ("count", own.count.is_some()),
        ("share", own.share.is_some()),
        ("seed", own.seed.is_some()),
    ];
    match drawn.iter().find(|(_, given)| *given) {
        Some((key, _)) => refuse(
            key,
            format!("these {names} are named, and none is drawn"),
            &format!("leave it out, or write a kind for `{names}`, such as {kind}"),
        ),
        None => Ok(()),
    }
}

/// Checks the keys beside a kind.
fn check_drawn(own: &FailureConfig, what: &str) -> Result<(), Invalid> {
    if own.direction == Direction::Out {
        let message = "a link that is drawn has no side to go out from";
        let remedy = "leave it out, or name the links: links = [{ router = 3, port = 7 }]";
        return refuse("direction", message, remedy);
    }
    match (own.count, own.share) {
        (None, None) => refuse(
            what,
            format!("the number of {what} is missing"),
            "add count = 1, or share = 0.05; share = 1 for all of them",
        ),
        (Some(_), Some(_)) => refuse(
            "share",
            format!("the number of {what} is given by `count`"),
            "leave out one of them",
        ),
        (None, Some(share)) if !(0.0..=1.0).contains(&share) => refuse(
            "share",
            format!("{share} is not a share of {what}"),
            "write a number from 0 to 1",
        ),
        _ => Ok(()),
    }
}
