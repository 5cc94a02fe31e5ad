//! Errors with result files are reported and leave nothing behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::super::sample::{self, EXPERIMENT};
use super::super::*;
use super::{SEED, folder, names, write_sample};
use crate::hdf::seal;

#[test]
fn a_name_that_would_leave_its_group_is_refused() {
    let dir = folder();
    let path = dir.path().join("result.h5");
    for bad in ["a/b", "", ".", "nul\0"] {
        let mut data = sample::data();
        data.jobs[0].name = bad.into();
        let error = write(&path, &data, &sample::run(), EXPERIMENT, SEED).expect_err(bad);
        assert!(
            matches!(&error, TraceError::Name { what: "job", name } if name == bad),
            "{error}"
        );
    }
    let mut twice = sample::data();
    twice.jobs[1].name = twice.jobs[0].name.clone();
    let error = write(&path, &twice, &sample::run(), EXPERIMENT, SEED).expect_err("twice");
    assert!(
        matches!(&error, TraceError::Write { cause, .. } if cause.contains("exists")),
        "{error}"
    );
    assert!(names(dir.path()).is_empty(), "nothing stays behind");
}

#[test]
fn columns_of_different_length_are_refused() {
    let dir = folder();
    let path = dir.path().join("result.h5");
    let mut data = sample::data();
    data.ports.busy_ps.pop();
    let error = write(&path, &data, &sample::run(), EXPERIMENT, SEED).expect_err("uneven");
    assert_eq!(
        error.to_string(),
        "/data/ports/busy_ps has 69999 rows where 70000 belong"
    );
    let mut data = sample::data();
    data.occupancy.as_mut().expect("occupancy").bytes.pop();
    let error = write(&path, &data, &sample::run(), EXPERIMENT, SEED).expect_err("uneven");
    assert!(matches!(error, TraceError::Uneven { .. }), "{error}");
    assert!(names(dir.path()).is_empty(), "nothing stays behind");
}

#[test]
fn a_path_that_cannot_be_written_is_an_error_with_its_cause() {
    let dir = folder();
    let a_file = dir.path().join("file");
    fs::write(&a_file, "text").expect("writes");
    let a_directory = dir.path().join("result.h5");
    fs::create_dir(&a_directory).expect("creates");
    for (path, cause) in [
        (
            dir.path().join("missing/result.h5"),
            "there is no directory ",
        ),
        (a_file.join("result.h5"), "Not a directory"),
        (a_directory.clone(), "Is a directory"),
        (
            PathBuf::from("/proc/result.h5"),
            "No such file or directory",
        ),
        (PathBuf::from("/"), "no file name"),
    ] {
        let error = write(&path, &sample::data(), &sample::run(), EXPERIMENT, SEED)
            .expect_err(&path.display().to_string());
        let TraceError::Write {
            path: named,
            cause: told,
        } = &error
        else {
            panic!("{error}")
        };
        assert_eq!(named, &path);
        assert!(told.contains(cause), "{told}");
    }
    assert_eq!(names(dir.path()), ["file", "result.h5"]);
}

#[test]
fn an_old_result_stays_until_the_new_one_is_whole() {
    let dir = folder();
    let path = write_sample(dir.path(), "result.h5");
    let before = fs::read(&path).expect("reads");
    let mut data = sample::data();
    data.messages.as_mut().expect("messages").bytes.pop();
    write(&path, &data, &sample::run(), EXPERIMENT, SEED).expect_err("uneven");
    assert_eq!(fs::read(&path).expect("reads"), before);
    assert_eq!(names(dir.path()), ["result.h5"]);
}

/// The child of [`a_full_disk_is_an_error_and_leaves_nothing`]: it may write files of a few KiB
/// only.
#[test]
#[ignore = "run by a_full_disk_is_an_error_and_leaves_nothing"]
fn writes_into_the_directory_it_is_given() {
    let Some(dir) = std::env::var_os("WEIR_TEST_DIR") else {
        return;
    };
    let path = Path::new(&dir).join("result.h5");
    match write(&path, &sample::data(), &sample::run(), EXPERIMENT, SEED) {
        Ok(()) => println!("outcome: written"),
        Err(error) => println!("outcome: {error}"),
    }
    // The library is still of use.
    let other = tempfile::tempdir().expect("a temporary directory");
    let small = write(
        &other.path().join("result.h5"),
        &Data::default(),
        &Run::default(),
        "",
        0,
    );
    println!("then: {}", small.is_ok());
}

