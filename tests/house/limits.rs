//! All limits of the house. They may only fall.
//!
//! A test fails if it finds more than its limit. If it finds less, it asks for a lower limit.
//! `cargo test --test all house:: -- --nocapture` prints the counts of today.

use super::{Count, Sizes};

/// All modules of a crate that its order does not name.
pub const OTHERS: &str = "*";

/// The modules at the top of crates with several subjects, lowest first: each may know modules
/// before it.
pub const ORDERS: &[(&str, &[&str])] = &[
    ("weir_input", &[OTHERS, "registry"]),
    (
        "weir_network",
        &[
            "topology",
            "bill",
            "hostlist",
            "nodes",
            "partition",
            "failures",
            "routing",
            "queueing",
        ],
    ),
    ("weir_result", &[OTHERS, "explain"]),
    (
        "weir_simulation",
        &["config", "catalog", OTHERS, "forecast"],
    ),
];

/// Circles of files that need each other.
pub const CYCLES: Count = Count {
    name: "CYCLES",
    limit: 14,
    slack: 0,
    remedy: "Move what both files need into a third one:",
};

/// Pairs of files in one circle: more if a circle grows or two circles become one.
pub const PAIRS_IN_CYCLES: Count = Count {
    name: "PAIRS_IN_CYCLES",
    limit: 106,
    slack: 0,
    remedy: "Move what both files need into a third one:",
};

/// Circles that remain if a module may use the modules inside it and be used by them.
pub const CYCLES_OF_EQUALS: Count = Count {
    name: "CYCLES_OF_EQUALS",
    limit: 0,
    slack: 0,
    remedy: "Move what both files need into a third one:",
};

/// Folders with a file for each variant, format or experiment. They may be as large as their list.
pub const REGISTRIES: &[&str] = &[
    "crates",
    "crates/congestion/src",
    "crates/network/src/queueing",
    "crates/network/src/routing/direct",
    "crates/network/src/routing/dragonfly",
    "crates/network/src/routing/tree",
    "crates/network/src/topology",
    "crates/workload/src/motifs",
    "crates/workload/src/patterns",
    "crates/workload/src/replay",
    "tests/experiments",
    "tests/traces",
];

/// Entries of a folder: files and folders.
pub const CROWDED_FOLDERS: Sizes = Sizes {
    name: "CROWDED_FOLDERS",
    bound: 12,
    above: &[("tests", 18)],
    slack: 0,
    remedy: "Group files that belong together in a folder.",
};

/// Lines of a file, empty ones included.
pub const LONG_FILES: Sizes = Sizes {
    name: "LONG_FILES",
    bound: 500,
    above: &[],
    slack: 10,
    remedy: "Split the file by its subjects.",
};

/// Lines of a function, from `fn` to its closing brace.
pub const LONG_FUNCTIONS: Sizes = Sizes {
    name: "LONG_FUNCTIONS",
    bound: 70,
    above: &[
        (
            "tests/studies/slowdown.rs fn the_sweep_runs_a_job_alone_by_itself_and_compares",
            92,
        ),
        (
            "tests/cli/report.rs fn a_sweep_shows_its_figures_its_claims_and_its_failures",
            87,
        ),
        (
            "tests/networks/dragonfly/mod.rs fn \
             what_cannot_be_built_is_refused_with_the_key_and_a_remedy",
            74,
        ),
        (
            "crates/workload/src/tasks/collectives/tests.rs fn volumes_are_those_of_the_textbooks",
            93,
        ),
        (
            "crates/workload/src/tasks/collectives/tests.rs fn roots_reach_all_and_all_reach_roots",
            72,
        ),
        (
            "crates/workload/src/tasks/collectives/tests.rs fn everybody_hears_of_everybody",
            100,
        ),
        (
            "crates/workload/src/replay/vef/tests.rs fn what_is_wrong_is_refused_with_its_line",
            78,
        ),
        (
            "crates/workload/src/replay/simgrid/tests.rs fn what_is_wrong_is_refused_with_its_line",
            125,
        ),
        (
            "crates/workload/src/replay/goal/tests.rs fn what_is_wrong_is_refused_with_its_line",
            108,
        ),
        (
            "crates/workload/src/replay/chakra/tests.rs fn \
             communicators_come_from_a_file_or_from_the_trace",
            79,
        ),
        (
            "crates/workload/src/replay/allprof/tests.rs fn \
             what_is_wrong_is_refused_with_file_and_line",
            132,
        ),
        (
            "crates/workload/src/motifs/script/tests.rs fn what_is_wrong_is_refused_before_it_runs",
            73,
        ),
        (
            "crates/workload/src/motifs/script/expression.rs fn \
             what_is_wrong_is_said_with_its_place_and_a_remedy",
            120,
        ),
        (
            "crates/simulation/src/config/tests/refused/places.rs fn \
             what_came_from_the_command_line_is_said_to",
            80,
        ),
        (
            "crates/simulation/src/config/tests/refused/places.rs fn \
             errors_in_a_network_file_point_into_it",
            79,
        ),
        (
            "crates/simulation/src/config/tests/refused/mod.rs fn unknown_names_in_every_place",
            146,
        ),
        (
            "crates/simulation/src/config/tests/good.rs fn every_key_is_read",
            94,
        ),
        ("crates/simulation/src/config/tests/mod.rs fn catalog", 89),
        (
            "crates/simulation/src/config/tests/refused/mod.rs fn missing_parts",
            75,
        ),
        (
            "crates/simulation/src/config/tests/refused/values.rs fn router_and_nic",
            94,
        ),
        (
            "crates/simulation/src/config/tests/refused/values.rs fn run_and_output",
            74,
        ),
        (
            "crates/simulation/src/config/tests/refused/values.rs fn workload_values",
            110,
        ),
        ("crates/engine/src/run.rs fn run", 84),
        ("crates/fabric/src/endpoint/nic.rs fn packet_of_pair", 86),
        ("crates/report/src/run/congestion.rs fn drawing", 94),
        ("crates/report/src/draw/tests.rs fn plots", 91),
        ("crates/simulation/src/collect/mod.rs fn merge", 81),
        ("crates/study/src/job_file/mod.rs fn of", 93),
        ("crates/study/src/metric/names.rs fn series", 72),
        (
            "crates/study/src/tests/needs.rs fn what_no_point_records",
            87,
        ),
        ("crates/study/src/tests/refused.rs fn axes", 98),
        ("crates/study/src/tests/refused.rs fn claims", 108),
        (
            "crates/study/src/tests/figures.rs fn a_figure_that_cannot_be_drawn_is_refused",
            85,
        ),
        ("crates/result/src/sample.rs fn data", 159),
        (
            "crates/workload/src/patterns/hot_background.rs fn diverting",
            79,
        ),
        ("crates/workload/src/replay/allprof/call.rs fn call", 77),
        ("crates/workload/src/replay/simgrid/action.rs fn action", 75),
        (
            "crates/workload/src/replay/simgrid/action.rs fn collective",
            110,
        ),
        (
            "tests/networks/queueing/bands/mod.rs fn bands_that_do_not_suit_are_refused",
            98,
        ),
        ("tests/same_results/relations.rs fn formats", 78),
        ("tests/runs/warnings.rs fn what_does_nothing_is_told", 103),
    ],
    slack: 5,
    remedy: "Give a step of the function a name.",
};

