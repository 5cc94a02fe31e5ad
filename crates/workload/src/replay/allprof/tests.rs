//! Traces of liballprof.

use super::super::testing::{read_files, refused_files, replay};
use weir_model::US;

/// Two processes of Open MPI: 0 sends nonblocking, 1 receives from any source; both combine 4
/// doubles.
const FIRST: &str = "# a comment\nMPI_Init:-:1:2:100\nMPI_Isend:110:1:50:11,8,8:1:3:9000,0,2:7000:112\n\
    MPI_Wait:120:7000:0:121\nMPI_Allreduce:121:1:2:4:11,8,8:3:9000,0,2:130\nMPI_Finalize:131:-\n";
const SECOND: &str = "MPI_Init:-:1:2:50\nMPI_Recv:52:1:50:11,8,8:-1:-1:8000,1,2:0:60\n\
    MPI_Allreduce:60:1:2:4:11,8,8:3:8000,1,2:70\nMPI_Finalize:71:-\n";

fn files<'a>(first: &'a str, second: &'a str) -> [(&'a str, &'a [u8]); 2] {
    [("rank-0", first.as_bytes()), ("rank-1", second.as_bytes())]
}

#[test]
fn the_time_between_calls_is_computation() {
    let trace = read_files("allprof", "", &files(FIRST, SECOND)).unwrap();
    let run = replay(&trace).finish();
    // 10 us after its beginning; the wait comes 8 us later, when 400 bytes have long left.
    assert_eq!(run.messages[0].at, 10 * US);
    assert_eq!(run.messages[0].bytes, 400);
    let combine: Vec<u64> = run.messages[1..].iter().map(|sent| sent.at).collect();
    assert_eq!(combine, [10 * US + 400 + 1_000, 18 * US]);
    assert!(run.messages[1..].iter().all(|sent| sent.bytes == 32));
    let keys = "unit = \"1 ns\"\ncompute = \"x 0.5\"\n";
    let trace = read_files("allprof", keys, &files(FIRST, SECOND)).unwrap();
    assert_eq!(replay(&trace).finish().messages[0].at, 5_000);
}

#[test]
fn what_is_wrong_is_refused_with_file_and_line() {
    for (first, from, to, parts) in [
        (
            true,
            "MPI_Isend:110:",
            "MPI_Isend:90:",
            ["rank-0, line 3", "the one before, until 100", "go up"],
        ),
        (
            true,
            "50:11,8,8:1",
            "50:11:1",
            ["rank-0, line 3", "`11` is no data type", "size"],
        ),
        (
            true,
            "8:1:3",
            "8:2:3",
            ["rank-0, line 3", "no task 2 among 2", "0 to 1"],
        ),
        (
            true,
            "MPI_Isend",
            "Isend",
            ["rank-0, line 3", "`Isend` is no call", "MPI_"],
        ),
        (
            true,
            "9000,0,2:7000",
            "9000,0:7000",
            ["rank-0, line 3", "no communicator", "handle,rank,size"],
        ),
        (
            true,
            "MPI_Init:-:1:2:100\n",
            "",
            ["rank-0, line 2", "before MPI_Init", "not complete"],
        ),
        (
            true,
            "MPI_Finalize:131:-\n",
            "",
            ["rank-0", "does not end with MPI_Finalize", "not complete"],
        ),
        (
            true,
            ":131:-",
            ":131:-\nMPI_Barrier:1:9000,0,2:2",
            ["rank-0, line 7", "after MPI_Finalize", "remove"],
        ),
        (
            true,
            ":7000:112",
            ":7000:109",
            ["rank-0, line 3", "begins at 110 and ends at 109", "go up"],
        ),
        (
            true,
            "MPI_Wait:120",
            "MPI_Init:115:1:2:50\nMPI_Wait:120",
            ["rank-0, line 4", "a second MPI_Init", "each file"],
        ),
        (
            true,
            "8:1:3",
            "8:-7:3",
            ["rank-0, line 3", "no task -7 among 2", "0 to 1"],
        ),
        (
            true,
            "1:50:11",
            "1:-50:11",
            ["rank-0, line 3", "`-50` is no number", "whole"],
        ),
        (
            true,
            "9000,0,2:7000",
            "9000,0,3:7000",
            [
                "rank-0, line 3",
                "3 processes, and there are files of 2",
                "process 2 is missing",
            ],
        ),
        (
            false,
            "50:11",
            "fifty:11",
            ["rank-1, line 2", "`fifty` is no number", "whole"],
        ),
        (
            false,
            ":52:1:50:11,8,8:-1:-1:8000,1,2:0:60",
            ":52:1:60",
            ["rank-1, line 2", "arguments only", "complete"],
        ),
        (
            false,
            "2:4:11",
            "2:5:11",
            [
                "rank-1, line 3",
                "allreduce of 40 bytes here",
                "rank-0, line 5",
            ],
        ),
        (
            false,
            "8:-1:-1:8000",
            "8:0:4:8000",
            ["rank-1, line 2", "with tag 4", "never sent"],
        ),
    ] {
        let source = if first { FIRST } else { SECOND };
        assert!(source.contains(from), "{from}");
        let changed = source.replacen(from, to, 1);
        let said = match first {
            true => refused_files("allprof", "", &files(&changed, SECOND)),
            false => refused_files("allprof", "", &files(FIRST, &changed)),
        };
        for part in parts {
            assert!(
                said.contains(part),
                "{from:?} → {to:?}: {said:?} lacks {part:?}"
            );
        }
    }
    let said = refused_files("allprof", "", &[("rank-one", FIRST.as_bytes())]);
    assert!(said.contains("its name has no number 0"), "{said}");
    let said = refused_files("allprof", "request_bytes = 0\n", &files(FIRST, SECOND));
    assert!(said.contains("requests have no size"), "{said}");
}

