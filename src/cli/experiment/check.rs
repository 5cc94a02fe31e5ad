//! `weir check`: finds every error of an experiment, and forecasts the cost of its run by beginning
//! it.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::process::ExitCode;

use serde_json::{Map, Value as Json, json};

use crate::cli::args::CheckOptions;
use crate::cli::experiment::bill;
use crate::cli::experiment::calibrate::{Calibrated, calibrated};
use crate::cli::process::console::{tell_error, tell_warnings};
use weir_fabric::Network;
use weir_input::ConfigError;
use weir_model::program::exit::BAD_INPUT;
use weir_model::{LinkKind, NEVER};
use weir_network::bill::Bill;
use weir_report::format;
use weir_simulation::config::{Catalog, Document, Experiment};
use weir_simulation::forecast::{Forecast, Scaling, Workers};
use weir_simulation::{CpuClock, Plan, area_mm2, buffer_bytes, credit_shares, offered};

/// Checks an experiment, prints the resolved file and the expected cost.
pub fn check(options: &CheckOptions, catalog: &Catalog) -> ExitCode {
    match checked(options, catalog) {
        Ok(text) => crate::cli::print(&text),
        Err(error) => {
            tell_error(&error);
            ExitCode::from(BAD_INPUT)
        }
    }
}

fn checked(options: &CheckOptions, catalog: &Catalog) -> Result<String, ConfigError> {
    // The run, too, will read its files first.
    let clock = CpuClock::start();
    let mut document = Document::read(&options.file)?;
    options.overrides.apply(&mut document)?;
    let experiment = document.experiment(catalog)?;
    let plan = Plan::new(&experiment, None)?;
    let read = clock.seconds();
    plan.check_ranks(options.ranks.map_or(1, NonZeroU32::get))?;
    tell_warnings(&plan.warnings);
    let Calibrated {
        mut forecast,
        trial,
        words,
    } = calibrated(&experiment, &plan, !options.no_calibration);
    if !options.no_calibration {
        // Assumed values are the same each time.
        forecast.seconds += read;
    }
    let split = workers(options).zip(trial.as_ref());
    let scaling = split.map(|(workers, trial)| Scaling::of(&plan, &forecast, trial, workers));
    let topology = &plan.network().topology;
    let parts = options.bill.then(|| Bill::of(&**topology));
    let cost = (parts.as_ref()).map_or(Ok(None), |parts| bill::cost(parts, &options.price))?;
    let lookahead = lookahead(&plan);
    let links: u64 = topology.links().iter().map(|links| links.count).sum();
    if options.json {
        let mut all = network_json(&experiment, &plan, links);
        all.extend([
            ("packet_hops".into(), forecast.packet_hops.round().into()),
            ("simulated_ps".into(), forecast.end.round().into()),
            ("processor_seconds".into(), forecast.seconds.into()),
            (
                "scaled_seconds".into(),
                json!(scaling.flatten().map(|scaling| scaling.seconds)),
            ),
            ("memory_bytes".into(), forecast.bytes.round().into()),
            ("how".into(), words.into()),
            ("experiment".into(), experiment.resolved.into()),
        ]);
        all.extend(parts.map(|parts| ("bill".into(), bill::json(&parts, cost))));
        return Ok(format!("{:#}\n", Json::Object(all)));
    }
    let scheme = plan.scheme.effective(&plan.network().about);
    let scheme: String = (scheme.iter())
        .map(|(key, value)| format!("# congestion.{key} is {value}\n"))
        .collect();
    let parts = parts.map_or(String::new(), |parts| bill::lines(&parts, cost));
    let buffers = buffers_lines(&plan);
    let failed = failed_lines(plan.network()) + &step_line(plan.network());
    let offered = offered_line(&experiment, &plan) + &credits_line(plan.network());
    let scaled = scaling.map_or(String::new(), |scaling| scaled_line(&forecast, scaling));
    Ok(format!(
        "{}\n# {}\n# routers    {}\n# endpoints  {}\n# links      {}\n# domains    {}\n\
         {failed}# lookahead  {lookahead}\n{offered}# work       about {} packet-hops in {} of simulated time\n\
         # time       about {} on one core ({words})\n{scaled}# memory     about {} (packets in flight and the result included)\n{buffers}{scheme}{parts}",
        experiment.resolved,
        topology.describe(),
        topology.routers(),
        topology.endpoints(),
        links,
        domains(&plan),
        format::scaled(forecast.packet_hops),
        format::simulated(forecast.end as u64),
        format::wall(forecast.seconds),
        format::bytes(forecast.bytes as u64),
    ))
}

