//! What cannot be imported is refused, and nothing is lost or overwritten.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256StarStar;

use super::{ALL, imported_text, path};
use crate::support::{Cli, Ran};

/// `weir import` of a text that must be refused.
fn refused(simulator: &str, text: &str) -> Ran {
    let ran = Cli::weir(text, &["import", simulator, "experiment.toml"]).go();
    assert_eq!(ran.code, Some(2), "{text}\n{}", ran.stderr);
    assert!(ran.stderr.starts_with("error: "), "{}", ran.stderr);
    assert_eq!(ran.stdout, "", "{text}");
    ran
}

#[test]
fn topologies_without_counterpart_are_named_with_their_line() {
    for kind in ["anynet", "fly", "qtree", "tree4", "cmesh", "other"] {
        let ran = refused("booksim", &format!("k = 4;\ntopology = {kind};\n"));
        for part in [&format!("line 2: topology = {kind}"), "flatfly, fattree"] {
            assert!(ran.stderr.contains(part), "{part} in {}", ran.stderr);
        }
    }
    for model in ["slimfly", "dragonfly_plus", "express_mesh", "loggp"] {
        let text = format!("PARAMS {{\n modelnet_order=(\"{model}\");\n}}");
        let ran = refused("codes", &text);
        let part = format!("line 2: PARAMS.modelnet_order = {model}");
        assert!(ran.stderr.contains(&part), "{part} in {}", ran.stderr);
    }
}

#[test]
fn garbage_is_refused() {
    let booksim = [
        "\u{0}\u{1}\u{2}",
        "k = {1,2;",
        "k = }8;",
        "k",
        "k = 8",
        "k = 99999999999999999999999;",
        "k = -1;",
        "k = 65535; n = 16; routing_function = dim_order;",
        "k = 1e9;",
        "k = 8\u{7};",
        "injection_rate = nan;",
        "injection_rate = 0;",
        "injection_rate = {};",
        "packet_size = {0};",
        "packet_size = 1000000000; routing_function = dim_order;",
        "topology = dragonflynew; k = 65535; n = 1;",
        "topology = dragonflynew; k = 4; n = 2;",
        "internal_speedup = 0;",
        "sample_period = 18446744073709551616;",
        "classes = 1000000;",
    ];
    for text in booksim {
        refused("booksim", text);
    }
    let order = "modelnet_order=(\"torus\")";
    let codes = [
        "",
        "PARAMS {",
        "PARAMS { x=\"1; }",
        "PARAMS { x=(\"1\"; }",
        "PARAMS { x=\"\u{7}\"; }",
        "}",
        "/* PARAMS",
        &format!("PARAMS {{ {order}; dim_length=\"4,4\"; }}"),
        &format!("PARAMS {{ {order}; n_dims=\"1\"; dim_length=\"9999999999\"; }}"),
        &format!("PARAMS {{ {order}; n_dims=\"1\"; dim_length=\"4\"; link_bandwidth=\"0\"; }}"),
        "PARAMS { modelnet_order=(\"dragonfly_dally\"); }",
        "PARAMS { modelnet_order=(\"simplenet\"); }",
        "PARAMS { modelnet_order=(\"torus\", \"simplenet\"); }",
    ];
    for text in codes {
        refused("codes", text);
    }
    let missing = Cli::weir("", &["import", "booksim", "missing"]).go();
    assert_eq!(missing.code, Some(2), "{}", missing.stderr);
}

#[test]
fn unknown_and_repeated_keys_are_listed_with_their_lines() {
    let text = "k = 4;\nk = 6;\nrouting_function = chaos;\n\nfancy = 3;\nwatch_out = -;\n";
    let (toml, said) = imported_text("booksim", text);
    for part in [
        "line 1: k = 4: given again on line 2",
        "line 3: routing_function = chaos: no counterpart: routing.algorithm = \"dor\" instead",
        "line 5: fancy = 3: unknown key",
        "line 6: watch_out = -: no counterpart: weir run --watch-packet",
    ] {
        assert!(
            said.contains(&format!("warning: experiment.toml, {part}")),
            "{said}"
        );
        assert!(toml.contains(part), "{toml}");
    }
    assert!(toml.contains("sizes = [6, 6]"), "{toml}");
    let text = "PARAMS { modelnet_order=(\"torus\"); n_dims=\"1\"; dim_length=\"4\";\n\
                 packet_size=\"512\"; routing=\"minimal\"; other=\"1\"; }\nX { y=\"2\"; }";
    let (_, said) = imported_text("codes", text);
    for part in [
        "line 2: PARAMS.routing = minimal: no effect: torus does not read it",
        "line 2: PARAMS.other = 1: unknown key",
        "line 3: X.y = 2: unknown key",
    ] {
        assert!(said.contains(part), "{part} in {said}");
    }
}

