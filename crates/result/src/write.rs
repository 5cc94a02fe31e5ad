use std::collections::HashMap;
use std::path::Path;

use hdf5::file::LibraryVersion;
use hdf5::{File, Group};

use super::attribution::write_attribution;
use super::error::TraceError;
use super::hdf::{
    Failure, Outcome, Values, check_name, group, put_column, put_columns, put_dataset, put_list,
    put_number, put_numbers, put_text, put_texts,
};
use super::network::{write_ports, write_routers};
use super::out_dir::partial::Partial;
use super::results::{
    Data, Flows, Iterations, Job, Latency, Messages, Note, Occupancy, Packets, Phases, Rates, Run,
    Scheme, SchemeColumn, SchemeRecord, Series, Summary,
};
use super::scale::{put_scales, put_table, scale_rows};
use super::schema;
use super::seal::{BLOCK, Kind, seal};
use super::stats::Stats;
use weir_model::{Time, program};

/// Writes `result.h5`.
///
/// The file appears under `path` only when it is whole: until then it is a [`Partial`] in the same directory, which is
/// removed if anything fails. A run that was stopped early ([`Run::stopped`]) is written too, with `complete = 0`.
///
/// `experiment_toml` is the resolved experiment. Equal arguments but for `run` give equal bits under `/data`.
///
/// # Errors
/// [`TraceError::Write`] with the cause (no space, no permission …), [`TraceError::Name`] for a job, class or
/// counter that cannot be a name in the file, [`TraceError::Uneven`] for columns that do not fit together.
pub fn write(
    path: &Path,
    data: &Data,
    run: &Run,
    experiment_toml: &str,
    seed: u64,
) -> Result<(), TraceError> {
    settle(written(path, data, run, experiment_toml, seed)?, path)
}

/// The same up to the last step: what was written has not got its place yet.
pub(super) fn written(
    path: &Path,
    data: &Data,
    run: &Run,
    experiment_toml: &str,
    seed: u64,
) -> Result<Partial, TraceError> {
    filled(path, Kind::Result, |root| {
        fill_root(root, data, run, experiment_toml, seed)
    })
}

/// Fills and seals a new file that will be `path`.
pub(super) fn filled(
    path: &Path,
    kind: Kind,
    put: impl FnOnce(&File) -> Outcome<()>,
) -> Result<Partial, TraceError> {
    // Made by the operating system, for its plain words about a path that cannot be written.
    let mut partial = Partial::new(path).map_err(|error| TraceError::write(path, error))?;
    fill(&mut partial, kind, put).map_err(|failure| TraceError::while_writing(path, failure))?;
    Ok(partial)
}

/// Puts a finished file in its place, after it has reached the disk.
pub(super) fn settle(partial: Partial, path: &Path) -> Result<(), TraceError> {
    let settled = partial.sync().and_then(|()| partial.settle_at(path));
    settled.map_err(|error| TraceError::write(path, error))
}

fn fill(partial: &mut Partial, kind: Kind, put: impl FnOnce(&File) -> Outcome<()>) -> Outcome<()> {
    hdf5::silence_errors(true);
    let file = File::with_options()
        // Attributes of any size, checksummed metadata, no time stamps: the format since HDF5 1.8.
        .with_fapl(|list| list.libver_bounds(LibraryVersion::V18, LibraryVersion::latest()))
        .with_fcpl(|list| list.obj_track_times(false).userblock(BLOCK as u64))
        .create(partial.path())?;
    let filled = put(&file).and_then(|()| Ok(file.flush()?));
    let closed = file.close();
    filled?;
    closed?;
    seal(partial.file(), kind).map_err(|error| Failure::Library(error.to_string()))
}

fn fill_root(
    root: &Group,
    data: &Data,
    run: &Run,
    experiment_toml: &str,
    seed: u64,
) -> Outcome<()> {
    put_numbers(root, &schema::ROOT_NUMBERS, [schema::VERSION, seed, 0])?;
    put_numbers(
        root,
        &schema::ROOT_MODEL,
        [u64::from(program::MODEL_VERSION)],
    )?;
    put_texts(
        root,
        &schema::ROOT_TEXTS,
        [program::VERSION, experiment_toml],
    )?;
    write_run(&group(root, "run")?, run, data.summary.packet_hops)?;
    write_data(&group(root, "data")?, data)?;
    let file = root.file()?;
    file.flush()?;
    if run.stopped.is_none() {
        let [_, _, complete] = &schema::ROOT_NUMBERS;
        root.attr(complete.name)?.write_scalar(&1u64)?;
        file.flush()?;
    }
    Ok(())
}

