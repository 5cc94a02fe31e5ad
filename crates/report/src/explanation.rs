//! Explanation of waiting and its causes, in words.

use super::format::{simulated, wrap};
use weir_result::explain::{Explanation, Feeder, Held, JobWaits, Root};

/// Widest line.
const WIDTH: usize = 100;
/// The most senders that are named.
const SENDERS: usize = 5;

/// Explanation of waiting and its causes, as paragraphs. `name` is that of the run.
pub fn text(name: &str, all: &Explanation) -> String {
    let mut paragraphs = vec![summary(name, all)];
    paragraphs.extend(all.notes.iter().map(|note| format!("Note: {note}.")));
    paragraphs.extend(all.roots.iter().map(|one| root(one, all.bin_ps)));
    paragraphs.push(rest(all));
    paragraphs.push(SHARES.to_string());
    let lines = paragraphs.iter().filter(|text| !text.is_empty());
    let lines = lines.map(|text| wrap(text, WIDTH, "").join("\n") + "\n");
    let mut tables = vec![lines.collect::<Vec<_>>().join("\n")];
    if !all.lost.is_empty() {
        tables.push(lost(all));
    }
    if !all.verified.is_empty() {
        tables.push(verified(all));
    }
    tables.join("\n")
}

/// Parts of the times of applications, as a table.
fn lost(all: &Explanation) -> String {
    let mut text = format!(
        "The time of each application, along the chain of messages and computations that its end hung on: hosts\n\
         (computation, sends and receives), messages on an idle network, waiting for its own data, for other jobs,\n\
         and for what is not recorded:\n\n\
         {:<16}{:>11}{:>11}{:>11}{:>11}{:>11}{:>11}  {}\n",
        "job", "time", "hosts", "messages", "own", "others", "unknown", "lost to others"
    );
    for one in &all.lost {
        let others: f64 = one.to.iter().map(|to| to.lost_ps).sum();
        let to: Vec<String> = (one.to.iter().filter(|to| to.share >= 5e-3))
            .map(|to| format!("{} {}", to.job, percent(to.share)))
            .collect();
        text.push_str(&format!("{:<16}", one.job));
        let parts = [one.time_ps, one.hosts_ps, one.idle_ps, one.own_ps];
        for part in parts.into_iter().chain([others, one.unknown_ps]) {
            text.push_str(&format!("{:>11}", time(part)));
        }
        text.push_str(&format!("  {}\n", list(&to)));
    }
    text
}

/// Definition of the shares, and their limits.
const SHARES: &str = "Shares are of the waiting of packets (bytes times time), not of the time \
                      that an application loses: that depends on which messages its tasks wait \
                      for. `weir explain --critical-path` follows those, and `--verify` measures \
                      it, by running again without each job that is blamed.";

/// The measured times of jobs without others, as a table.
fn verified(all: &Explanation) -> String {
    let known = |ps: Option<f64>| ps.map_or("-".to_string(), time);
    let mut text = format!(
        "Measured by running again; \"back\" is the share of the lost time (here less alone) that a job has back\n\
         without another one, \"path\" that one's share of what it lost to others along its critical path, and \"waiting\"\n\
         the share of its packets' waiting that is attributed to that one:\n\n\
         {:<16}{:>11}{:>11}   {:<16}{:>11}{:>9}{:>9}{:>9}\n",
        "job", "here", "alone", "without", "time", "back", "path", "waiting"
    );
    for job in &all.verified {
        for (at, removal) in job.without.iter().enumerate() {
            let first = at == 0;
            let cell = |text: String| if first { text } else { String::new() };
            text.push_str(&format!(
                "{:<16}{:>11}{:>11}   {:<16}{:>11}{:>9}{:>9}{:>9}\n",
                cell(job.job.clone()),
                cell(known(job.here_ps)),
                cell(known(job.alone_ps)),
                removal.job,
                known(removal.time_ps),
                removal
                    .gives_back
                    .map_or("-".into(), |share| percent(share.max(0.0))),
                removal.lost.map_or("-".into(), percent),
                percent(removal.attributed),
            ));
        }
    }
    text
}

/// A share as people say it.
pub(super) fn percent(share: f64) -> String {
    match share * 100.0 {
        share if share >= 99.95 => "100 %".into(),
        share if share >= 9.5 => format!("{share:.0} %"),
        share => format!("{share:.1} %"),
    }
}

