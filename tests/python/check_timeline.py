"""Checks a timeline that `weir export --format perfetto` wrote of a result: with Perfetto's official schema, against the
result itself, and, where it is available, with Perfetto's trace processor.

usage: check_timeline.py result.h5 timeline.pftrace [FROM_PS TO_PS]

Takes the packages perfetto (its schema), protobuf and h5py. The trace processor is a program that the package downloads, or
the one that WEIR_TRACE_PROCESSOR names.
"""

import os
import sys
from collections import defaultdict

import h5py
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as schema

Event = schema.TrackEvent


class Timeline:
    """The slices, instants and flows of a trace, by the names of tracks."""

    def __init__(self, path):
        trace = schema.Trace()
        with open(path, "rb") as file:
            trace.ParseFromString(file.read())
        self.tracks = {}
        self.slices = []  # track, begin, end, category, notes
        self.instants = []
        self.flows = defaultdict(list)
        self.ends = defaultdict(list)
        self.counters = 0
        self.last = defaultdict(int)
        names = {field: {} for field in ("event_names", "event_categories", "debug_annotation_names")}
        stacks = defaultdict(list)
        for packet in trace.packet:
            # Nothing that the schema does not know.
            assert packet.trusted_packet_sequence_id == 1
            for field, known in names.items():
                known.update((entry.iid, entry.name) for entry in getattr(packet.interned_data, field))
            if packet.HasField("track_descriptor"):
                self.describe(packet.track_descriptor)
            if packet.HasField("track_event"):
                self.event(packet, names, stacks)
        assert not any(stacks.values()), "slices that do not end"

    def describe(self, track):
        assert track.uuid and track.uuid not in self.tracks, track
        if track.parent_uuid:
            assert track.parent_uuid in self.tracks, f"{track.name} is below a track that is not described"
        self.tracks[track.uuid] = track

    def event(self, packet, names, stacks):
        event, at = packet.track_event, packet.timestamp
        uuid = event.track_uuid
        assert uuid in self.tracks, f"an event on track {uuid}, which is not described"
        assert at >= self.last[uuid], f"time falls on {self.tracks[uuid]}"
        self.last[uuid] = at
        if event.type == Event.TYPE_COUNTER:
            self.counters += 1
            return
        if event.type == Event.TYPE_SLICE_END:
            begin, category, notes = stacks[uuid].pop()
            self.slices.append((uuid, begin, at, category, notes))
            return
        notes = {}
        for note in event.debug_annotations:
            value = note.string_value if note.HasField("string_value") else note.uint_value
            notes[names["debug_annotation_names"][note.name_iid]] = value
        assert names["event_names"][event.name_iid]
        (category,) = (names["event_categories"][iid] for iid in event.category_iids)
        for flow in event.flow_ids:
            self.flows[flow].append(at)
        for flow in event.terminating_flow_ids:
            assert flow in self.flows, "an arrow ends before it begins"
            self.ends[flow].append(at)
        if event.type == Event.TYPE_SLICE_BEGIN:
            # Slices of a track do not overlap.
            assert not stacks[uuid], f"nested slices on {self.tracks[uuid]}"
            stacks[uuid].append((at, category, notes))
        else:
            assert event.type == Event.TYPE_INSTANT
            self.instants.append((uuid, at, category, notes))

    def of(self, *categories):
        return [one for one in self.slices if one[3] in categories]


def check_times(timeline, begin, end):
    """All is inside the part that was written, and what is written is the exact time, rounded down and cut."""
    for _, at, until, _, notes in timeline.slices:
        assert begin // 1000 <= at <= until <= end // 1000, notes
        assert at == max(notes["begin_ps"], begin) // 1000, notes
        assert until == min(notes["end_ps"], end) // 1000, notes
    for _, at, _, _ in timeline.instants:
        assert begin // 1000 <= at <= end // 1000


def rows(result, group, columns, begin, end):
    """The rows of a table that overlap with a part of the run."""
    if group not in result:
        return []
    table = list(zip(*(result[group][name][:].tolist() for name in columns), strict=True))
    return [row for row in table if row[0] < end and row[1] > begin]


def check_flows(timeline, result, begin, end):
    messages = rows(result, "data/messages", ("generated_ps", "received_ps"), begin, end)
    assert len(timeline.of("message")) == len(messages)
    assert timeline.flows.keys() == timeline.ends.keys(), "arrows without begin or end"
    for flow, starts in timeline.flows.items():
        assert len(starts) == 1 and len(timeline.ends[flow]) == 1
        assert starts[0] <= timeline.ends[flow][0]
    arrived = sum(row[1] <= end for row in messages)
    assert len(timeline.flows) <= arrived
    inside = [one for one in timeline.instants if one[2] == "arrival"]
    assert len(inside) == len(timeline.flows)


