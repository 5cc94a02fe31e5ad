//! Values that are not allowed.

use super::*;

#[test]
fn router_and_nic() {
    for (line, parts) in [
        (
            "[router]\nflit = \"2 flits\"",
            ["router.flit: \"2 flits\"", "bits or bytes"],
        ),
        (
            "[router]\nflit = \"0 bits\"",
            ["\"0 bits\" is zero", "128 KiB"],
        ),
        (
            "[router]\nflit = \"1 GB\"",
            ["too large for a flit", "500 MB"],
        ),
        (
            "[router]\nflit = 100",
            ["router.flit: 100 has no unit", "with its unit"],
        ),
        (
            "[router]\nflit = \"100 b\"",
            ["b could be bits or bytes", "`bits` or `B`"],
        ),
        (
            "[router]\nlatency = \"-5 ns\"",
            ["router.latency: \"-5 ns\" is negative", "50 ns"],
        ),
        (
            "[router]\nspeedup = 0.5",
            ["0.5 would make the crossbar slower", "\"infinite\""],
        ),
        (
            "[router]\nspeedup = inf",
            ["inf is not a number", "\"infinite\""],
        ),
        (
            "[router]\nspeedup = \"fast\"",
            ["\"fast\" is not a speedup", "at least 1"],
        ),
        (
            "[nic]\nacknowledge = \"maybe\"",
            [
                "expected true or false, got \"maybe\"",
                "write true or false",
            ],
        ),
        (
            "[router]\ninput_buffer = \"10 flits\"",
            [
                "10 flits holds 10 flits, but the longest packet (nic.max_packet) has 24",
                "at least \"24 flits\"",
            ],
        ),
        (
            "[router]\ninput_buffer = 10",
            ["10 has no unit", "\"auto\" or a quantity"],
        ),
        (
            "[router]\noutput_queue = \"200 B\"",
            [
                "200 B holds 16 flits, but the longest packet (nic.max_packet) has 24",
                "\"none\" for no queue",
            ],
        ),
        (
            "[router]\noutput_queue = \"5000000000 flits\"",
            ["at most 4294967295", "write less"],
        ),
        (
            "[nic]\nmax_packet = \"99 bits\"",
            [
                "99 bits (99 bits) is less than one flit of 100 bits",
                "1 flit",
            ],
        ),
        (
            "[nic]\nmax_packet = \"65536 flits\"",
            ["at most 65535", "smaller max_packet"],
        ),
        (
            "[nic]\nmax_packet = \"2 packets\"",
            ["cannot be counted in packets", "24 flits"],
        ),
        (
            "[nic]\ninjection_vcs = 0",
            ["0 virtual channels", "1 or more"],
        ),
        (
            "[nic]\ninjection_vcs = 300",
            ["from 0 to 255, got 300", "whole number"],
        ),
    ] {
        assert_section_refused(line, 2, &parts);
    }
}

#[test]
fn run_and_output() {
    for (text, line, parts) in [
        (
            "until = \"500\"",
            14,
            ["run.until: \"500\" has no unit", "50 ns"],
        ),
        ("until = \"0 ns\"", 14, ["a run of 0 ns", "completion"]),
        (
            "until = \"complete\"",
            14,
            ["\"complete\" is not known", "did you mean \"completion\"?"],
        ),
        (
            "until = \"1 us\"\nwarmup = \"1 us\"",
            15,
            [
                "1 us is not before the end of the run (run.until = 1 us)",
                "shorter warmup",
            ],
        ),
        (
            "until = \"5 us\"\nwarmup = \"2 us\"\nmeasure = \"4 us\"",
            16,
            [
                "(2 us + 4 us) end after the run (run.until = 5 us)",
                "at most \"3 us\"",
            ],
        ),
        (
            "until = \"5 us\"\nmeasure = \"0 ns\"",
            15,
            ["0 ns measures nothing", "more than zero"],
        ),
        (
            "until = \"5 us\"\nseed = -1",
            15,
            [
                "run.seed: expected a whole number that is not negative, got -1",
                "write",
            ],
        ),
        (
            "until = \"5 us\"\n[output]\nbin = \"0 ns\"",
            16,
            ["0 ns is no interval", "10 us"],
        ),
        (
            "until = \"1 us\"\n[output]\nrates = { interval = \"0 ns\", endpoints = [1] }",
            16,
            ["output.rates.interval: 0 ns is no interval", "10 us"],
        ),
        (
            "until = \"1 us\"\n[output]\nrates = { interval = \"1 us\", tasks = { workload0 = [] } }",
            16,
            ["output.rates: this chooses nobody", "or endpoints"],
        ),
        (
            "until = \"1 us\"\n[output]\nrates = { interval = \"1 us\", tasks = { workload1 = [0] } }",
            16,
            [
                "there is no workload called \"workload1\"",
                "did you mean \"workload0\"",
            ],
        ),
        (
            "until = \"completion\"",
            8,
            ["\"workload0\" never stops", "add stop"],
        ),
    ] {
        assert_refused("until = \"500 us\"", text, line, &parts);
    }
}