fn time(ps: f64) -> String {
    match ps.is_finite() {
        true => simulated(ps.max(0.0) as u64),
        false => "-".into(),
    }
}

/// `1 port`, `2 ports`.
pub(super) fn count(number: usize, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}

/// `a`, `a and b`, `a, b and c`.
fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Fewer samples than these make waiting times uncertain by more than a sixth, if they are
/// independent.
const FEW: u64 = 40;

/// Share of all waiting behind full links that are not named from which the first sentence counts
/// them.
const MANY: f64 = 0.05;
/// The least share that is shown.
const SHOWN: f64 = 5e-4;

/// True if it holds up traffic that does not feed it.
fn holds_others(root: &Root) -> bool {
    root.held_up.iter().any(|held| !held.feeds)
}

/// Full links, of which some hold up other traffic than their own.
fn hold_up(links: usize, others: usize) -> String {
    match (links, others) {
        (1, 0) => "one full link holds up its own traffic alone".to_string(),
        (_, 0) => format!("{links} full links hold up their own traffic alone"),
        (1, _) => "one full link holds others up".to_string(),
        _ if links == others => format!("{links} full links hold others up"),
        (_, 1) => format!("one of {links} full links holds others up"),
        _ => format!("{others} of {links} full links hold others up"),
    }
}

fn summary(name: &str, all: &Explanation) -> String {
    let length = simulated(all.simulated_ps);
    let waits = all.jobs.iter().filter(|job| job.waited > 0.0);
    let waits = waits.map(|job| format!("{} {}", job.name, time(job.mean_wait_ps)));
    let waits: Vec<String> = waits.collect();
    let lesser: usize = all.lesser.iter().map(|own| own.links).sum();
    let many = all.lesser.iter().map(|own| own.share).sum::<f64>() >= MANY;
    let named = match all.roots.len() {
        0 if many => {
            format!("{lesser} links are full, each with a small part of all waiting behind it")
        }
        0 => "no full link holds anybody up".to_string(),
        roots => hold_up(
            roots,
            all.roots.iter().filter(|root| holds_others(root)).count(),
        ),
    };
    let begins = match many && !all.roots.is_empty() {
        true => format!("{named}, and {lesser} more are full at times"),
        false => named,
    };
    let waiting = match waits.is_empty() {
        true => "nothing was found waiting".to_string(),
        false => format!("data waited on its way, on average: {}", list(&waits)),
    };
    let rough = match all.samples < FEW {
        true => format!(
            " The ports were examined {} times only: take these times as rough.",
            all.samples
        ),
        false => String::new(),
    };
    format!("{name}, {length} simulated: {begins}. In all of it {waiting}.{rough}")
}

/// Other end of a root.
pub(super) fn lead_to(root: &Root) -> String {
    match (root.endpoint, root.peer) {
        (Some(endpoint), _) => format!("endpoint {endpoint}"),
        (_, Some((router, port))) => format!("router {router} port {port}"),
        _ => "nothing".to_string(),
    }
}

