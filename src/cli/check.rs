//! `weir check`: finds every error of an experiment, and forecasts the cost of its run by beginning
//! it.

use std::num::NonZeroU32;
use std::process::ExitCode;

use serde_json::{Value as Json, json};

use super::args::CheckOptions;
use super::calibrate::{Calibrated, calibrated};
use super::console::{tell_error, tell_warnings};
use super::failure::BAD_INPUT;
use weir_fabric::Network;
use weir_input::ConfigError;
use weir_model::NEVER;
use weir_report::format;
use weir_simulation::config::{Catalog, Document};
use weir_simulation::forecast::{Forecast, Scaling, Workers};
use weir_simulation::{CpuClock, Plan, area_mm2, buffer_bytes};

/// Checks an experiment, prints the resolved file and the expected cost.
pub fn check(options: &CheckOptions, catalog: &Catalog) -> ExitCode {
    match checked(options, catalog) {
        Ok(text) => super::print(&text),
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
    let lookahead = match plan.lookahead {
        NEVER => "none (a single domain)".to_string(),
        time => format::simulated(time),
    };
    let scheme = plan.scheme.effective(&plan.network().about);
    let links: u64 = topology.links().iter().map(|links| links.count).sum();
    if options.json {
        let scheme = scheme
            .into_iter()
            .map(|(key, value)| (key.to_string(), value.into()));
        let all = json!({
            "topology": topology.describe(),
            "routers": topology.routers(),
            "endpoints": topology.endpoints(),
            "links": links,
            "failed_links": failed_links(plan.network(), 0).collect::<serde_json::Map<_, _>>(),
            "down_links": failed_links(plan.network(), 1).collect::<serde_json::Map<_, _>>(),
            "domains": topology.domains(),
            "lookahead_ps": (plan.lookahead != NEVER).then_some(plan.lookahead),
            "effective": Json::Object(scheme.collect()),
            "packet_hops": forecast.packet_hops.round(),
            "simulated_ps": forecast.end.round(),
            "processor_seconds": forecast.seconds,
            "scaled_seconds": scaling.flatten().map(|scaling| scaling.seconds),
            "memory_bytes": forecast.bytes.round(),
            "how": words,
            "experiment": experiment.resolved,
        });
        return Ok(format!("{all:#}\n"));
    }
    let scheme: String = (scheme.iter())
        .map(|(key, value)| format!("# congestion.{key} is {value}\n"))
        .collect();
    let cost = buffers_line(&plan);
    let failed = failed_lines(plan.network());
    let scaled = scaling.map_or(String::new(), |scaling| scaled_line(&forecast, scaling));
    Ok(format!(
        "{}\n# {}\n# routers    {}\n# endpoints  {}\n# links      {}\n# domains    {} (the most ranks)\n\
         {failed}# lookahead  {lookahead}\n# work       about {} packet-hops in {} of simulated time\n\
         # time       about {} on one core ({words})\n{scaled}# memory     about {} (packets in flight and the result included)\n{cost}{scheme}",
        experiment.resolved,
        topology.describe(),
        topology.routers(),
        topology.endpoints(),
        links,
        topology.domains(),
        format::scaled(forecast.packet_hops),
        format::simulated(forecast.end as u64),
        format::wall(forecast.seconds),
        format::bytes(forecast.bytes as u64),
    ))
}

/// The line of the cost of buffers, if the experiment gives one.
fn buffers_line(plan: &Plan) -> String {
    let Some(cost) = &plan.cost else {
        return String::new();
    };
    let bytes = buffer_bytes(plan.network());
    let (size, area) = (format::bytes(bytes), area_mm2(cost, bytes));
    format!("# buffers    {size} in routers, {area:.4} mm2 ([cost])\n")
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
