#!/usr/bin/env python3
"""Converts an OTF2 trace (Score-P) to GOAL text: python3 otf2_to_goal.py traces.otf2 out.goal

Needs the Python package of OTF2 (Debian: python3-otf2). A rank computes where it is not in MPI, for as long as the trace says; messages
leave when the calls before them are over. What cannot be told from the trace is listed on standard error.
"""

import sys
from collections import defaultdict
from types import SimpleNamespace

from goal_schedule import Rank, Report, Tags, write

# Of OTF2's operations, how bytes of a task come from what it sends and receives, in all and as Score-P writes them, among n tasks.
SIZES = {
    "barrier": lambda sent, received, n: 0,
    "bcast": lambda sent, received, n: received,
    "reduce": lambda sent, received, n: sent,
    "allreduce": lambda sent, received, n: sent // n,
    "scan": lambda sent, received, n: received,
    "gather": lambda sent, received, n: sent,
    "gatherv": lambda sent, received, n: sent,
    "scatter": lambda sent, received, n: received,
    "scatterv": lambda sent, received, n: received,
    "allgather": lambda sent, received, n: sent // n,
    "allgatherv": lambda sent, received, n: sent // n,
    "alltoall": lambda sent, received, n: sent // n,
    "reduce_scatter": lambda sent, received, n: received // n,
}
SAME = {"exscan": "scan", "reduce_scatter_block": "reduce_scatter", "alltoallv": "alltoall", "alltoallw": "alltoall"}
DIFFERENT = ("gatherv", "scatterv", "allgatherv")


def name(constant):
    """The name of a constant of OTF2."""
    return str(constant).rsplit(".", 1)[-1]


def key(communicator):
    """What a communicator is known by."""
    return communicator._ref if hasattr(communicator, "_ref") else id(communicator)


# Instead of members: each rank on its own.
SELF = None


def read(path, otf2):
    """The events of each rank, in order, as plain objects; and who is in which communicator."""
    with otf2.reader.open(path) as trace:
        group = next(one for one in trace.definitions.groups if name(one.group_type) == "COMM_LOCATIONS")
        ranks = {location: rank for rank, location in enumerate(group.members)}
        communicators = {}
        for one in trace.definitions.comms:
            group = getattr(one, "group", None)
            if group and name(group.group_type) == "COMM_SELF":
                communicators[key(one)] = SELF
            elif group and group.members:
                communicators[key(one)] = [ranks[location] for location in group.members]
        events = [[] for _ in ranks]
        elsewhere = 0
        for location, event in trace.events:
            if location not in ranks:
                elsewhere += 1
                continue
            kind = type(event).__name__
            plain = SimpleNamespace(kind=kind, time=event.time)
            if kind in ("Enter", "Leave"):
                plain.mpi = name(event.region.paradigm) == "MPI"
            elif kind.startswith("Mpi"):
                for field in ("receiver", "sender", "msg_tag", "msg_length", "request_id", "root", "size_sent", "size_received"):
                    if hasattr(event, field):
                        setattr(plain, field, getattr(event, field))
                if hasattr(event, "communicator"):
                    plain.communicator = key(event.communicator)
                if hasattr(event, "collective_op"):
                    plain.operation = name(event.collective_op).lower()
            else:
                continue
            events[ranks[location]].append(plain)
        return events, communicators, trace.timer_resolution, elsewhere


def sizes_of_all(events, communicators):
    """By communicator and the number of the operation in it: the bytes of each member, by place."""
    found = defaultdict(dict)
    for rank, own in enumerate(events):
        count = defaultdict(int)
        for event in own:
            if event.kind == "MpiCollectiveEnd" and communicators.get(event.communicator):
                members = communicators[event.communicator]
                kind = SAME.get(event.operation, event.operation)
                if kind in SIZES:
                    size = SIZES[kind](event.size_sent, event.size_received, len(members))
                    found[event.communicator, count[event.communicator]][members.index(rank)] = size
                    count[event.communicator] += 1
    return found


