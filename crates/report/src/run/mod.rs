//! One run: its figures (everything that its result holds rows for), and its page.

pub mod congestion;
pub mod page;

use super::figure::{Axis, Figure, Lines, Panel, Plot, Series, Table, Ternary, number};
use super::parameters;
use super::rows::bands::line_of;
use super::rows::{self, MOST_SPANS, PortTime, bands, levels};
use weir_model::TERMINAL;
use weir_result::{ResultFile, Stored, TraceError};

type Outcome<T> = Result<T, TraceError>;

/// The figures of a result; figures without content are left out.
///
/// # Errors
/// If the file is damaged.
pub fn figures(result: &ResultFile, stored: &Stored) -> Outcome<Vec<Figure>> {
    let mut figures = vec![
        over_time(result, stored)?,
        distribution(stored),
        ejection(result)?,
        port_time(result)?,
        levels::figure(result)?,
    ];
    figures.extend(received(result)?);
    figures.extend(occupancy(result)?);
    figures.extend(rates(result)?);
    figures.extend(scheme(result)?);
    figures.retain(|figure| !figure.is_empty());
    let line = parameters::line(&stored.header.experiment, Some(&stored.digest.summary));
    let jobs = stored.digest.jobs.iter().map(|job| job.name.clone());
    let jobs: Vec<String> = jobs.collect();
    for figure in &mut figures {
        figure.caption.push(line.clone());
        figure.jobs.clone_from(&jobs);
    }
    Ok(figures)
}

/// Columns over time as lines of one plot. `columns` are names for the legend and names of columns.
fn lines_over_time(
    result: &ResultFile,
    label: &str,
    columns: impl IntoIterator<Item = (String, String)>,
) -> Outcome<Lines> {
    let mut all = Vec::new();
    for (name, column) in columns {
        all.extend(rows::over_time(result, &column)?.map(|rows| (name, rows)));
    }
    Ok(lines_of(label, &all))
}

/// Lines of one plot, with their names for the legend.
fn lines_of(label: &str, all: &[(String, rows::OverTime)]) -> Lines {
    let unit = all.last().map_or("", |(_, rows)| &rows.unit);
    Lines {
        x: Axis::new("simulated time", "ps").from_zero(),
        y: Axis::new(label, unit).from_zero(),
        series: all.iter().map(|(name, rows)| line_of(name, rows)).collect(),
        ..Lines::default()
    }
}

fn over_time(result: &ResultFile, stored: &Stored) -> Outcome<Figure> {
    let jobs = || stored.digest.jobs.iter().map(|job| job.name.clone());
    let column = |kind: &'static str| {
        jobs().map(move |job| (job.clone(), format!("series.job.{job}.{kind}")))
    };
    let all = [
        ("throughput", "delivered", "delivered_bytes"),
        ("injection", "injected", "injected_bytes"),
        ("message latency", "mean of a bin", "message_latency"),
        ("network latency", "mean of a bin", "network_latency"),
    ];
    let mut panels = Vec::new();
    for (title, label, kind) in all {
        panels.push(Panel {
            title: title.to_string(),
            plot: Plot::Lines(lines_over_time(result, label, column(kind))?),
        });
    }
    let bin = result.number("data/series", "bin_ps")?.unwrap_or(0.0);
    Ok(Figure {
        id: "time".into(),
        title: "Every job over time".into(),
        caption: vec![format!(
            "Bins of {}. Injected: payload that left the NICs; delivered: payload that reached its \
             endpoint. Message latency: from the message being generated to all of it received, by \
             the time at which it was received; network latency: the same for packets, from the \
             head leaving the NIC.",
            parameters::time(bin)
        )],
        data: Table::of_lines(&panels),
        panels,
        ..Figure::default()
    })
}

fn distribution(stored: &Stored) -> Figure {
    let panel = |title: &str, kind: &str| {
        let classes = stored.latency.iter().filter(|one| {
            let class = &one.class;
            class == kind || stored.digest.jobs.len() > 1 && class.ends_with(&format!(".{kind}"))
        });
        let series = classes.map(|one| Series {
            name: name_of(&one.class).to_string(),
            points: rows::above(
                &one.buckets.lower_ps,
                &rows::all(&one.buckets.count, &one.buckets.missing),
            ),
        });
        Panel {
            title: title.to_string(),
            plot: Plot::Lines(Lines {
                x: Axis::new("latency", "ps").log(),
                y: Axis::new("share of the samples above", "1").log(),
                series: series.collect(),
                ..Lines::default()
            }),
        }
    };
    let panels = vec![panel("messages", "message"), panel("packets", "network")];
    Figure {
        id: "latency".into(),
        title: "Distribution of latencies".into(),
        caption: vec![format!(
            "{} Histogram buckets are no wider than 1/64 of their latency.",
            rows::WITH_MISSING
        )],
        data: Table::of_lines(&panels),
        panels,
        ..Figure::default()
    }
}

/// Name of a latency class beside others: its job, or all.
pub(super) fn name_of(class: &str) -> &str {
    class
        .strip_prefix("job.")
        .and_then(|rest| rest.rsplit_once('.'))
        .map_or("all jobs", |(job, _)| job)
}

fn ejection(result: &ResultFile) -> Outcome<Figure> {
    let columns = result.columns("data/series")?;
    let classes = columns.iter().filter_map(|column| {
        let class = column
            .strip_prefix("class.")?
            .strip_suffix(".ejected_flits")?;
        Some((class.to_string(), format!("series.{column}")))
    });
    let lines = lines_over_time(result, "ejected", classes)?;
    let panels = vec![Panel {
        title: String::new(),
        plot: Plot::Lines(lines),
    }];
    Ok(Figure {
        id: "ejection".into(),
        title: "Ejected flits by traffic class".into(),
        caption: vec!["All endpoints together, flits of the router.".into()],
        data: Table::of_lines(&panels),
        panels,
        ..Figure::default()
    })
}

