"""Counts what a trace holds, as JSON: a second reader, which shares nothing with weir's.

python3 count_trace.py FORMAT FILE
"""

import json
import os
import re
import struct
import sys
from collections import Counter


def ranks(path):
    """The files of all ranks, from that of rank 0: the last 0 of its name stands for the rank."""
    folder, name = os.path.split(path)
    zero = [run for run in re.finditer(r"\d+", name) if not run[0].strip("0")][-1]
    before, after = name[: zero.start()], name[zero.end() :]
    rank = 0
    while os.path.exists(file := os.path.join(folder, f"{before}{rank:0{len(zero[0])}}{after}")):
        yield file
        rank += 1


def goal_binary(data):
    (count,) = struct.unpack_from("<I", data, 8)
    seen = Counter()
    for rank in range(count):
        start, end = struct.unpack_from("<QQ", data, 14 + 16 * rank)
        nodes, roots = struct.unpack_from("<II", data, 8 + start)
        for node in range(nodes):
            at = 16 + start + 4 * roots + 39 * node
            _, kind, _, size, _, _, _, ends, _, starts, _ = struct.unpack_from("<IBIQIBBIIII", data, at)
            name = {1: "sends", 2: "receives", 3: "computations"}[kind]
            seen[name] += 1
            if kind < 3:
                seen[name + "_bytes"] += size
            seen["dependencies_on_ends"] += ends
            seen["dependencies_on_starts"] += starts
    return seen


def goal(text):
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)
    sends = re.findall(r"\bsend\s+(\d+)b\s+to\b", text)
    receives = re.findall(r"\brecv\s+(\d+)b\s+from\b", text)
    return {
        "sends": len(sends),
        "sends_bytes": sum(map(int, sends)),
        "receives": len(receives),
        "receives_bytes": sum(map(int, receives)),
        "computations": len(re.findall(r"\bcalc\s+\d+", text)),
        "dependencies_on_ends": len(re.findall(r"\srequires\s", text)),
        "dependencies_on_starts": len(re.findall(r"\sirequires\s", text)),
    }


def messages(sizes):
    sizes = list(sizes)
    return {"messages": len(sizes), "messages_bytes": sum(sizes)}


def flows(text):
    names, *rows = [line.split(",") for line in text.split()]
    return messages(int(row[names.index("bytes")]) for row in rows)


def matrix(text):
    rows = [line.split(",") for line in text.split()]
    value = lambda word: int(word) if word not in ("", "-") else 0
    pairs = [(i, j, value(word)) for i, row in enumerate(rows) for j, word in enumerate(row)]
    own = sum(bytes for i, j, bytes in pairs if i == j)
    between = messages(bytes for i, j, bytes in pairs if i != j and bytes)
    return between | {"messages_of_tasks_to_themselves_ignored_bytes": own}


def connections(text):
    return messages(map(int, re.findall(r"->.*\bsize (\d+)", text)))


def vef(text):
    header, *rows = [line.split() for line in text.split("\n") if line]
    rows = rows[int(header[3]) :]
    parts = [row for row in rows if row[0].startswith("G")]
    return messages(int(row[3]) for row in rows if row not in parts) | {
        "collective_operations": len({row[0] for row in parts}),
        "parts_in_them": len(parts),
        "dependencies": sum(row[-3] != "0" for row in rows),
    }


def simgrid(text):
    actions = [line.split() for line in text.split("\n") if line and line[0] != "#"]
    seen = Counter(words[1] for words in actions)
    typed = lambda words, at: {"0": 8, "1": 4, "6": 1}[words[at]] if len(words) > at else 1
    size = lambda words: int(float(words[4]) * typed(words, 5)) if float(words[4]) > 0 else 0
    total = lambda *names: sum(size(words) for words in actions if words[1] in names)
    computing = sum(seen[name] for name in ("compute", "reduce", "allreduce", "reducescatter", "scan"))
    plain = ("barrier", "bcast", "reduce", "allreduce", "alltoall", "allgather", "gather", "scatter", "scan")
    vectors = ("gatherv", "scatterv", "allgatherv", "reducescatter", "alltoallv")
    processes = len({words[0] for words in actions})
    parts = sum(seen[name] for name in plain + vectors)
    return {
        "computations": computing,
        "sends": seen["send"] + seen["isend"],
        "sends_bytes": total("send", "isend"),
        "receives": seen["recv"] + seen["irecv"],
        "receives_bytes": total("recv", "irecv"),
        "parts_in_them": parts,
        "collective_operations": parts // processes,
        "of_those_with_sizes_for_each_task": sum(seen[name] for name in vectors) // processes,
    }


