#!/usr/bin/env python3
"""Converts DUMPI traces (SST) to GOAL text: python3 dumpi_to_goal.py out.goal dumpi-0000.txt dumpi-0001.txt …

The texts are what `dumpi2ascii` writes, one for each rank, in their order. A rank computes between calls, for as long as the trace says.
Of communicators other than MPI_COMM_WORLD a trace does not say who is in them: what is done in them is left out, and listed on standard
error with all else that is.
"""

import re
import sys

from goal_schedule import Rank, Report, Tags, write

ENTER = re.compile(r"(MPIO?_\w+) entering at walltime ([\d.]+)")
LEAVE = re.compile(r"(MPIO?_\w+) returning at walltime ([\d.]+)")
ARGUMENT = re.compile(r"[\w* ]+?(\w+)(?:\[\d+\])?=(.*)")

# Bytes of predefined types, by name (64-bit Linux).
TYPES = {
    "CHAR": 1, "SIGNED_CHAR": 1, "UNSIGNED_CHAR": 1, "BYTE": 1, "WCHAR": 4, "SHORT": 2, "UNSIGNED_SHORT": 2, "INT": 4, "UNSIGNED": 4,
    "LONG": 8, "UNSIGNED_LONG": 8, "FLOAT": 4, "DOUBLE": 8, "LONG_DOUBLE": 16, "LONG_LONG_INT": 8, "LONG_LONG": 8,
    "UNSIGNED_LONG_LONG": 8, "COMPLEX": 8, "DOUBLE_COMPLEX": 16, "LOGICAL": 4, "REAL": 4, "DOUBLE_PRECISION": 8, "INTEGER": 4,
    "2INTEGER": 8, "2REAL": 8, "2DOUBLE_PRECISION": 16, "CHARACTER": 1, "PACKED": 1, "FLOAT_INT": 8, "DOUBLE_INT": 16, "LONG_INT": 16,
    "SHORT_INT": 8, "2INT": 8, "LONG_DOUBLE_INT": 32, "INTEGER1": 1, "INTEGER2": 2, "INTEGER4": 4, "INTEGER8": 8, "REAL4": 4, "REAL8": 8,
}
WORLD = "MPI_COMM_WORLD"
ANY_SOURCE, PROC_NULL, ANY_TAG = "MPI_ANY_SOURCE", "MPI_PROC_NULL", "MPI_ANY_TAG"
SENDS = ("MPI_Send", "MPI_Bsend", "MPI_Ssend", "MPI_Rsend", "MPI_Isend", "MPI_Ibsend", "MPI_Issend", "MPI_Irsend")
WAITS = ("MPI_Wait", "MPI_Waitall", "MPI_Waitany", "MPI_Waitsome")
TESTS = ("MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome", "MPI_Probe", "MPI_Iprobe")
LOCAL = re.compile(r"MPI_(Init|Finalize|Comm_(rank|size)|Type_|Op_|Get_|Address|Group_|Attr_|Keyval_|Err|Cart_(get|rank|coords|shift)|Dims|Wti)")


def calls(path):
    """The calls of a rank: name, when it began and ended (ns), and its arguments as text."""
    with open(path) as file:
        name, begin, arguments = None, 0, {}
        for number, line in enumerate(file, 1):
            line = line.strip()
            if enter := ENTER.match(line):
                if name:
                    raise SystemExit(f"{path}:{number}: {enter[1]} begins within {name}: the trace is not complete")
                name, begin, arguments = enter[1], nanoseconds(enter[2]), {}
            elif leave := LEAVE.match(line):
                if leave[1] != name:
                    raise SystemExit(f"{path}:{number}: {leave[1]} ends, which did not begin")
                yield number, name, begin, nanoseconds(leave[2]), arguments
                name = None
            elif name and (argument := ARGUMENT.match(line)):
                arguments.setdefault(argument[1], argument[2])
        if name:
            raise SystemExit(f"{path}: the text ends within {name}: it is not complete")


def nanoseconds(seconds):
    whole, _, parts = seconds.partition(".")
    return int(whole) * 10**9 + int(parts[:9].ljust(9, "0"))


def number(text):
    return int(re.match(r"-?\d+", text)[0])


def numbers(text):
    return [int(one) for one in re.findall(r"-?\d+", text)]


def name_of(text):
    """The name in `9 (MPI_INT)`."""
    name = re.search(r"\(([\w-]+)\)", text)
    return name[1] if name else text


