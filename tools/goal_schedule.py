"""Writes what MPI processes did as GOAL text, which weir replays (`trace = { format = "goal", … }`).

The converters `otf2_to_goal.py` and `dumpi_to_goal.py` say what each process did, call after call; this module keeps the order, and
makes messages of collective operations, which GOAL has not: binomial trees (bcast, reduce), recursive doubling or dissemination
(allreduce, barrier), rings (allgather), shifts (alltoall, reduce-scatter), direct messages (gather, scatter) and a chain (scan).
"""

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


def write(ranks, out):
    """Writes the schedule of all ranks to a file."""
    out.write(f"num_ranks {len(ranks)}\n")
    for rank in ranks:
        out.write(f"\nrank {rank.number} {{\n")
        for line in rank.lines:
            out.write(line + "\n")
        out.write("}\n")


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
    """What a trace holds and what of it is not in the schedule: printed at the end, so that nothing is lost without a word."""

    def __init__(self):
        self.written = Counter()
        self.left_out = Counter()

    def __str__(self):
        lines = [f"{count} {name}" for name, count in sorted(self.written.items())]
        lines += [f"{count} {name} (left out: {why})" for (name, why), count in sorted(self.left_out.items())]
        return "\n".join(lines)


class Tags:
    """Tags by communicator. GOAL's have 32 bits; a task is sent at most 65,536 different ones."""

    def __init__(self):
        self.communicators = {}
        self.counts = Counter()

    def number(self, communicator):
        return self.communicators.setdefault(communicator, len(self.communicators))

    def message(self, communicator, tag):
        number = self.number(communicator)
        if tag >= 1 << 23 or number >= 1 << 8:
            raise SystemExit(f"tag {tag} of communicator {number} does not fit into 31 bits")
        return number << 23 | tag

    def collective(self, rank, communicator):
        """The tag of the next operation of a rank in a communicator."""
        number, key = self.number(communicator), (rank, communicator)
        self.counts[key] += 1
        return COLLECTIVE_TAG + number * TAGS_OF_A_COMMUNICATOR + self.counts[key] % TAGS_OF_A_COMMUNICATOR