#[test]
fn a_full_disk_is_an_error_and_leaves_nothing() {
    // A limit on the size of files fails a write in its middle, as a full disk does, and needs no
    // privileges.
    let whole = folder();
    let size = fs::metadata(write_sample(whole.path(), "result.h5"))
        .expect("size")
        .len();
    let program = std::env::current_exe().expect("this program");
    // The unit of `ulimit -f`.
    const BLOCK: u64 = 512;
    let mut failed = 0;
    let limits = (0..12).map(|part| size * part / 12 / BLOCK);
    for blocks in limits.chain([(size - 1) / BLOCK, 2 * size / BLOCK]) {
        let dir = folder();
        let output = Command::new("sh")
            .args([
                "-c",
                "trap '' XFSZ; ulimit -f \"$1\"; shift; exec \"$@\"",
                "sh",
            ])
            .arg(blocks.to_string())
            .arg(&program)
            .args(["--ignored", "--exact", "--nocapture", "--test-threads=1"])
            .arg("tests::broken::writes_into_the_directory_it_is_given")
            .env("WEIR_TEST_DIR", dir.path())
            .output()
            .expect("sh");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{blocks}: {text}{errors}");
        assert!(!errors.contains("HDF5"), "HDF5 is silent: {errors}");
        if text.contains("outcome: written") {
            assert_eq!(names(dir.path()), ["result.h5"]);
            read(&dir.path().join("result.h5")).expect("reads");
        } else {
            failed += 1;
            assert!(
                text.contains("cannot write") && text.contains("File too large"),
                "{text}"
            );
            assert!(
                names(dir.path()).is_empty(),
                "{blocks}: {:?}",
                names(dir.path())
            );
        }
        let room_for_a_small_one = blocks * BLOCK > size / 2;
        assert!(
            !room_for_a_small_one || text.contains("then: true"),
            "{blocks}: {text}"
        );
    }
    assert_eq!(failed, 13, "only the last limit is wide enough");
}

#[test]
fn a_truncated_file_is_an_error() {
    let dir = folder();
    let path = write_sample(dir.path(), "result.h5");
    let whole = fs::read(&path).expect("reads");
    let cut = dir.path().join("cut.h5");
    let lengths = [0, 1, 7, 8, 20, 47, 48, 96, 500, 800, 2_048, 4_096, 10_000];
    let parts = (1..16).map(|part| whole.len() * part / 16);
    for length in lengths.into_iter().chain(parts).chain([whole.len() - 1]) {
        fs::write(&cut, &whole[..length]).expect("writes");
        let text = read(&cut).expect_err("truncated").to_string();
        let told = match length {
            0 => "it is empty".to_string(),
            1 => "it does not begin as the files of weir do".to_string(),
            7..512 => format!("only its first {length} bytes are there"),
            _ => format!("it has {length} bytes, and {} were written", whole.len()),
        };
        assert!(text.contains(&told), "{length}: {text}");
        read_header(&cut).expect_err("truncated");
    }
}

#[test]
fn a_foreign_file_is_an_error() {
    let dir = folder();
    let path = dir.path().join("foreign");
    let told = |path: &Path| read(path).expect_err("foreign").to_string();

    let mut rng = weir_model::stream(7, &[1]);
    let noise: Vec<u8> = (0..100_000)
        .map(|_| weir_model::below(&mut rng, 256) as u8)
        .collect();
    for (start, says) in [
        (&b""[..], "does not begin as the files of weir do"),
        (b"\x89HDF\r\n\x1a\n", "schema version 1"),
        (b"weir result\n", "first lines are not whole"),
        (b"weir table\nschema 2\n", "first lines are not whole"),
    ] {
        fs::write(&path, [start, &noise[..]].concat()).expect("writes");
        assert!(told(&path).contains(says), "{}", told(&path));
    }
    fs::write(&path, "").expect("writes");
    assert!(told(&path).contains("it is empty"));
    assert!(told(&dir.path().join("missing.h5")).contains("No such file"));

    let file = hdf5::File::create(&path).expect("creates");
    file.new_dataset::<u8>()
        .shape(3)
        .create("x")
        .expect("creates");
    file.close().expect("closes");
    let text = told(&path);
    assert!(
        text.contains("not a result of weir") && text.contains("another program"),
        "{text}"
    );

    write_frame(&path, &Frame::new(0)).expect("writes");
    let text = told(&path);
    assert!(text.contains("it is a weir table"), "{text}");
}