class Converter:
    """Makes a schedule of the texts of all ranks."""

    def __init__(self, paths):
        self.paths, self.world = paths, list(range(len(paths)))
        self.tags, self.report = Tags(), Report()

    def ranks(self):
        return [self.rank(number, path) for number, path in enumerate(self.paths)]

    def rank(self, own, path):
        rank, then, requests = Rank(own), None, {}
        finalized = False
        for line, name, begin, end, arguments in calls(path):
            if then is not None:
                rank.compute(begin - then)
            then = end
            try:
                self.call(rank, name, arguments, requests)
            except (KeyError, TypeError, IndexError) as what:
                raise SystemExit(f"{path}:{line}: the arguments of {name} cannot be read: {what!r}") from None
            finalized |= name == "MPI_Finalize"
        if not finalized:
            raise SystemExit(f"{path}: it does not end with MPI_Finalize: the trace is not complete")
        return rank

    def leave_out(self, name, why):
        self.report.left_out[name, why] += 1

    def size(self, arguments, count="count", type="datatype"):
        name = name_of(arguments[type]).removeprefix("MPI_")
        if name not in TYPES:
            self.leave_out("sizes of types", f"the trace does not say how long {name} is: 1 byte")
        return number(arguments[count]) * TYPES.get(name, 1)

    def each(self, arguments, counts, type):
        name = name_of(arguments[type]).removeprefix("MPI_")
        return [count * TYPES.get(name, 1) for count in numbers(arguments[counts].split("=")[-1])]

    def call(self, rank, name, arguments, requests):
        if LOCAL.match(name):
            return
        if name in WAITS:
            listed = arguments.get("request") or arguments.get("requests") or ""
            if name in ("MPI_Waitany", "MPI_Waitsome"):
                self.leave_out("waits for any", "the trace does not say which were over")
                return
            for request in numbers(listed):
                if request in requests:
                    rank.wait(requests.pop(request))
            return
        if name in TESTS:
            self.leave_out("tests and probes", "what they look for is over at the next wait")
            return
        if name_of(arguments.get("comm", WORLD)) != WORLD:
            self.leave_out(name, "the trace does not say who is in its communicator")
            return
        if name in SENDS or name in ("MPI_Recv", "MPI_Irecv"):
            self.message(rank, name, arguments, requests)
        elif name == "MPI_Sendrecv":
            one = lambda way, type: {
                "count": arguments[way + "count"], "datatype": arguments[way + "type"], "tag": arguments[way + "tag"],
                "dest": arguments["dest"], "source": arguments["source"],
            }
            receive = self.message(rank, "MPI_Irecv", one("recv", 0), {})
            send = self.message(rank, "MPI_Isend", one("send", 0), {})
            for label in (receive, send):
                if label:
                    rank.wait(label)
        else:
            self.collective(rank, name, arguments)

    def message(self, rank, name, arguments, requests):
        receives = name.endswith("ecv")
        partner = arguments["source" if receives else "dest"]
        if name_of(partner) == PROC_NULL:
            self.leave_out("messages", "they are with MPI_PROC_NULL")
            return None
        tag = -1 if name_of(arguments["tag"]) == ANY_TAG else self.tags.message(WORLD, number(arguments["tag"]))
        peer = -1 if name_of(partner) == ANY_SOURCE else number(partner)
        background = name.startswith("MPI_I")
        make = rank.receive if receives else rank.send
        label = make(self.size(arguments), peer, tag, background)
        self.report.written["receives" if receives else "sends"] += 1
        if background and "request" in arguments:
            requests[numbers(arguments["request"])[0]] = label
        return label

    def collective(self, rank, name, arguments):
        kind = name.removeprefix("MPI_").lower()
        root = number(arguments["root"]) if "root" in arguments else 0
        size, sizes = 0, None
        if kind in ("bcast", "reduce", "allreduce", "scan", "exscan"):
            size = self.size(arguments)
        elif kind in ("gather", "allgather", "alltoall"):
            size = self.size(arguments, "sendcount", "sendtype")
        elif kind == "scatter":
            size = self.size(arguments, "recvcount", "recvtype")
        elif kind in ("allgatherv",):
            sizes = self.each(arguments, "recvcounts", "recvtype")
        elif kind == "reduce_scatter":
            sizes = self.each(arguments, "recvcounts", "datatype")
        elif kind == "alltoallv":
            sizes = self.each(arguments, "sendcounts", "sendtype"), self.each(arguments, "recvcounts", "recvtype")
        elif kind == "gatherv":
            own = self.size(arguments, "sendcount", "sendtype")
            sizes = self.each(arguments, "recvcounts", "recvtype") if rank.number == root else [own] * len(self.world)
        elif kind == "scatterv":
            own = self.size(arguments, "recvcount", "recvtype")
            sizes = self.each(arguments, "sendcounts", "sendtype") if rank.number == root else [own] * len(self.world)
        elif kind != "barrier":
            self.leave_out(name, "this is no call that is converted")
            return
        kind = "scan" if kind == "exscan" else kind
        rank.collective(kind, self.world, root, size, self.tags.collective(rank.number, WORLD), sizes)
        self.report.written[f"parts in {kind}"] += 1


def main(target, *paths):
    converter = Converter(paths)
    ranks = converter.ranks()
    with open(target, "w") as out:
        write(ranks, out)
    print(converter.report, file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