#[test]
fn what_cannot_be_known_is_ignored_with_words() {
    let more =
        |text: &str, lines: &str| text.replace("MPI_Finalize", &format!("{lines}MPI_Finalize"));
    // A communicator in another order, made in an unknown way; no process; and sizes that
    // liballprof does not write.
    let lines = "MPI_Barrier:130:4,1,2:130\nMPI_Send:130:1:9:11,8,8:0:0:4,1,2:130\nMPI_Send:130:1:9:11,8,8:-2:0:9000,0,2:130\n\
        MPI_Reduce_scatter:130:1:2:3:11,8,8:3:9000,0,2:130\nMPI_Waitany:130:2:3:4:5:130\nMPI_Fancy:130:1:130\n";
    let first = more(FIRST, lines);
    let trace = read_files("allprof", "", &files(&first, SECOND)).unwrap();
    let said = trace.coverage.to_string();
    for part in [
        "1 parts in operations of some of the tasks (ignored: the trace does not say who",
        "1 sends to some of the tasks of 72 bytes (ignored",
        "1 messages with nobody (ignored: MPI_PROC_NULL)",
        "1 parts in operations without sizes (ignored",
        "1 waits for any, as far as known",
        "1 other calls (ignored",
    ] {
        assert!(said.contains(part), "{said:?} lacks {part:?}");
    }
    replay(&trace).finish();
}

#[test]
fn in_place_sizes_are_those_of_the_other_buffer() {
    let nothing = "-1:0:0,0,0";
    let (ten, hundred) = ("2:10:11,8,8", "2:100:11,8,8");
    let lines = |rank: u32| {
        let ([sent, gathered], [given, scattered], (handle, time)) = match rank {
            0 => ([nothing, ten], [ten, nothing], (9_000, 130)),
            _ => ([ten, nothing], [nothing, ten], (8_000, 70)),
        };
        let call = |name: &str, arguments: String| {
            format!("MPI_{name}:{time}:{arguments}:{handle},{rank},2:{time}\n")
        };
        [
            call("Allgather", format!("{nothing}:{hundred}")),
            call("Alltoall", format!("{nothing}:{hundred}")),
            call("Gather", format!("{sent}:{gathered}:0")),
            call("Scatter", format!("{given}:{scattered}:0")),
            "MPI_Finalize".to_string(),
        ]
        .concat()
    };
    let with = |text: &str, rank| text.replace("MPI_Finalize", &lines(rank));
    let (first, second) = (with(FIRST, 0), with(SECOND, 1));
    let sent = |files: &[(&str, &[u8])]| {
        let trace = read_files("allprof", "", files).unwrap();
        let mut sent: Vec<_> = replay(&trace).finish().messages;
        sent.sort_unstable_by_key(|sent| sent.at);
        sent.iter().map(|sent| sent.bytes).collect::<Vec<_>>()
    };
    let before = sent(&files(FIRST, SECOND)).len();
    let all = sent(&files(&first, &second));
    assert_eq!(all[before..], [800, 800, 800, 800, 80, 80]);
}

