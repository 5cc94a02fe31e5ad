"""Writes what MPI processes did as GOAL text, which weir replays (`trace = { format = "goal", … }`).

The converters `otf2_to_goal.py` and `dumpi_to_goal.py` say what each process did, call after call; this module keeps the order, and
makes messages of collective operations, which GOAL has not: binomial trees (bcast, reduce), recursive doubling or dissemination
(allreduce, barrier), rings (allgather), shifts (alltoall, reduce-scatter), direct messages (gather, scatter) and a chain (scan).
"""

import re
import sys
from collections import Counter

# Tags of collective operations are above those of messages. Operations follow each other in order, so that few tags are enough.
COLLECTIVE_TAG = 1 << 31
TAGS_OF_A_COMMUNICATOR = 64

PLAIN = ("barrier", "bcast", "reduce", "allreduce", "allgather", "reduce_scatter", "alltoall", "gather", "scatter", "scan")


class Rank:
    """The operations of a rank. A call begins when the one before is over, or has begun if it goes on in the background."""

    def __init__(self, number):
        self.number = number
        self.lines = []
        self.before = []  # (label, whether its start is enough)
        self.next = 0

    def _add(self, words, after):
        label = f"l{self.next}"
        self.next += 1
        self.lines.append(f"{label}: {words}")
        for other, start in after:
            self.lines.append(f"{label} {'irequires' if start else 'requires'} {other}")
        return label

    def _call(self, words, background=False):
        label = self._add(words, self.before)
        self.before = [(label, background)]
        return label

    def compute(self, ns):
        if ns > 0:
            self._call(f"calc {ns}")

    def send(self, size, to, tag, background=False):
        return self._call(f"send {size}b to {to} tag {tag}", background)

    def receive(self, size, source, tag, background=False):
        return self._call(f"recv {size}b from {source} tag {tag}", background)

    def drop(self, label):
        """Takes an operation back; what waits for it goes on. Its words, or None if it is no receive."""
        lines = range(len(self.lines) - 1, -1, -1)
        at = next(at for at in lines if self.lines[at].startswith(f"{label}: "))
        words = self.lines[at].partition(": ")[2]
        if not words.startswith("recv "):
            return None
        self.lines[at] = f"{label}: calc 0"
        return words

    def wait(self, label):
        self.before.append((label, False))

    def collective(self, kind, members, root, size, tag, sizes=None):
        """Takes part in an operation of `members`. `size`: bytes of each task (of each pair for an alltoall); `sizes`: bytes of each task
        where they differ, in the order of the members (of an alltoall: what this task sends, and what it receives)."""
        steps = collective(kind, members.index(self.number), len(members), root, size, sizes)
        for sends, receives in steps:
            # All of a step begin together, and the next one when they are over.
            after, labels = self.before, []
            for place, bytes in receives:
                labels.append(self._add(f"recv {bytes}b from {members[place]} tag {tag}", after))
            for place, bytes in sends:
                labels.append(self._add(f"send {bytes}b to {members[place]} tag {tag}", after))
            if labels:
                self.before = [(label, False) for label in labels]


def write(ranks, report, out):
    """Writes the schedule of all ranks to a file; what it lacks stands at its head."""
    for line in report.head():
        out.write(f"// coverage: {line}\n")
    out.write(f"num_ranks {len(ranks)}\n")
    for rank in ranks:
        out.write(f"\nrank {rank.number} {{\n")
        for line in rank.lines:
            out.write(line + "\n")
        out.write("}\n")


def save(ranks, report, target):
    """Writes a schedule to a file of this name, and what it lacks to standard error."""
    try:
        with open(target, "w") as out:
            write(ranks, report, out)
    except OSError as why:
        raise SystemExit(f"{target}: it cannot be written: {why.strerror}") from None
    print(report, file=sys.stderr)


def collective(kind, me, count, root, size, sizes=None):
    """The steps of the task at place `me` of `count`: for each the messages it sends and receives, as (place, bytes)."""
    if count < 2:
        return
    own = (lambda place: sizes[place]) if sizes and kind not in ("alltoall", "alltoallv") else (lambda place: size)
    after = lambda places: (me + places) % count
    if kind == "barrier":
        away = 1
        while away < count:
            yield [(after(away), 0)], [(after(-away), 0)]
            away *= 2
    elif kind in ("bcast", "reduce"):
        yield from tree(kind, me, count, root, size)
    elif kind == "allreduce":
        yield from allreduce(me, count, size)
    elif kind in ("allgather", "allgatherv"):
        for step in range(count - 1):
            yield [(after(1), own(after(-step)))], [(after(-1), own(after(-step - 1)))]
    elif kind in ("alltoall", "reduce_scatter"):
        for step in range(1, count):
            yield [(after(step), own(after(step)))], [(after(-step), own(me))]
    elif kind == "alltoallv":
        sends, receives = sizes
        for step in range(1, count):
            yield [(after(step), sends[after(step)])], [(after(-step), receives[after(-step)])]
    elif kind in ("gather", "gatherv", "scatter", "scatterv"):
        others = [(place, own(place)) for place in range(count) if place != root]
        mine = [(root, own(me))]
        inwards = kind.startswith("gather")
        if me == root:
            yield ([], others) if inwards else (others, [])
        else:
            yield (mine, []) if inwards else ([], mine)
    elif kind == "scan":
        if me > 0:
            yield [], [(me - 1, size)]
        if me + 1 < count:
            yield [(me + 1, size)], []
    else:
        raise ValueError(f"{kind} is no collective operation")