/// The domains, and the ranks that can share them.
fn domains(plan: &Plan) -> String {
    let domains = plan.network().partition.domains();
    match plan.most_ranks() {
        most if most == domains => format!("{domains} (the most ranks)"),
        _ => format!("{domains} (one rank: signals of the scheme take no time)"),
    }
}

/// The time step of routers that have one.
fn step_line(network: &Network) -> String {
    match network.step() {
        0 => String::new(),
        step => format!(
            "# time step  {}, of every packet\n",
            format::simulated(step)
        ),
    }
}

/// The network, and what is asked of it.
fn network_json(experiment: &Experiment, plan: &Plan, links: u64) -> Map<String, Json> {
    let network = plan.network();
    let topology = &network.topology;
    let scheme = plan.scheme.effective(&network.about).into_iter();
    let scheme = scheme.map(|(key, value)| (key.to_string(), value.into()));
    let all = [
        ("topology", topology.describe().into()),
        ("routers", topology.routers().into()),
        ("endpoints", topology.endpoints().into()),
        ("links", links.into()),
        (
            "failed_links",
            Json::Object(failed_links(network, 0).collect()),
        ),
        (
            "down_links",
            Json::Object(failed_links(network, 1).collect()),
        ),
        ("buffer_bytes", buffer_bytes(network).into()),
        ("classes", network.classes.count().into()),
        (
            "virtual_channels",
            json!(virtual_channels(network).collect::<BTreeMap<_, _>>()),
        ),
        ("domains", network.partition.domains().into()),
        (
            "lookahead_ps",
            json!((plan.lookahead != NEVER).then_some(plan.lookahead)),
        ),
        (
            "step_ps",
            json!(Some(network.step()).filter(|step| *step > 0)),
        ),
        ("effective", Json::Object(scheme.collect())),
        (
            "credit_shares",
            json!(short_shares(network).collect::<BTreeMap<_, _>>()),
        ),
        (
            "offered",
            json!(offered_shares(experiment, plan).collect::<BTreeMap<_, _>>()),
        ),
    ];
    all.map(|(key, value)| (key.to_string(), value))
        .into_iter()
        .collect()
}

/// Share of what the links of each kind carry that open-loop traffic offers them, by its name.
fn offered_shares(experiment: &Experiment, plan: &Plan) -> impl Iterator<Item = (String, f64)> {
    let kinds = plan.network().topology.link_kinds().iter();
    let shares = kinds.zip(offered(experiment, plan));
    let some = shares.filter(|&(_, share)| share > 0.0);
    some.map(|(kind, share)| (kind.to_string(), share))
}

/// The same as a line; none if all traffic waits for what it sends.
fn offered_line(experiment: &Experiment, plan: &Plan) -> String {
    let shares: Vec<(String, f64)> = offered_shares(experiment, plan).collect();
    if shares.is_empty() {
        return String::new();
    }
    let part = |(kind, share): &(String, f64)| format!("{kind} {:.0}%", share * 100.0);
    let parts: Vec<String> = shares.iter().map(part).collect();
    let too_much = match shares.iter().any(|&(_, share)| share > 1.0) {
        true => "\n#            more than they carry: queues at the sources grow until the end",
        false => "",
    };
    format!(
        "# offered    {} of what all links of a kind carry{too_much}\n",
        parts.join(", ")
    )
}

