#!/usr/bin/env python3
"""Converts DUMPI traces (SST) to GOAL text.

    python3 dumpi_to_goal.py out.goal dumpi-0000.txt dumpi-0001.txt …

The texts are those of `dumpi2ascii -a`, one for each rank, in the order of the ranks. (Without
`-a` they do not say how long types are.) A rank computes between calls, for as long as the trace
says. Losses and their reasons go to standard error and to the head of the schedule, and weir takes
them into its results.
"""

import os
import re
import sys

from dumpi_groups import Rank as Communicators
from dumpi_groups import Resolver, Unknown, makes
from dumpi_text import Text, Types, Wrong
from goal_schedule import Rank, Report, Tags, save

ANY, ROOT = -1, -2
SENDS = (
    "MPI_Send",
    "MPI_Bsend",
    "MPI_Ssend",
    "MPI_Rsend",
    "MPI_Isend",
    "MPI_Ibsend",
    "MPI_Issend",
    "MPI_Irsend",
)
PERSISTENT = {
    "MPI_Send_init": "MPI_Isend",
    "MPI_Bsend_init": "MPI_Ibsend",
    "MPI_Ssend_init": "MPI_Issend",
    "MPI_Rsend_init": "MPI_Irsend",
    "MPI_Recv_init": "MPI_Irecv",
}
# Counts and types whose product is what a call is about, for calls that are left out.
AMOUNTS = (
    ("count", "datatype"),
    ("sendcount", "sendtype"),
    ("recvcount", "recvtype"),
    ("origincount", "origintype"),
)
LOCAL = re.compile(
    r"MPI_(Init|Init_thread|Initialized|Finalized?|Query_thread|Is_thread_main|Abort|Request_free"
    r"|Status_\w+|Buffer_\w+|Pack\w*|Unpack\w*|Type_\w+|Op_\w+|Get_\w+|Address|Group_\w+|Attr_\w+"
    r"|Comm_(rank|size|group|free|compare|test_inter|remote_\w+|get_\w+|set_\w+)"
    r"|Comm_\w*(keyval|attr|errhandler)|Keyval_\w+|Err\w*|Info_\w+"
    r"|Cart(_get|_rank|_coords|_shift|_map|dim_get)|Graph(_get|_map|_neighbors\w*|dims_get)"
    r"|Topo_test|Dims_create|Wtime|Wtick|Alloc_mem|Free_mem|Test_cancelled)$"
)
NEVER_OVER = "the receive that follows waits in its place"
OTHERS = "it is not converted"


def pending(call):
    """The requests that are over after a wait or a test, as the trace says it."""
    name, arguments = call.name.removeprefix("MPI_"), call.arguments
    requests = call.numbers("request") if "request" in arguments else call.numbers("requests")
    if name in ("Wait", "Waitall"):
        return requests
    if name.startswith("Test") and name != "Testsome" and not call.number("flag"):
        return []
    if name in ("Test", "Testall"):
        return requests
    places = [call.number("index")] if name in ("Waitany", "Testany") else call.numbers("indices")
    # The index is no place if nothing was open.
    return [requests[place] for place in places if 0 <= place < len(requests)]


WAITS = ("Wait", "Waitall", "Waitany", "Waitsome", "Test", "Testall", "Testany", "Testsome")
WAITS = tuple(f"MPI_{name}" for name in WAITS)


class Process:
    """A rank, as its calls are read."""

    def __init__(self, world, own, types, made):
        self.rank, self.types = Rank(own), types
        self.communicators, self.made = Communicators(world, own), iter(made)
        # Labels of operations in the background, and persistent operations, by request.
        self.requests, self.persistent = {}, {}
        self.then, self.finalized = None, False