/// Columns of a line, in characters.
pub const WIDTH: usize = 100;

/// Lines wider than that. Most are comments, which rustfmt does not wrap.
pub const WIDE_LINES: Count = Count {
    name: "WIDE_LINES",
    limit: 223,
    slack: 50,
    remedy: "Wrap the lines you added: git diff -U0 main | grep -E '^[+].{101}'. Lines by file:",
};

/// Files that do not begin with a `//!` line that gives their purpose.
pub const WITHOUT_PURPOSE: Count = Count {
    name: "WITHOUT_PURPOSE",
    limit: 0,
    slack: 0,
    remedy: "Begin your file with `//! ` and its purpose. Files without:",
};

/// Words that open a sentence about a thing before the thing is named.
pub const OPENING_WORDS: &[&str] = &["What", "Whether", "How", "When", "Of", "Where", "So", "Who"];

/// Paragraphs of doc comments (`///`) that open with one of these words, of 1000 paragraphs.
pub const OPENINGS: Count = Count {
    name: "OPENINGS",
    limit: 1,
    slack: 3,
    remedy: "Name the thing first in the comments you added: not \"Whether packets may wait\" but \
             \"True if packets may wait\". Such paragraphs by file:",
};

/// Words of a sentence.
pub const SENTENCE_WORDS: usize = 40;

/// Sentences of the manual with more words than that.
pub const LONG_SENTENCES: Count = Count {
    name: "LONG_SENTENCES",
    limit: 0,
    slack: 3,
    remedy: "Make two sentences of one:",
};

/// Worn phrases: the remedy, and the permitted number of each in the manual and in doc comments.
pub const PHRASES: &[(&str, &str, usize, usize)] = &[
    (
        "so many",
        "Write \"a number of\", or name the number.",
        0,
        0,
    ),
    (
        "as many as",
        "Say what is counted: \"one for each task\".",
        0,
        0,
    ),
    ("those that", "Name them: \"packets that\".", 3, 0),
    ("those who", "Name them: \"sources that\".", 0, 0),
    ("of its own", "Write \"separate\", or leave it out.", 0, 0),
    ("goes by", "Write \"uses\" or \"depends on\".", 0, 0),
    ("in place of", "Write \"instead of\".", 0, 0),
    (
        "what waits",
        "Write \"queued packets\" or \"backlog\".",
        0,
        0,
    ),
    ("is begun", "Write \"starts\".", 0, 0),
    ("comes to", "Write \"amounts to\" or \"is\".", 0, 0),
    ("stands at", "Write \"is listed in\" or \"is\".", 0, 0),
    ("is there", "Write \"exists\", or say where.", 0, 0),
    ("as ever", "Write \"as before\", or leave it out.", 0, 0),
];

/// Names of types that are visible outside of their files and defined twice or more.
pub const NAMES_TWICE: Count = Count {
    name: "NAMES_TWICE",
    limit: 25,
    slack: 0,
    remedy: "Say in the name whose it is (`FlowKind`, not `Kind`). Names and their places:",
};