#[test]
fn what_is_no_file_is_an_error_at_once() {
    let dir = folder();
    let fifo = dir.path().join("fifo");
    let made = Command::new("mkfifo").arg(&fifo).status();
    assert!(made.expect("mkfifo").success());
    let link = dir.path().join("link");
    std::os::unix::fs::symlink(&fifo, &link).expect("links");
    let socket = dir.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).expect("binds");
    let devices = ["/dev/null", "/dev/zero", "/dev/full"].map(Path::new);
    for path in [dir.path(), &fifo, &link, &socket]
        .into_iter()
        .chain(devices)
    {
        let text = read(path).expect_err("no file").to_string();
        assert!(text.contains("it is not a file"), "{text}");
    }
}

#[test]
fn another_schema_version_is_told() {
    let dir = folder();
    let path = write_sample(dir.path(), "result.h5");
    let whole = fs::read(&path).expect("reads");
    let block = String::from_utf8(whole[..seal::BLOCK].to_vec()).expect("UTF-8");
    let own = format!("weir {}\n", env!("CARGO_PKG_VERSION"));
    let other = block
        .replace(&format!("schema {}\n", schema::VERSION), "schema 9\n")
        .replace(&own, &own.replace(|c: char| c.is_ascii_digit(), "7"));
    assert_eq!(other.len(), block.len());
    fs::write(&path, [other.as_bytes(), &whole[seal::BLOCK..]].concat()).expect("writes");
    let text = read(&path).expect_err("another version").to_string();
    assert!(
        text.contains("schema version 9") && text.contains("weir 7.7.7"),
        "{text}"
    );
}

#[test]
fn a_result_that_was_added_to_is_refused() {
    let dir = folder();
    let path = write_sample(dir.path(), "result.h5");
    let before = fs::read(&path).expect("reads");
    let file = hdf5::File::open_rw(&path).expect("opens");
    file.close().expect("closes");
    assert_eq!(fs::read(&path).expect("reads"), before, "looking is free");
    let file = hdf5::File::open_rw(&path).expect("opens");
    hdf::put_number(&file, "mine", 1u64).expect("writes");
    file.close().expect("closes");
    let error = read(&path).expect_err("changed");
    assert!(matches!(error, TraceError::Damaged { .. }), "{error}");
    assert!(error.to_string().contains("was changed"), "{error}");
}

#[test]
fn a_result_that_lacks_something_names_it() {
    let dir = folder();
    let path = dir.path().join("result.h5");
    for part in [
        "run",
        "data/summary",
        "data/latency",
        "data/scheme",
        "data/latency/network/count",
    ] {
        write(&path, &sample::data(), &sample::run(), EXPERIMENT, SEED).expect("writes");
        let file = hdf5::File::open_rw(&path).expect("opens");
        file.unlink(part).expect("unlinks");
        file.close().expect("closes");
        sample::reseal(&path);
        let text = read(&path).expect_err(part).to_string();
        assert!(
            text.contains("not a result of weir") && text.contains(part),
            "{text}"
        );
    }
    write(&path, &sample::data(), &sample::run(), EXPERIMENT, SEED).expect("writes");
    let file = hdf5::File::open_rw(&path).expect("opens");
    let summary = file.group("data/summary").expect("summary");
    summary.delete_attr("packet_hops").expect("deletes");
    drop(summary);
    file.close().expect("closes");
    sample::reseal(&path);
    let text = read(&path).expect_err("attribute").to_string();
    assert!(text.contains("/data/summary/packet_hops"), "{text}");
}

/// Puts a column of these rows in the place of another.
fn replace(path: &Path, column: &str, rows: &[u64]) {
    let file = hdf5::File::open_rw(path).expect("opens");
    file.unlink(column).expect("unlinks");
    // Nothing that belongs to the file may outlive this, or it is not closed.
    file.new_dataset_builder()
        .with_data(rows)
        .create(column)
        .expect("creates");
    file.close().expect("closes");
    sample::reseal(path);
}