fn write_run(at: &Group, run: &Run, packet_hops: u64) -> Outcome<()> {
    put_numbers(
        at,
        &schema::RUN_NUMBERS,
        [
            u64::from(run.ranks),
            run.events,
            run.windows,
            run.peak_memory_bytes,
            run.state_bytes,
            run.packet_bytes,
        ],
    )?;
    put_numbers(
        at,
        &schema::RUN_RATES,
        [
            run.wall_seconds,
            run.per_second(run.events),
            run.per_second(packet_hops),
        ],
    )?;
    let (major, minor, micro) = hdf5::library_version();
    let hdf5_version = format!("{major}.{minor}.{micro}");
    put_texts(
        at,
        &schema::RUN_TEXTS,
        [&run.started, &run.mpi_version, &hdf5_version],
    )?;
    put_texts(
        at,
        &schema::RUN_PROGRAM,
        [&run.commit, &run.features, &run.command],
    )?;
    put_list(at, schema::RUN_HOSTS.name, &run.hosts)?;
    if let Some(why) = &run.stopped {
        put_text(at, schema::RUN_STOPPED.name, why)?;
    }
    Ok(())
}

fn write_data(at: &Group, data: &Data) -> Outcome<()> {
    write_summary(&group(at, "summary")?, &data.summary)?;
    let latency = group(at, "latency")?;
    for (class, samples) in &data.latency {
        check_name("latency class", class)?;
        write_latency(&group(&latency, class)?, samples)?;
    }
    write_notes(&group(at, "notes")?, &data.notes)?;
    let jobs = group(at, "jobs")?;
    for (index, job) in data.jobs.iter().enumerate() {
        check_name("job", &job.name)?;
        write_job(&group(&jobs, &job.name)?, index, job)?;
    }
    write_ports(&group(at, "ports")?, &data.ports)?;
    write_routers(&group(at, "routers")?, &data.routers)?;
    write_series(&group(at, "series")?, &data.series)?;
    if let Some(occupancy) = &data.occupancy {
        write_occupancy(&group(at, "occupancy")?, occupancy)?;
    }
    if let Some(iterations) = &data.iterations {
        write_iterations(&group(at, "iterations")?, iterations)?;
    }
    if let Some(rates) = &data.rates {
        write_rates(&group(at, "rates")?, rates)?;
    }
    write_scheme(&group(at, "scheme")?, &data.scheme)?;
    if let Some(cost) = &data.cost {
        let at = group(at, "cost")?;
        put_numbers(
            &at,
            &schema::COST_COUNTS,
            [cost.buffer_bytes, cost.accesses],
        )?;
        put_numbers(&at, &schema::COST_NUMBERS, [cost.area_mm2, cost.energy_nj])?;
    }
    if let Some(attribution) = &data.attribution {
        write_attribution(&group(at, "attribution")?, attribution)?;
    }
    if let Some(packets) = &data.packets {
        write_packets(&group(at, "packets")?, packets)?;
    }
    if let Some(phases) = &data.phases {
        write_phases(&group(at, "phases")?, phases)?;
    }
    if let Some(flows) = &data.flows {
        write_flows(&group(at, "flows")?, flows)?;
    }
    if let Some(messages) = &data.messages {
        write_messages(&group(at, "messages")?, messages)?;
    }
    Ok(())
}

fn write_summary(at: &Group, summary: &Summary) -> Outcome<()> {
    put_numbers(
        at,
        &schema::SUMMARY_COUNTS,
        [
            summary.simulated_ps,
            summary.measured_from_ps,
            summary.measured_to_ps,
            summary.packets_injected,
            summary.packets_delivered,
            summary.packets_dropped,
            summary.packets_in_flight,
            summary.messages_generated,
            summary.messages_received,
            summary.packet_hops,
            summary.bytes_delivered,
            summary.endpoints,
            summary.endpoint_bandwidth,
            summary.notes,
        ],
    )?;
    if let Some(counts) = summary.protocol_messages {
        put_numbers(at, &schema::SUMMARY_PROTOCOL, counts)?;
    }
    put_numbers(
        at,
        &schema::SUMMARY_LOADS,
        [summary.offered_load, summary.accepted_load],
    )?;
    put_texts(at, &schema::LOAD_TEXTS, [schema::SUMMARY_LOAD_TEXT])
}