def check_tasks(timeline, result, begin, end):
    """Each interval of a task is a slice; waits add up to the communication time of a whole run."""
    tasks = rows(result, "data/timeline/tasks", ("begin_ps", "end_ps"), begin, end)
    others = ("message", "busy", "stalled")
    slices = [one for one in timeline.slices if one[3] not in others]
    assert len(slices) == len(tasks), (len(slices), len(tasks))
    attributes = result["data/timeline"].attrs
    whole = (begin, attributes["from_ps"], attributes["tasks_left_out"]) == (0, 0, 0)
    if not whole or end != result["data/summary"].attrs["simulated_ps"]:
        return
    waited = defaultdict(int)
    for uuid, _, _, category, notes in slices:
        if category != "compute":
            waited[uuid] += notes["end_ps"] - notes["begin_ps"]
    processes = {t.process.pid: t.process.process_name for t in timeline.tracks.values() if t.HasField("process")}
    for uuid, time in waited.items():
        thread = timeline.tracks[uuid].thread
        task = int(thread.thread_name.split()[1])
        job = result["data/jobs"][processes[thread.pid]]
        assert time == job["task_communication_at_least_ps"][task], thread.thread_name


def check_links(timeline, result, begin, end):
    """Each interval of a link is a slice; together they are the time of the port, in a whole run."""
    links = rows(result, "data/timeline/links", ("begin_ps", "end_ps"), begin, end)
    slices = timeline.of("busy", "stalled")
    assert len(slices) == len(links)
    attributes = result["data/timeline"].attrs
    if (begin, attributes["from_ps"], attributes["links_left_out"]) != (0, 0, 0):
        return
    if end != result["data/summary"].attrs["simulated_ps"]:
        return
    in_flight = result["data/summary"].attrs["packets_in_flight"]
    sums = defaultdict(int)
    for uuid, _, _, category, notes in slices:
        sums[uuid, category] += notes["end_ps"] - notes["begin_ps"]
    ports = result["data/ports"]
    time = {(r, p): at for at, (r, p) in enumerate(zip(ports["router"][:], ports["port"][:], strict=True))}
    for (uuid, category), spent in sums.items():
        track = timeline.tracks[uuid]
        router = int(timeline.tracks[track.parent_uuid].process.process_name.split()[1])
        at = time[router, int(track.name.split()[1])]
        more = spent - int(ports[f"{category}_ps"][at])
        # At a cut the port's count lacks the time until a packet leaves that has crossed already.
        most = 0 if in_flight == 0 else 1_000_000
        assert 0 <= more <= most, (router, track.name, category, more)


def check_trace_processor(path, timeline):
    """The same numbers from Perfetto's own reader."""
    from perfetto.trace_processor import TraceProcessor, TraceProcessorConfig

    program = os.environ.get("WEIR_TRACE_PROCESSOR")
    try:
        processor = TraceProcessor(trace=path, config=TraceProcessorConfig(bin_path=program))
    except Exception as error:  # Whatever keeps it from being downloaded.
        assert program is None, error
        print(f"trace processor: not available here ({type(error).__name__}), not asked")
        return
    with processor:
        def count(query):
            return next(iter(processor.query(query))).n

        assert count("select count(*) n from slice") == len(timeline.slices) + len(timeline.instants)
        assert count("select count(*) n from flow") == len(timeline.flows)
        bad = "select count(*) n from stats where severity in ('error', 'data_loss') and value > 0"
        assert count(bad) == 0
    print("trace processor: the same slices and flows, no errors")


def main():
    path = sys.argv[2]
    timeline = Timeline(path)
    with h5py.File(sys.argv[1]) as result:
        simulated = int(result["data/summary"].attrs["simulated_ps"])
        begin, end = (int(time) for time in sys.argv[3:5]) if len(sys.argv) > 3 else (0, simulated)
        check_times(timeline, begin, end)
        check_flows(timeline, result, begin, end)
        if "timeline" in result["data"]:
            check_tasks(timeline, result, begin, end)
            check_links(timeline, result, begin, end)
    check_trace_processor(path, timeline)
    parts = (len(timeline.tracks), len(timeline.slices), len(timeline.flows), timeline.counters)
    print("{}: {} tracks, {} slices, {} arrows, {} values are right".format(path, *parts))


main()