#[test]
fn mpich_has_other_numbers() {
    // In MPICH -1 means no process, and -2 any process.
    let second = SECOND.replace("8:-1:-1:8000", "8:-2:-1:8000");
    let keys = "library = \"mpich\"\nrequest_bytes = 4\n";
    let trace = read_files("allprof", keys, &files(FIRST, &second)).unwrap();
    replay(&trace).finish();
    let said = refused_files("allprof", keys, &files(FIRST, SECOND));
    assert!(said.contains("never received"), "{said}");
}

/// Four processes that split the communicator of all by rows and columns of two. `lines`: the
/// following lines of each, with `ROW` and `COLUMN` for its handles.
fn grid(lines: &str, asked: bool) -> Vec<(String, String)> {
    let one = |rank: u64| {
        let (row, column) = (
            format!("{},{},2", 500 + rank, rank % 2),
            format!("{},{},2", 700 + rank, rank / 2),
        );
        let ask = |handle: &str| match asked {
            true => format!("MPI_Comm_rank:10:{handle}:60:10\n"),
            false => String::new(),
        };
        let split =
            |color: u64, at: u64| format!("MPI_Comm_split:10:9,{rank},4:{color}:{rank}:{at}:10\n");
        let lines = lines.replace("ROW", &row).replace("COLUMN", &column);
        let text = format!(
            "MPI_Init:-:1:2:10\n{}{}{}{}{lines}MPI_Finalize:10:-\n",
            split(rank / 2, 80),
            ask(&row),
            split(rank % 2, 88),
            ask(&column)
        );
        (format!("rank-{rank}"), text)
    };
    (0..4).map(one).collect()
}

fn read_texts(files: &[(String, String)]) -> std::sync::Arc<crate::replay::Trace> {
    let files: Vec<(&str, &[u8])> = (files.iter())
        .map(|(name, text)| (name.as_str(), text.as_bytes()))
        .collect();
    read_files("allprof", "", &files).unwrap_or_else(|error| panic!("{error:?}"))
}

#[test]
fn who_is_in_a_communicator_is_known_from_the_split_that_made_it() {
    // A message around each row, then a reduce to the second of each column.
    let lines = "MPI_Sendrecv:10:1:100:1,1,1:PEER:5:2:100:1,1,1:PEER:5:ROW:99:10\nMPI_Reduce:10:1:2:3:11,8,8:3:1:COLUMN:10\n";
    for asked in [true, false] {
        let mut files = grid(lines, asked);
        for ((_, text), rank) in files.iter_mut().zip(0..) {
            *text = text.replace("PEER", &(1 - rank % 2).to_string());
        }
        let trace = read_texts(&files);
        let mut sent: Vec<_> = (replay(&trace).finish().messages.iter())
            .map(|sent| (sent.from, sent.to, sent.bytes))
            .collect();
        sent.sort_unstable();
        let around = [(0, 1, 100), (1, 0, 100), (2, 3, 100), (3, 2, 100)];
        let reduce = [(0, 2, 24), (1, 3, 24)];
        let mut all = [&around[..], &reduce[..]].concat();
        all.sort_unstable();
        assert_eq!(sent, all);
        let said = trace.coverage.to_string();
        assert!(!said.contains("of some of the tasks"), "{said}");
        // On the diagonal row and column look alike, unless a process asks for its rank before it
        // makes the next. The handle that appears first is then taken for the one that was made
        // first, and the report says so.
        assert_eq!(
            said.contains("2 communicators told apart by the order"),
            !asked,
            "{said}"
        );
    }
}

#[test]
fn communicators_that_may_be_others_are_ignored_by_all_of_their_processes() {
    let mut files = grid("MPI_Barrier:10:ROW:10\n", true);
    let made = "MPI_Cart_sub:10:9,3,4:70:66:10\nMPI_Comm_split";
    files[3].1 = files[3].1.replacen("MPI_Comm_split", made, 1);
    let trace = read_texts(&files);
    let said = trace.coverage.to_string();
    // The row of processes 2 and 3; that of 0 and 1 is certain.
    assert!(
        said.contains("2 parts in operations of some of the tasks (ignored")
            && said.contains("2 parts in them"),
        "{said}"
    );
    replay(&trace).finish();
}

