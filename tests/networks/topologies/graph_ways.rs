//! The ways of the routings of graphs: lengths and turns that an independent program counted.

use std::fmt::Write;
use std::sync::Arc;

use weir::config::Section;
use weir::model::LinkKind;
use weir::routing::analysis::{Channel, Walker};
use weir::routing::{self, Routing};
use weir::topology::{Peer, Topology};

use super::graph::{graph, reference};

/// The links of one of the networks, by its name.
fn links(name: &str) -> String {
    let mut text = String::from("from,to\n");
    let mut add = |a: usize, b: usize| writeln!(text, "{a},{b}").expect("writes");
    match name.split_once('_') {
        Some(("ring", count)) => {
            let count = count.parse::<usize>().expect("a number");
            (0..count).for_each(|at| add(at, (at + 1) % count));
        }
        Some((kind @ ("mesh" | "torus"), "4x4")) => {
            for (x, y) in (0..4).flat_map(|y| (0..4).map(move |x| (x, y))) {
                if x < 3 || kind == "torus" {
                    add(4 * y + x, 4 * y + (x + 1) % 4);
                }
                if y < 3 || kind == "torus" {
                    add(4 * y + x, 4 * ((y + 1) % 4) + x);
                }
            }
        }
        _ => return reference(&format!("{name}.csv")),
    }
    text
}

fn routing(
    name: &str,
    parameters: &str,
    network: &Arc<dyn Topology>,
) -> Result<Box<dyn Routing>, String> {
    let section = Section::from_toml(parameters).expect("TOML");
    let entry = routing::find("graph", name).expect("a routing");
    (entry.build)(&section, network).map_err(|error| error.to_string())
}

/// The sum of the links of all ways between two routers, each with one endpoint, and of the
/// longest.
fn lengths(network: &dyn Topology, routing: &dyn Routing) -> (u32, u32) {
    let mut walker = Walker::new(network, routing);
    let (mut sum, mut longest) = (0, 0);
    for from in 0..network.endpoints() {
        for to in (0..network.endpoints()).filter(|&to| to != from) {
            let span = walker.walk(from, to, false).expect("arrives");
            assert_eq!(
                span.shortest, span.longest,
                "all ways of a pair are as long"
            );
            sum += span.longest - 1;
            longest = longest.max(span.longest - 1);
        }
    }
    (sum, longest)
}

#[test]
fn ways_are_as_long_as_an_independent_program_found() {
    let table = reference("ways.csv");
    let rows = table
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect::<Vec<_>>());
    let mut seen = 0;
    for row in rows {
        let [name, minimal, updown, longest, free, turns] = row[..] else {
            panic!("{row:?}");
        };
        let network = graph(&links(name), "endpoints_per_router = 1").expect("a network");
        let number = |text: &str| text.parse::<u32>().expect("a number");
        let all = |routing_name: &str, parameters: &str| {
            let made = routing(routing_name, parameters, &network).expect("routes");
            lengths(&*network, &*made)
        };
        for shortest in ["shortest", "layered", "table"] {
            assert_eq!(all(shortest, "").0, number(minimal), "{name} {shortest}");
        }
        let up = all("updown", "roots = [0]");
        assert_eq!(up, (number(updown), number(longest)), "{name}");
        assert_eq!(
            all("updown", ""),
            up,
            "no router is without endpoints: {name}"
        );

        let lowest = routing("table", "", &network).expect("routes");
        let one = lowest.vcs(LinkKind(1)) == 1;
        assert_eq!(one, free == "yes", "{name}");
        if one {
            let mut walker = Walker::new(&*network, &*lowest);
            walker.walk_all().expect("arrives");
            let found = walker.dependencies();
            let between = |channel: &Channel| {
                matches!(network.peer(channel.router, channel.port), Peer::Router(..))
            };
            let found = found.iter().filter(|(a, b)| between(a) && between(b));
            assert_eq!(found.count().to_string(), turns, "{name}");
        }
        seen += 1;
    }
    assert_eq!(seen, 9);
}

/// A ring of five or more needs two layers, a full mesh one; elsewhere the number depends on the
/// order of the ways.
#[test]
fn layers_are_as_many_as_it_takes() {
    let layers = |name: &str| {
        let network = graph(&links(name), "endpoints_per_router = 1").expect("a network");
        routing("layered", "", &network)
            .expect("routes")
            .vcs(LinkKind(1))
    };
    assert_eq!(layers("complete_4"), 1);
    assert_eq!([layers("ring_5"), layers("ring_8")], [2, 2]);
    let ring = graph(&links("ring_8"), "endpoints_per_router = 1").expect("a network");
    let error = routing("layered", "most = 1", &ring)
        .err()
        .expect("refused");
    assert!(error.contains("1 layers are not enough"), "{error}");
}