/// Share of the bandwidth of links that a virtual channel can take, by the name of their kind,
/// where buffers do not cover the credit round trip.
fn short_shares(network: &Network) -> impl Iterator<Item = (String, f64)> {
    let kinds = network.topology.link_kinds().iter();
    let shares = kinds.zip(credit_shares(network));
    let short = shares.filter(|&(_, share)| share < 1.0);
    short.map(|(kind, share)| (kind.to_string(), share))
}

/// The same as a line; none if all buffers cover it.
fn credits_line(network: &Network) -> String {
    let part = |(kind, share)| format!("{kind} {:.0}%", share * 100.0);
    let parts: Vec<String> = short_shares(network).map(part).collect();
    match parts.is_empty() {
        true => String::new(),
        false => format!(
            "# credits    {} of the bandwidth at most for one virtual channel:\n\
             #            the buffers do not cover the credit round trip\n",
            parts.join(", ")
        ),
    }
}

/// Virtual channels of the links of each kind, by its name.
fn virtual_channels(network: &Network) -> impl Iterator<Item = (String, u8)> {
    let kinds = network.topology.link_kinds().iter().enumerate();
    kinds.map(|(kind, name)| (name.to_string(), network.vcs(LinkKind(kind as u8))))
}

/// The lines of the buffers of all routers, with their cost if the experiment gives one, and of
/// virtual channels.
fn buffers_lines(plan: &Plan) -> String {
    let network = plan.network();
    let bytes = buffer_bytes(network);
    let size = format::bytes(bytes);
    let area = plan.cost.as_ref().map_or(String::new(), |cost| {
        format!(", {:.4} mm2 ([cost])", area_mm2(cost, bytes))
    });
    let channels = virtual_channels(network).map(|(kind, count)| format!("{kind} {count}"));
    let channels: Vec<String> = channels.collect();
    let classes = match network.classes.count() {
        1 => String::new(),
        count => format!(" in each of {count} traffic classes"),
    };
    format!(
        "# buffers    {size} in routers{area}\n# VCs        {}{classes}\n",
        channels.join(", ")
    )
}

fn lookahead(plan: &Plan) -> String {
    match plan.lookahead {
        NEVER => "none (a single domain)".to_string(),
        time => format::simulated(time),
    }
}

/// The ranks and threads for which the time is asked.
fn workers(options: &CheckOptions) -> Option<Workers> {
    let number = |given: Option<NonZeroU32>| given.map_or(1, NonZeroU32::get);
    let asked = options.ranks.is_some() || options.threads.is_some();
    asked.then_some(Workers {
        ranks: number(options.ranks),
        threads: number(options.threads),
    })
}

/// The line of the time on several ranks and threads.
fn scaled_line(forecast: &Forecast, scaling: Option<Scaling>) -> String {
    let Some(scaling) = scaling else {
        let why = "signals of the scheme take no time, which one rank and one thread can run";
        return format!("# scaled     the same: {why}\n");
    };
    format!(
        "# scaled     about {} on these ranks and threads, {:.1} times as fast ({} windows; at \
         most {} domains on a rank)\n",
        format::wall(scaling.seconds),
        forecast.seconds / scaling.seconds,
        format::scaled(scaling.windows),
        scaling.domains,
    )
}

/// Number of links of each kind that differ from it (0) or are down at some time (1), by the name
/// of the kind.
fn failed_links(network: &Network, which: usize) -> impl Iterator<Item = (String, Json)> {
    let kinds = network.topology.link_kinds();
    let counts = network.failures.counts();
    let counts = counts.map(move |(kind, counts)| (kind, counts[which]));
    let some = counts.filter(|&(_, count)| count > 0);
    some.map(|(kind, count)| (kinds[kind.index()].to_string(), count.into()))
}

/// The same as lines; none if there are no such links.
fn failed_lines(network: &Network) -> String {
    let line = |(which, word)| {
        let kinds = failed_links(network, which).map(|(kind, count)| format!("{count} {kind}"));
        let kinds: Vec<String> = kinds.collect();
        match kinds.is_empty() {
            true => String::new(),
            false => format!("# {word:<10} {} links ([[failure]])\n", kinds.join(", ")),
        }
    };
    [(0, "degraded"), (1, "down")].map(line).concat()
}