#[test]
fn waits_for_any_wait_for_all_in_the_end() {
    // Process 0 computes 10 us; 1 has posted two receives and asked twice for any of them before it
    // answers.
    let first = "MPI_Init:-:1:2:0\nMPI_Send:10:1:8:1,1,1:1:3:9,0,2:10\nMPI_Send:20:1:8:1,1,1:1:4:9,0,2:20\n\
        MPI_Recv:20:1:8:1,1,1:1:5:9,0,2:0:20\nMPI_Finalize:20:-\n";
    let second = "MPI_Init:-:1:2:0\nMPI_Irecv:0:1:8:1,1,1:0:3:8,1,2:400:0\nMPI_Irecv:0:1:8:1,1,1:0:4:8,1,2:408:0\n\
        MPI_Waitany:0:2:400:60:61:0\nMPI_Waitsome:0:2:400:60:62:61:0\nMPI_Send:0:1:8:1,1,1:0:5:8,1,2:0\nMPI_Finalize:0:-\n";
    let trace = read_files("allprof", "", &files(first, second)).unwrap();
    let run = replay(&trace).finish();
    let answer = run.messages.iter().find(|sent| sent.from == 1);
    assert!(answer.is_some_and(|sent| sent.at >= 20 * US), "{answer:?}");
}

/// Two processes of Open MPI with these calls.
fn calls(first: &str, second: &str) -> [String; 2] {
    [first, second].map(|calls| format!("MPI_Init:-:1:2:0\n{calls}MPI_Finalize:90:-\n"))
}

#[test]
fn persistent_requests_send_and_receive_at_each_start() {
    let [first, second] = calls(
        "MPI_Send_init:10:1:50:1,8,8:1:7:9000,0,2:500:10\nMPI_Start:20:500:20\n\
         MPI_Wait:30:500:0:30\nMPI_Startall:40:1:500:40\nMPI_Waitall:50:1:500:0:50\n\
         MPI_Request_free:60:500:60\n",
        "MPI_Recv_init:5:1:50:1,8,8:0:7:8000,1,2:700:5\nMPI_Start:6:700:6\n\
         MPI_Wait:30:700:0:30\nMPI_Start:31:700:31\nMPI_Wait:50:700:0:50\n",
    );
    let trace = read_files("allprof", "", &files(&first, &second)).unwrap();
    let run = replay(&trace).finish();
    let sent: Vec<_> = run
        .messages
        .iter()
        .map(|sent| (sent.at, sent.bytes))
        .collect();
    assert_eq!(sent, [(20 * US, 400), (40 * US, 400)]);
    let said = trace.coverage.to_string();
    assert!(said.contains("2 sends of 800 bytes in all"), "{said}");
    assert!(!said.contains("other calls"), "{said}");
    let said = refused_files(
        "allprof",
        "",
        &files(
            &first.replace("MPI_Send_init:10:1:50:1,8,8:1:7:9000,0,2:500:10\n", ""),
            &second,
        ),
    );
    assert!(
        said.contains("line 2: no call has made the persistent request 500"),
        "{said}"
    );
}

#[test]
fn a_cancelled_receive_takes_no_message() {
    let [first, second] = calls(
        "MPI_Send:10:1:50:1,8,8:1:7:9000,0,2:10\n",
        "MPI_Irecv:5:1:30:1,8,8:0:9:8000,1,2:500:5\nMPI_Cancel:6:500:6\n\
         MPI_Wait:7:500:0:7\nMPI_Recv:8:1:50:1,8,8:0:7:8000,1,2:0:8\n",
    );
    let trace = read_files("allprof", "", &files(&first, &second)).unwrap();
    assert_eq!(replay(&trace).finish().messages.len(), 1);
    let said = trace.coverage.to_string();
    let expected =
        "2 receives of 640 bytes in all (1 ignored: MPI_Cancel, which is taken to succeed)";
    assert!(said.contains(expected), "{said}");
}

#[test]
fn synchronous_sends_are_counted() {
    let [first, second] = calls(
        "MPI_Ssend:10:1:50:1,8,8:1:7:9000,0,2:20\nMPI_Send:30:1:50:1,8,8:1:7:9000,0,2:40\n",
        "MPI_Recv:10:1:50:1,8,8:0:7:8000,1,2:0:20\nMPI_Recv:30:1:50:1,8,8:0:7:8000,1,2:0:40\n",
    );
    let trace = read_files("allprof", "", &files(&first, &second)).unwrap();
    let said = trace.coverage.to_string();
    assert!(said.contains("2 sends"), "{said}");
    assert!(
        said.contains("1 synchronous sends among these, as standard ones"),
        "{said}"
    );
}
