//! One process or many ranks; and how a failure on one of them ends all.

use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

mod same;
pub mod threads;
#[cfg(feature = "mpi")]
mod watchdog;

pub use same::must_be_the_same;

use crate::cli::process::console::tell_failure;
use crate::cli::process::failure::Failure;
use weir_engine::{Local, Transport};
use weir_model::Time;
use weir_model::program::exit::FAILED;

/// Environment variables that MPI launchers set for their ranks.
#[cfg(feature = "mpi")]
const LAUNCHERS: [&str; 5] = [
    "OMPI_COMM_WORLD_SIZE",
    "PMI_RANK",
    "PMIX_RANK",
    "MPI_LOCALNRANKS",
    "MV2_COMM_WORLD_RANK",
];

/// Everything before this has been simulated in this process, ps.
static REACHED: AtomicU64 = AtomicU64::new(0);

/// Takes note of the simulated time that the run has reached, for messages about ranks that hang.
pub fn has_reached(until: Time) {
    REACHED.store(until, Ordering::Relaxed);
}

/// No rank: more than all of them.
const NOBODY: u64 = u64::MAX;

/// Runs `work` on every rank, over MPI if a launcher has started this process and in one process
/// otherwise.
///
/// A panic on any rank ends all of them, and so does a rank that lets another one wait for longer
/// than `patience`.
pub fn on_all_ranks(patience: Duration, work: impl FnOnce(&mut dyn Transport) -> u8) -> ExitCode {
    #[cfg(feature = "mpi")]
    if LAUNCHERS
        .iter()
        .any(|name| std::env::var_os(name).is_some())
        && let Some(mut mpi) = weir_mpi::Mpi::start()
    {
        let alone = mpi.size() == 1;
        if !alone {
            watchdog::start(mpi.waits(), mpi.rank(), patience, &REACHED);
        }
        let code = panic::catch_unwind(AssertUnwindSafe(|| work(&mut mpi)));
        return match code {
            Ok(code) => ExitCode::from(code),
            Err(_) if alone => ExitCode::from(FAILED),
            Err(_) => weir_mpi::abort_all(i32::from(FAILED)),
        };
    }
    #[cfg(not(feature = "mpi"))]
    if ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"]
        .iter()
        .any(|name| std::env::var(name).is_ok_and(|size| size != "1"))
    {
        crate::cli::process::console::tell(
            "error: this weir was built without MPI and cannot run on several ranks\n  \
             help: build it with the default features, or start it without mpirun",
        );
        return ExitCode::from(weir_model::program::exit::BAD_INPUT);
    }
    let _ = patience;
    let code = panic::catch_unwind(AssertUnwindSafe(|| work(&mut Local)));
    ExitCode::from(code.unwrap_or(FAILED))
}

/// The MPI library that carries a run on some ranks; "none" in one process.
pub fn mpi_version(ranks: u32) -> String {
    match ranks {
        0 | 1 => "none".into(),
        _ => mpi_library(),
    }
}

/// The MPI library that this program is linked to; "none" of a build without MPI.
pub fn mpi_library() -> String {
    #[cfg(feature = "mpi")]
    return weir_mpi::Mpi::version();
    #[cfg(not(feature = "mpi"))]
    "none".into()
}

/// Makes the ranks agree on whether a step has succeeded everywhere. If not, the lowest rank that
/// failed prints its message and every rank gets the exit code of the worst.
pub fn together<R, T: Transport + ?Sized>(
    transport: &mut T,
    step: Result<R, Failure>,
) -> Result<R, u8> {
    let (teller, code) = match &step {
        Ok(_) => (NOBODY, 0),
        Err(failure) => (u64::from(transport.rank()), failure.code),
    };
    let (mut teller, mut code) = ([teller], [u64::from(code)]);
    let agreed = transport.min(&mut teller);
    if let Err(error) = agreed.and_then(|()| transport.max(&mut code)) {
        return Err(give_up(
            transport,
            &Failure::failed(format!("error: {error}")),
        ));
    }
    let ([teller], [code]) = (teller, code);
    match step {
        Ok(value) if teller == NOBODY => return Ok(value),
        Err(failure) if teller == u64::from(transport.rank()) => {
            tell_failure(&failure);
        }
        _ => {}
    }
    Err(code as u8)
}

/// Ends this rank, and with it all others, because of something that the others do not know.
pub fn give_up<T: Transport + ?Sized>(transport: &T, failure: &Failure) -> u8 {
    tell_failure(failure);
    #[cfg(feature = "mpi")]
    if transport.size() > 1 {
        weir_mpi::abort_all(i32::from(failure.code));
    }
    let _ = transport;
    failure.code
}