#[test]
fn an_existing_file_is_not_overwritten() {
    let folder = tempfile::tempdir().expect("a directory");
    let out = folder.path().join("a.toml");
    let out_text = out.to_str().expect("UTF-8");
    let input = path("torus88-example");
    let arguments = [
        "import",
        "booksim",
        input.to_str().expect("UTF-8"),
        "--out",
        out_text,
    ];
    Cli::weir("", &arguments).succeeds();
    let written = std::fs::read_to_string(&out).expect("a file");
    assert!(written.contains("preset = \"booksim2\""), "{written}");
    std::fs::write(&out, "mine").expect("a file");
    let ran = Cli::weir("", &arguments).go();
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("exists"), "{}", ran.stderr);
    assert_eq!(std::fs::read_to_string(&out).expect("a file"), "mine");
}

#[test]
fn names_and_values_stay_in_comments() {
    let name = "a\nseed = 7\n#";
    let cli = Cli::weir("", &["import", "booksim", name]);
    let text = "routing_function = dim_order; watch_out = {a\u{2028}b};";
    std::fs::write(cli.folder().join(name), text).expect("a file");
    let ran = cli.succeeds();
    assert!(
        !ran.stdout.lines().any(|line| line == "seed = 7"),
        "{}",
        ran.stdout
    );
    Cli::check(&ran.stdout).succeeds();
}

#[test]
fn small_buffers_grow_to_the_longest_packet() {
    let text = "routing_function = dim_order; packet_size = 20; vc_buf_size = 8;\n\
                output_buffer_size = 4; internal_speedup = 2;";
    let (toml, said) = imported_text("booksim", text);
    for part in ["input_buffer = \"20 flits\"", "output_queue = \"20 flits\""] {
        assert!(toml.contains(part), "{part} in {toml}");
    }
    for part in [
        "line 1: vc_buf_size = 8: ",
        "line 2: output_buffer_size = 4: ",
    ] {
        assert!(said.contains(part), "{part} in {said}");
    }
}

#[test]
fn damaged_configurations_are_imported_or_refused() {
    let mut rng = Xoshiro256StarStar::seed_from_u64(1);
    let mut outcomes = [0; 2];
    for (simulator, name) in ALL {
        let whole = std::fs::read(path(name)).expect(name);
        for _ in 0..8 {
            let mut bytes = whole.clone();
            let mut any = |below: usize| (rng.next_u64() % below as u64) as usize;
            match any(3) {
                0 => bytes.truncate(any(whole.len())),
                1 => {
                    let at = any(whole.len());
                    bytes[at] = any(256) as u8;
                }
                _ => {
                    let digits: Vec<usize> = (0..whole.len())
                        .filter(|&at| whole[at].is_ascii_digit())
                        .collect();
                    let at = digits[any(digits.len())];
                    let many = vec![b'9'; 1 + any(24)];
                    bytes.splice(at..at, many);
                }
            }
            let cli = Cli::weir("", &["import", simulator, "damaged"]);
            std::fs::write(cli.folder().join("damaged"), bytes).expect("a file");
            let ran = cli.go();
            match ran.code {
                Some(0) => outcomes[0] += 1,
                Some(2) => outcomes[1] += 1,
                other => panic!("{other:?} of {name}: {}", ran.stderr),
            }
        }
    }
    // Some damage is in comments, some in what must be right.
    assert!(outcomes.iter().all(|&count| count > 5), "{outcomes:?}");
}