class Converter:
    """Makes a schedule of the texts of all ranks."""

    def __init__(self, paths):
        self.paths, self.world = paths, list(range(len(paths)))
        self.tags, self.report = Tags(), Report()
        self.tags.number("world")

    def ranks(self):
        """Reads each text twice: what makes communicators first, since that needs all ranks."""
        texts = [Text(path) for path in self.paths]
        made = [
            [call for call in self.first_look(own, text) if makes(call)]
            for own, text in enumerate(texts)
        ]
        made = Resolver(self.paths, made).resolve()
        return [self.convert(own, text, made[own]) for own, text in enumerate(texts)]

    def first_look(self, own, text):
        """The calls of a rank, which have to be those of this one."""
        seen = {}
        for call in text.calls():
            seen[call.name] = seen.get(call.name, 0) + 1
            for name, what, expected in (
                ("MPI_Comm_rank", "rank", own),
                ("MPI_Comm_size", "size", len(self.world)),
            ):
                said = call.arguments.get(what)
                if (
                    call.name == name
                    and "MPI_COMM_WORLD" in call.arguments.get("comm", "")
                    and said != str(expected)
                ):
                    text.refuse(
                        call.line,
                        f"MPI_COMM_WORLD has {what} {said}, and the text is that of rank {own} "
                        f"among {len(self.world)}: give the texts of all ranks in their order",
                    )
            yield call
        for name, ignored in text.ignored.items():
            if ignored and name != "MPI_ALL_FUNCTIONS":
                self.report.leave_out(
                    name, "DUMPI was told not to record them", count=ignored, place=text.path
                )
        for name, called in text.called.items():
            missing = called - text.ignored[name] - seen.get(name, 0)
            if missing > 0 and name != "MPI_ALL_FUNCTIONS":
                self.report.leave_out(
                    name,
                    "the text ends with more of them than it has",
                    count=missing,
                    place=text.path,
                )
        first, count = text.garbled
        if count:
            self.report.leave_out(
                "names", "they are no UTF-8", count=count, place=f"{text.path}:{first}"
            )

    def convert(self, own, text, made):
        process = Process(self.world, own, Types(text.sizes), made)
        for call in text.calls():
            place = f"{text.path}:{call.line}"
            self.clock(process, call, place)
            if call.thread:
                self.report.write("calls of further threads as if of the first one")
            try:
                self.call(process, call, place)
            except Wrong as what:
                text.refuse(call.line, f"{call.name}: {what}")
            process.finalized |= call.name == "MPI_Finalize"
        if not process.finalized:
            raise SystemExit(
                f"{text.path}: it does not end with MPI_Finalize: the trace is not complete"
            )
        return process.rank

    def clock(self, process, call, place):
        """The time since the call before is computation."""
        why = "the clock runs backwards there, and no time is taken"
        if process.then is not None:
            process.rank.compute(call.begin - process.then)
            if call.begin < process.then:
                self.report.leave_out("computations", why, place=place)
        if call.end < call.begin:
            self.report.leave_out("times of calls", why, place=place)
        process.then = call.end

    def call(self, process, call, place):
        name = call.name
        if name.startswith("MPI_Type_"):
            process.types.take(call)
        elif makes(call):
            self.make(process, call, place)
        elif LOCAL.match(name):
            return
        elif name in WAITS:
            for request in pending(call):
                if request in process.requests:
                    process.rank.wait(process.requests.pop(request))
        elif name == "MPI_Cancel":
            self.cancel(process, call, place)
        elif name in ("MPI_Probe", "MPI_Iprobe"):
            self.leave_out(process, call, NEVER_OVER, place)
        elif name == "MPI_Start":
            self.start(process, call, call.numbers("request"), place)
        elif name == "MPI_Startall":
            self.start(process, call, call.numbers("requests"), place)
        elif "comm" not in call.arguments:
            self.leave_out(process, call, OTHERS, place)
        else:
            self.communicate(process, call, place)

    def cancel(self, process, call, place):
        """Takes a receive back, as if it had never been posted. Sends have left."""
        label = process.requests.get(call.numbers("request")[0])
        words = process.rank.drop(label) if label else None
        if words is None:
            self.leave_out(process, call, "it cancels no receive", place)
            return
        size = int(re.match(r"recv (\d+)b", words)[1])
        self.report.take_back("receives", size)
        self.report.leave_out("cancelled receives", "they are taken to have got no message", size, place)

    def leave_out(self, process, call, why, place):
        """Counts a call that is left out, with its bytes as far as the text says them."""
        size = 0
        for count, kind in AMOUNTS:
            if count in call.arguments and kind in call.arguments:
                size = max(size, call.count(count) * (process.types.of(call, kind) or 0))
        self.report.leave_out(call.name, why, size, place)

    def make(self, process, call, place):
        """Takes up a call that makes a communicator or a group."""
        if "newcomm" not in call.arguments:
            process.communicators.take_group(call)
            return
        process.communicators.handles[call.number("newcomm")] = next(process.made)
        self.report.leave_out(call.name, "what the library sends for it is not known", place=place)

    def start(self, process, call, requests, place):
        """Starts what can be started again."""
        for request in requests:
            if request not in process.persistent:
                self.leave_out(process, call, "what it starts is not known", place)
                continue
            name, started = process.persistent[request]
            self.message(process, name, started, place)

    def communicate(self, process, call, place):
        """A call in a communicator."""
        communicator = process.communicators.communicator(call)
        name = call.name
        if isinstance(communicator, Unknown):
            self.leave_out(process, call, communicator.why, place)
        elif name in PERSISTENT:
            process.persistent[call.numbers("request")[0]] = PERSISTENT[name], call
        elif name in SENDS or name in ("MPI_Recv", "MPI_Irecv"):
            self.message(process, name, call, place)
        elif name == "MPI_Sendrecv":
            self.both(process, call, place, ("recvcount", "recvtype"), ("sendcount", "sendtype"))
        elif name == "MPI_Sendrecv_replace":
            self.both(process, call, place, ("count", "datatype"), ("count", "datatype"))
        elif not self.collective(process, call, communicator):
            self.leave_out(process, call, OTHERS, place)

    def size(self, process, call, count, kind, place):
        """Bytes of some elements of a type."""
        return self.length(process, call, kind, place) * call.count(count)

    def length(self, process, call, kind, place):
        length = process.types.of(call, kind)
        if length is None:
            why = "the text lacks the size of this one: 1 byte is taken (see `dumpi2ascii -a`)"
            self.report.leave_out("sizes of types", why, place=place)
        return 1 if length is None else length

    def message(self, process, name, call, place, count="count", kind="datatype", tag="tag"):
        """A message; the label of the operation, or None if there is none."""
        communicator = process.communicators.communicator(call)
        receives = name.endswith("ecv")
        partner = call.number("source" if receives else "dest")
        if receives and partner == ANY:
            peer = ANY
        elif partner < 0:
            self.report.leave_out("messages", "they are with no rank (MPI_PROC_NULL)", place=place)
            return None
        elif partner < len(communicator.members):
            peer = communicator.members[partner]
        else:
            raise Wrong(f"there is no rank {partner} among {len(communicator.members)}")
        number = call.number(tag)
        if number < 0 and not (receives and number == ANY):
            raise Wrong(f"{tag}={number}: a tag is 0 or more")
        if number == ANY:
            self.report.write("receives of any tag that take messages of collectives too")
        else:
            number = self.tags.message(communicator.key, number)
        background = name.startswith("MPI_I")
        make = process.rank.receive if receives else process.rank.send
        size = self.size(process, call, count, kind, place)
        label = make(size, peer, number, background)
        self.report.write("receives" if receives else "sends", size)
        if background and "request" in call.arguments:
            process.requests[call.numbers("request")[0]] = label
        return label

    def both(self, process, call, place, received, sent):
        """A send and a receive at once."""
        labels = [
            self.message(process, "MPI_Irecv", call, place, *received, tag="recvtag"),
            self.message(process, "MPI_Isend", call, place, *sent, tag="sendtag"),
        ]
        for label in labels:
            if label:
                process.rank.wait(label)

    def collective(self, process, call, communicator):
        """A part in a collective operation. False if there is none of that name."""
        kind, own, members = (
            call.name.removeprefix("MPI_").lower(),
            process.rank.number,
            communicator.members,
        )
        if own not in members:
            raise Wrong("the rank is not in this communicator")
        root = call.number("root") if "root" in call.arguments else 0
        if not 0 <= root < len(members):
            raise Wrong(f"the root {root} is no rank among {len(members)}")
        sizes = self.sizes(process, call, kind, len(members), members[root] == own)
        if sizes is None:
            return False
        kind = "scan" if kind == "exscan" else kind
        tag = self.tags.collective(own, communicator.key)
        if isinstance(sizes, int):
            amount = sizes
            process.rank.collective(kind, members, root, sizes, tag)
        else:
            amount = sum(sizes[0]) if kind == "alltoallv" else sizes[members.index(own)]
            process.rank.collective(kind, members, root, 0, tag, sizes)
        self.report.write(f"parts in {kind}", amount)
        return True

    def sizes(self, process, call, kind, count, at_root):
        """Bytes of a part in an operation of `count` ranks, one number or one for each rank.

        None if there is no such operation.
        """
        place = f"{self.paths[process.rank.number]}:{call.line}"
        size = lambda number, of: self.size(process, call, number, of, place)

        def each(counts, of):
            length = self.length(process, call, of, place)
            return [number * length for number in call.counts(counts, count)]

        if kind == "barrier":
            return 0
        if kind in ("bcast", "reduce", "allreduce", "scan", "exscan"):
            return size("count", "datatype")
        if kind in ("gather", "scatter"):
            # With MPI_IN_PLACE the root says nothing of its own part, but of those of the others.
            sent = (kind == "scatter") == at_root
            return size("sendcount", "sendtype") if sent else size("recvcount", "recvtype")
        if kind in ("allgather", "alltoall"):
            # What is received is always said, what is sent only without MPI_IN_PLACE.
            return size("recvcount", "recvtype")
        if kind == "allgatherv":
            return each("recvcounts", "recvtype")
        if kind == "reduce_scatter":
            return each("recvcounts", "datatype")
        if kind == "alltoallv":
            return each("sendcounts", "sendtype"), each("recvcounts", "recvtype")
        if kind == "gatherv":
            return (
                each("recvcounts", "recvtype")
                if at_root
                else [size("sendcount", "sendtype")] * count
            )
        if kind == "scatterv":
            return (
                each("sendcounts", "sendtype")
                if at_root
                else [size("recvcount", "recvtype")] * count
            )
        return None


def check_order(paths):
    """Refuses texts whose names say that some are missing, or in another order."""
    numbers = [re.findall(r"\d+", os.path.basename(path).rsplit(".", 1)[0])[-1:] for path in paths]
    numbers = [int(found[0]) for found in numbers if found]
    if len(set(numbers)) < len(paths) or len(paths) == 1:
        return
    for rank, number in enumerate(numbers):
        if rank != number - min(numbers):
            raise SystemExit(
                f"{paths[rank]}: it stands where rank {rank} should: "
                "give the texts of all ranks in their order"
            )


def main(target, *paths):
    check_order(paths)
    converter = Converter(paths)
    save(converter.ranks(), converter.report, target)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
