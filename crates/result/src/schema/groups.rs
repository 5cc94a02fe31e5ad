//! The groups of a result, with their content.

use super::{
    Buckets, ChangedLinks, Cost, Flows, Group, Header, JobSeries, JobTasks, JobTotals,
    LOAD_DEFINITION, LatencyNumbers, NOTE_TEXTS, OCCUPANCY, PORT_KINDS, Phases, Ports,
    RECORD_ABOUT, ROUTER_AXIS, ROUTER_KINDS, Rates, Routers, Run, SCHEME_NAME, SERIES_BIN,
    SERIES_CLASS, SERIES_ENDPOINT, SERIES_TIME, TimelineNumbers,
};
use crate::attribution::table::{Elsewhere, Looks, Pressure, Waits};
use weir_model::table::{
    Attributes, Iterations, LinkIntervals, Messages, Packets, Summary, Table, TaskIntervals,
};

/// Every group of a result file, for documentation and tests.
pub const GROUPS: &[Group] = &[
    Group {
        path: "/",
        about: "What was run.",
        attributes: &[Header::ATTRIBUTES],
        columns: &[],
    },
    Group {
        path: "/run",
        about: "How this run went. The only group that may differ between two runs of one \
                experiment.",
        attributes: &[Run::ATTRIBUTES],
        columns: &[],
    },
    Group {
        path: "/data/summary",
        about: "Totals.",
        attributes: &[Summary::ATTRIBUTES, &[LOAD_DEFINITION]],
        columns: &[],
    },
    Group {
        path: "/data/notes/<number>",
        about: "Something remarkable about the run, from 0 on; the group is empty if there is \
                nothing.",
        attributes: &[&NOTE_TEXTS],
        columns: &[],
    },
    Group {
        path: "/data/latency/<class>",
        about: "A histogram of latencies, and of the ages of what had not arrived; buckets without \
                either are left out. Classes `network` and `message`: packets injected, and \
                messages generated, in the measurement window. Classes `network_by_arrival` and \
                `message_by_arrival`: packets and messages that arrived in it, whenever they were \
                sent; nothing is missing. With `job.<name>.` before them: one workload. \
                `job.<name>.iteration`, only if iterations are asked for: the time of each task of \
                an application for each iteration that it began in the measurement window.",
        attributes: &[LatencyNumbers::ATTRIBUTES],
        columns: &[Buckets::COLUMNS],
    },
    Group {
        path: "/data/jobs/<name>",
        about: "One workload; one row per task.",
        attributes: &[JobTotals::ATTRIBUTES, &[LOAD_DEFINITION]],
        columns: &[JobTasks::COLUMNS],
    },
    Group {
        path: "/data/ports",
        about: "One row per used router port, for its outgoing direction, by router, then port.",
        attributes: &[&[PORT_KINDS]],
        columns: &[Ports::COLUMNS],
    },
    Group {
        path: "/data/failures",
        about: "One row per direction of a link that differs from its kind, by router, port, then \
                `nic`. Only if the experiment has a section `[[failure]]`.",
        attributes: &[],
        columns: &[ChangedLinks::COLUMNS],
    },
    Group {
        path: "/data/routers",
        about: "One row per router, by its number. Axes are `group` and `index` (of the group) of \
                a dragonfly; `level` (from 1, the leaf routers), `subtree` and `replica` (of the \
                subtree's roots) of a fat tree.",
        attributes: &[&[ROUTER_KINDS]],
        columns: &[Routers::COLUMNS, &[ROUTER_AXIS]],
    },
    Group {
        path: "/data/series",
        about: "One row per time bin. The bins are as wide as `output.bin` says, or twice, four \
                times … as wide where there would be more than 1,048,576 of them. A sum of \
                latencies above 2⁶⁴ - 1 is written as that.",
        attributes: &[&[SERIES_BIN]],
        columns: &[
            &[SERIES_TIME],
            JobSeries::COLUMNS,
            &[SERIES_CLASS],
            &[SERIES_ENDPOINT],
        ],
    },
    Group {
        path: "/data/occupancy",
        about: "Data waiting in every router at chosen times: multiples of `output.occupancy`, or \
                of twice, four times … as much where there would be more than 1,048,576 times or \
                16,777,216 numbers. Only if asked for.",
        attributes: &[],
        columns: &[&OCCUPANCY],
    },
    Group {
        path: "/data/rates",
        about: "At which rates the congestion-control scheme let chosen endpoints inject: a row \
                per time and endpoint, by time, then in the order in which they were chosen. The \
                times are limited like those of `/data/occupancy`. Only if asked for.",
        attributes: &[],
        columns: &[Rates::COLUMNS],
    },
    Group {
        path: "/data/iterations",
        about: "When applications began and ended the iterations (steps) of their programs. Only \
                if asked for.",
        attributes: &[],
        columns: &[Iterations::COLUMNS],
    },
    Group {
        path: "/data/attribution",
        about: "Whose data waited where and for what, from which `weir explain` works out what \
                causes congestion. The ports are looked at every `interval_ps`, later less often; \
                what is found counts for the time since the look before. A bin has eight looks. \
                Unless it is switched off (`output.attribution`).",
        attributes: &[Looks::ATTRIBUTES],
        columns: &[],
    },
    Group {
        path: "/data/attribution/waits",
        about: "One row per time bin, port and job (with `output.attribution = \"sources\"`: per \
                job, sender and receiver), by these, for ports at which something waited for a \
                full link or for credit, or at least a longest packet on average.",
        attributes: &[],
        columns: &[Waits::COLUMNS],
    },
    Group {
        path: "/data/attribution/pressure",
        about: "One row per time bin and pair of ports of a router: what had come by the one and \
                waited for the other, while a quarter or more of the buffer (of its virtual \
                channel or queue) waited. So it says for what a port that leads to the router \
                lacks credit.",
        attributes: &[],
        columns: &[Pressure::COLUMNS],
    },
    Group {
        path: "/data/attribution/elsewhere",
        about: "One row per time bin and job: what waited at ports that have no rows in \
                `/data/attribution/waits`.",
        attributes: &[],
        columns: &[Elsewhere::COLUMNS],
    },
    Group {
        path: "/data/packets",
        about: "One row per delivered data packet. Only if asked for.",
        attributes: &[],
        columns: &[Packets::COLUMNS],
    },
    Group {
        path: "/data/phases",
        about: "How long phases of communication took, and how long at the least they could for \
                the ways that their flows took. A flow belongs to the iteration of its task in \
                which it was generated. Only if asked for (`output.flows`).",
        attributes: &[],
        columns: &[Phases::COLUMNS],
    },
    Group {
        path: "/data/flows",
        about: "One row per flow that has begun: a message that is no request and no shorter than \
                `nic.flow_from`, and no step of a collective operation that is sent without a \
                request; by job, phase, source, then number. Only if asked for (`output.flows`).",
        attributes: &[],
        columns: &[Flows::COLUMNS],
    },
    Group {
        path: "/data/messages",
        about: "One row per received message. Only if asked for.",
        attributes: &[],
        columns: &[Messages::COLUMNS],
    },
    Group {
        path: "/data/timeline",
        about: "When tasks computed and waited and when links were busy and stalled. Only if asked \
                for (`output.timeline`). `weir export --format perfetto` draws it.",
        attributes: &[TimelineNumbers::ATTRIBUTES],
        columns: &[],
    },
    Group {
        path: "/data/timeline/tasks",
        about: "One row per interval in which a task of an application did one thing, by job, task \
                and time. The intervals of a task follow each other without a gap from its start \
                to its end; all but `compute` together are its communication time.",
        attributes: &[],
        columns: &[TaskIntervals::COLUMNS],
    },
    Group {
        path: "/data/timeline/links",
        about: "One row per packet that left a chosen router, for the time for which it had the \
                link, and per time in which a packet was ready but had no credit; by router, \
                port and time. Over the whole run they add up to `busy_ps` and \
                `stalled_ps` of `/data/ports`.",
        attributes: &[],
        columns: &[LinkIntervals::COLUMNS],
    },
    Group {
        path: "/data/scheme",
        about: "Counters of the congestion control scheme and of kinds of packets, as attributes. \
                `packets_<kind>`: packets sent; `ejected_<kind>_share`: share of the endpoints' \
                links in the measurement window. Kinds: data, acknowledgements if there are any, \
                and the scheme's own. Then, of schemes that do it: packets dropped before and at \
                the last router, sent at a granted time or again speculatively, marked; \
                reservations that a router took; the scheme's own counters. What each counts: \
                [Counters and records](model/schemes.md#counters-and-records).",
        attributes: &[&[SCHEME_NAME]],
        columns: &[],
    },
    Group {
        path: "/data/scheme/<record>",
        about: "What the scheme wrote down, a row for each thing that it noted, by time: \
                `time_ps`; `endpoint`, or `router` and `port`, where it was noted; and the \
                record's own columns, which say in `units` and `long_name` what they are. Only if \
                asked for (`output.scheme`).",
        attributes: &[&[RECORD_ABOUT]],
        columns: &[],
    },
    Group {
        path: "/data/cost",
        about: "What the buffers of all routers cost, if the experiment has a section `[cost]`.",
        attributes: &[Cost::ATTRIBUTES],
        columns: &[],
    },
];
