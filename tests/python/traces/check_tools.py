"""Checks the converters of tools/: python3 check_tools.py FOLDER. Writes dumpi.goal and otf2.goal there, for weir to read.

Messages of collective operations have a receive each, of the same length, for all kinds, numbers of tasks and roots. A DUMPI text and an
OTF2 trace (by a stand-in of its Python package, of which only names matter) of two ranks become schedules.
"""

import contextlib
import io
import os
import subprocess
import sys
from collections import Counter
from enum import Enum
from types import SimpleNamespace as Plain

TOOLS = os.path.join(os.path.dirname(__file__), "../../../tools")
sys.path.insert(0, TOOLS)

import check_dumpi  # noqa: E402
import goal_schedule  # noqa: E402
import otf2_to_goal  # noqa: E402


def check_collectives():
    for count in range(1, 18):
        for kind in goal_schedule.PLAIN + ("gatherv", "scatterv", "allgatherv", "alltoallv"):
            for root in {0, count // 2, count - 1}:
                sent, received = Counter(), Counter()
                for me in range(count):
                    sizes = [10 + place for place in range(count)]
                    if kind == "alltoallv":
                        sizes = (
                            [100 * me + place for place in range(count)],
                            [100 * place + me for place in range(count)],
                        )
                    elif not kind.endswith("v") and kind != "reduce_scatter":
                        sizes = None
                    for sends, receives in goal_schedule.collective(
                        kind, me, count, root, 8, sizes
                    ):
                        sent.update((me, place, size) for place, size in sends)
                        received.update((place, me, size) for place, size in receives)
                assert sent == received, (kind, count, root, sent - received, received - sent)
                assert count == 1 or sent, (kind, count)
    # A broadcast reaches everybody once.
    reached = Counter(
        place
        for me in range(13)
        for sends, _ in goal_schedule.collective("bcast", me, 13, 5, 1)
        for place, _ in sends
    )
    assert reached == Counter(place for place in range(13) if place != 5)


def dumpi(rank):
    other = 1 - rank
    call = lambda name, begin, end, *arguments: [
        f"{name} entering at walltime 5.{begin:09}, cputime 0.0 seconds in thread 0.",
        *arguments,
        f"{name} returning at walltime 5.{end:09}, cputime 0.0 seconds in thread 0.",
    ]
    world, double = "MPI_Comm comm=2 (MPI_COMM_WORLD)", "MPI_Datatype datatype=14 (MPI_DOUBLE)"
    lines = call("MPI_Init", 0, 100)
    lines += call(
        "MPI_Irecv",
        300,
        310,
        "int count=50",
        double,
        f"int source={other}",
        "int tag=3",
        world,
        "MPI_Request request=[7]",
    )
    lines += call(
        "MPI_Send",
        310 + 1000 * rank,
        1400,
        "int count=50",
        double,
        f"int dest={other}",
        "int tag=3",
        world,
    )
    lines += call("MPI_Waitall", 1400, 1500, "int count=1", "MPI_Request requests[1]=[7]")
    lines += call("MPI_Barrier", 1500, 1600, "MPI_Comm comm=9 (user-defined-comm)")
    lines += call(
        "MPI_Allreduce", 1600, 1700, "int count=4", double, "MPI_Op op=3 (MPI_SUM)", world
    )
    counts = "int recvcounts[2]=[3, 5]"
    lines += call(
        "MPI_Allgatherv",
        1700,
        1800,
        "int sendcount=" + "35"[rank],
        "MPI_Datatype sendtype=14 (MPI_DOUBLE)",
        counts,
        "MPI_Datatype recvtype=14 (MPI_DOUBLE)",
        world,
    )
    return "\n".join(lines + call("MPI_Finalize", 1900, 2000)) + "\n"


class Kind(Enum):
    (
        COMM_LOCATIONS,
        COMM_GROUP,
        COMM_SELF,
        MPI,
        USER,
        ALLREDUCE,
        CREATE_HANDLE,
        ALLTOALLV,
        SCAN,
        EXSCAN,
        ON,
        OFF,
    ) = range(12)


# Events of OTF2, of which the converter knows the names of class and fields.
Enter, Leave, MpiSend, MpiIsend, MpiIsendComplete, MpiIrecvRequest, MpiIrecv, MpiCollectiveEnd = (
    type(name, (Plain,), {})
    for name in (
        "Enter",
        "Leave",
        "MpiSend",
        "MpiIsend",
        "MpiIsendComplete",
        "MpiIrecvRequest",
        "MpiIrecv",
        "MpiCollectiveEnd",
    )
)
(
    MeasurementOnOff,
    BufferFlush,
    NonBlockingCollectiveComplete,
    MpiRequestCancelled,
    RmaPut,
    ProgramBegin,
) = (
    type(name, (Plain,), {})
    for name in (
        "MeasurementOnOff",
        "BufferFlush",
        "NonBlockingCollectiveComplete",
        "MpiRequestCancelled",
        "RmaPut",
        "ProgramBegin",
    )
)


def otf2_stand_in(more=lambda rank, everybody: []):
    """A trace of two ranks with the names of OTF2, an event each microsecond; `more` in the end."""
    locations = ("first", "second")
    group = lambda kind, members: Plain(group_type=kind, members=members)
    everybody = Plain(_ref=0, group=group(Kind.COMM_GROUP, locations))
    alone = Plain(_ref=1, group=group(Kind.COMM_SELF, ()))
    inside, outside = (Plain(paradigm=kind) for kind in (Kind.MPI, Kind.USER))
    events = []
    for rank, location in enumerate(locations):
        own = [
            Enter(region=outside),
            Enter(region=inside),
            Leave(region=inside),
            Enter(region=inside),
            MpiIrecvRequest(request_id=1),
            MpiIsend(
                receiver=1 - rank, communicator=everybody, msg_tag=2, msg_length=600, request_id=2
            ),
            MpiIsendComplete(request_id=2),
            MpiIrecv(
                sender=1 - rank, communicator=everybody, msg_tag=2, msg_length=600, request_id=1
            ),
            Leave(region=inside),
            Enter(region=inside),
            MpiCollectiveEnd(
                communicator=everybody,
                collective_op=Kind.ALLREDUCE,
                root=2**32 - 1,
                size_sent=64,
                size_received=64,
            ),
            MpiCollectiveEnd(
                communicator=alone,
                collective_op=Kind.ALLREDUCE,
                root=2**32 - 1,
                size_sent=8,
                size_received=8,
            ),
            MpiCollectiveEnd(
                communicator=everybody,
                collective_op=Kind.CREATE_HANDLE,
                root=0,
                size_sent=0,
                size_received=0,
            ),
            Leave(region=inside),
            Leave(region=outside),
        ]
        for time, event in enumerate(own + more(rank, everybody)):
            event.time = 1000 * time + getattr(event, "late", 0)
            events.append((location, event))
    definitions = Plain(groups=[group(Kind.COMM_LOCATIONS, locations)], comms=[everybody, alone])
    trace = Plain(definitions=definitions, events=events, timer_resolution=10**9)
    return Plain(reader=Plain(open=lambda path: contextlib.nullcontext(trace)))


def convert_otf2(folder, more=lambda rank, everybody: []):
    """The schedule, and what stands on standard error or why it is refused."""
    sys.modules["otf2"] = otf2_stand_in(more)
    path, said = os.path.join(folder, "otf2.goal"), io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            otf2_to_goal.main("a trace", path)
    except SystemExit as refused:
        return None, str(refused)
    with open(path) as file:
        return file.read(), said.getvalue()


def check_otf2(folder):
    put = lambda rank, everybody: [RmaPut(bytes=8), ProgramBegin()]
    unmeasured = lambda rank, everybody: [
        MeasurementOnOff(measurement_mode=Kind.OFF),
        MeasurementOnOff(measurement_mode=Kind.ON),
        BufferFlush(stop_time=50_000),
        MeasurementOnOff(measurement_mode=Kind.OFF),
        ProgramBegin(),
        Leave(region=Plain(paradigm=Kind.MPI)),
    ]
    background = lambda rank, everybody: [
        NonBlockingCollectiveComplete(
            communicator=everybody,
            collective_op=Kind.ALLREDUCE,
            root=0,
            size_sent=64,
            size_received=64,
            request_id=9,
        )
    ]
    for more, rows in [
        (put, ["2 RmaPut events ignored: they are not converted"]),
        # A rank has 1 us between off and on, and 2 us from off to the end; the buffer 17 to 50 us.
        (
            unmeasured,
            [
                "4 intervals without measurement ignored: nothing that is done in them is recorded "
                "(0.000006 s in all), and this time counts as computation",
                "2 writes of the buffer ignored: the recorder did them (0.000066 s in all)",
            ],
        ),
        (
            background,
            ["2 parts in allreduce in the background of 128 bytes ignored: they are not converted"],
        ),
        (
            lambda rank, everybody: [MpiRequestCancelled(request_id=4)],
            ["2 cancelled requests ignored: what is cancelled is"],
        ),
        (
            lambda rank, everybody: [MpiIsendComplete(request_id=4)],
            ["2 waits ignored: what they wait for did not begin"],
        ),
        (
            lambda rank, everybody: [Enter(region=Plain(paradigm=Kind.MPI), late=-9000)],
            ["2 times of events ignored: the clock runs backwards there"],
        ),
    ]:
        goal, said = convert_otf2(folder, more)
        for row in rows:
            assert row in said and f"// coverage: {row}" in goal, (row, said)
    send = lambda size, to: (
        lambda rank, everybody: [
            MpiSend(receiver=to, communicator=everybody, msg_tag=2, msg_length=size)
        ]
    )
    for more, words in [
        (send(-4, 1), "rank 0, time 15000: a message of -4 bytes"),
        (
            send(4, 2),
            "rank 0, time 15000: a message to or from 2, and the communicator has no such rank",
        ),
        (
            send(4, -1),
            "rank 0, time 15000: a message to or from -1, and the communicator has no such rank",
        ),
    ]:
        goal, said = convert_otf2(folder, more)
        assert goal is None and words in said, said
    # Of 40 bytes each: for itself and those behind sent, for itself and those before received; or not for itself.
    for kind, sizes in [(Kind.SCAN, [(80, 40), (40, 80)]), (Kind.EXSCAN, [(40, 0), (0, 40)])]:
        scan = lambda rank, everybody: [
            MpiCollectiveEnd(
                communicator=everybody,
                collective_op=kind,
                root=0,
                size_sent=sizes[rank][0],
                size_received=sizes[rank][1],
            )
        ]
        goal, said = convert_otf2(folder, scan)
        assert "send 40b to 1" in goal and "recv 40b from 0" in goal, (kind, goal)
    # Rank 0 sends 30 bytes in all, rank 1 50: to each 15 and 25.
    different = lambda rank, everybody: [
        MpiCollectiveEnd(
            communicator=everybody,
            collective_op=Kind.ALLTOALLV,
            root=0,
            size_sent=30 + 20 * rank,
            size_received=0,
        )
    ]
    goal, said = convert_otf2(folder, different)
    assert "2 parts in alltoallv with the mean size of each rank of 80 bytes" in said, said
    for line in ("send 15b to 1", "recv 25b from 1", "send 25b to 0", "recv 15b from 0"):
        assert line in goal, (line, goal)


def check_head():
    """The head of a schedule has no more than weir reads."""
    report = goal_schedule.Report()
    for number in range(500):
        report.leave_out(f"call: {number}", "why\n" * 100, 3)
    report.write("sends", 7)
    head = report.head()
    rest = "401 other calls of 1203 bytes ignored: for 401 further reasons"
    assert len(head) == 100 and head[-1] == rest, head[-1]
    assert all(len(row) < 300 and row.isprintable() for row in head)
    assert head[0].startswith("1 call_ 0 of 3 bytes ignored: why why"), head[0]


def main(folder):
    check_collectives()
    check_head()
    check_dumpi.check(folder)
    texts = [os.path.join(folder, f"dumpi-{rank:04}.txt") for rank in range(2)]
    for rank, path in enumerate(texts):
        with open(path, "w") as file:
            file.write(dumpi(rank))
    command = [
        sys.executable,
        os.path.join(TOOLS, "dumpi_to_goal.py"),
        os.path.join(folder, "dumpi.goal"),
        *texts,
    ]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    assert "2 sends of 800 bytes" in said and "2 MPI_Barrier ignored: nothing tells how" in said, (
        said
    )
    with open(texts[1], "a") as file:
        file.write("MPI_Send entering at walltime 6.000000000, cputime 0.0 seconds in thread 0.\n")
    cut = subprocess.run(command, capture_output=True, text=True)
    assert cut.returncode != 0 and "the text ends within MPI_Send" in cut.stderr, cut.stderr
    check_otf2(folder)
    goal, said = convert_otf2(folder)
    row = "2 parts in allreduce of 16 bytes ignored: they are of a single rank"
    assert "events" not in said and row in said, said


if __name__ == "__main__":
    main(sys.argv[1])