/// A tree of leaves 0 to 3 and spines 4 and 5: all ways lead over a spine, and both are taken.
#[test]
fn roots_are_the_top_of_a_tree() {
    let links = "from,to,kind\na,0,terminal\nb,1,terminal\nc,2,terminal\nd,3,terminal\n\
                 0,4,\n1,4,\n2,4,\n3,4,\n0,5,\n1,5,\n2,5,\n3,5,\n";
    let tree = graph(links, "").expect("a network");
    let made = routing("updown", "", &tree).expect("routes");
    assert_eq!(
        (lengths(&*tree, &*made), made.vcs(LinkKind(1))),
        ((24, 2), 1)
    );
    let mut walker = Walker::new(&*tree, &*made);
    walker.walk_all().expect("arrives");
    assert!(walker.cycle().is_none());
    let between =
        |channel: &&Channel| matches!(tree.peer(channel.router, channel.port), Peer::Router(..));
    let used = walker.channels().iter().filter(between).count();
    assert_eq!(used, 16, "each link both ways");
    // Without the link from 3 to 5 neither spine leads everywhere.
    let broken = links.replace("0,4,\n", "").replace("3,5,\n", "");
    let broken = graph(&broken, "").expect("a network");
    let error = routing("updown", "roots = [4, 5]", &broken)
        .err()
        .expect("refused");
    assert!(
        error.contains("no way up and then down leads from router"),
        "{error}"
    );
    let made = routing("updown", "", &broken).expect("from one root");
    assert!(lengths(&*broken, &*made).0 > 24);
}

#[test]
fn forwarding_tables_are_followed_or_refused() {
    let network = graph(&links("ring_4"), "endpoints_per_router = 1").expect("a network");
    let made = routing(
        "table",
        "ways = '''\nat,to,next\n0,1,3\n3,1,2\n'''",
        &network,
    );
    // The long way round, three links instead of one.
    assert_eq!(lengths(&*network, &*made.expect("routes")), (16 + 2, 3));
    for (ways, words) in [
        (
            "at,to\\n0,1\\n",
            "line 1 of the table: the first line is another",
        ),
        (
            "at,to,next\\n0,1,2\\n",
            "line 2 of the table: no link leads from router \"0\" to \"2\"",
        ),
        (
            "at,to,next\\n0,9,1\\n",
            "line 2 of the table: there is no router \"9\"",
        ),
        (
            "at,to,next\\n0,2,1\\n1,2,0\\n",
            "from router \"0\" to router \"2\" has no end",
        ),
        ("at,to,next\\n0,2\\n", "line 2"),
        (
            "at,to,next\\n# to itself\\n0,0,1\\n",
            "line 3 of the table: router \"0\" is at its own end",
        ),
        (
            "at,to,next\\n0,2,1\\n0,2,1\\n",
            "line 3 of the table: the way from router \"0\" to \"2\" is there twice",
        ),
    ] {
        let error = routing("table", &format!("ways = \"{ways}\""), &network).err();
        let error = error.unwrap_or_else(|| panic!("{ways} is taken"));
        assert!(error.contains(words), "{ways}: {error}");
    }
    for (name, parameters, words) in [
        ("updown", "roots = [4]", "there is no router 4"),
        ("updown", "roots = []", "is empty"),
        ("layered", "most = 0", "is 0"),
    ] {
        let error = routing(name, parameters, &network).err().expect("refused");
        assert!(error.contains(words), "{error}");
    }
}

/// Routers m and n have no endpoints, and no way between A and B leads from one to the other. But a
/// packet that is dropped at m is answered from there.
#[test]
fn a_table_leads_from_everywhere_to_an_end() {
    let links = "from,to,kind\na,A,terminal\nb,B,terminal\nA,m,\nm,B,\nm,n,\nn,A,\nB,k,\nk,A,\n";
    let network = graph(links, "").expect("a network");
    let table = |rows: &str| {
        let ways = format!("ways = '''\nat,to,next\nA,B,m\nm,B,B\nB,A,k\nk,A,A\n{rows}'''");
        routing("table", &ways, &network)
    };
    let error = table("m,A,n\nn,A,m\n").err().expect("refused");
    let words = "the way from router \"m\" to router \"A\" has no end";
    assert!(error.contains(words), "{error}");
    assert!(table("m,A,n\nn,A,A\n").is_ok());
}