#[test]
fn checkpoints_take_time() {
    let text = "until = \"5 us\"\ncheckpoint_every = \"0 s\"";
    let parts = ["run.checkpoint_every: a checkpoint at every", "10 min"];
    assert_refused("until = \"500 us\"", text, 15, &parts);
}

#[test]
fn workload_values() {
    for (text, line, parts) in [
        ("load = 0", 9, ["0 is not a load", "more than 0"]),
        ("load = nan", 9, ["NaN is not a load", "more than 0"]),
        (
            "load = \"0.4\"",
            9,
            ["expected a number, got \"0.4\"", "write 0.4 without quotes"],
        ),
        (
            "load = 0.4\nname = \"a b\"",
            10,
            ["\"a b\" is not a name", "letters, digits"],
        ),
        (
            "load = 0.4\nname = \"\"",
            10,
            ["\"\" is not a name", "letters, digits"],
        ),
        (
            "load = 0.4\nendpoints = \"32..16\"",
            10,
            [
                "the range \"32..16\" is empty: 32 is not below 16",
                "two dots",
            ],
        ),
        (
            "load = 0.4\nendpoints = \"some\"",
            10,
            ["\"some\" names no endpoints", "\"16..32\""],
        ),
        (
            "load = 0.4\nendpoints = [1, 2, 1]",
            10,
            ["endpoint 1 is listed twice", "once"],
        ),
        (
            "load = 0.4\nendpoints = [1, -2]",
            10,
            ["workload.0.endpoints.1: expected a whole number", "got -2"],
        ),
        (
            "load = 0.4\nendpoints = []",
            10,
            ["the list is empty", "\"rest\""],
        ),
        ("load = 0.4\nendpoints = 16", 10, ["got 16", "\"16..32\""]),
        (
            "load = 0.4\nendpoints = { count = 0, placement = \"linear\" }",
            10,
            ["endpoints.count: 0 endpoints", "1 or more"],
        ),
        (
            "load = 0.4\nendpoints = { count = 2, placement = \"randm\" }",
            10,
            ["endpoints.placement: \"randm\"", "did you mean \"random\"?"],
        ),
        (
            "load = 0.4\nendpoints = { cuont = 2, placement = \"random\" }",
            10,
            ["endpoints: unknown key `cuont`", "did you mean `count`?"],
        ),
        (
            "load = 0.4\nstop = \"0 ns\"",
            10,
            ["0 ns is not after the start (0 ns)", "later stop"],
        ),
        (
            "load = 0.4\nstart = \"600 us\"",
            10,
            ["600 us is not before the end of the run", "earlier start"],
        ),
        (
            "load = 0.4\ninjection = \"bernouli\"",
            10,
            ["\"bernouli\"", "did you mean \"bernoulli\"?"],
        ),
        (
            "load = 0.4\ncopies = 0",
            10,
            ["copies: this is no number of copies", "1 to"],
        ),
        (
            "load = 0.4\nenabled = false",
            8,
            ["no workload is enabled", "leave `enabled` away"],
        ),
    ] {
        assert_refused("load = 0.4", text, line, &parts);
    }
    for (message, parts) in [
        ("4", ["workload.0.message: 4 has no unit", "\"4 flits\""]),
        (
            "\"4 flots\"",
            ["\"flots\" is not a unit of data", "did you mean flits?"],
        ),
        ("[]", ["the list is empty", "share = 0.5"]),
        (
            "[{ size = \"1 flit\", share = 0 }]",
            ["message.0.share: 0 is not a share", "more than 0"],
        ),
        (
            "[{ size = \"1 flit\" }]",
            ["message.0: the key `share` is missing", "add `share"],
        ),
    ] {
        assert_refused("\"4 flits\"", message, 10, &parts);
    }
}

#[test]
fn workload_names_are_unique() {
    let second = "[[workload]]\nname = \"workload0\"\nload = 1\nmessage = \"1 flit\"\npattern = { kind = \"uniform\" }\n";
    assert_section_refused(
        second,
        2,
        &[
            "\"workload0\" is the name of workloads 0 and 1",
            "a different name",
        ],
    );
}

#[test]
fn texts_that_cannot_be_printed() {
    let section = "[[workload]]\nname = \"a\\u001b[2Jb\"";
    assert_section_refused(
        section,
        2,
        &["workload.1.name", "U+001B, which is a control character"],
    );
    let error = refusal(LEAST, &["workload.0.name=a\u{2067}b"]);
    assert_says(&error, &["workload.0.name", "U+2067", "(given by `--set"]);
    // Around another mistake: of the comment nothing reaches the terminal, and the line is still
    // the right one.
    let comment = "[output] # \u{202e}\u{85}\u{1f600}\nbin = 3";
    assert_section_refused(comment, 2, &["output.bin: 3 has no unit", "\u{fffd}"]);
}
