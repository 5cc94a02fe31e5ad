//! A trace of any bytes is read or refused with a message, without a panic, and in memory that its
//! length bounds. The target of `fuzz/` calls the same functions for as long as one likes; here
//! seeds are changed at random, always in the same way. `WEIR_ATTACK_CASES` sets how many times
//! each (150 by default), `WEIR_ATTACK_SEED` begins elsewhere.

use std::fs;
use std::path::Path;

use weir::simulation::CpuClock;
use weir::workload::replay::{attempt, attempt_any};

use crate::support::memory::peak_of;

/// Memory that a reader may take for any file: 65,536 tasks that do nothing, and its buffers.
const BASE: usize = 96 << 20;
/// And for each byte of the file.
const PER_BYTE: usize = 600;
/// Processor time that a trace of a few kilobytes may take, s, in a build that is not optimised.
const LONGEST: f64 = 20.0;

/// Two processes that split and copy communicators, and wait for any.
const SPLIT: [&str; 2] = [
    "MPI_Init:-:1:2:1\nMPI_Comm_split:1:9,0,2:0:1:64:2\nMPI_Comm_dup:2:9,0,2:72:2\nMPI_Barrier:2:7,1,2:3\n\
     MPI_Irecv:3:1:8:1,4,4:1:5:9,0,2:800:3\nMPI_Irecv:3:1:8:1,4,4:0:6:7,1,2:808:3\nMPI_Waitany:3:2:800:4:5:3\n\
     MPI_Waitsome:3:2:800:4:5:6:4\nMPI_Comm_free:4:64:4\nMPI_Allreduce:4:1:2:3:1,4,4:3:8,0,2:4\nMPI_Finalize:5:-\n",
    "MPI_Init:-:1:2:1\nMPI_Comm_split:1:9,1,2:0:0:64:2\nMPI_Comm_dup:2:9,1,2:72:2\nMPI_Barrier:2:7,0,2:3\n\
     MPI_Send:3:1:8:1,4,4:0:5:9,1,2:3\nMPI_Isend:3:1:8:1,4,4:1:6:7,0,2:800:3\nMPI_Test:3:800:1:2:3\n\
     MPI_Wait:3:800:2:4\nMPI_Comm_free:4:64:4\nMPI_Allreduce:4:1:2:3:1,4,4:3:8,1,2:4\nMPI_Finalize:5:-\n",
];

/// A schedule with a head, in which marks have no spaces around them.
const HEAD: &str = "// coverage: 3 MPI_Put of 96 bytes ignored: it is not converted\n\
     // coverage: 2 parts in scan\nnum_ranks 2\nrank 0{a:send 8 b to 1 tag 70000\n\
     b: calc 5\nb requires a}\nrank 1{recv 8b from 0 tag 70000}\n";

/// Connections with keys that other versions of htsim write.
const CONNECTIONS: &str = "Nodes 3\nConnections 3\nTriggers 1\nFailures 0\n\
     0->1 id 1 msg 4 start 10.5 size 100 recv_done_trigger 7\n1->2 id 2 trigger 7 size 200 prio 3\n\
     2->0 id 3 msg start 1e3 size 300\ntrigger id 7 multishot\n";

/// A list of files, one for each process.
const LIST: [(&str, &str); 3] = [
    ("list", "# processes\np0.txt\np1.txt\n"),
    (
        "p0.txt",
        "0 init\n0 sendRecv 9 1 9 1 6 6\n0 irecv -555 -444 -1\n0 waitall\n0 finalize\n",
    ),
    (
        "p1.txt",
        "1 init\n1 sendRecv 9 0 9 0 6 6\n1 send 0 3 40\n1 compute 5\n1 finalize\n",
    ),
];

fn number(name: &str, otherwise: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(otherwise, |given| given.parse().expect(name))
}

