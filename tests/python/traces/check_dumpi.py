"""Checks tools/dumpi_to_goal.py on texts as of `dumpi2ascii`. `check_tools.py` calls it."""

import contextlib
import io
import os
import re
from collections import Counter

import dumpi_to_goal  # `check_tools.py` has put it on the path.

WORLD = "MPI_Comm comm=2 (MPI_COMM_WORLD)"
DOUBLE = "MPI_Datatype datatype=14 (MPI_DOUBLE)"
END = "cputime 0.000000000 seconds in thread 0."


def run(*arguments):
    """Why the converter refuses, if it does, and its standard error."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            dumpi_to_goal.main(*arguments)
    except SystemExit as why:
        return str(why), ""
    return None, said.getvalue()


class Texts:
    """Texts of several ranks, each call 1 us after the one before."""

    def __init__(self, ranks):
        self.lines = [[] for _ in range(ranks)]
        self.now = [0] * ranks
        for rank in range(ranks):
            self.call(rank, "MPI_Init", "int argc=1")

    def at(self, rank):
        self.now[rank] += 1000
        return f"5.{self.now[rank]:09}"

    def call(self, rank, name, *arguments):
        begin, end = self.at(rank), self.at(rank)
        self.lines[rank] += [f"{name} entering at walltime {begin}, {END}", *arguments]
        self.lines[rank] += [f"{name} returning at walltime {end}, {END}"]

    def all(self, name, *arguments):
        for rank in range(len(self.lines)):
            self.call(rank, name, *arguments)

    def convert(self, folder, change=lambda rank, text: text, names="dumpi-{:04}.txt", behind=()):
        """The schedule by rank, what stands on standard error, and the head."""
        self.all("MPI_Finalize")
        paths = []
        for rank, lines in enumerate(self.lines):
            text = "\n".join([*lines, *behind]) + "\n"
            paths.append(os.path.join(folder, names.format(rank)))
            with open(paths[-1], "wb") as file:
                file.write(change(rank, text.encode()))
        goal = os.path.join(folder, "checked.goal")
        why, said = run(goal, *paths)
        if why:
            return None, why, []
        with open(goal) as file:
            text = file.read()
        head = [
            line.removeprefix("// coverage: ")
            for line in text.splitlines()
            if line.startswith("//")
        ]
        return text.split("\nrank ")[1:], said, head


def sent(schedule):
    """The messages of a schedule: from, to and bytes."""
    found = Counter()
    for rank, text in enumerate(schedule):
        found.update(
            (rank, int(to), int(size)) for size, to in re.findall(r"send (\d+)b to (\d+)", text)
        )
    return found


def pairs(schedule):
    return {(one, other) for one, other, _ in sent(schedule)}


def grid_calls(texts):
    """Six ranks: a split by parity in the opposite order, its copy, a group, and rows of a grid."""
    texts.all("MPI_Comm_group", WORLD, "MPI_Group group=3 (user-defined-group)")
    texts.all(
        "MPI_Group_incl",
        "MPI_Group group=3 (user-defined-group)",
        "int count=3",
        "int ranks[3]=[5, 0, 2]",
        "MPI_Group newgroup=4 (user-defined-group)",
    )
    texts.all(
        "MPI_Group_excl",
        "MPI_Group group=3 (user-defined-group)",
        "int count=2",
        "int ranks[2]=[0, 1]",
        "MPI_Group newgroup=5 (user-defined-group)",
    )
    texts.all(
        "MPI_Group_intersection",
        "MPI_Group group1=4 (user-defined-group)",
        "MPI_Group group2=5 (user-defined-group)",
        "MPI_Group newgroup=6 (user-defined-group)",
    )
    for rank in range(6):
        texts.call(
            rank,
            "MPI_Comm_split",
            "MPI_Comm oldcomm=2 (MPI_COMM_WORLD)",
            f"int color={rank % 2}",
            f"int key={-rank}",
            "MPI_Comm newcomm=4 (user-defined-comm)",
        )
        texts.call(
            rank,
            "MPI_Comm_dup",
            "MPI_Comm oldcomm=4 (user-defined-comm)",
            "MPI_Comm newcomm=5 (user-defined-comm)",
        )
        new = "6 (user-defined-comm)" if rank in (5, 2) else "1 (MPI_COMM_NULL)"
        texts.call(
            rank,
            "MPI_Comm_create",
            "MPI_Comm oldcomm=2 (MPI_COMM_WORLD)",
            "MPI_Group group=6 (user-defined-group)",
            f"MPI_Comm newcomm={new}",
        )
    texts.all(
        "MPI_Cart_create",
        "MPI_Comm oldcomm=2 (MPI_COMM_WORLD)",
        "int ndim=2",
        "int dims[2]=[2, 3]",
        "int periods[2]=[0, 0]",
        "int reorder=0",
        "MPI_Comm newcomm=7 (user-defined-comm)",
    )
    texts.all(
        "MPI_Cart_sub",
        "int ndim=2",
        "MPI_Comm oldcomm=7 (user-defined-comm)",
        "int remain_dims[2]=[0, 1]",
        "MPI_Comm newcomm=8 (user-defined-comm)",
    )


def check_communicators(folder):
    gather = lambda comm: (
        "MPI_Gather",
        "int sendcount=1",
        "MPI_Datatype sendtype=9 (MPI_INT)",
        "int recvcount=1",
        "MPI_Datatype recvtype=9 (MPI_INT)",
        "int root=0",
        f"MPI_Comm comm={comm} (user-defined-comm)",
    )
    # Places in keys' order: 4, 2, 0 and 5, 3, 1; in the group 5 and 2; in the rows 0 1 2 and 3 4 5.
    odd_even = {(2, 4), (0, 4), (3, 5), (1, 5)}
    for comm, expected in [
        (4, odd_even),
        (5, odd_even),
        (6, {(2, 5)}),
        (8, {(1, 0), (2, 0), (4, 3), (5, 3)}),
    ]:
        texts = Texts(6)
        grid_calls(texts)
        for rank in (5, 2) if comm == 6 else range(6):
            texts.call(rank, *gather(comm))
        schedule, said, head = texts.convert(folder)
        assert pairs(schedule) == expected, (comm, pairs(schedule))
        assert "parts in gather ignored" not in said and any(
            "MPI_Comm_split ignored" in line for line in head
        ), said
    # Partners are places in the communicator, whose tags are others than those of the world.
    texts = Texts(6)
    grid_calls(texts)
    for comm, kind in [(4, "user-defined-comm"), (2, "MPI_COMM_WORLD")]:
        texts.call(
            0,
            "MPI_Send",
            "int count=1",
            DOUBLE,
            "int dest=1",
            "int tag=3",
            f"MPI_Comm comm={comm} ({kind})",
        )
    schedule, _, _ = texts.convert(folder)
    assert sent(schedule) == Counter({(0, 2, 8): 1, (0, 1, 8): 1}), sent(schedule)
    tags = re.findall(r"send 8b to \d tag (\d+)", schedule[0])
    assert tags[1] == "3" and tags[0] != "3", tags


def check_unknown(folder):
    """Calls in communicators of which nobody tells who is in them are counted, with their bytes."""
    texts = Texts(2)
    texts.call(
        0,
        "MPI_Comm_split",
        "MPI_Comm oldcomm=2 (MPI_COMM_WORLD)",
        "int color=0",
        "int key=0",
        "MPI_Comm newcomm=4 (user-defined-comm)",
    )
    texts.call(
        0,
        "MPI_Intercomm_merge",
        "MPI_Comm comm=9 (user-defined-comm)",
        "MPI_Comm newcomm=5 (user-defined-comm)",
    )
    for comm in (4, 5, 6):
        texts.call(
            0, "MPI_Allreduce", "int count=3", DOUBLE, f"MPI_Comm comm={comm} (user-defined-comm)"
        )
    schedule, said, head = texts.convert(folder)
    for why in (
        "not all its ranks call the MPI_Comm_split",
        "MPI_Intercomm_merge, which made its communicator, is not converted",
        "nothing tells how its communicator was made",
    ):
        row = f"1 MPI_Allreduce of 24 bytes ignored: {why}"
        assert row in said and any(line.startswith(row) for line in head), (said, head)
    assert not sent(schedule)


def check_waits(folder):
    """The next computation waits for what a wait or a test has found complete, and no more."""
    some = "MPI_Request requests[2]=[7, 8]"
    for name, arguments, over in [
        ("MPI_Wait", ["MPI_Request request=[8]"], [8]),
        ("MPI_Waitall", [some], [7, 8]),
        ("MPI_Waitany", [some, "int index=1"], [8]),
        ("MPI_Waitany", [some, "int index=-32766"], []),
        ("MPI_Waitsome", [some, "int outcount=2", "int indices[2]=[1, 0]"], [7, 8]),
        ("MPI_Waitsome", [some, "int outcount=0", "int indices[0]=<IGNORED>"], []),
        ("MPI_Test", ["MPI_Request request=[7]", "int flag=1"], [7]),
        ("MPI_Test", ["MPI_Request request=[7]", "int flag=0"], []),
        ("MPI_Testany", [some, "int index=0", "int flag=1 (true)"], [7]),
        ("MPI_Testall", [some, "int flag=0"], []),
        ("MPI_Testsome", [some, "int outcount=1", "int indices[1]=[1]"], [8]),
    ]:
        texts = Texts(2)
        for request in (7, 8):
            texts.call(
                0,
                "MPI_Irecv",
                "int count=1",
                DOUBLE,
                "int source=1",
                f"int tag={request}",
                WORLD,
                f"MPI_Request request=[{request}]",
            )
        texts.call(0, name, *arguments)
        schedule, said, _ = texts.convert(folder)
        labels = {
            int(tag): label
            for label, tag in re.findall(r"(l\d+): recv 8b from 1 tag (\d)", schedule[0])
        }
        found = [
            tag
            for tag, label in labels.items()
            if re.search(rf"l\d+ requires {label}\n", schedule[0])
        ]
        assert sorted(found) == sorted(over), (name, arguments, found)
        assert "ignored" not in said, said
    texts = Texts(2)
    for rank, init, end in [
        (0, "MPI_Send_init", "int dest=1"),
        (1, "MPI_Recv_init", "int source=0"),
    ]:
        texts.call(
            rank, init, "int count=2", DOUBLE, end, "int tag=1", WORLD, "MPI_Request request=[4]"
        )
        for _ in range(3):
            texts.call(rank, "MPI_Start", "MPI_Request request=[4]")
            texts.call(rank, "MPI_Wait", "MPI_Request request=[4]")
    schedule, said, _ = texts.convert(folder)
    assert (
        sent(schedule) == Counter({(0, 1, 16): 3}) and schedule[1].count("recv 16b from 0") == 3
    ), schedule
    assert "ignored" not in said, said


def check_cancelled(folder):
    """A cancelled receive is left out and told of; a cancelled send has left."""
    texts = Texts(2)
    end = lambda peer: [f"int {peer}", "int tag=1", WORLD, "MPI_Request request=[4]"]
    texts.call(0, "MPI_Isend", "int count=2", DOUBLE, *end("dest=1"))
    texts.call(1, "MPI_Irecv", "int count=3", DOUBLE, *end("source=0"))
    texts.all("MPI_Cancel", "MPI_Request request=[4]")
    texts.all("MPI_Wait", "MPI_Request request=[4]")
    texts.call(1, "MPI_Recv", "int count=2", DOUBLE, *end("source=0")[:3])
    schedule, said, head = texts.convert(folder)
    assert sent(schedule) == Counter({(0, 1, 16): 1}), schedule
    assert re.findall(r"recv (\d+)b", schedule[1]) == ["16"], schedule
    assert "1 receives of 16 bytes\n" in said, said
    assert any(line.startswith("1 cancelled receives of 24 bytes ignored") for line in head), head
    assert "1 MPI_Cancel ignored: it cancels no receive" in said, said


def check_types(folder):
    old = "MPI_Datatype oldtype=14 (MPI_DOUBLE)"
    for name, arguments, size in [
        ("contiguous", ["int count=5", old], 40),
        ("vector", ["int count=1000", "int blocklength=2", "int stride=4", old], 16_000),
        ("create_hvector", ["int count=3", "int blocklength=2", "int stride=400", old], 48),
        ("indexed", ["int count=2", "int lengths[2]=[3, 4]", "int indices[2]=[0, 9]", old], 56),
        ("create_indexed_block", ["int count=3", "int blocklength=4", old], 96),
        (
            "create_struct",
            ["int count=2", "int blocklengths[2]=[3, 2]", "MPI_Datatype oldtypes[2]=[9, 14]"],
            28,
        ),
        ("create_subarray", ["int ndims=2", "int subsizes[2]=[3, 5]", old], 120),
        ("create_resized", [old, "int lb=0", "int extent=4000"], 8),
    ]:
        texts = Texts(2)
        texts.call(
            0, f"MPI_Type_{name}", *arguments, "MPI_Datatype newtype=32 (user-defined-datatype)"
        )
        texts.call(
            0,
            "MPI_Type_dup",
            "MPI_Datatype oldtype=32 (user-defined-datatype)",
            "MPI_Datatype newtype=33 (user-defined-datatype)",
        )
        texts.call(
            0,
            "MPI_Send",
            "int count=2",
            "MPI_Datatype datatype=33 (user-defined-datatype)",
            "int dest=1",
            "int tag=0",
            WORLD,
        )
        schedule, said, _ = texts.convert(folder)
        assert sent(schedule) == Counter({(0, 1, 2 * size): 1}), (name, sent(schedule))
        assert "ignored" not in said, said
    # Unless the text says it at its end, the size of a type of Fortran is not known.
    for behind, size in [((), 1), (("Datatype 28 (user-defined-datatype) has size 16",), 16)]:
        texts = Texts(2)
        texts.call(
            0,
            "MPI_Send",
            "int count=2",
            "MPI_Datatype datatype=28 (user-defined-datatype)",
            "int dest=1",
            "int tag=0",
            WORLD,
        )
        schedule, said, head = texts.convert(folder, behind=behind)
        assert sent(schedule) == Counter({(0, 1, 2 * size): 1}), sent(schedule)
        assert ("1 sizes of types ignored: the text lacks the size" in said) == (size == 1), said
        assert len(head) == (size == 1), head


def exchange():
    """A message, a receive of it, and one to nobody."""
    texts = Texts(2)
    texts.call(0, "MPI_Send", "int count=5", DOUBLE, "int dest=1", "int tag=3", WORLD)
    texts.call(1, "MPI_Recv", "int count=5", DOUBLE, "int source=0", "int tag=3", WORLD)
    texts.call(0, "MPI_Send", "int count=5", DOUBLE, "int dest=-2 (MPI_ROOT)", "int tag=3", WORLD)
    return texts


def check_reports(folder):
    """Losses are told of, with calls, bytes and the place of the first."""

    def on_first(old, new):
        return lambda rank, text: text.replace(old, new, 1) if rank == 0 else text

    _, said, head = exchange().convert(folder)
    assert "1 messages ignored: they are with no rank (MPI_PROC_NULL) (first: " in said, said
    assert head == ["1 messages ignored: they are with no rank (MPI_PROC_NULL)"], head
    for behind, row in [
        (
            "MPI_Put called 7 times and ignored 7 times",
            "7 MPI_Put ignored: DUMPI was told not to record them",
        ),
        (
            "MPI_Send called 9 times and ignored 0 times",
            "7 MPI_Send ignored: the text ends with more of them than it has",
        ),
    ]:
        _, said, head = exchange().convert(
            folder, change=lambda rank, text: text + behind.encode() + b"\n" if rank == 0 else text
        )
        assert row in said and row in head, said
    for old, new, row in [
        (b"5.000003000", b"4.000003000", "1 computations ignored: the clock runs backwards"),
        (b"5.000004000", b"4.000004000", "1 times of calls ignored: the clock runs backwards"),
        (b"int argc=1", b'string argv[1]=["caf\xe9"]', "1 names ignored: they are no UTF-8"),
        (b"in thread 0", b"in thread 1", "1 calls of further threads"),
    ]:
        _, said, head = exchange().convert(folder, change=on_first(old, new))
        assert row in said and any(line.startswith(row) for line in head), (old, said)
    texts = exchange()
    texts.call(
        0,
        "MPI_Put",
        "int origincount=3",
        "MPI_Datatype origintype=14 (MPI_DOUBLE)",
        "MPI_Win win=1",
    )
    _, said, _ = texts.convert(folder)
    assert re.search(
        r"1 MPI_Put of 24 bytes ignored: it is not converted \(first: .*dumpi-0000.txt:\d+\)", said
    ), said


def check_refusals(folder):
    """Impossible values are refused with file and line."""
    for old, new, words in [
        (
            b"int count=5",
            b"int count=-4",
            "dumpi-0000.txt:4: MPI_Send: count=-4: a count is 0 or more",
        ),
        (b"int count=5", b"int count=x", "dumpi-0000.txt:4: MPI_Send: `count=x` is no number"),
        (b"int count=5\n", b"", "dumpi-0000.txt:4: MPI_Send: it has no `count`"),
        (b"int tag=3", b"int tag=-3", "dumpi-0000.txt:4: MPI_Send: tag=-3: a tag is 0 or more"),
        (b"int dest=1", b"int dest=2", "dumpi-0000.txt:4: MPI_Send: there is no rank 2 among 2"),
        (b"int dest=1", b"int dest=\xff1", "dumpi-0000.txt:7: the byte 0xff is no text"),
        (
            b"MPI_Send entering",
            b"MPI_S\xffnd entering",
            "dumpi-0000.txt:4: the byte 0xff is no text",
        ),
        (
            b"MPI_Send entering",
            b"MPI Send entering",
            "dumpi-0000.txt:4: `MPI Send entering at walltime",
        ),
        (
            b"walltime 5.000003000",
            b"walltime -5.000003000",
            "dumpi-0000.txt:4: `MPI_Send entering at walltime",
        ),
        (
            b"MPI_Send returning",
            b"MPI_Recv returning",
            "dumpi-0000.txt:10: MPI_Recv ends, which did not begin",
        ),
        (b"MPI_Finalize", b"MPI_Wtime", "dumpi-0000.txt: it does not end with MPI_Finalize"),
    ]:
        change = lambda rank, text: text.replace(old, new) if rank == 0 else text
        schedule, said, _ = exchange().convert(folder, change=change)
        assert schedule is None and words in said, (new, said)
    texts = exchange()
    texts.all("MPI_Comm_size", WORLD, "int size=3")
    assert "MPI_COMM_WORLD has size 3" in texts.convert(folder)[1]
    texts = exchange()
    texts.call(1, "MPI_Comm_rank", WORLD, "int rank=2")
    assert (
        "MPI_COMM_WORLD has rank 2, and the text is that of rank 1 among 2"
        in texts.convert(folder)[1]
    )
    texts = exchange()
    texts.call(
        0,
        "MPI_Alltoallv",
        "int sendcounts[3]=[1, 2, 3]",
        "MPI_Datatype sendtype=9 (MPI_INT)",
        "int recvcounts[2]=[1, -2]",
        "MPI_Datatype recvtype=9 (MPI_INT)",
        WORLD,
    )
    assert "sendcounts has 3 numbers, and should have 2" in texts.convert(folder)[1]
    texts = Texts(3)
    texts.convert(folder, names="t{:02}.txt")
    paths = [os.path.join(folder, f"t{rank:02}.txt") for rank in (0, 2)]
    for wrong, words in [
        (paths, "t02.txt: it stands where rank 1 should"),
        ([paths[0], "nowhere"], "nowhere: it cannot be read"),
    ]:
        why, _ = run(os.path.join(folder, "x"), *wrong)
        assert why and words in why, why
    why, _ = run(os.path.join(folder, "nowhere/x"), paths[0])
    assert "it cannot be written" in why, why


def check_in_place(folder):
    """With MPI_IN_PLACE the root names no bytes of its own."""
    texts = Texts(2)
    for name, counts in [("MPI_Gather", [(0, 3), (3, 0)]), ("MPI_Scatter", [(5, 0), (0, 5)])]:
        for rank, (sends, receives) in enumerate(counts):
            texts.call(
                rank,
                name,
                f"int sendcount={sends}",
                "MPI_Datatype sendtype=9 (MPI_INT)",
                f"int recvcount={receives}",
                "MPI_Datatype recvtype=9 (MPI_INT)",
                "int root=0",
                WORLD,
            )
    schedule, _, _ = texts.convert(folder)
    assert sent(schedule) == {(1, 0, 12): 1, (0, 1, 20): 1}, sent(schedule)
    assert "recv 12b from 1" in schedule[0] and "recv 20b from 0" in schedule[1], schedule


def check(folder):
    """Checks everything."""
    check_communicators(folder)
    check_in_place(folder)
    check_unknown(folder)
    check_waits(folder)
    check_cancelled(folder)
    check_types(folder)
    check_reports(folder)
    check_refusals(folder)