def tree(kind, me, count, root, size):
    """A binomial tree, down from the root or up to it."""
    number = (me - root) % count
    place = lambda number: (number + root) % count
    low = number & -number if number else 1 << count.bit_length()
    children = [place(number + bit) for bit in bits(low) if number + bit < count]
    parent = [(place(number - low), size)] if number else []
    if kind == "bcast":
        yield [], parent
        yield [(child, size) for child in children], []
    else:
        yield [], [(child, size) for child in children]
        yield parent, []


def bits(limit):
    """The powers of two below a limit, from the highest."""
    bit = limit >> 1
    while bit:
        yield bit
        bit >>= 1


def allreduce(me, count, size):
    """Recursive doubling among a power of two of tasks; each of the others gives its part to one of those and hears of the result."""
    power = 1 << (count.bit_length() - 1)
    rest = count - power
    if me >= power:
        yield [(me - power, size)], []
    elif me < rest:
        yield [], [(me + power, size)]
    if me < power:
        bit = 1
        while bit < power:
            yield [(me ^ bit, size)], [(me ^ bit, size)]
            bit *= 2
    if me >= power:
        yield [], [(me - power, size)]
    elif me < rest:
        yield [(me + power, size)], []


class Report:
    """The content of a trace, and the part of it that is not in the schedule.

    It is printed at the end, and is the head of the schedule: weir has it in its results.
    """

    # Lines of the head, letters of a kind and of a reason: weir reads no more.
    MOST, KIND, WHY = 100, 80, 200
    # Those that weir counts itself.
    COUNTED = ("sends", "receives", "computations")

    def __init__(self):
        # By name, and why: how many, how many bytes in all, and where the first is.
        self.written, self.left_out = {}, {}

    def write(self, name, size=0):
        """One more of this name, with its bytes, is in the schedule."""
        row = self.written.setdefault(name, [0, 0])
        row[0] += 1
        row[1] += size

    def take_back(self, name, size):
        """One of these, which was told before, is not in the schedule."""
        self.written[name][0] -= 1
        self.written[name][1] -= size

    def leave_out(self, name, why, size=0, place="", count=1):
        """Calls with these bytes in all are left out; `place` is that of the first."""
        row = self.left_out.setdefault((name, why), [0, 0, place])
        row[0] += count
        row[1] += size

    @staticmethod
    def row(count, name, size=0, why=""):
        row = f"{count} {name}"
        if size:
            row += f" of {size} bytes"
        return f"{row} ignored: {why}" if why else row

    def head(self):
        """The lines of the head, those with the most calls first."""
        written = sorted(self.written.items())
        plain = [(name, row) for name, row in written if name not in self.COUNTED]
        lost = sorted(self.left_out.items(), key=lambda one: (-one[1][0], one[0]))
        rows = [self.row(count, self.kind(name), size) for name, (count, size) in plain]
        room = self.MOST - len(rows) - 1
        for (name, why), (count, size, _) in lost[:room]:
            why = " ".join("".join(c if c.isprintable() else " " for c in why).split())
            rows.append(self.row(count, self.kind(name), size, why[:self.WHY]))
        if rest := lost[room:]:
            count, size = (sum(one[1][at] for one in rest) for at in (0, 1))
            rows.append(self.row(count, "other calls", size, f"for {len(rest)} further reasons"))
        return rows

    @classmethod
    def kind(cls, name):
        return re.sub("[^A-Za-z0-9 _-]", "_", name)[:cls.KIND].strip()

    def __str__(self):
        written = sorted(self.written.items())
        lines = [self.row(count, name, size) for name, (count, size) in written]
        for (name, why), (count, size, place) in sorted(self.left_out.items()):
            first = f" (first: {place})" if place else ""
            lines.append(self.row(count, name, size, why) + first)
        return "\n".join(lines)


class Tags:
    """Tags by communicator. GOAL's have 32 bits; a task is sent at most 65,536 different ones."""

    # Tags of the first communicator stay as they are, if they are below this.
    PLAIN = 1 << 23

    def __init__(self):
        self.communicators = {}
        self.others = {}
        self.counts = Counter()

    def number(self, communicator):
        return self.communicators.setdefault(communicator, len(self.communicators))

    def message(self, communicator, tag):
        number = self.number(communicator)
        if number == 0 and tag < self.PLAIN:
            return tag
        return self.PLAIN + self.others.setdefault((number, tag), len(self.others))

    def collective(self, rank, communicator):
        """The tag of the next operation of a rank in a communicator."""
        number, key = self.number(communicator), (rank, communicator)
        self.counts[key] += 1
        return COLLECTIVE_TAG + number * TAGS_OF_A_COMMUNICATOR + self.counts[key] % TAGS_OF_A_COMMUNICATOR
