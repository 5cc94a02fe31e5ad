//! All limits of the house. They may only fall.
//!
//! A test fails if it finds more than its limit. If it finds less, it asks for a lower limit.
//! `cargo test --test all house:: -- --nocapture` prints the counts of today.

use super::{Count, Sizes};

/// The top-level modules of src/, lowest first: each may know those before it (docs/design.md).
pub const ORDER: &[&str] = &[
    "model",
    "engine",
    "input",
    "registry",
    "topology",
    "routing",
    "queueing",
    "congestion",
    "workload",
    "fabric",
    "trace",
    "explain",
    "config",
    "catalog",
    "simulation",
    "forecast",
    "study",
    "report",
    "cli",
];

/// Modules that may know fewer than all modules below them.
pub const KNOWS_ONLY: &[(&str, &[&str])] = &[
    ("engine", &["model"]),
    ("trace", &["model"]),
    ("explain", &["model", "trace"]),
    (
        "report",
        &[
            "model", "input", "registry", "config", "trace", "explain", "study",
        ],
    ),
];

/// Circles of files that need each other.
pub const CYCLES: Count = Count {
    name: "CYCLES",
    limit: 16,
    slack: 0,
    remedy: "Move what both files need into a third one:",
};

/// Pairs of files in one circle: more if a circle grows or two circles become one.
pub const PAIRS_IN_CYCLES: Count = Count {
    name: "PAIRS_IN_CYCLES",
    limit: 427,
    slack: 0,
    remedy: "Move what both files need into a third one:",
};

/// Circles that remain if a module may use the modules inside it and be used by them.
pub const CYCLES_OF_EQUALS: Count = Count {
    name: "CYCLES_OF_EQUALS",
    limit: 3,
    slack: 0,
    remedy: "Move what both files need into a third one:",
};

/// Folders with a file for each variant, format or experiment. They may be as large as their list.
pub const REGISTRIES: &[&str] = &[
    "src/congestion",
    "src/queueing",
    "src/routing/direct",
    "src/routing/dragonfly",
    "src/routing/tree",
    "src/topology",
    "src/workload/motifs",
    "src/workload/patterns",
    "src/workload/replay",
    "tests/experiments",
];

/// Entries of a folder: files and folders.
pub const CROWDED_FOLDERS: Sizes = Sizes {
    name: "CROWDED_FOLDERS",
    bound: 12,
    above: &[
        ("src", 21),
        ("src/cli", 24),
        ("src/config", 19),
        ("src/engine", 14),
        ("src/fabric/endpoint", 14),
        ("src/fabric/router", 15),
        ("src/model", 15),
        ("src/report", 22),
        ("src/simulation", 18),
        ("src/study", 23),
        ("src/trace", 23),
        ("src/workload/tasks", 18),
        ("tests", 73),
    ],
    slack: 0,
    remedy: "Group files that belong together in a folder.",
};

/// Lines of a file, empty ones included.
pub const LONG_FILES: Sizes = Sizes {
    name: "LONG_FILES",
    bound: 500,
    above: &[
        ("src/fabric/endpoint/send_queues.rs", 507),
        ("src/fabric/record/attribution/mod.rs", 551),
        ("src/model/packet.rs", 513),
        ("src/simulation/assemble.rs", 563),
        ("src/study/dir.rs", 527),
        ("src/study/verdict.rs", 523),
        ("src/topology/tree.rs", 592),
        ("src/trace/out_dir.rs", 592),
        ("src/trace/write.rs", 590),
        ("tests/applications.rs", 525),
        ("tests/bad_input.rs", 546),
        ("tests/bands.rs", 506),
        ("tests/cli.rs", 543),
        ("tests/physics_rates.rs", 568),
        ("tests/records.rs", 575),
        ("tests/reference/flit.rs", 561),
    ],
    slack: 10,
    remedy: "Split the file by its subjects.",
};