/// Numbers that look random (xorshift64*).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let word = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        word as usize % limit.max(1)
    }

    /// Mutates as a fuzzer does: bits, bytes, digits, pieces taken out, doubled or moved.
    fn change(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..1 + self.below(6) {
            let at = self.below(bytes.len());
            let piece = at..(at + 1 + self.below(40)).min(bytes.len());
            match self.below(8) {
                _ if bytes.is_empty() => bytes.push(self.below(256) as u8),
                0 => bytes[at] ^= 1 << self.below(8),
                1 => bytes[at] = self.below(256) as u8,
                2 => bytes[at] = b'0' + self.below(10) as u8,
                3 => _ = bytes.drain(piece),
                4 => {
                    let copy = bytes[piece].to_vec();
                    let to = self.below(bytes.len());
                    bytes.splice(to..to, copy);
                }
                5 => _ = bytes.splice(at..at, *b"4294967295"),
                6 => bytes[piece].fill(0xff),
                _ => bytes.truncate(at),
            }
        }
    }
}

/// A seed: format, keys, its files, of which the first is changed.
type Seed = (&'static str, &'static str, Vec<(String, Vec<u8>)>);

fn seeds() -> Vec<Seed> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces");
    let files = |names: &[&str]| {
        let read = |name: &&str| {
            let plain = name.rsplit('/').next().unwrap_or(name).to_string();
            (plain, fs::read(folder.join(name)).expect("a seed"))
        };
        names.iter().map(read).collect()
    };
    let rate = "flops_per_second = 1e9\n";
    let all = [0, 1, 2, 3].map(|rank| format!("allprof/rank-{rank}.txt"));
    let npus = [0, 1, 2, 3].map(|npu| format!("chakra/npu.{npu}.et"));
    let mut npus: Vec<&str> = npus.iter().map(String::as_str).collect();
    npus.push("chakra/groups.json");
    let own = |files: &[(&str, &str)]| {
        let file = |(name, text): &(&str, &str)| (name.to_string(), text.as_bytes().to_vec());
        files.iter().map(file).collect()
    };
    vec![
        ("goal", "", own(&[("head", HEAD)])),
        ("connections", "", own(&[("more", CONNECTIONS)])),
        ("simgrid", rate, own(&LIST)),
        ("goal", "", files(&["mixed.goal"])),
        ("goal", "", files(&["mixed.goal.bin"])),
        ("flows", "", files(&["flows.csv"])),
        ("matrix", "", files(&["matrix.csv"])),
        ("connections", "", files(&["chain.cm"])),
        ("vef", "", files(&["mixed.vef"])),
        ("simai", "", files(&["step.simai"])),
        ("simgrid", rate, files(&["mixed.ti"])),
        ("allprof", "", files(&all.each_ref().map(String::as_str))),
        ("chakra", "groups = \"groups.json\"\n", files(&npus)),
        (
            "allprof",
            "",
            (SPLIT.iter().zip(0..))
                .map(|(text, rank)| (format!("rank-{rank}"), text.as_bytes().to_vec()))
                .collect(),
        ),
    ]
}

#[test]
fn changed_traces_are_read_or_refused() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15 ^ (number("WEIR_ATTACK_SEED", 1) - 1));
    let cases = number("WEIR_ATTACK_CASES", 150);
    for (format, keys, files) in seeds() {
        let whole: Vec<(&str, &[u8])> = files
            .iter()
            .map(|(name, file)| (name.as_str(), file.as_slice()))
            .collect();
        attempt(format, keys, &whole).unwrap_or_else(|error| panic!("{format}: {error:?}"));
        let (mut read, mut refused) = (0, 0);
        for _ in 0..cases {
            let which = random.below(files.len());
            let mut bytes = files[which].1.clone();
            random.change(&mut bytes);
            let mut changed = whole.clone();
            changed[which].1 = &bytes;
            let length: usize = changed.iter().map(|(_, file)| file.len()).sum();
            let mut outcome = None;
            let clock = CpuClock::start();
            let peak = peak_of(|| outcome = Some(attempt(format, keys, &changed).map(|_| ())));
            let took = clock.seconds();
            assert!(
                took < LONGEST,
                "{format}: {took} s for\n{}",
                String::from_utf8_lossy(&bytes)
            );
            match outcome.expect("it ran") {
                Ok(()) => read += 1,
                Err(error) => {
                    refused += 1;
                    assert!(
                        error.remedy().is_some_and(|remedy| !remedy.is_empty()),
                        "{format}: {error:?}"
                    );
                }
            }
            let most = BASE + PER_BYTE * length;
            assert!(
                peak <= most,
                "{format}: {peak} bytes for a file of {length}:\n{}",
                String::from_utf8_lossy(&bytes)
            );
        }
        assert!(refused > 15, "{format}: {read} read, {refused} refused");
    }
}

