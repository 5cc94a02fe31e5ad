"""Counts what a trace holds, as JSON: a second reader, which shares nothing with weir's.

python3 count_trace.py FORMAT FILE
"""

import json
import re
import sys


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


if __name__ == "__main__":
    form, path = sys.argv[1:]
    with open(path) as file:
        print(json.dumps(globals()[form](file.read())))
