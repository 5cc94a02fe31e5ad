#!/usr/bin/env python3
"""Converts an OTF2 trace (Score-P) to GOAL text: python3 otf2_to_goal.py traces.otf2 out.goal

Needs the Python package of OTF2 (Debian: python3-otf2). A rank computes where it is not in MPI, for
as long as the trace says; messages leave when the calls before them are over. Losses and their
reasons go to standard error and to the head of the schedule, and weir takes them into its results.
"""

import sys
from collections import Counter, defaultdict
from types import SimpleNamespace

from goal_schedule import Rank, Report, Tags, save

# Bytes of a task in an operation of n tasks, from all that it sends and receives as Score-P has it.
SIZES = {
    "barrier": lambda sent, received, n: 0,
    "bcast": lambda sent, received, n: received,
    "reduce": lambda sent, received, n: sent,
    "allreduce": lambda sent, received, n: sent // n,
    "gather": lambda sent, received, n: sent,
    "gatherv": lambda sent, received, n: sent,
    "scatter": lambda sent, received, n: received,
    "scatterv": lambda sent, received, n: received,
    "allgather": lambda sent, received, n: sent // n,
    "allgatherv": lambda sent, received, n: sent // n,
    "alltoall": lambda sent, received, n: sent // n,
    "reduce_scatter": lambda sent, received, n: received // n,
}


def scanned(sent, received, count, place):
    """Bytes of a task in a scan, from what Score-P has of the task at `place` of `count`.

    It counts a part for the task itself and each before it as received, and for itself and each behind it as sent; of an
    exclusive scan, or one in place, not the task's own.
    """
    if sent * (place + 1) == received * (count - place):
        return received // (place + 1)
    if sent == received:
        return received
    return received // place if place else sent // max(count - 1, 1)


SAME = {
    "exscan": "scan",
    "reduce_scatter_block": "reduce_scatter",
    "alltoallv": "alltoall",
    "alltoallw": "alltoall",
}
DIFFERENT = ("gatherv", "scatterv", "allgatherv")
FIELDS = (
    "receiver",
    "sender",
    "msg_tag",
    "msg_length",
    "request_id",
    "root",
    "size_sent",
    "size_received",
)
# Events that say nothing of messages or of time.
QUIET = (
    "MpiCollectiveBegin",
    "MpiRequestTest",
    "ProgramBegin",
    "ProgramEnd",
    "CommCreate",
    "CommDestroy",
)


def name(constant):
    """The name of a constant of OTF2."""
    return str(constant).rsplit(".", 1)[-1]


def key(communicator):
    """What a communicator is known by."""
    return communicator._ref if hasattr(communicator, "_ref") else id(communicator)


# Instead of members: each rank on its own.
SELF = None


def read(path, otf2):
    """The events of each rank, communicators, ticks of a second, and events that are left out."""
    with otf2.reader.open(path) as trace:
        groups = [
            one for one in trace.definitions.groups if name(one.group_type) == "COMM_LOCATIONS"
        ]
        if not groups:
            raise SystemExit(f"{path}: no rank of MPI is in it")
        ranks = {location: rank for rank, location in enumerate(groups[0].members)}
        communicators = {}
        for one in trace.definitions.comms:
            group = getattr(one, "group", None)
            if group and name(group.group_type) == "COMM_SELF":
                communicators[key(one)] = SELF
            elif group and group.members:
                communicators[key(one)] = [ranks[location] for location in group.members]
        events, others = [[] for _ in ranks], Counter()
        for location, event in trace.events:
            kind = type(event).__name__
            if location not in ranks:
                others["events of threads without a rank"] += 1
            elif plain := converted(kind, event):
                events[ranks[location]].append(plain)
            elif kind not in QUIET:
                others[f"{kind} events"] += 1
        return events, communicators, trace.timer_resolution, others


def converted(kind, event):
    """An event as a plain object; None if it is not converted."""
    plain = SimpleNamespace(kind=kind, time=event.time)
    if kind in ("Enter", "Leave"):
        plain.mpi = name(event.region.paradigm) == "MPI"
    elif kind == "MeasurementOnOff":
        plain.on = name(event.measurement_mode) == "ON"
    elif kind == "BufferFlush":
        plain.until = event.stop_time
    elif (kind.startswith("Mpi") or kind == "NonBlockingCollectiveComplete") and kind not in QUIET:
        for field in FIELDS:
            if hasattr(event, field):
                setattr(plain, field, getattr(event, field))
        if hasattr(event, "communicator"):
            plain.communicator = key(event.communicator)
        if hasattr(event, "collective_op"):
            plain.operation = name(event.collective_op).lower()
    else:
        return None
    return plain