/// Lines of a function, from `fn` to its closing brace.
pub const LONG_FUNCTIONS: Sizes = Sizes {
    name: "LONG_FUNCTIONS",
    bound: 70,
    above: &[
        (
            "tests/tune.rs fn what_is_wrong_with_a_search_is_said_before_anything_runs",
            78,
        ),
        (
            "tests/slowdown.rs fn the_sweep_runs_a_job_alone_by_itself_and_compares",
            92,
        ),
        (
            "tests/report.rs fn a_sweep_shows_its_figures_its_claims_and_its_failures",
            87,
        ),
        (
            "tests/physics_rates.rs fn a_small_buffer_gives_its_packets_over_its_round_trip",
            119,
        ),
        (
            "tests/dragonfly.rs fn what_cannot_be_built_is_refused_with_the_key_and_a_remedy",
            74,
        ),
        (
            "src/workload/tasks/collectives/tests.rs fn volumes_are_those_of_the_textbooks",
            93,
        ),
        (
            "src/workload/tasks/collectives/tests.rs fn roots_reach_all_and_all_reach_roots",
            72,
        ),
        (
            "src/workload/tasks/collectives/tests.rs fn everybody_hears_of_everybody",
            115,
        ),
        (
            "src/workload/replay/vef/tests.rs fn what_is_wrong_is_refused_with_its_line",
            78,
        ),
        (
            "src/workload/replay/simgrid/tests.rs fn what_is_wrong_is_refused_with_its_line",
            125,
        ),
        (
            "src/workload/replay/goal/tests.rs fn what_is_wrong_is_refused_with_its_line",
            108,
        ),
        (
            "src/workload/replay/connections.rs fn what_is_wrong_is_refused_with_its_line",
            88,
        ),
        (
            "src/workload/replay/chakra/tests.rs fn communicators_come_from_a_file_or_from_the_trace",
            79,
        ),
        (
            "src/workload/replay/allprof/tests.rs fn what_is_wrong_is_refused_with_file_and_line",
            132,
        ),
        (
            "src/workload/motifs/script/tests.rs fn what_is_wrong_is_refused_before_it_runs",
            84,
        ),
        (
            "src/workload/motifs/script/expression.rs fn what_is_wrong_is_said_with_its_place_and_a_remedy",
            120,
        ),
        (
            "src/trace/tests.rs fn every_column_holds_its_values_unit_and_name",
            74,
        ),
        (
            "src/config/tests/refused/places.rs fn what_came_from_the_command_line_is_said_to",
            80,
        ),
        (
            "src/config/tests/refused/places.rs fn errors_in_a_network_file_point_into_it",
            79,
        ),
        (
            "src/config/tests/refused/mod.rs fn unknown_names_in_every_place",
            146,
        ),
        ("src/cli/check.rs fn checked", 75),
        ("src/config/tests/good.rs fn every_key_is_read", 94),
        ("src/config/tests/mod.rs fn catalog", 89),
        ("src/config/tests/refused/mod.rs fn missing_parts", 75),
        ("src/config/tests/refused/values.rs fn router_and_nic", 94),
        ("src/config/tests/refused/values.rs fn run_and_output", 74),
        ("src/config/tests/refused/values.rs fn workload_values", 110),
        ("src/engine/run.rs fn run", 88),
        ("src/fabric/endpoint/nic.rs fn packet_of_pair", 86),
        ("src/fabric/router/link.rs fn send", 74),
        ("src/fabric/setup/build.rs fn new", 178),
        ("src/report/congestion.rs fn drawing", 94),
        ("src/report/draw/tests.rs fn plots", 91),
        ("src/simulation/assemble.rs fn network", 110),
        ("src/simulation/collect/attribution.rs fn table", 72),
        ("src/simulation/collect/mod.rs fn merge", 88),
        ("src/simulation/collect/mod.rs fn scheme", 76),
        ("src/simulation/flows.rs fn rules", 87),
        ("src/study/job_file.rs fn of", 93),
        ("src/study/metric/names.rs fn series", 72),
        ("src/study/metric/read.rs fn read", 75),
        ("src/study/tests/needs.rs fn what_no_point_records", 87),
        ("src/study/tests/refused.rs fn axes", 98),
        ("src/study/tests/refused.rs fn claims", 108),
        ("src/study/tests/refused.rs fn figures", 100),
        ("src/topology/tree.rs fn new", 71),
        ("src/trace/sample.rs fn data", 178),
        ("src/workload/patterns/hot_background.rs fn diverting", 79),
        ("src/workload/replay/allprof/call.rs fn call", 77),
        ("src/workload/replay/connections.rs fn graphs", 93),
        ("src/workload/replay/simgrid/action.rs fn action", 75),
        ("src/workload/replay/simgrid/action.rs fn collective", 110),
        ("tests/bands.rs fn bands_that_do_not_suit_are_refused", 98),
        ("tests/relations.rs fn formats", 78),
        ("tests/warnings.rs fn what_does_nothing_is_told", 103),
    ],
    slack: 5,
    remedy: "Give a step of the function a name.",
};