fn write_latency(at: &Group, latency: &Latency) -> Outcome<()> {
    let stats = Stats::of(latency);
    let Stats {
        arrived,
        at_least,
        at_most,
        ..
    } = stats;
    put_numbers(
        at,
        &schema::LATENCY_COUNTS,
        [
            stats.samples,
            stats.missing,
            arrived.max_ps,
            at_least.max_ps,
        ],
    )?;
    put_numbers(
        at,
        &schema::LATENCY_QUANTILES,
        [
            arrived.mean_ps,
            arrived.p50_ps,
            arrived.p90_ps,
            arrived.p99_ps,
            arrived.p999_ps,
            stats.missing_share(),
            at_least.mean_ps,
            at_least.p50_ps,
            at_least.p90_ps,
            at_least.p99_ps,
            at_least.p999_ps,
            at_most.p50_ps,
            at_most.p90_ps,
            at_most.p99_ps,
            at_most.p999_ps,
        ],
    )?;
    let lower: Vec<u64> = latency.at_least().rows().map(|(lower, _)| lower).collect();
    let [count, missing] = [&latency.arrived, &latency.missing].map(|own| {
        let counts: HashMap<u64, u64> = own.rows().collect();
        let of = |lower| counts.get(lower).copied().unwrap_or(0);
        lower.iter().map(of).collect::<Vec<u64>>()
    });
    put_table(
        at,
        &schema::LATENCY,
        lower.len(),
        [&lower, &count, &missing].map(|values| Values::U64(values)),
    )
}

fn write_notes(at: &Group, notes: &[Note]) -> Outcome<()> {
    let [kind, text, job] = &schema::NOTE_TEXTS;
    for (number, note) in notes.iter().enumerate() {
        let at = group(at, &number.to_string())?;
        put_text(&at, kind.name, &note.kind)?;
        put_text(&at, text.name, &note.text)?;
        if let Some(name) = &note.job {
            put_text(&at, job.name, name)?;
        }
        for (name, value) in &note.numbers {
            put_number(&at, name, *value)?;
        }
    }
    Ok(())
}

fn write_job(at: &Group, index: usize, job: &Job) -> Outcome<()> {
    let tasks = job.endpoint.len();
    // A missing time is 0 in the file, which no reader takes for a short one.
    let known = |time: Time| if job.over { time } else { 0 };
    let spent = job.task_communication_ps.iter().zip(&job.task_finish_ps);
    let spent: Vec<Time> = spent
        .map(|(&spent, &finish)| if finish == 0 { 0 } else { spent })
        .collect();
    put_numbers(
        at,
        &schema::JOB_COUNTS,
        [
            index as u64,
            tasks as u64,
            job.start_ps,
            known(job.finish_ps),
            known(job.communication_ps),
            job.bytes_delivered,
            job.senders,
            job.receivers,
            job.on_from_ps,
            job.on_to_ps,
        ],
    )?;
    put_numbers(
        at,
        &schema::JOB_ENDS,
        [u64::from(job.over), job.finish_ps, job.communication_ps],
    )?;
    put_numbers(
        at,
        &schema::JOB_LOADS,
        [job.offered_load, job.accepted_load],
    )?;
    put_texts(at, &schema::LOAD_TEXTS, [schema::JOB_LOAD_TEXT])?;
    put_table(
        at,
        &schema::JOB,
        tasks,
        [
            Values::U32(&job.endpoint),
            Values::U64(&job.task_finish_ps),
            Values::U64(&spent),
            Values::U64(&job.task_communication_ps),
        ],
    )
}

fn write_series(at: &Group, series: &Series) -> Outcome<()> {
    put_numbers(at, &schema::SERIES_NUMBERS, [series.bin_ps])?;
    let times: Vec<u64> = (0..series.bins as u64)
        .map(|bin| bin * series.bin_ps)
        .collect();
    let rows = series.bins;
    put_columns(at, "", &schema::SERIES_TIME, rows, [Values::U64(&times)])?;
    for job in &series.jobs {
        put_columns(
            at,
            &format!("job.{}.", job.name),
            &schema::SERIES_JOB,
            rows,
            [
                Values::U64(&job.injected_bytes),
                Values::U64(&job.delivered_bytes),
                Values::U64(&job.messages),
                Values::U64(&job.message_latency_ps),
                Values::U64(&job.packets),
                Values::U64(&job.network_latency_ps),
            ],
        )?;
    }
    for (class, flits) in &series.ejected_flits {
        put_columns(
            at,
            &format!("class.{class}."),
            &schema::SERIES_CLASS,
            rows,
            [Values::U64(flits)],
        )?;
    }
    for (endpoint, bytes) in &series.received {
        put_columns(
            at,
            &format!("endpoint.{endpoint}."),
            &schema::SERIES_ENDPOINT,
            rows,
            [Values::U64(bytes)],
        )?;
    }
    scale_rows(at, schema::SERIES_TIME[0].name)
}

fn write_occupancy(at: &Group, occupancy: &Occupancy) -> Outcome<()> {
    let [time, router, bytes] = &schema::OCCUPANCY;
    let rows = occupancy.time_ps.len();
    let routers: Vec<u32> = (0..occupancy.routers as u32).collect();
    put_column(
        at,
        time.name,
        time.units,
        time.long_name,
        rows,
        Values::U64(&occupancy.time_ps),
    )?;
    put_column(
        at,
        router.name,
        router.units,
        router.long_name,
        routers.len(),
        Values::U32(&routers),
    )?;
    if occupancy.bytes.len() != rows * occupancy.routers {
        return Err(Failure::Uneven {
            group: at.name(),
            column: bytes.name.to_string(),
            rows: occupancy.bytes.len(),
            expected: rows * occupancy.routers,
        });
    }
    put_dataset(
        at,
        bytes.name,
        bytes.units,
        bytes.long_name,
        &[rows, occupancy.routers],
        &occupancy.bytes,
    )?;
    put_scales(at, &[(bytes.name, &[time.name, router.name])])
}