#[test]
fn columns_of_different_length_are_told_when_they_are_read() {
    let dir = folder();
    for (column, rows) in [
        ("rates/job", 1),
        ("occupancy/bytes", 11),
        ("ports/stalled_ps", 3),
    ] {
        let path = write_sample(dir.path(), "result.h5");
        replace(&path, &format!("data/{column}"), &vec![1; rows]);
        let result = ResultFile::open(&path).expect("opens");
        let errors = [
            result.all_rates().err(),
            result.occupancy().err(),
            result.table("data/ports", ["busy_ps", "stalled_ps"]).err(),
        ];
        let errors: Vec<String> = errors.iter().flatten().map(|e| e.to_string()).collect();
        assert_eq!(errors.len(), 1, "{errors:?}");
        let says = format!("data/{column} has another number of rows");
        assert!(errors[0].contains(&says), "{errors:?}");
    }
}

/// Changes a result, and seals it again as somebody who knows the format may.
fn changed(path: &Path, change: impl FnOnce(&hdf5::File)) {
    let file = hdf5::File::open_rw(path).expect("opens");
    change(&file);
    file.close().expect("closes");
    sample::reseal(path);
}

#[test]
fn content_that_the_checksum_does_not_cover_is_refused() {
    let dir = folder();
    fs::write(dir.path().join("rows.bin"), [1; 24]).expect("a file");
    write_sample(dir.path(), "other.h5");
    let path = || write_sample(dir.path(), "result.h5");
    type Change = fn(&hdf5::File);
    let changes: [(Change, &str, &str); 4] = [
        (
            |file| {
                file.link_external("other.h5", "/data/ports/bytes", "data/x")
                    .expect("links")
            },
            "/data/x",
            "is a link to something elsewhere",
        ),
        (
            |file| {
                file.link_soft("/data/ports/bytes", "data/jobs/x")
                    .expect("links")
            },
            "/data/jobs/x",
            "is a link to something elsewhere",
        ),
        (
            |file| {
                let builder = file.new_dataset::<u64>().shape(3);
                let builder = builder.with_dcpl(|p| p.external("rows.bin", 0, 24));
                builder.create("data/ports/x").expect("creates");
            },
            "/data/ports/x",
            "is stored in another file",
        ),
        (
            |file| {
                let builder = file.new_dataset::<u64>().shape(3);
                let builder = builder
                    .with_dcpl(|p| p.virtual_map("other.h5", "/data/ports/bytes", 3, .., 3, ..));
                builder.create("data/ports/x").expect("creates");
            },
            "/data/ports/x",
            "is a virtual dataset",
        ),
    ];
    for (change, place, words) in changes {
        let path = path();
        changed(&path, change);
        let errors = [read(&path).err(), ResultFile::open(&path).err()];
        for error in errors {
            let text = error.expect(words).to_string();
            assert!(text.contains(place) && text.contains(words), "{text}");
        }
        fs::remove_file(path).expect("removes");
    }
}

#[test]
fn another_schema_version_in_the_attributes_is_refused() {
    let dir = folder();
    let path = write_sample(dir.path(), "result.h5");
    changed(&path, |file| {
        let version = file.attr("schema_version").expect("an attribute");
        version.write_scalar(&7u64).expect("writes");
    });
    let text = read(&path).expect_err("another version").to_string();
    assert!(text.contains("another schema version"), "{text}");
}

/// Results of weir 0.1.0 do not say which model made them, nor if a job was over.
#[test]
fn a_result_without_what_came_later_can_be_read() {
    let dir = folder();
    let path = write_sample(dir.path(), "result.h5");
    changed(&path, |file| {
        file.delete_attr("model_version").expect("deletes");
        for name in ["commit", "features", "command"] {
            file.group("run")
                .and_then(|run| run.delete_attr(name))
                .expect(name);
        }
        for name in ["over", "finish_at_least_ps", "communication_at_least_ps"] {
            let job = file.group("data/jobs/stencil");
            job.and_then(|job| job.delete_attr(name)).expect(name);
        }
    });
    let stored = read(&path).expect("a result");
    assert_eq!(stored.header.model_version, None);
    assert_eq!(stored.run.command, None);
    let jobs = &stored.digest.jobs;
    assert_eq!(
        (jobs[0].totals.over, jobs[1].totals.over),
        (None, Some(true))
    );
    assert_eq!(jobs[0].finish(), sample::data().jobs[0].finish());
}