def allprof(path):
    seen, files = Counter(), list(ranks(path))
    for file in files:
        for line in open(file):
            if not line.startswith("MPI_"):
                continue
            name, _, *words = line.strip().split(":")
            name = name.removeprefix("MPI_")
            whole = f",{len(files)}"
            if name in ("Send", "Isend", "Recv", "Irecv", "Sendrecv"):
                bytes = int(words[1]) * int(words[2].split(",")[1])
                nobody = words[3] == "-2"
                for way in ("sends", "receives"):
                    short = {"sends": "send", "receives": "recv"}[way]
                    if short in name.lower() and not nobody:
                        seen[way] += 1
                        seen[way + "_bytes"] += bytes
            elif name in ("Barrier", "Bcast", "Gatherv", "Alltoallv") or "reduce" in name.lower() or name in ("Alltoall", "Scan"):
                place = -3 if name == "Iallreduce" else -2
                here = words[place].endswith(whole) and name != "Reduce_scatter"
                seen["parts_in_them"] += here
                seen["of_those_with_sizes_for_each_task"] += here and name in ("Gatherv", "Alltoallv")
    seen["of_those_with_sizes_for_each_task"] //= len(files)
    return seen | {"collective_operations": seen["parts_in_them"] // len(files)}


def chakra(path):
    def varint(data, at):
        value = shift = 0
        while True:
            value |= (data[at] & 127) << shift
            shift, at = shift + 7, at + 1
            if data[at - 1] < 128:
                return value, at

    def fields(data):
        at = 0
        while at < len(data):
            key, at = varint(data, at)
            if key & 7 == 2:
                length, at = varint(data, at)
                yield key >> 3, data[at : at + length]
                at += length
            else:
                value, at = varint(data, at)
                yield key >> 3, value

    def numbers(value):
        at = 0
        while isinstance(value, bytes) and at < len(value):
            number, at = varint(value, at)
            yield number
        if isinstance(value, int):
            yield value

    seen = Counter()
    for file in ranks(path):
        data, at, messages = open(file, "rb").read(), 0, []
        while at < len(data):
            length, at = varint(data, at)
            messages.append(list(fields(data[at : at + length])))
            at += length
        nodes = messages[1:]
        known = {dict(node).get(1, 0) for node in nodes}
        for node in nodes:
            kind = dict(node)[3]
            attributes = {dict(fields(value))[1].decode(): dict(fields(value)) for field, value in node if field == 10}
            value = lambda name: attributes.get(name, {}).get(9, 0)
            if kind in (5, 6):
                name = {5: "sends", 6: "receives"}[kind]
                seen[name] += 1
                seen[name + "_bytes"] += value("comm_size")
            seen["computations"] += kind == 4
            seen["parts_in_them"] += kind == 7 and "comm_size" in attributes
            after = [id for field, value in node if field in (4, 5) for id in numbers(value)]
            seen["dependencies"] += len(after)
            seen["dependencies_ignored"] += sum(id not in known for id in after)
    return seen


def simai(text):
    head, _, *layers = text.splitlines()
    words = head.split()
    key = lambda name: int(words[words.index(name + ":") + 1])
    tasks, tensor, expert = key("all_gpus"), key("model_parallel_NPU_group"), key("ep")
    data = tasks // tensor // key("pp")
    names = {"ALLREDUCE": "allreduce", "ALLGATHER": "allgather", "REDUCESCATTER": "reduce_scatter", "ALLTOALL": "alltoall"}
    seen = Counter()
    for layer in layers:
        columns = layer.split()
        for at, own in ((3, tensor), (6, tensor), (9, data)):
            name, *group = columns[at].split("_", 1)
            members = {"EP": expert, "DP_EP": data // expert}.get(group[0]) if group else own
            if name in names and members > 1 and int(columns[at + 1]):
                seen[f"parts_in_{names[name]}"] += tasks
                seen[f"parts_in_{names[name]}_bytes"] += tasks * int(columns[at + 1])
    return seen


def count(form, path):
    if form in ("allprof", "chakra"):
        return globals()[form](path)
    with open(path, "rb") as file:
        data = file.read()
    if form == "goal" and data[:8] == struct.pack("<Q", 4223):
        return goal_binary(data)
    return globals()[form](data.decode())


if __name__ == "__main__":
    print(json.dumps(count(*sys.argv[1:])))
