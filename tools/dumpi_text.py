"""Reads the texts that `dumpi2ascii` writes."""

import re

ENTER = re.compile(r"(MPIO?_\w+) entering at walltime (\d{1,12})\.(\d{9})(?!\d).* in thread (\d+)")
LEAVE = re.compile(r"(MPIO?_\w+) returning at walltime (\d{1,12})\.(\d{9})(?!\d)")
CALLED = re.compile(r"(MPIO?_\w+) called (\d{1,12}) times and ignored (\d{1,12}) times$")
SIZE = re.compile(r"Datatype (\d{1,9}) \(\S+\) has size (\d{1,9})$")
LIST = re.compile(r"\[(-?\d{1,20}(, ?-?\d{1,20})*)?\]$")
NAMED = re.compile(r"(-?\d+)(?: \(([\w-]+)\))?$")

# Bytes of predefined types, by name (64-bit Linux), where a text does not say them.
TYPES = {
    "CHAR": 1,
    "SIGNED_CHAR": 1,
    "UNSIGNED_CHAR": 1,
    "BYTE": 1,
    "WCHAR": 4,
    "SHORT": 2,
    "UNSIGNED_SHORT": 2,
    "INT": 4,
    "UNSIGNED": 4,
    "LONG": 8,
    "UNSIGNED_LONG": 8,
    "FLOAT": 4,
    "DOUBLE": 8,
    "LONG_DOUBLE": 16,
    "LONG_LONG_INT": 8,
    "LONG_LONG": 8,
    "UNSIGNED_LONG_LONG": 8,
    "PACKED": 1,
    "LB": 0,
    "UB": 0,
    "FLOAT_INT": 8,
    "DOUBLE_INT": 16,
    "LONG_INT": 16,
    "SHORT_INT": 8,
    "2INT": 8,
    "LONG_DOUBLE_INT": 32,
}
# Their numbers in lists, which have no names.
FIRST_TYPE = 2
NUMBERED = [
    "CHAR",
    "SIGNED_CHAR",
    "UNSIGNED_CHAR",
    "BYTE",
    "WCHAR",
    "SHORT",
    "UNSIGNED_SHORT",
    "INT",
    "UNSIGNED",
    "LONG",
    "UNSIGNED_LONG",
    "FLOAT",
    "DOUBLE",
    "LONG_DOUBLE",
    "LONG_LONG_INT",
    "UNSIGNED_LONG_LONG",
    "LONG_LONG",
    "PACKED",
    "LB",
    "UB",
    "FLOAT_INT",
    "DOUBLE_INT",
    "LONG_INT",
    "SHORT_INT",
    "2INT",
    "LONG_DOUBLE_INT",
]


class Wrong(Exception):
    """Something cannot be read; who knows the place adds it."""


class Call:
    """A call of MPI: its line, name, arguments as text, and when it began and ended, ns."""

    def __init__(self, line, name, begin, thread):
        self.line, self.name, self.begin, self.thread = line, name, begin, thread
        self.end, self.arguments = begin, {}

    def text(self, name):
        if name not in self.arguments:
            raise Wrong(f"it has no `{name}`: the text is damaged")
        return self.arguments[name]

    def named(self, name):
        """A number and the name of what it stands for: `2 (MPI_COMM_WORLD)`."""
        text = self.text(name)
        match = NAMED.match(text)
        if not match or len(match[1]) > 20:
            raise Wrong(f"`{name}={text[:40]}` is no number")
        return int(match[1]), match[2]

    def number(self, name):
        return self.named(name)[0]

    def count(self, name):
        """A number that is not negative."""
        number = self.number(name)
        if number < 0:
            raise Wrong(f"{name}={number}: a count is 0 or more")
        return number

    def numbers(self, name):
        """A list: `[7, 9]`, or none at all."""
        text = self.text(name)
        if text == "<IGNORED>":
            return []
        if not LIST.match(text):
            raise Wrong(f"`{name}={text[:40]}` is no list of numbers")
        return [int(word) for word in re.findall(r"-?\d+", text)]

    def counts(self, name, expected=None):
        """A list of `expected` numbers that are not negative."""
        counts = self.numbers(name)
        if expected not in (None, len(counts)):
            raise Wrong(f"{name} has {len(counts)} numbers, and should have {expected}")
        if any(count < 0 for count in counts):
            raise Wrong(f"{name} has {min(counts)}: a count is 0 or more")
        return counts


