//! Single numbers and texts of groups.

use weir_model::Time;
use weir_model::table::attributes;

attributes! {
    /// Attributes of `/`: which experiment this is and whether it reached its end.
    pub struct Header {
        schema_version: u64, "1", "version of this schema";
        seed: u64, "1", "seed of every random stream";
        complete: bool, "1", "1 if the run reached its end, 0 if it was stopped early";
        model_version: Option<u64>, "1", "version of the simulated model: results of different \
            versions may differ";
        weir_version: String, "", "version of weir that wrote the file";
        experiment: String, "", "the experiment with every default filled in, as TOML";
    }
}

attributes! {
    /// `/run`: how this run went; differs between runs.
    pub struct Run {
        ranks: u32, "1", "MPI ranks; 1 without MPI";
        threads: Option<u64>, "1", "threads of rank 0 that ran its part of the network";
        events: u64, "1", "events processed by all ranks";
        windows: u64, "1", "windows run";
        peak_memory_bytes: u64, "B", "sum over the ranks of their peak resident memory";
        state_bytes: u64, "B", "memory of the simulated network without packets, all domains";
        packet_bytes: u64, "B", "memory of packets in flight: themselves, their credits, mail \
            between domains";
        build_seconds: f64, "s", "wall-clock time in which the network was built";
        wall_seconds: f64, "s", "wall-clock time of the simulation";
        events_per_second: f64, "1/s", "events per second of wall-clock time";
        packet_hops_per_second: f64, "1/s", "packet-hops per second of wall-clock time";
        started: String, "", "wall-clock time at the start, RFC 3339, UTC";
        mpi_version: String, "", "version of the MPI library, or \"none\"";
        hdf5_version: String, "", "version of the HDF5 library";
        commit: Option<String>, "", "commit of the program's sources, + if they were changed \
            since; unknown if the build did not know";
        features: Option<String>, "", "cargo features of the program, separated by commas, or \
            \"none\"";
        command: Option<String>, "", "command line of rank 0";
        hosts: Vec<String>, "", "host name of each rank (a list)";
        resumed: Option<u64>, "1", "times that the run went on from a checkpoint; absent if it \
            never did";
        forked_ps: Option<Time>, "ps", "time until which the run shares what another run has \
            simulated; absent if it simulated everything";
        forked_packet_hops: Option<u64>, "1", "packet-hops until then";
        forked_seconds: Option<f64>, "s", "wall-clock time that the other run took until then; \
            part of wall_seconds";
        stopped: Option<String>, "", "why the run ended early; absent if it did not";
    }
}

attributes! {
    /// `/data/latency/<class>`: the shape of a distribution of latencies.
    pub struct LatencyNumbers {
        samples: u64, "1", "number of samples: of what arrived";
        missing: u64, "1", "samples that are missing: of what had not arrived when the run ended";
        max_ps: Time, "ps", "largest sample, exact; 0 without samples";
        max_at_least_ps: Time, "ps", "the same, missing samples counted with their ages";
        mean_ps: f64, "ps", "mean, from the exact sum; NaN without samples";
        p50_ps: f64, "ps", "median; NaN without samples";
        p90_ps: f64, "ps", "90th percentile; NaN without samples";
        p99_ps: f64, "ps", "99th percentile; NaN without samples";
        p999_ps: f64, "ps", "99.9th percentile; NaN without samples";
        missing_share: f64, "1", "missing over samples + missing; NaN without any";
        mean_at_least_ps: f64, "ps", "lower bound of the mean of all: missing samples counted with \
            their ages at the end";
        p50_at_least_ps: f64, "ps", "the same of the median";
        p90_at_least_ps: f64, "ps", "the same of the 90th percentile";
        p99_at_least_ps: f64, "ps", "the same of the 99th percentile";
        p999_at_least_ps: f64, "ps", "the same of the 99.9th percentile";
        p50_at_most_ps: f64, "ps", "upper bound of the median of all, infinite if it may be \
            missing; known if equal to the lower bound";
        p90_at_most_ps: f64, "ps", "the same of the 90th percentile";
        p99_at_most_ps: f64, "ps", "the same of the 99th percentile";
        p999_at_most_ps: f64, "ps", "the same of the 99.9th percentile";
    }
}

attributes! {
    /// `/data/jobs/<name>`: totals of one job.
    pub struct JobTotals {
        index: u64, "1", "place among the workloads that run, in the order of the experiment file, \
            from 0: the column job of other groups";
        tasks: u64, "1", "number of tasks";
        start_ps: Time, "ps", "when the job started";
        finish_ps: Time, "ps", "end of its last task (of other traffic: arrival of its last \
            message, 0 if it never sent one); 0, which is missing, if over is 0";
        communication_ps: Time, "ps", "largest communication time of its tasks; 0, which is \
            missing, if over is 0";
        bytes_delivered: u64, "B", "payload delivered";
        senders: u64, "1", "endpoints that may send; of an application all";
        receivers: u64, "1", "endpoints that may be sent to; of an application all";
        on_from_ps: Time, "ps", "when the job began within the measurement window: its start, or \
            the window's";
        on_to_ps: Time, "ps", "when it ended within the window: its stop, the end of an \
            application's last task, or the window's; not after on_from_ps if it is not on in the \
            window";
        over: Option<bool>, "1", "1 if the job was over when the run ended: all tasks done (of \
            other traffic: its stop is past and all its messages have arrived); 0 if the run cut \
            it off";
        finish_at_least_ps: Option<Time>, "ps", "lower bound of finish_ps: the same if the job was \
            over, else the end of the run";
        communication_at_least_ps: Option<Time>, "ps", "lower bound of communication_ps: the same \
            if the job was over, else up to the end of the run (of other traffic: until its \
            endpoints last sent or received)";
        offered_load: f64, "1", "offered load, see the attribute load_definition; NaN if the job \
            is not on in the window";
        accepted_load: f64, "1", "accepted load, see the attribute load_definition; NaN if the job \
            is not on in the window";
    }
}

attributes! {
    /// `/data/cost`: cost of the buffers of all routers.
    pub struct Cost {
        buffer_bytes: u64, "B", "input buffers and output queues of all routers";
        accesses: u64, "1", "writes to them and reads from them in the whole run, each of \
            `cost.access`";
        area_mm2: f64, "mm2", "their area";
        energy_nj: f64, "nJ", "energy of the accesses";
    }
}

attributes! {
    /// `/data/timeline`: the recorded part of the run.
    pub struct TimelineNumbers {
        from_ps: Time, "ps", "intervals that end before this are not recorded";
        to_ps: Time, "ps", "intervals that begin at this time or later are not recorded";
        tasks_left_out: u64, "1", "intervals of tasks that were left out because there were too \
            many; a note says so";
        tasks_until_ps: Time, "ps", "time until which no interval of a task was left out";
        links_left_out: u64, "1", "the same of links";
        links_until_ps: Time, "ps", "the same of links";
        routers: u64, "1", "routers whose links are recorded";
    }
}