fn write_iterations(at: &Group, iterations: &Iterations) -> Outcome<()> {
    put_table(
        at,
        &schema::ITERATIONS,
        iterations.job.len(),
        [
            Values::U32(&iterations.job),
            Values::U32(&iterations.iteration),
            Values::U64(&iterations.begin_ps),
            Values::U64(&iterations.end_ps),
            Values::U64(&iterations.tasks),
            Values::U64(&iterations.ended),
        ],
    )
}

fn write_rates(at: &Group, rates: &Rates) -> Outcome<()> {
    put_table(
        at,
        &schema::RATES,
        rates.time_ps.len(),
        [
            Values::U64(&rates.time_ps),
            Values::U32(&rates.endpoint),
            Values::U32(&rates.job),
            Values::U32(&rates.task),
            Values::F64(&rates.share),
        ],
    )
}

fn write_scheme(at: &Group, scheme: &Scheme) -> Outcome<()> {
    put_texts(at, &schema::SCHEME_TEXTS, [&scheme.name])?;
    for (name, value) in &scheme.counters {
        check_name("counter", name)?;
        put_number(at, name, *value)?;
    }
    for (name, value) in &scheme.shares {
        check_name("counter", name)?;
        put_number(at, name, *value)?;
    }
    for record in &scheme.records {
        check_name("record", &record.name)?;
        write_record(&group(at, &record.name)?, record)?;
    }
    Ok(())
}

/// A table that the scheme wrote.
fn write_record(at: &Group, record: &SchemeRecord) -> Outcome<()> {
    put_texts(at, &schema::RECORD_TEXTS, [&record.about])?;
    let rows = record.columns.first().map_or(0, |first| first.values.len());
    for SchemeColumn {
        name,
        unit,
        about,
        values,
    } in &record.columns
    {
        put_column(at, name, unit, about, rows, Values::U64(values))?;
    }
    match record.columns.first() {
        Some(first) => scale_rows(at, &first.name),
        None => Ok(()),
    }
}

fn write_packets(at: &Group, packets: &Packets) -> Outcome<()> {
    put_table(
        at,
        &schema::PACKETS,
        packets.source.len(),
        [
            Values::U32(&packets.source),
            Values::U32(&packets.sequence),
            Values::U32(&packets.destination),
            Values::U32(&packets.job),
            Values::U32(&packets.flits),
            Values::U32(&packets.routers),
            Values::U64(&packets.generated_ps),
            Values::U64(&packets.injected_ps),
            Values::U64(&packets.delivered_ps),
        ],
    )
}

fn write_phases(at: &Group, phases: &Phases) -> Outcome<()> {
    put_table(
        at,
        &schema::PHASES,
        phases.job.len(),
        [
            Values::U32(&phases.job),
            Values::U32(&phases.phase),
            Values::U64(&phases.begin_ps),
            Values::U64(&phases.end_ps),
            Values::U64(&phases.flows),
            Values::U64(&phases.optimum_ps),
            Values::F64(&phases.stretch),
            Values::F64(&phases.rate_ratio),
            Values::F64(&phases.measured_ratio),
            Values::U64(&phases.contention),
            Values::F64(&phases.mean_contention),
        ],
    )
}

fn write_flows(at: &Group, flows: &Flows) -> Outcome<()> {
    put_table(
        at,
        &schema::FLOWS,
        flows.job.len(),
        [
            Values::U32(&flows.job),
            Values::U32(&flows.phase),
            Values::U32(&flows.source),
            Values::U32(&flows.destination),
            Values::U64(&flows.bytes),
            Values::U64(&flows.generated_ps),
            Values::U64(&flows.started_ps),
            Values::U64(&flows.received_ps),
            Values::U64(&flows.optimum_ps),
            Values::F64(&flows.rate),
            Values::F64(&flows.measured_rate),
            Values::U64(&flows.contention),
        ],
    )
}

fn write_messages(at: &Group, messages: &Messages) -> Outcome<()> {
    put_table(
        at,
        &schema::MESSAGES,
        messages.source.len(),
        [
            Values::U32(&messages.source),
            Values::U32(&messages.message),
            Values::U32(&messages.destination),
            Values::U32(&messages.job),
            Values::U64(&messages.bytes),
            Values::U64(&messages.generated_ps),
            Values::U64(&messages.received_ps),
        ],
    )
}
