//! Lists of a made-up catalog.

use super::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use weir_input::registry::Keys;
use weir_input::{Duration, Size};
use weir_simulation::catalog::catalog;
use weir_simulation::config::fixed_sections;

#[derive(Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {
    /// How many routers there are, which is
    /// a number.
    routers: u32,
    /// How routers are joined.
    #[serde(default)]
    wire: Wire,
    /// How it is arranged.
    #[serde(default)]
    order: Order,
    /// Memory, if any.
    memory: Option<Size>,
}

#[derive(Clone, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
struct Wire {
    /// From end to end.
    latency: Duration,
}

impl Default for Wire {
    fn default() -> Self {
        Wire {
            latency: Duration(5_000),
        }
    }
}

#[derive(Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Order {
    #[default]
    Forward,
    /// The other way.
    Backward,
}

fn made_up() -> Catalog {
    let mut catalog = catalog();
    catalog.topologies.variants = vec![Variant {
        name: "ring",
        summary: "Routers in a circle.",
        source: "Folklore, section 1.",
        examples: &[""],
        topologies: &[],
        parameters: Keys::of::<Params>(),
        ..catalog.topologies.variants[0]
    }];
    catalog.ready = &[(
        "ring-12",
        "# Twelve\n# in a ring. From nowhere.\nkind = \"ring\"\n",
    )];
    catalog
}

#[test]
fn one_variant_with_its_parameters() {
    let text = list(&made_up(), Some("topologies"), Some("ring")).unwrap();
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    assert_eq!(
        lines,
        [
            "topology ring",
            "",
            "  Routers in a circle.",
            "  Source: Folklore, section 1.",
            "",
            "  [topology] kind = \"ring\"",
            "",
            "  key           type                    default    meaning",
            "  routers       whole number            required   How many routers there are, which \
             is a number.",
            "  wire          table                   see below  How routers are joined.",
            "  wire.latency  time                    \"5 ns\"     From end to end.",
            "  order         \"forward\" | \"backward\"  \"forward\"  How it is arranged.",
            "  memory        amount of data          none       Memory, if any.",
        ],
        "{text}"
    );
}

#[test]
fn a_family_and_its_ready_networks() {
    let text = list(&made_up(), Some("topology"), None).unwrap();
    assert!(text.contains("topologies ([topology] kind = \"…\")\n  ring  Routers in a circle."));
    assert!(text.contains("ring-12  Twelve in a ring.\n"), "{text}");
    let text = list(&made_up(), Some("topologies"), Some("ring-12")).unwrap();
    assert!(text.contains("kind = \"ring\""));
    let text = list(&catalog(), Some("motifs"), None).unwrap();
    assert!(text.contains("ready applications ([[workload]] file = \"…\")\n"));
    assert!(text.contains("\n  lammps-2048 "), "{text}");
    let text = list(&catalog(), Some("motifs"), Some("lammps-2048")).unwrap();
    assert!(
        text.starts_with("# [[workload]] file = \"lammps-2048\"\n"),
        "{text}"
    );
}

#[test]
fn presets_are_listed_and_shown() {
    let all = list(&catalog(), None, None).unwrap();
    assert!(all.contains("  booksim2 "));
    let mut catalog = made_up();
    catalog.presets = &[(
        "slow",
        "# Slow routers. Very.\n[router]\nlatency = \"1 ms\"\n",
    )];
    for what in ["presets", "preset"] {
        let text = list(&catalog, Some(what), None).unwrap();
        assert_eq!(
            text,
            "presets (preset = \"…\" at the top of the file)\n  slow  Slow routers.\n"
        );
    }
    let text = list(&catalog, Some("presets"), Some("slow")).unwrap();
    assert!(
        text.starts_with("# preset = \"slow\"\n# Slow routers"),
        "{text}"
    );
    let error = list(&catalog, Some("presets"), Some("slwo")).unwrap_err();
    assert_eq!(error.message, "there is no preset called \"slwo\"");
    assert!(error.remedy().unwrap().contains("did you mean \"slow\"?"));
}

#[test]
fn a_name_is_found_in_any_family() {
    let text = list(&catalog(), Some("ecn"), None).unwrap();
    assert!(text.contains("decrement_timer"), "{text}");
    // Variants of several topologies.
    let text = list(&catalog(), Some("ugal"), None).unwrap();
    assert!(text.matches("routing ugal\n").count() > 1, "{text}");
    // By its section.
    let text = list(&catalog(), Some("congestion"), None).unwrap();
    assert_eq!(text, list(&catalog(), Some("schemes"), None).unwrap());
    let error = list(&catalog(), Some("ecm"), None).unwrap_err();
    assert_eq!(error.remedy(), Some("did you mean \"ecn\"?"));
    let all = json(&catalog());
    let schemes = all["schemes"]["variants"].as_array().unwrap();
    let ecn = schemes.iter().find(|one| one["name"] == "ecn").unwrap();
    assert!(ecn["parameters"]["properties"]["increment"].is_object());
}

#[test]
fn routings_stand_below_their_topologies() {
    let mut catalog = made_up();
    let minimal = Variant {
        summary: "Routers in a circle.",
        ..catalog.routings.variants[0]
    };
    let routing = |name, topologies| Variant {
        name,
        topologies,
        ..minimal
    };
    catalog.routings.variants = vec![
        routing("minimal", &["ring"] as &[&str]),
        routing("minimal", &["star", "bus"]),
        routing("far", &["star", "bus"]),
    ];
    let text = list(&catalog, Some("routings"), None).unwrap();
    let lines: Vec<&str> = text.lines().skip(1).collect();
    let summary = "Routers in a circle.";
    assert_eq!(
        lines,
        [
            " for ring",
            &format!("  minimal  {summary}"),
            " for star, bus",
            &format!("  minimal  {summary}"),
            &format!("  far      {summary}"),
        ]
    );
    let text = list(&catalog, Some("routings"), Some("minimal")).unwrap();
    assert!(text.contains("For topologies: ring\n"), "{text}");
    assert!(text.contains("For topologies: star, bus\n"), "{text}");
}