/// A root in a paragraph. Times are those of bins of `bin_ps`.
fn root(root: &Root, bin_ps: u64) -> String {
    let leads = match root.endpoint {
        Some(_) => format!("the link to {}", lead_to(root)),
        None => format!("the {} link to {}", root.kind, lead_to(root)),
    };
    let failed = root.bandwidth_left.map_or(String::new(), |left| {
        let time = root.degraded_ps.map_or(String::new(), |[from, to]| {
            format!(" from {} to {}", simulated(from), simulated(to))
        });
        format!(" (degraded to {} of its bandwidth{time})", percent(left))
    });
    let stalled = match root.stalled {
        share if share < 5e-4 => "never stalled".to_string(),
        share => format!("stalled for {} of it", percent(share)),
    };
    let mut text = format!(
        "Router {} port {}, {leads}{failed}: busy for {} of the run and {stalled}, full at times \
         from {} to {} (in steps of {}); {} of all waiting begins here.",
        root.router,
        root.port,
        percent(root.busy),
        simulated(root.from_ps),
        simulated(root.to_ps),
        simulated(bin_ps),
        percent(root.share),
    );
    let fed: Vec<String> = root
        .fed_by
        .iter()
        .filter(|one| one.share >= 5e-3)
        .map(feeder)
        .collect();
    text.push_str(&format!(" Its backlog is of {}.", list(&fed)));
    let tree = &root.tree;
    let behind = tree.ports.len().saturating_sub(1);
    match behind {
        0 => text.push_str(" Nothing waits further back."),
        _ => {
            let place = match (tree.routers, tree.groups) {
                (1, _) => "of the same router".to_string(),
                (routers, 1) => format!("of {} of its group", count(routers, "router")),
                (routers, groups) => format!("of {} in {groups} groups", count(routers, "router")),
            };
            text.push_str(&format!(
                " Packets wait at it and at {} behind it, {place}",
                count(behind, "port")
            ));
            match tree.nics {
                0 => text.push('.'),
                nics => text.push_str(&format!(", and at {}.", count(nics, "NIC"))),
            }
        }
    }
    let (own, others): (Vec<&Held>, Vec<&Held>) = root.held_up.iter().partition(|held| held.feeds);
    if !others.is_empty() {
        let others: Vec<String> = others.into_iter().map(held).collect();
        text.push_str(&format!(" It holds up {}.", list(&others)));
    }
    if !own.is_empty() {
        let own: Vec<String> = own.into_iter().map(held).collect();
        text.push_str(&format!(" Self-inflicted: {}.", list(&own)));
    }
    text
}

fn feeder(one: &Feeder) -> String {
    let share = percent(one.share);
    let named: Vec<String> = (one.senders.iter().take(SENDERS))
        .map(|sender| sender.endpoint.to_string())
        .collect();
    let to = match (&one.receivers[..], one.receiver_count) {
        ([receiver], 1) => format!(" for endpoint {}", receiver.endpoint),
        (_, 0) => String::new(),
        (_, all) => format!(" for {all} endpoints"),
    };
    let first = format!("{} ({share}{to}", one.job);
    match (one.sender_count, named.is_empty()) {
        (_, true) => format!("{first})"),
        (all, _) if all <= SENDERS => format!("{first}; from {})", list(&named)),
        (all, _) => format!("{first}; from {all} endpoints, most from {})", list(&named)),
    }
}

fn held(one: &Held) -> String {
    let share = percent(one.share);
    format!(
        "{} ({share} of its waiting, {} on average)",
        one.job,
        time(one.mean_wait_ps)
    )
}

fn rest(all: &Explanation) -> String {
    let mut text = String::new();
    let lesser = all.lesser.iter().filter(|own| own.share >= SHOWN);
    let lesser = lesser.map(|own| {
        let to = if own.to_endpoints {
            " to endpoints"
        } else {
            ""
        };
        format!(
            "{} of {} {} links{to} ({} of all waiting)",
            own.links,
            own.of,
            own.kind,
            percent(own.share)
        )
    });
    let lesser: Vec<String> = lesser.collect();
    if !lesser.is_empty() {
        let full = match all.roots.is_empty() {
            true => "Full at times",
            false => "Full at times besides",
        };
        text.push_str(&format!("{full}: {}. ", list(&lesser)));
    }
    let turn = shares(all, |job| job.ordinary - job.room);
    if !turn.is_empty() {
        text.push_str(&format!(
            "Waited for their turn at links that were not full: {turn}. "
        ));
    }
    let room = shares(all, |job| job.room);
    if !room.is_empty() {
        text.push_str(&format!(
            "Waited for room behind links that lead to no full one: {room} (where buffers do not \
             cover the credit round trip, or packets wait for their turn). "
        ));
    }
    if !all.sources && !all.roots.is_empty() {
        text.push_str("Run it with output.attribution = \"sources\" to see who sends.");
    }
    text.trim_end().to_string()
}

/// Jobs with a share of their waiting; none if it is too little to be shown.
fn shares(all: &Explanation, share: impl Fn(&JobWaits) -> f64) -> String {
    let some = all.jobs.iter().filter(|job| job.waited > 0.0);
    let shown = some.filter(|job| share(job) >= SHOWN);
    let shown = shown.map(|job| format!("{} {}", job.name, percent(share(job))));
    list(&shown.collect::<Vec<_>>())
}
