//! Huge pages for a run: it goes from place to place in hundreds of megabytes, and with pages of
//! 4 KiB a processor has to look most of those places up.

use std::os::unix::process::CommandExt;
use std::process::Command;

/// The environment variable of glibc's settings, and the one that asks for huge pages (glibc 2.35
/// and newer; older ones pass it over).
const KEY: &str = "GLIBC_TUNABLES";
const SETTING: &str = "glibc.malloc.hugetlb";

/// Begins this program anew with huge pages for its memory, where Linux gives them only to programs
/// that ask: the C library asks for them if it is told to when a program begins. Returns if nothing
/// is to be changed, or if the program cannot begin anew: it runs without them then.
pub fn ask_for_huge_pages() {
    let given = std::env::var(KEY).unwrap_or_default();
    let mode = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
    let on_request = mode.is_ok_and(|mode| mode.contains("[madvise]"));
    if cfg!(not(target_env = "gnu")) || !on_request || given.contains(SETTING) {
        return;
    }
    let ask = format!("{SETTING}=1");
    let settings = match given.as_str() {
        "" => ask,
        given => format!("{given}:{ask}"),
    };
    let mut arguments = std::env::args_os();
    let (Some(name), Ok(program)) = (arguments.next(), std::env::current_exe()) else {
        return;
    };
    let mut again = Command::new(program);
    // An error is nothing to end a run for.
    let _ = again.arg0(name).args(arguments).env(KEY, settings).exec();
}
