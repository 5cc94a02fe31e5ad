"""The cells of Table 1 that are measured in the steady state, from `/data/packets`.

usage: rates.py RESULT OPTIMUM_PS PACKETS

RESULT is a run of jobs/saa/table1.toml with two or four buffers and output.packets = true, OPTIMUM_PS the optimum_ps of the same flows on the same
ways (`/data/phases` of the run with eight buffers and the same seed), PACKETS those of a flow. Of each flow: the packets that came in the measurement window but for
the first, over the time from the first to the last of them. Printed is the least of these rates over the least that SAA calculates, as
`measured_ratio` of `/data/phases`. (The few flows of two permutations to one destination count as one of PACKETS.)
"""

import sys

import h5py
import numpy


def main():
    with h5py.File(sys.argv[1]) as result:
        optimum, packets = float(sys.argv[2]), int(sys.argv[3])
        summary = result["data/summary"].attrs
        table = result["data/packets"]
        flow = table["source"][:].astype(numpy.int64) << 32 | table["destination"][:]
        time = table["delivered_ps"][:]
        inside = (summary["measured_from_ps"] <= time) & (time < summary["measured_to_ps"])
    order = numpy.lexsort((time[inside], flow[inside]))
    flow, time = flow[inside][order], time[inside][order]
    first = numpy.flatnonzero(numpy.r_[True, flow[1:] != flow[:-1]])
    last = numpy.r_[first[1:], len(flow)] - 1
    rates = (last - first) / numpy.maximum(time[last] - time[first], 1) / packets
    print(len(first), "flows,", round(float(rates.min() * optimum), 4))


main()