fn port_time(result: &ResultFile) -> Outcome<Figure> {
    let mut panels = Vec::new();
    let mut data = shares_of_ports("kind");
    for kind in result.link_kinds()? {
        let points = rows::port_time(result, &kind)?;
        if points.is_empty() {
            continue;
        }
        data.rows
            .extend(points.iter().map(|one| shares_row(&kind, one)));
        panels.push(Panel {
            title: match &*kind {
                TERMINAL => "ports to endpoints".into(),
                kind => format!("{kind} ports"),
            },
            plot: Plot::Ternary(ternary(&points)),
        });
    }
    Ok(Figure {
        id: "ports".into(),
        title: "What the ports of the routers did with their time".into(),
        caption: vec![
            "Every port is a point: busy while flits were on its link, stalled while a packet was \
             ready but had no credit, idle otherwise; shares of the simulated time. Colours count \
             the ports of a cell."
                .into(),
        ],
        panels,
        data,
        ..Figure::default()
    })
}

pub(super) fn ternary(points: &[PortTime]) -> Ternary {
    Ternary {
        corners: ["busy", "idle", "stalled"].map(String::from),
        points: points.iter().map(|one| one.time).collect(),
        things: "ports".into(),
        most: None,
    }
}

/// A table of what ports did, each called by its panel.
pub(super) fn shares_of_ports(panel: &str) -> Table {
    Table::new(&[panel, "router", "port", "busy", "idle", "stalled"])
}

/// A row of it.
pub(super) fn shares_row(panel: &str, one: &PortTime) -> Vec<String> {
    let sum: f64 = one.time.iter().sum();
    let shares = one.time.map(|ps| number(ps / sum));
    let place = one.place.map(|at| at.to_string());
    [vec![panel.to_string()], place.to_vec(), shares.to_vec()].concat()
}

fn occupancy(result: &ResultFile) -> Outcome<Option<Figure>> {
    let Some((heat, says)) = rows::occupancy(result)? else {
        return Ok(None);
    };
    let caption = format!("Data in the buffers of each router. {says}");
    Ok(Some(Figure {
        id: "occupancy".into(),
        title: "What the routers held over time".into(),
        caption: vec![caption.trim_end().to_string()],
        data: Table::of_heats(&[("", &heat)]),
        panels: vec![Panel {
            title: String::new(),
            plot: Plot::Heat(heat),
        }],
        ..Figure::default()
    }))
}

/// The allowed rates of all endpoints that were chosen.
fn rates(result: &ResultFile) -> Outcome<Option<Figure>> {
    let all = result.all_rates()?.into_iter();
    let all: Vec<_> = all.map(|(name, rates)| (name, rates.into())).collect();
    let lines = Lines {
        series: bands::lines(&all),
        ..lines_of("allowed rate", &all)
    };
    let panels = vec![Panel {
        title: String::new(),
        plot: Plot::Lines(lines),
    }];
    let figure = Figure {
        id: "rates".into(),
        title: "At which rates endpoints could inject".into(),
        caption: vec![
            "The share of its link's bandwidth at which the congestion control lets an endpoint \
             inject; endpoints by job and task, or by number."
                .into(),
        ],
        data: Table::of_lines(&panels),
        panels,
        ..Figure::default()
    };
    Ok((!figure.is_empty()).then_some(figure))
}

/// Payload that the chosen endpoints received.
fn received(result: &ResultFile) -> Outcome<Option<Figure>> {
    let mut all = Vec::new();
    for column in result.columns("data/series")? {
        let Some((endpoint, _)) = column
            .strip_prefix("endpoint.")
            .and_then(|rest| rest.split_once('.'))
        else {
            continue;
        };
        let rows = rows::over_time(result, &format!("series.{column}"))?;
        all.extend(rows.map(|rows| (endpoint.to_string(), rows)));
    }
    let lines = Lines {
        series: bands::lines(&all),
        ..lines_of("received", &all)
    };
    let panels = vec![Panel {
        title: String::new(),
        plot: Plot::Lines(lines),
    }];
    let figure = Figure {
        id: "received".into(),
        title: "What endpoints received".into(),
        caption: vec!["Payload of the endpoints of output.received, bin by bin.".into()],
        data: Table::of_lines(&panels),
        panels,
        ..Figure::default()
    };
    Ok((!figure.is_empty()).then_some(figure))
}

/// A panel for each record of the scheme and each column of it that is an amount: times, as they
/// were noted.
fn scheme(result: &ResultFile) -> Outcome<Option<Figure>> {
    let mut panels = Vec::new();
    for record in result.groups("data/scheme")? {
        let group = format!("data/scheme/{record}");
        for column in result.columns(&group)? {
            let is_time = result.units(&group, &column)?.as_deref() == Some("ps");
            if column == "time_ps" || !is_time {
                continue;
            }
            let label = format!("{record}: {}", column.trim_end_matches("_ps"));
            let Some(rows) = rows::over_time(result, &format!("scheme.{record}.{column}"))? else {
                continue;
            };
            let lines = lines_of(&label, &[(String::new(), rows.means())]);
            panels.push(Panel {
                title: label,
                plot: Plot::Lines(lines),
            });
        }
    }
    Ok((!panels.is_empty()).then(|| Figure {
        id: "scheme".into(),
        title: "What the congestion-control scheme wrote down".into(),
        caption: vec![format!(
            "Of many rows the means of {MOST_SPANS} equal spans of time."
        )],
        data: Table::of_lines(&panels),
        panels,
        ..Figure::default()
    }))
}
