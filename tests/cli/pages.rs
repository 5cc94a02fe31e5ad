//! Where Linux gives huge pages only to programs that ask, a run asks for them, unless the user has
//! said something else; it keeps its name, its process and its arguments.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::busy;

const KEY: &str = "GLIBC_TUNABLES";

/// Name, arguments and settings of a run that has begun to simulate, with these settings given.
fn begun(given: Option<&str>) -> (String, String, String) {
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("long.toml");
    std::fs::write(&file, busy().until("1 s").text()).expect("writes");
    let out = folder.path().join("out");
    let mut command = Command::new(env!("CARGO_BIN_EXE_weir"));
    command.arg("run").arg(&file).arg("--out").arg(&out);
    command
        .env_remove(KEY)
        .stderr(Stdio::null())
        .stdout(Stdio::null());
    command.envs(given.map(|given| (KEY, given)));
    let mut child = command.spawn().expect("weir starts");
    let own = Path::new("/proc").join(child.id().to_string());
    let until = Instant::now() + Duration::from_secs(60);
    // Its directory is there when it has begun.
    while !out.exists() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(10));
    }
    let read = |name: &str| {
        let text = std::fs::read(own.join(name)).expect("a running process");
        String::from_utf8_lossy(&text).replace('\0', "\n")
    };
    let (name, arguments, environment) = (read("comm"), read("cmdline"), read("environ"));
    child.kill().expect("ends");
    child.wait().expect("ended");
    // The C library ends each setting with a zero while it reads them.
    let settings = environment
        .lines()
        .filter(|line| line.contains("glibc.malloc"));
    let settings: Vec<&str> = settings
        .map(|line| line.trim_start_matches(KEY).trim_start_matches('='))
        .collect();
    (name.trim().to_string(), arguments, settings.join(":"))
}

#[test]
fn a_run_asks_for_huge_pages_where_they_are_given_on_request() {
    let mode = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
    let asks = cfg!(target_env = "gnu") && mode.is_ok_and(|mode| mode.contains("[madvise]"));
    let asked = |own: &str, with: &str| if asks { with } else { own }.to_string();
    let [page, other] = ["glibc.malloc.hugetlb=0", "glibc.malloc.tcache_count=7"];
    let cases = [
        (None, asked("", "glibc.malloc.hugetlb=1")),
        (Some(page), page.to_string()),
        (
            Some(other),
            asked(other, &format!("{other}:glibc.malloc.hugetlb=1")),
        ),
    ];
    for (given, expected) in cases {
        let (name, arguments, settings) = begun(given);
        assert_eq!((name.as_str(), settings), ("weir", expected));
        let arguments: Vec<&str> = arguments.lines().collect();
        assert_eq!((arguments.len(), arguments[1]), (5, "run"), "{arguments:?}");
    }
}
