//! Positions of the communicators in the arguments of calls.

/// A collective operation, by the name of its call.
pub struct Named {
    /// Name without `MPI_`, in its blocking form.
    pub name: String,
    /// Position of its communicator.
    pub communicator: usize,
    /// Position of its request, if it is nonblocking.
    pub request: Option<usize>,
}

/// The supported operations.
const COLLECTIVES: &[&str] = &[
    "Barrier",
    "Bcast",
    "Reduce",
    "Allreduce",
    "Scan",
    "Exscan",
    "Reduce_scatter_block",
    "Allgather",
    "Alltoall",
    "Gather",
    "Scatter",
    "Gatherv",
    "Scatterv",
    "Allgatherv",
    "Alltoallv",
    "Reduce_scatter",
    "Alltoallw",
];

/// Calls that make a communicator from the one in their first argument.
pub const MAKERS: &[&str] = &[
    "MPI_Comm_split",
    "MPI_Comm_dup",
    "MPI_Comm_idup",
    "MPI_Comm_dup_with_info",
    "MPI_Comm_create",
    "MPI_Comm_create_group",
    "MPI_Comm_split_type",
    "MPI_Cart_create",
    "MPI_Cart_sub",
    "MPI_Graph_create",
    "MPI_Dist_graph_create",
    "MPI_Dist_graph_create_adjacent",
];

/// The collective operation of a call with this number of arguments. The communicator is the last
/// argument except for the request.
pub fn collective(call: &str, arguments: usize) -> Option<Named> {
    let (name, request) = match call.strip_prefix("MPI_I") {
        Some(rest) if rest.starts_with(char::is_lowercase) => {
            (capitalized(rest), Some(arguments.checked_sub(1)?))
        }
        _ => (call.strip_prefix("MPI_")?.to_string(), None),
    };
    if !COLLECTIVES.contains(&name.as_str()) {
        return None;
    }
    Some(Named {
        name,
        communicator: request.unwrap_or(arguments).checked_sub(1)?,
        request,
    })
}

/// The position of the communicator of a call with this number of arguments, if it is known to have
/// one.
pub fn communicator(call: &str, arguments: usize) -> Option<usize> {
    match call {
        "MPI_Comm_rank" | "MPI_Comm_size" => Some(0),
        "MPI_Send" | "MPI_Ssend" | "MPI_Rsend" | "MPI_Bsend" | "MPI_Recv" | "MPI_Isend"
        | "MPI_Issend" | "MPI_Irsend" | "MPI_Ibsend" | "MPI_Irecv" | "MPI_Send_init"
        | "MPI_Ssend_init" | "MPI_Rsend_init" | "MPI_Bsend_init" | "MPI_Recv_init" => Some(5),
        "MPI_Sendrecv" => Some(10),
        "MPI_Sendrecv_replace" => Some(7),
        _ => collective(call, arguments).map(|named| named.communicator),
    }
}

fn capitalized(name: &str) -> String {
    let mut letters = name.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}
