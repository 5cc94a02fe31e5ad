"""The members of communicators in DUMPI traces, from the calls that make them."""

from math import prod

from dumpi_text import Wrong

WORLD, SELF, NULL, EMPTY = "MPI_COMM_WORLD", "MPI_COMM_SELF", "MPI_COMM_NULL", "MPI_GROUP_EMPTY"
MAKERS = ("MPI_Comm_dup", "MPI_Comm_create", "MPI_Comm_split", "MPI_Cart_create", "MPI_Cart_sub")


class Communicator:
    """Ranks by their places. Different communicators have different keys."""

    def __init__(self, key, members, dims=None):
        self.key, self.members, self.dims = key, members, dims


class Unknown:
    """A communicator of which it is not known who is in it, and why."""

    def __init__(self, why):
        self.why = why


def makes(call):
    """True if a call makes a communicator or a group."""
    return (
        "newcomm" in call.arguments
        or call.name == "MPI_Comm_group"
        or call.name.startswith("MPI_Group_")
    )


class Rank:
    """The communicators and groups of a rank, as its calls are read."""

    def __init__(self, world, own):
        self.own = own
        self.world, self.alone = Communicator("world", world), Communicator("self", [own])
        self.handles, self.groups = {}, {}
        # The number of communicators made of each one so far.
        self.counts = {}

    def communicator(self, call, name="comm"):
        handle, kind = call.named(name)
        if kind in (WORLD, SELF):
            return self.world if kind == WORLD else self.alone
        return self.handles.get(handle) or Unknown("nothing tells how its communicator was made")

    def group(self, call, name):
        """The ranks of a group; None if that is not known."""
        handle, kind = call.named(name)
        return [] if kind == EMPTY else self.groups.get(handle)

    def take_group(self, call):
        """Takes up a call that makes a group."""
        kind = call.name.removeprefix("MPI_Group_")
        if call.name == "MPI_Comm_group":
            one = self.communicator(call)
            self.groups[call.number("group")] = getattr(one, "members", None)
        elif "newgroup" in call.arguments:
            self.groups[call.number("newgroup")] = self.new_group(kind, call)

    def new_group(self, kind, call):
        if kind in ("incl", "excl"):
            old, places = self.group(call, "group"), call.counts("ranks")
            if old is None:
                return None
            if any(place >= len(old) for place in places):
                raise Wrong(f"ranks has {max(places)}, and the group {len(old)} ranks")
            if kind == "incl":
                return [old[place] for place in places]
            return [rank for place, rank in enumerate(old) if place not in places]
        if kind not in ("union", "intersection", "difference"):
            return None
        one, other = self.group(call, "group1"), self.group(call, "group2")
        if one is None or other is None:
            return None
        if kind == "union":
            return one + [rank for rank in other if rank not in one]
        return [rank for rank in one if (rank in other) == (kind == "intersection")]


class Resolver:
    """Finds out what each rank's calls make.

    A rank that splits a communicator waits for the others of it.
    """

    def __init__(self, paths, calls):
        self.paths, self.calls = paths, calls
        world = list(range(len(paths)))
        self.ranks = [Rank(world, own) for own in world]
        self.at = [0 for _ in world]
        # By communicator and the number of its split: color and key of each rank.
        self.said, self.hopeless = {}, set()
        # The communicators that each rank's calls make, in their order.
        self.made = [[] for _ in world]

    def resolve(self):
        """By rank: what its calls of `MAKERS` and others with a new communicator make."""
        while True:
            before, waits = list(self.at), None
            for own, rank in enumerate(self.ranks):
                while self.at[own] < len(self.calls[own]):
                    call = self.calls[own][self.at[own]]
                    try:
                        split = self.step(rank, call)
                    except Wrong as what:
                        raise SystemExit(
                            f"{self.paths[own]}:{call.line}: {call.name}: {what}"
                        ) from None
                    if split:
                        waits = waits or split
                        break
                    self.at[own] += 1
            if not waits:
                return self.made
            if self.at == before:
                # Somebody never comes.
                self.hopeless.add(waits)

    def step(self, rank, call):
        """Takes up a call. If that has to wait: the split that it waits for."""
        if "newcomm" not in call.arguments:
            rank.take_group(call)
            return None
        if call.name not in MAKERS:
            new = Unknown(f"{call.name}, which made its communicator, is not converted")
        else:
            old = rank.communicator(call, "oldcomm")
            if isinstance(old, Unknown):
                new = old
            else:
                number = rank.counts.get(old.key, 0)
                split = (old.key, number)
                if call.name == "MPI_Comm_split" and not self.ready(split, rank, old, call):
                    return split
                rank.counts[old.key] = number + 1
                new = self.make(split, rank, old, call)
        handle, name = call.named("newcomm")
        new = None if name == NULL else new
        self.made[rank.own].append(new)
        rank.handles[handle] = new
        return None

    def ready(self, split, rank, old, call):
        said = self.said.setdefault(split, {})
        said[rank.own] = call.number("color"), call.number("key")
        return len(said) == len(old.members) or split in self.hopeless

    def make(self, key, rank, old, call):
        """The communicator that a call makes of another one."""
        if call.name == "MPI_Comm_dup":
            return Communicator(key, old.members, old.dims)
        if call.name == "MPI_Comm_split":
            if key in self.hopeless:
                return Unknown(
                    "not all its ranks call the MPI_Comm_split that made its communicator"
                )
            said = self.said[key]
            place = {member: place for place, member in enumerate(old.members)}
            color = said[rank.own][0]
            same = sorted((said[one][1], place[one], one) for one in said if said[one][0] == color)
            return Communicator((key, color), [one for *_, one in same])
        if call.name == "MPI_Comm_create":
            group = rank.group(call, "group")
            if group is None:
                return Unknown("the text does not tell who is in the group of its communicator")
            return Communicator((key, tuple(group)), group)
        if call.name == "MPI_Cart_create":
            dims = call.counts("dims")
            if call.number("reorder"):
                return Unknown("MPI_Cart_create may have given other numbers to its ranks")
            if not 0 < prod(dims) <= len(old.members):
                raise Wrong(f"a grid of {dims} among {len(old.members)} ranks")
            return Communicator(key, old.members[: prod(dims)], dims)
        return self.sub(key, rank, old, call)

    def sub(self, key, rank, old, call):
        """The ranks of a grid whose places differ in the dimensions that remain."""
        if not old.dims:
            return Unknown(
                "the text does not tell of which grid MPI_Cart_sub made its communicator"
            )
        remain = call.counts("remain_dims", len(old.dims))

        def place(number):
            places = []
            for dim in reversed(old.dims):
                number, at = divmod(number, dim)
                places.insert(0, at)
            return places

        if rank.own not in old.members:
            raise Wrong("the rank is not in the grid")
        own = place(old.members.index(rank.own))
        fixed = [at for at, remains in enumerate(remain) if not remains]
        same = lambda number: all(place(number)[at] == own[at] for at in fixed)
        members = [one for number, one in enumerate(old.members) if same(number)]
        dims = [dim for dim, remains in zip(old.dims, remain) if remains]
        return Communicator((key, tuple(own[at] for at in fixed)), members, dims)