#[test]
fn any_bytes_are_refused() {
    let mut random = Random(77);
    for number in 0..400usize {
        let count = random.below(300);
        let mut bytes: Vec<u8> = (0..count).map(|_| random.below(256) as u8).collect();
        bytes.insert(0, number as u8);
        let mut read = false;
        let peak = peak_of(|| read = attempt_any(&bytes));
        assert!(
            peak <= BASE + PER_BYTE * count,
            "{peak} bytes for {bytes:?}"
        );
        assert!(!read || count < 20, "{bytes:?}");
    }
}

#[test]
fn numbers_in_headers_take_no_memory() {
    let zeros = "C0 0\n".repeat(3);
    for (format, text) in [
        ("vef", format!("VEF3 200000000 4000000000 3 0 0 0\n{zeros}")),
        ("goal", "num_ranks 4000000000\nrank 0 {\n}\n".into()),
        ("connections", "Nodes 4000000000\nConnections 0\n".into()),
        ("simgrid", "4000000000 init\n0 init\n".into()),
        ("flows", "source,destination,bytes\n0,4000000000,1\n".into()),
    ] {
        let mut refused = false;
        let bytes = text.as_bytes();
        let peak = peak_of(|| refused = attempt(format, "", &[("trace", bytes)]).is_err());
        assert!(refused, "{format}");
        assert!(peak <= BASE, "{format}: {peak} bytes");
    }
}

/// A short line may stand for many operations: of every GPU, or of every pair of an event and a
/// message.
#[test]
fn a_few_lines_take_no_memory_for_all_that_they_mean() {
    let layers = "l -1 1 ALLREDUCE 800 1 ALLGATHER 800 1 ALLREDUCE 800 1\n".repeat(30);
    let gpus = |count: u64| format!("HYBRID_TRANSFORMER all_gpus: {count}\n30\n{layers}");
    let events = "0->1 start 0 size 8 send_done_trigger 1\n".repeat(4_000);
    let starts = "0->1 trigger 1 size 8\n".repeat(4_000);
    let barrier = format!("Nodes 2\n{events}{starts}trigger id 1 barrier count 4000\n");
    for (format, text) in [
        ("simai", gpus(65_536)),
        ("simai", gpus(1_048_576)),
        ("connections", barrier),
    ] {
        let mut outcome = None;
        let files = [("trace", text.as_bytes())];
        let peak = peak_of(|| outcome = Some(attempt(format, "", &files).map(|_| ())));
        let most = BASE + PER_BYTE * text.len();
        assert!(
            peak <= most,
            "{format}: {peak} bytes for a file of {}",
            text.len()
        );
        let outcome = outcome.expect("it ran");
        assert!(outcome.is_ok(), "{format}: {outcome:?}");
    }
}

#[test]
fn numbers_of_a_section_and_of_binary_headers_take_no_memory() {
    let flows = "source,destination,bytes\n0,1,5\n";
    let far = "source,destination,bytes\n0,4294967294,5\n";
    let keys = "tasks = 4294967295\n";
    // The magic number, as many ranks as fit into their field, and how many processors and NICs.
    let mut binary = 4_223u64.to_le_bytes().to_vec();
    binary.extend([0xff; 6]);
    for (format, keys, bytes, good) in [
        ("flows", keys, flows.as_bytes(), true),
        ("flows", keys, far.as_bytes(), false),
        ("goal", "", binary.as_slice(), false),
    ] {
        let mut outcome = None;
        let files = [("trace", bytes)];
        let peak = peak_of(|| outcome = Some(attempt(format, keys, &files).map(|_| ())));
        let outcome = outcome.expect("it ran");
        assert_eq!(outcome.is_ok(), good, "{format}: {outcome:?}");
        assert!(peak <= BASE, "{format}: {peak} bytes");
    }
}