#[test]
fn everything_at_once_and_nothing_yet() {
    let text = list(&catalog(), None, None).unwrap();
    for family in catalog().families() {
        assert!(text.contains(family.name));
        for variant in &family.variants {
            assert!(text.contains(variant.name) && !variant.summary.is_empty());
            let page = list(&catalog(), Some(family.name), Some(variant.name)).unwrap();
            assert!(page.contains(variant.summary.split(' ').next().unwrap()));
        }
    }
    let mut empty = catalog();
    empty.motifs.variants.clear();
    let text = list(&empty, Some("motifs"), None).unwrap();
    assert!(text.contains("There are no motifs yet."));
    assert!(
        list(&catalog(), Some("schemes"), Some("none"))
            .unwrap()
            .contains("no parameters")
    );
}

#[test]
fn unknown_names_are_helped() {
    let error = list(&catalog(), Some("topologys"), None).unwrap_err();
    assert!(error.message.contains("\"topologys\""));
    assert!(
        error
            .remedy()
            .unwrap()
            .contains("did you mean \"topologies\"?")
    );
    let error = list(&made_up(), Some("topologies"), Some("rign")).unwrap_err();
    assert_eq!(error.message, "there is no topology called \"rign\"");
    assert!(error.remedy().unwrap().contains("\"ring\", \"ring-12\""));
    let error = list(&catalog(), Some("ecn"), Some("ecn")).unwrap_err();
    assert!(error.message.contains("is no list"), "{}", error.message);
    assert_eq!(error.remedy(), Some("see `weir list ecn`"));
}

#[test]
fn long_texts_are_wrapped() {
    let text = wrap(&"word ".repeat(60), "    ");
    assert!(text.lines().count() > 2);
    assert!(
        text.lines()
            .all(|line| line.len() <= WIDTH && line.starts_with("    word"))
    );
}

/// Every section, metrics, and the phases and expressions of a script.
#[test]
fn what_is_no_variant_is_listed_too() {
    let listed =
        |what: &str| list(&catalog(), Some(what), None).unwrap_or_else(|error| panic!("{error}"));
    for (what, keys) in [
        ("router", ["flit", "input_buffer"]),
        ("[nic]", ["max_packet", "acknowledge"]),
        ("nodes", ["stride", "inside.latency"]),
        ("[[failure]]", ["links", "added_latency"]),
        ("run", ["until", "max_wall"]),
        ("output", ["bin", "rates"]),
        ("cost", ["area", "energy"]),
        ("mpi", ["rendezvous_from", "collectives.alltoall"]),
        (
            "metrics",
            ["latency.message.mean", "ports.global.busy_share"],
        ),
        ("script", ["phases[].send[].to", "xor(a, b)"]),
    ] {
        let text = listed(what);
        for key in keys {
            assert!(text.contains(key), "{what} lacks {key}: {text}");
        }
        assert!(!text.contains('`') || what != "metrics", "{text}");
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(WIDTH + 12), "{what}: {widest:?}");
    }
    let all = list(&catalog(), None, None).expect("all");
    for name in [
        "router", "nic", "nodes", "failure", "run", "output", "cost", "mpi", "metrics",
    ] {
        assert!(
            all.contains(&format!("\n  {name} ")) || all.contains(&format!("{name} (")),
            "{name}"
        );
    }
    assert!(
        list(&catalog(), Some("metricks"), None)
            .expect_err("none")
            .remedy()
            .expect("one")
            .contains("\"metrics\"")
    );
}

/// A key without a default in the schema is one that may be left out for "nothing", and no number or
/// choice.
#[test]
fn every_default_is_in_the_schema() {
    fn without(schema: &Json, root: &Json, path: &str, found: &mut Vec<String>) {
        let required = schema["required"].as_array();
        for (key, property) in schema["properties"].as_object().into_iter().flatten() {
            let path = format!("{path}.{key}");
            let required = required.is_some_and(|all| all.iter().any(|one| one == key));
            let kind = type_of(follow(property, root), root);
            let chosen = kind.contains(" | ") || kind.contains("number") && !kind.contains("list");
            let none = property.to_string().contains("null");
            if property["default"].is_null() && !required && !none && chosen {
                found.push(format!("{path}: {kind}"));
            }
            without(follow(property, root), root, &path, found);
        }
    }
    let mut found = Vec::new();
    let (sections, definitions) = fixed_sections();
    let root = json!({ "$defs": definitions });
    for (name, schema) in &sections {
        without(schema, &root, name, &mut found);
    }
    for family in catalog().families() {
        for variant in &family.variants {
            let schema = (variant.parameters.schema)().to_value();
            without(&schema, &schema, variant.name, &mut found);
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// The page about scripts has every notation of the list.
#[test]
fn the_page_has_all_of_the_expressions() {
    let page = include_str!("../../../../docs/traces.md").replace("\\|", "|");
    let (_, page) = page.split_once("### Expressions").expect("a section");
    let text = list(&catalog(), Some("script"), None).expect("it is there");
    let (_, rows) = text.split_once("  expressions\n").expect("they are there");
    let mut count = 0;
    for row in rows.lines().filter(|line| !line.starts_with("     ")) {
        let notation = row.trim_start().split("  ").next().unwrap_or_default();
        assert!(page.contains(&format!("| `{notation}` |")), "{notation}");
        count += 1;
    }
    assert!(count > 20, "{text}");
}