class Text:
    """The text of a rank. What stands behind its calls is known when those are read."""

    def __init__(self, path):
        self.path = path
        # By name: calls in all, and calls that were not recorded. By number: bytes of types.
        self.called, self.ignored, self.sizes = {}, {}, {}
        # The first line with bytes that are no UTF-8, and how many.
        self.garbled = (0, 0)

    def lines(self):
        """The lines and their numbers."""
        try:
            with open(self.path, "rb") as file:
                for number, line in enumerate(file, 1):
                    yield number, self.decode(number, line).strip()
        except OSError as why:
            raise SystemExit(f"{self.path}: it cannot be read: {why.strerror}") from None

    def decode(self, number, line):
        try:
            return line.decode()
        except UnicodeDecodeError as why:
            # Names of files and hosts may have any encoding, and nobody needs them.
            if line.startswith((b"string ", b"hostname=", b"username=")):
                first, count = self.garbled
                self.garbled = (first or number, count + 1)
                return ""
            byte = line[why.start]
            raise SystemExit(
                f"{self.path}:{number}: the byte 0x{byte:02x} is no text (UTF-8)"
            ) from None

    def refuse(self, line, what):
        raise SystemExit(f"{self.path}:{line}: {what}")

    def calls(self):
        """The calls, one after the other."""
        call = None
        for number, line in self.lines():
            if enter := ENTER.match(line):
                if call:
                    self.refuse(
                        number, f"{enter[1]} begins within {call.name}: the trace is not complete"
                    )
                call = Call(number, enter[1], nanoseconds(enter), int(enter[4]))
            elif leave := LEAVE.match(line):
                if not call or leave[1] != call.name:
                    self.refuse(number, f"{leave[1]} ends, which did not begin")
                call.end = nanoseconds(leave)
                yield call
                call = None
            elif " entering at walltime " in line or " returning at walltime " in line:
                self.refuse(
                    number, f"`{line[:60]}` is no beginning or end of a call: the text is damaged"
                )
            elif call:
                left, is_argument, value = line.partition("=")
                if is_argument and left.split():
                    call.arguments.setdefault(left.split()[-1].partition("[")[0], value.strip())
            elif called := CALLED.match(line):
                self.called[called[1]], self.ignored[called[1]] = int(called[2]), int(called[3])
            elif size := SIZE.match(line):
                self.sizes[int(size[1])] = int(size[2])
        if call:
            raise SystemExit(f"{self.path}: the text ends within {call.name}: it is not complete")


def nanoseconds(match):
    return int(match[2]) * 10**9 + int(match[3])


class Types:
    """Bytes of the types of a rank."""

    # A new type has the bytes of the old one, multiplied by these arguments of its constructor, by
    # the sum of this list, or summed up over the old types with this list of lengths.
    MULTIPLIED = {
        "contiguous": ["count"],
        "vector": ["count", "blocklength"],
        "hvector": ["count", "blocklength"],
        "create_hvector": ["count", "blocklength"],
        "create_indexed_block": ["count", "blocklength"],
        "dup": [],
        "create_resized": [],
    }
    SUMMED = {"indexed": "lengths", "hindexed": "lengths", "create_hindexed": "blocklengths"}
    LISTED = {"struct": "lengths", "create_struct": "blocklengths"}

    def __init__(self, sizes):
        # A size of 0 in a text is one that DUMPI did not know.
        self.sizes = {number: size for number, size in sizes.items() if size}

    def size(self, number, name=None):
        """Bytes of a type; None if that is not known."""
        if number in self.sizes:
            return self.sizes[number]
        if name is None and FIRST_TYPE <= number < FIRST_TYPE + len(NUMBERED):
            name = NUMBERED[number - FIRST_TYPE]
        return TYPES.get((name or "").removeprefix("MPI_"))

    def of(self, call, name):
        return self.size(*call.named(name))

    def take(self, call):
        """Takes up a call that makes a type, or that says how long one is."""
        kind = call.name.removeprefix("MPI_Type_")
        if kind == "size":
            self.sizes[call.number("datatype")] = call.count("size")
        elif "newtype" in call.arguments:
            self.sizes[call.number("newtype")] = self.made(kind, call)

    def made(self, kind, call):
        if kind in self.LISTED:
            parts = [self.size(number) for number in call.numbers("oldtypes")]
            lengths = call.counts(self.LISTED[kind], len(parts))
            return (
                None
                if None in parts
                else sum(part * length for part, length in zip(parts, lengths))
            )
        old = self.of(call, "oldtype") if "oldtype" in call.arguments else None
        if old is None:
            return None
        if kind in self.SUMMED:
            return old * sum(call.counts(self.SUMMED[kind]))
        if kind == "create_subarray":
            for length in call.counts("subsizes"):
                old *= length
            return old
        if kind not in self.MULTIPLIED:
            return None
        for name in self.MULTIPLIED[kind]:
            old *= call.count(name)
        return old