class Converter:
    """Makes a schedule of events."""

    def __init__(self, events, communicators, resolution):
        self.events, self.communicators = events, communicators
        self.tags, self.report = Tags(), Report()
        self.sizes = sizes_of_all(events, communicators)
        self.ns = lambda ticks: round(ticks * 1e9 / resolution)

    def members(self, event, rank):
        """Who is in the communicator of an event; None if that is not said."""
        if event.communicator in self.communicators:
            return self.communicators[event.communicator] or [rank]
        return None

    def partner(self, event, rank, place):
        members = self.members(event, rank)
        if members is None or place >= len(members):
            raise SystemExit(f"rank {rank}: a message to or from {place} in a communicator that has not so many ranks")
        return members[place]

    def ranks(self):
        return [self.rank(number) for number in range(len(self.events))]

    def rank(self, number):
        rank, depth, left, requests = Rank(number), 0, None, {}
        done = defaultdict(int)
        # A receive in the background says who sent it when it is over.
        over = {one.request_id: one for one in self.events[number] if one.kind == "MpiIrecv"}
        for event in self.events[number]:
            if event.kind == "Enter" and event.mpi:
                if depth == 0 and left is not None:
                    rank.compute(self.ns(event.time - left))
                depth += 1
            elif event.kind == "Leave" and event.mpi:
                depth -= 1
                left = event.time
            elif event.kind in ("MpiSend", "MpiIsend"):
                to = self.partner(event, number, event.receiver)
                tag = self.tags.message(event.communicator, event.msg_tag)
                label = rank.send(event.msg_length, to, tag, background=event.kind == "MpiIsend")
                if event.kind == "MpiIsend":
                    requests[event.request_id] = label
                self.report.written["sends"] += 1
            elif event.kind == "MpiRecv":
                self.receive(rank, event, False)
            elif event.kind == "MpiIrecvRequest":
                if event.request_id in over:
                    requests[event.request_id] = self.receive(rank, over[event.request_id], True)
                else:
                    self.report.left_out["receives in the background", "they are never over"] += 1
            elif event.kind in ("MpiIsendComplete", "MpiIrecv"):
                if event.request_id in requests:
                    rank.wait(requests.pop(event.request_id))
            elif event.kind == "MpiCollectiveEnd":
                self.collective(rank, event, done)
        return rank

    def receive(self, rank, event, background):
        source = self.partner(event, rank.number, event.sender)
        tag = self.tags.message(event.communicator, event.msg_tag)
        self.report.written["receives"] += 1
        return rank.receive(event.msg_length, source, tag, background)

    def collective(self, rank, event, done):
        kind = SAME.get(event.operation, event.operation)
        members = self.members(event, rank.number)
        if members == [rank.number]:
            self.report.left_out[f"parts in {kind}", "they are of a single rank"] += 1
            return
        if members is None:
            self.report.left_out[f"parts in {kind}", "it is not said who is in the communicator"] += 1
            return
        if kind not in SIZES:
            self.report.left_out[f"parts in {kind}", "no collective operation with messages"] += 1
            return
        if event.operation in ("alltoallv", "alltoallw"):
            self.report.written["parts in alltoallv with the mean of their sizes: those of pairs are not recorded"] += 1
        all = self.sizes[event.communicator, done[event.communicator]]
        done[event.communicator] += 1
        if len(all) < len(members):
            raise SystemExit(f"rank {rank.number}: not all tasks take part in a {kind}: the trace is not complete")
        root = event.root if isinstance(event.root, int) and event.root < len(members) else 0
        # The root's own size may not be said; all others have the same.
        sizes = [all[place] for place in range(len(members))]
        size = max(sizes)
        tag = self.tags.collective(rank.number, event.communicator)
        rank.collective(kind, members, root, size, tag, sizes if kind in DIFFERENT else None)
        self.report.written[f"parts in {kind}"] += 1


def main(source, target):
    import otf2

    events, communicators, resolution, elsewhere = read(source, otf2)
    converter = Converter(events, communicators, resolution)
    ranks = converter.ranks()
    if elsewhere:
        converter.report.left_out["events", "they are of threads without a rank"] = elsewhere
    with open(target, "w") as out:
        write(ranks, out)
    print(converter.report, file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
