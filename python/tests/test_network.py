"""`weir.topology`: the graphs that the definitions of the networks give, and the numbers of the file on their edges."""

from collections import Counter

import h5py
import networkx
import pytest

import weir


def kinds(graph):
    """Directed edges by the kinds of their ends and of the link."""
    return Counter((here[0], there[0], data["kind"]) for here, there, data in graph.edges(data=True))


def check_against_file(graph, result):
    """Every port is an edge, with its numbers; every edge between routers is there in both directions."""
    with h5py.File(result / "result.h5") as file:
        ports = {name: column[:] for name, column in file["data/ports"].items()}
    rows = zip(*(ports[name] for name in ("router", "port", "peer_router", "endpoint", "bytes", "stalled_ps")), strict=True)
    for router, port, peer, endpoint, size, stalled in rows:
        there = ("endpoint", endpoint) if endpoint >= 0 else ("router", peer)
        edge = graph.edges[("router", int(router)), there, int(port)]
        assert (edge["bytes"], edge["stalled_ps"]) == (size, stalled)
    assert sum("port" in data for _, _, data in graph.edges(data=True)) == len(ports["router"])
    for here, there in graph.edges():
        assert graph.number_of_edges(here, there) == graph.number_of_edges(there, here)


def test_a_dragonfly_is_the_graph_of_its_definition(result):
    graph = weir.topology(result)
    # 9 groups of 4 routers with 2 endpoints; all pairs of a group are linked, and all pairs of groups, once.
    assert Counter(node[0] for node in graph) == {"router": 36, "endpoint": 72}
    assert kinds(graph) == {
        ("router", "router", "local"): 9 * 4 * 3,
        ("router", "router", "global"): 9 * 8,
        ("router", "endpoint", "terminal"): 72,
        ("endpoint", "router", "terminal"): 72,
    }
    routers = graph.subgraph(node for node in graph if node[0] == "router")
    assert networkx.diameter(networkx.Graph(routers)) == 3
    groups = {
        frozenset((graph.nodes[a]["group"], graph.nodes[b]["group"]))
        for a, b, kind in routers.edges(data="kind")
        if kind == "global"
    }
    assert len(groups) == 36
    check_against_file(graph, result)
    assert {data["bandwidth"] for _, _, data in graph.edges(data=True)} == {100e9}
    assert {(data["kind"], data["latency_ps"]) for _, _, data in graph.edges(data=True)} == {
        ("terminal", 5e3),
        ("local", 50e3),
        ("global", 1e6),
    }
    assert graph.nodes["router", 5]["axis"] == {"group": 1, "index": 1}
    assert graph.graph["kind"] == "dragonfly"


def test_endpoints_know_their_jobs(tree, result):
    graph = weir.topology(tree)
    with h5py.File(result / "result.h5") as file:
        for name, job in file["data/jobs"].items():
            own = {endpoint for (kind, endpoint), jobs in graph.nodes(data="jobs") if kind == "endpoint" and name in jobs}
            assert own == set(job["endpoint"][:].tolist()) and own
    with pytest.raises(weir.ResultError, match="without routers"):
        weir.topology(weir.load(result, groups=["ports", "jobs"]))


def test_a_clos_has_its_levels_and_bandwidths(network):
    place = network("clos-32", "dmodk")
    graph = weir.topology(place)
    # Radix 8, two levels: 8 leaves of 4 endpoints, each linked with all 4 roots.
    assert Counter(data["kind"] for _, data in graph.nodes(data=True) if "kind" in data) == {"leaf": 8, "top": 4}
    assert kinds(graph)[("router", "router", "global")] == 2 * 8 * 4
    assert all(graph.degree(("endpoint", number)) == 2 for number in range(32))
    check_against_file(graph, place)
    edge = graph.edges[("endpoint", 0), ("router", 0), 0]
    assert (edge["bandwidth"], edge["latency_ps"]) == (24e9, 85333)


def test_links_of_a_torus_have_the_bandwidth_that_is_given_for_all(network):
    place = network("torus-64", "dor")
    graph = weir.topology(place)
    assert kinds(graph)[("router", "router", "x")] == kinds(graph)[("router", "router", "y")] == 128
    assert {data["bandwidth"] for _, _, data in graph.edges(data=True)} == {100e9}
    check_against_file(graph, place)
