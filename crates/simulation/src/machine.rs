//! Facts about this process from the operating system.

use std::time::{Duration, Instant};

/// The most memory this process has held, in bytes; 0 if the system does not say.
pub fn peak_memory_bytes() -> u64 {
    of_status("VmHWM:")
}

/// The memory that this process holds now, in bytes; 0 if the system does not say.
pub fn memory_bytes() -> u64 {
    of_status("VmRSS:")
}

/// Gives memory that was freed back to the system, as far as the C library can: otherwise it keeps
/// most of that, and long lists do not fit into it.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code)]
pub fn give_memory_back() {
    use std::ffi::c_int;

    // SAFETY: this is its declaration in malloc.h of glibc; it may be called at any time.
    unsafe extern "C" {
        safe fn malloc_trim(pad: usize) -> c_int;
    }
    malloc_trim(0);
}

/// Other C libraries have no way to ask for that.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn give_memory_back() {}

fn of_status(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

/// Counts the processor time of this thread, which other load of the machine affects little.
pub struct CpuClock {
    began: Option<Duration>,
    wall: Instant,
}

impl CpuClock {
    /// Starts now.
    pub fn start() -> CpuClock {
        CpuClock {
            began: cpu_time(),
            wall: Instant::now(),
        }
    }

    /// Seconds so far; wall-clock time if the system does not say.
    pub fn seconds(&self) -> f64 {
        let used = cpu_time().zip(self.began);
        let used = used.map(|(now, began)| now.saturating_sub(began));
        used.unwrap_or_else(|| self.wall.elapsed()).as_secs_f64()
    }
}

/// Processor time of this thread.
fn cpu_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = text.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}

/// The name of this host.
pub fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() {
        "unknown".into()
    } else {
        name.into()
    }
}