def sizes_of_all(events, communicators):
    """By communicator and the number of the operation in it: the bytes of each member, by place."""
    found = defaultdict(dict)
    for rank, own in enumerate(events):
        count = defaultdict(int)
        for event in own:
            if event.kind == "MpiCollectiveEnd" and communicators.get(event.communicator):
                members = communicators[event.communicator]
                kind = SAME.get(event.operation, event.operation)
                if rank not in members:
                    raise SystemExit(
                        f"rank {rank}: a {kind} of a communicator that the rank is not in"
                    )
                if kind in SIZES or kind == "scan":
                    place, amounts = members.index(rank), (event.size_sent, event.size_received, len(members))
                    size = scanned(*amounts, place) if kind == "scan" else SIZES[kind](*amounts)
                    found[event.communicator, count[event.communicator]][place] = size
                    count[event.communicator] += 1
    return found


class Converter:
    """Makes a schedule of events."""

    def __init__(self, events, communicators, resolution):
        self.events, self.communicators = events, communicators
        self.tags, self.report = Tags(), Report()
        self.sizes = sizes_of_all(events, communicators)
        self.ns = lambda ticks: round(ticks * 1e9 / resolution)
        # Times of which nothing is recorded, by why: how many and how long.
        self.gaps = defaultdict(lambda: [0, 0])

    def members(self, event, rank):
        """Who is in the communicator of an event; None if that is not said."""
        if event.communicator in self.communicators:
            return self.communicators[event.communicator] or [rank]
        return None

    def partner(self, event, rank, place):
        members = self.members(event, rank)
        if members is None or not 0 <= place < len(members):
            raise SystemExit(
                f"{self.place(rank, event)}: a message to or from {place}, "
                "and the communicator has no such rank"
            )
        if event.msg_length < 0:
            raise SystemExit(f"{self.place(rank, event)}: a message of {event.msg_length} bytes")
        return members[place]

    @staticmethod
    def place(rank, event):
        return f"rank {rank}, time {event.time}"

    def ranks(self):
        ranks = [self.rank(number) for number in range(len(self.events))]
        for (what, why), (count, ticks) in self.gaps.items():
            seconds = f"{self.ns(ticks) / 1e9:.6f} s in all"
            self.report.leave_out(
                what, f"{why} ({seconds}), and this time counts as computation", count=count
            )
        return ranks

    def gap(self, what, why, ticks):
        row = self.gaps[what, why]
        row[0] += 1
        row[1] += max(ticks, 0)

    def rank(self, number):
        rank, depth, left, requests, off = Rank(number), 0, None, {}, None
        done = defaultdict(int)
        then = None
        # A receive in the background says who sent it when it is over.
        over = {one.request_id: one for one in self.events[number] if one.kind == "MpiIrecv"}
        for event in self.events[number]:
            if then is not None and event.time < then:
                why = "the clock runs backwards there, and no time is taken"
                self.report.leave_out("times of events", why, place=self.place(number, event))
            then = event.time
            if event.kind == "Enter" and event.mpi:
                if depth == 0 and left is not None:
                    rank.compute(self.ns(event.time - left))
                depth += 1
            elif event.kind == "Leave" and event.mpi:
                depth = max(0, depth - 1)
                left = event.time
            elif event.kind in ("Enter", "Leave"):
                # The program's own regions: it computes.
                continue
            elif event.kind == "MeasurementOnOff":
                if event.on and off is not None:
                    self.unmeasured(event.time - off)
                off = None if event.on else event.time if off is None else off
            elif event.kind == "BufferFlush":
                self.gap("writes of the buffer", "the recorder did them", event.until - event.time)
            else:
                self.operation(rank, event, requests, over, done)
        if off is not None:
            self.unmeasured(then - off)
        return rank

    def unmeasured(self, ticks):
        self.gap("intervals without measurement", "nothing that is done in them is recorded", ticks)

    def operation(self, rank, event, requests, over, done):
        """A message, a wait, or a part in a collective operation."""
        number, place = rank.number, self.place(rank.number, event)
        if event.kind in ("MpiSend", "MpiIsend"):
            to = self.partner(event, number, event.receiver)
            tag = self.tags.message(event.communicator, event.msg_tag)
            label = rank.send(event.msg_length, to, tag, background=event.kind == "MpiIsend")
            if event.kind == "MpiIsend":
                requests[event.request_id] = label
            self.report.write("sends", event.msg_length)
        elif event.kind == "MpiRecv":
            self.receive(rank, event, False)
        elif event.kind == "MpiIrecvRequest":
            if event.request_id in over:
                requests[event.request_id] = self.receive(rank, over[event.request_id], True)
            else:
                self.report.leave_out(
                    "receives in the background", "they are never over", place=place
                )
        elif event.kind in ("MpiIsendComplete", "MpiIrecv"):
            if event.request_id in requests:
                rank.wait(requests.pop(event.request_id))
            else:
                self.report.leave_out("waits", "what they wait for did not begin", place=place)
        elif event.kind == "MpiRequestCancelled":
            why = "what is cancelled is sent or received all the same"
            self.report.leave_out("cancelled requests", why, place=place)
        elif event.kind == "MpiCollectiveEnd":
            self.collective(rank, event, done)
        elif event.kind == "NonBlockingCollectiveComplete":
            what = f"parts in {event.operation} in the background"
            self.report.leave_out(what, "they are not converted", event.size_sent, place)
        else:
            self.report.leave_out(f"{event.kind} events", "they are not converted", place=place)

    def receive(self, rank, event, background):
        source = self.partner(event, rank.number, event.sender)
        tag = self.tags.message(event.communicator, event.msg_tag)
        self.report.write("receives", event.msg_length)
        return rank.receive(event.msg_length, source, tag, background)

    def collective(self, rank, event, done):
        kind = SAME.get(event.operation, event.operation)
        members, place = self.members(event, rank.number), self.place(rank.number, event)
        if min(event.size_sent, event.size_received) < 0:
            raise SystemExit(
                f"{place}: a {kind} of {min(event.size_sent, event.size_received)} bytes"
            )
        leave_out = lambda why: self.report.leave_out(
            f"parts in {kind}", why, event.size_sent, place
        )
        if members == [rank.number]:
            return leave_out("they are of a single rank")
        if members is None:
            return leave_out("it is not said who is in the communicator")
        if kind not in SIZES and kind != "scan":
            return leave_out("no collective operation with messages")
        all = self.sizes[event.communicator, done[event.communicator]]
        done[event.communicator] += 1
        if len(all) < len(members):
            raise SystemExit(
                f"{place}: not all tasks take part in a {kind}: the trace is not complete"
            )
        root = event.root if isinstance(event.root, int) and event.root < len(members) else 0
        tag = self.tags.collective(rank.number, event.communicator)
        sizes = [all[member] for member in range(len(members))]
        if event.operation in ("alltoallv", "alltoallw"):
            # What a rank sends to each is not recorded.
            what = f"parts in {event.operation} with the mean size of each rank"
            self.report.write(what, event.size_sent)
            own = [all[members.index(rank.number)]] * len(members)
            rank.collective("alltoallv", members, 0, 0, tag, (own, sizes))
            return None
        # The root's own size may not be said; all others have the same.
        rank.collective(kind, members, root, max(sizes), tag, sizes if kind in DIFFERENT else None)
        self.report.write(f"parts in {kind}", event.size_sent)
        return None


def main(source, target):
    try:
        import otf2
    except ImportError:
        raise SystemExit("there is no Python package otf2: install python3-otf2") from None
    try:
        events, communicators, resolution, others = read(source, otf2)
    except Exception as why:
        # The package has errors of several kinds, and says itself where it fails.
        raise SystemExit(f"{source}: it cannot be read: {why}") from why
    if not resolution > 0:
        raise SystemExit(f"{source}: a second has {resolution} ticks")
    converter = Converter(events, communicators, resolution)
    ranks = converter.ranks()
    for what, count in sorted(others.items()):
        converter.report.leave_out(what, "they are not converted", count=count)
    save(ranks, converter.report, target)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