/// Columns of a line, in characters.
pub const WIDTH: usize = 100;

/// Lines wider than that. Most are comments, which rustfmt does not wrap.
pub const WIDE_LINES: Count = Count {
    name: "WIDE_LINES",
    limit: 2602,
    slack: 50,
    remedy: "Wrap the lines you added: git diff -U0 main | grep -E '^[+].{101}'. Lines by file:",
};

/// Files that do not begin with a `//!` line that says what they are for.
pub const WITHOUT_PURPOSE: Count = Count {
    name: "WITHOUT_PURPOSE",
    limit: 95,
    slack: 0,
    remedy: "Begin your file with `//! ` and its purpose. Files without:",
};

/// Words that open a sentence about a thing before the thing is named.
pub const OPENING_WORDS: &[&str] = &["What", "Whether", "How", "When", "Of", "Where", "So", "Who"];

/// Paragraphs of doc comments (`///`) that open with one of these words, of 1000 paragraphs.
pub const OPENINGS: Count = Count {
    name: "OPENINGS",
    limit: 164,
    slack: 3,
    remedy: "Name the thing first in the comments you added: not \"Whether packets may wait\" but \
             \"True if packets may wait\". Such paragraphs by file:",
};

/// Words of a sentence.
pub const SENTENCE_WORDS: usize = 40;

/// Sentences of the manual with more words than that.
pub const LONG_SENTENCES: Count = Count {
    name: "LONG_SENTENCES",
    limit: 23,
    slack: 3,
    remedy: "Make two sentences of one:",
};

/// Worn phrases: the remedy, and how often each may stand in the manual and in doc comments.
pub const PHRASES: &[(&str, &str, usize, usize)] = &[
    (
        "so many",
        "Write \"a number of\", or name the number.",
        2,
        168,
    ),
    (
        "as many as",
        "Say what is counted: \"one for each task\".",
        1,
        11,
    ),
    ("those that", "Name them: \"packets that\".", 11, 129),
    ("those who", "Name them: \"sources that\".", 0, 10),
    ("of its own", "Write \"separate\", or leave it out.", 9, 56),
    ("goes by", "Write \"uses\" or \"depends on\".", 2, 8),
    ("in place of", "Write \"instead of\".", 7, 30),
    (
        "what waits",
        "Write \"queued packets\" or \"backlog\".",
        2,
        42,
    ),
    ("is begun", "Write \"starts\".", 0, 6),
    ("comes to", "Write \"amounts to\" or \"is\".", 0, 14),
    ("stands at", "Write \"is listed in\" or \"is\".", 0, 4),
    ("is there", "Write \"exists\", or say where.", 2, 31),
    ("as ever", "Write \"as before\", or leave it out.", 0, 0),
];

/// Names of types that are visible outside of their files and defined twice or more.
pub const NAMES_TWICE: Count = Count {
    name: "NAMES_TWICE",
    limit: 97,
    slack: 0,
    remedy: "Say in the name whose it is (`FlowKind`, not `Kind`). Names and their places:",
};
