//! The arguments of collective operations.

use super::super::operations::{Call, Wrong};
use super::super::signed_task;
use super::arguments::{Arguments, Communicator};
use crate::tasks::VectorKind;
use crate::tasks::collectives::Kind;

/// A part in the collective operation of this name; None if the sizes are missing.
///
/// # Errors
/// If arguments are missing or invalid.
pub fn operation(
    name: &str,
    arguments: &Arguments,
    communicator: &Communicator,
) -> Result<Option<Call>, Wrong> {
    let plain = |kind, root, bytes| Some(Call::Plain { kind, root, bytes });
    let root = |at: usize| {
        let tasks = u32::try_from(communicator.size).unwrap_or(u32::MAX);
        signed_task(arguments.integer(at)?, tasks)
    };
    let at_root = |at: usize| root(at).map(|root| u64::from(root) == communicator.rank);
    // Lists of counts follow their address in a separate field, if they are present.
    let listed = |plain: usize, lists: usize| arguments.fields.len() == plain + lists;
    Ok(match name {
        "Barrier" => plain(Kind::Barrier, 0, 0),
        "Bcast" => plain(Kind::Bcast, root(3)?, arguments.bytes(1, 2)?),
        "Reduce" => plain(Kind::Reduce, root(5)?, arguments.bytes(2, 3)?),
        "Allreduce" => plain(Kind::Allreduce, 0, arguments.bytes(2, 3)?),
        "Scan" | "Exscan" => plain(Kind::Scan, 0, arguments.bytes(2, 3)?),
        "Reduce_scatter_block" => plain(Kind::ReduceScatter, 0, arguments.bytes(2, 3)?),
        // With MPI_IN_PLACE only what is received is said; at the root of a gather, too, and
        // what is sent at that of a scatter.
        "Allgather" => plain(Kind::Allgather, 0, arguments.bytes(4, 5)?),
        "Alltoall" => plain(Kind::Alltoall, 0, arguments.bytes(4, 5)?),
        "Gather" if at_root(6)? => plain(Kind::Gather, root(6)?, arguments.bytes(4, 5)?),
        "Gather" => plain(Kind::Gather, root(6)?, arguments.bytes(1, 2)?),
        "Scatter" if at_root(6)? => plain(Kind::Scatter, root(6)?, arguments.bytes(1, 2)?),
        "Scatter" => plain(Kind::Scatter, root(6)?, arguments.bytes(4, 5)?),
        "Gatherv" if listed(9, 2) => {
            let root = root(9)?;
            let size = arguments.size_of(8)?;
            Some(Call::Rooted {
                kind: VectorKind::Gatherv,
                root,
                own: arguments.bytes(1, 2)?,
                all: match u64::from(root) == communicator.rank {
                    true => Some(arguments.sizes(5, size)?),
                    false => None,
                },
            })
        }
        "Scatterv" if listed(9, 2) => {
            let root = root(9)?;
            let size = arguments.size_of(5)?;
            Some(Call::Rooted {
                kind: VectorKind::Scatterv,
                root,
                own: arguments.bytes(7, 8)?,
                all: match u64::from(root) == communicator.rank {
                    true => Some(arguments.sizes(2, size)?),
                    false => None,
                },
            })
        }
        "Allgatherv" if listed(8, 2) => Some(Call::Known {
            kind: VectorKind::Allgatherv,
            all: arguments.sizes(5, arguments.size_of(8)?)?,
        }),
        "Alltoallv" if listed(9, 4) => Some(Call::Alltoallv {
            sends: arguments.sizes(2, arguments.size_of(5)?)?,
            receives: arguments.sizes(8, arguments.size_of(11)?)?,
        }),
        "Reduce_scatter" if listed(6, 1) => Some(Call::Known {
            kind: VectorKind::ReduceScatter,
            all: arguments.sizes(3, arguments.size_of(4)?)?,
        }),
        _ => None,
    })
}
