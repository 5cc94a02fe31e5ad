//! Algorithms of the collective operations, as users choose them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The algorithm of each collective operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Algorithms {
    /// Algorithm of a barrier.
    pub barrier: BarrierBy,
    /// Algorithm of a broadcast.
    pub bcast: BcastBy,
    /// Algorithm of a reduction to a root.
    pub reduce: RootedBy,
    /// Algorithm of an allreduce.
    pub allreduce: AllreduceBy,
    /// Algorithm of an allgather.
    pub allgather: AllgatherBy,
    /// Algorithm of a reduce-scatter.
    pub reduce_scatter: ReduceScatterBy,
    /// Algorithm of an alltoall.
    pub alltoall: AlltoallBy,
    /// Algorithm of a gather.
    pub gather: GatherBy,
    /// Algorithm of a scatter.
    pub scatter: GatherBy,
}

impl Algorithms {
    /// The algorithms of SST's Firefly.
    pub const EMBER: Algorithms = Algorithms {
        barrier: BarrierBy::Tree,
        bcast: BcastBy::Tree,
        reduce: RootedBy::Tree,
        allreduce: AllreduceBy::Tree,
        allgather: AllgatherBy::Auto,
        reduce_scatter: ReduceScatterBy::Auto,
        alltoall: AlltoallBy::Ring,
        gather: GatherBy::Binomial,
        scatter: GatherBy::Binomial,
    };

    /// Rings, as NCCL has them between nodes for all but short messages.
    pub const NCCL: Algorithms = Algorithms {
        barrier: BarrierBy::Dissemination,
        bcast: BcastBy::Auto,
        reduce: RootedBy::Binomial,
        allreduce: AllreduceBy::Ring,
        allgather: AllgatherBy::Ring,
        reduce_scatter: ReduceScatterBy::Ring,
        alltoall: AlltoallBy::Linear,
        gather: GatherBy::Linear,
        scatter: GatherBy::Linear,
    };
}

/// Explicitly chosen algorithms; the preset's for the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Choices {
    /// "dissemination" (plain) or "tree" (ember: a binary tree, up and down).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub barrier: Option<BarrierBy>,
    /// "binomial", "scatter_allgather", "tree" (ember), or "auto" (plain): binomial below 12,288
    /// bytes or 8 tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bcast: Option<BcastBy>,
    /// "binomial" (plain) or "tree" (ember).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reduce: Option<RootedBy>,
    /// "recursive_doubling", "rabenseifner", "ring" (nccl), "tree" (ember), or "auto" (plain):
    /// recursive doubling up to 2,048 bytes, or if there are fewer bytes than tasks (of the
    /// greatest power of two), otherwise Rabenseifner's. "double_tree" are two trees with half of
    /// the data each; "nccl" takes these or the ring by bytes and tasks, by a simplified form of
    /// NCCL's estimate (links of 400 Gbit/s; a step takes microseconds on GPUs).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allreduce: Option<AllreduceBy>,
    /// "recursive_doubling", "bruck", "ring" (nccl), or "auto": by the sum of all bytes, below 512
    /// KiB recursive doubling if the tasks are a power of two, below 80 KiB Bruck's, otherwise the
    /// ring.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allgather: Option<AllgatherBy>,
    /// "recursive_halving", "pairwise", "ring" (nccl), or "auto": recursive halving below 512 KiB
    /// in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reduce_scatter: Option<ReduceScatterBy>,
    /// "bruck", "pairwise", "ring" (ember: a shift by one more in each step), "linear" (nccl: all
    /// at once), or "auto" (plain): Bruck's up to 256 bytes for each pair if there are 8 tasks or
    /// more, otherwise pairwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alltoall: Option<AlltoallBy>,
    /// "binomial" or "linear".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gather: Option<GatherBy>,
    /// "binomial" or "linear".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scatter: Option<GatherBy>,
}

impl Choices {
    /// These choices, and those of `base` for the others.
    pub(crate) fn over(self, base: Algorithms) -> Algorithms {
        Algorithms {
            barrier: self.barrier.unwrap_or(base.barrier),
            bcast: self.bcast.unwrap_or(base.bcast),
            reduce: self.reduce.unwrap_or(base.reduce),
            allreduce: self.allreduce.unwrap_or(base.allreduce),
            allgather: self.allgather.unwrap_or(base.allgather),
            reduce_scatter: self.reduce_scatter.unwrap_or(base.reduce_scatter),
            alltoall: self.alltoall.unwrap_or(base.alltoall),
            gather: self.gather.unwrap_or(base.gather),
            scatter: self.scatter.unwrap_or(base.scatter),
        }
    }
}

/// An enum with the names of its variants in the experiment file, the first being the default.
macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $first:ident = $first_name:literal, $($other:ident = $other_name:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
        #[allow(missing_docs)]
        pub enum $name {
            #[default]
            #[serde(rename = $first_name)]
            $first,
            $(#[serde(rename = $other_name)] $other),*
        }

        impl $name {
            /// Its name in the experiment file.
            pub fn name(self) -> &'static str {
                match self {
                    $name::$first => $first_name,
                    $($name::$other => $other_name),*
                }
            }
        }
    };
}

choice! {
    /// Algorithms of a barrier.
    BarrierBy { Dissemination = "dissemination", Tree = "tree" }
}
choice! {
    /// Algorithms of a broadcast.
    BcastBy {
        Auto = "auto",
        Binomial = "binomial",
        ScatterAllgather = "scatter_allgather",
        Tree = "tree",
    }
}
choice! {
    /// Algorithms of a reduction to a root.
    RootedBy { Binomial = "binomial", Tree = "tree" }
}
choice! {
    /// Algorithms of an allreduce.
    AllreduceBy {
        Auto = "auto",
        RecursiveDoubling = "recursive_doubling",
        Rabenseifner = "rabenseifner",
        Ring = "ring",
        Tree = "tree",
        DoubleTree = "double_tree",
        Nccl = "nccl",
    }
}
choice! {
    /// Algorithms of an allgather.
    AllgatherBy {
        Auto = "auto",
        RecursiveDoubling = "recursive_doubling",
        Bruck = "bruck",
        Ring = "ring",
    }
}
choice! {
    /// Algorithms of a reduce-scatter.
    ReduceScatterBy {
        Auto = "auto",
        RecursiveHalving = "recursive_halving",
        Pairwise = "pairwise",
        Ring = "ring",
    }
}
choice! {
    /// Algorithms of an alltoall.
    AlltoallBy {
        Auto = "auto",
        Bruck = "bruck",
        Pairwise = "pairwise",
        Ring = "ring",
        Linear = "linear",
    }
}
choice! {
    /// Algorithms of a gather or a scatter.
    GatherBy { Binomial = "binomial", Linear = "linear" }
}

impl BcastBy {
    /// The algorithm for this number of bytes and tasks.
    pub fn choose(self, bytes: u64, tasks: u32) -> BcastBy {
        match self {
            BcastBy::Auto if bytes < 12_288 || tasks < 8 => BcastBy::Binomial,
            BcastBy::Auto => BcastBy::ScatterAllgather,
            other => other,
        }
    }
}

impl AllreduceBy {
    /// The algorithm for this number of bytes and tasks.
    pub fn choose(self, bytes: u64, tasks: u32) -> AllreduceBy {
        let power = 1u64 << tasks.max(1).ilog2();
        match self {
            AllreduceBy::Auto if bytes <= 2_048 || bytes < power => AllreduceBy::RecursiveDoubling,
            AllreduceBy::Auto => AllreduceBy::Rabenseifner,
            AllreduceBy::Nccl => nccl(bytes, tasks),
            other => other,
        }
    }
}

/// The algorithm of the shorter time by a simplified form of NCCL's estimate (`src/graph/tuning.cc`
/// of NCCL 2): for tasks on different nodes with a link of 400 Gbit/s, the least of its three
/// protocols, without its corrections for some sizes.
fn nccl(bytes: u64, tasks: u32) -> AllreduceBy {
    /// For each protocol: us at the start and for each step, of a ring and of a tree, and the share
    /// of the bandwidth that is payload.
    const PROTOCOLS: [([f64; 2], [f64; 2], f64); 3] = [
        ([6.6, 2.7], [6.8, 5.0], 0.5),
        ([14.0, 4.0], [14.0, 8.5], 0.92),
        ([8.4, 14.0], [8.4, 14.0], 1.0),
    ];
    /// Bytes of the link in a microsecond.
    const LINK: f64 = 50_000.0;
    /// Share of that for trees, each of which carries half of the data, up and down.
    const TREE: f64 = 0.5 * 0.92;
    let (bytes, tasks) = (bytes as f64, f64::from(tasks.max(2)));
    let (around, up_and_down) = (2.0 * (tasks - 1.0), 2.0 * tasks.log2());
    let times = PROTOCOLS.map(|(ring, tree, share)| {
        let sent = bytes / (share * LINK);
        [
            ring[0] + around * ring[1] + sent * around / tasks,
            tree[0] + up_and_down * tree[1] + sent / TREE,
        ]
    });
    let least = |which: usize| {
        times
            .iter()
            .map(|time| time[which])
            .fold(f64::INFINITY, f64::min)
    };
    match least(1) < least(0) {
        true => AllreduceBy::DoubleTree,
        false => AllreduceBy::Ring,
    }
}

impl AllgatherBy {
    /// The algorithm for this number of bytes of each task; recursive doubling needs a power of
    /// two.
    pub fn choose(self, bytes: u64, tasks: u32) -> AllgatherBy {
        let sum = bytes.saturating_mul(u64::from(tasks));
        let power = tasks.is_power_of_two();
        match self {
            AllgatherBy::Auto if sum < 512 << 10 && power => AllgatherBy::RecursiveDoubling,
            AllgatherBy::Auto if sum < 80 << 10 => AllgatherBy::Bruck,
            AllgatherBy::Auto => AllgatherBy::Ring,
            // Bruck's generalises recursive doubling to other numbers.
            AllgatherBy::RecursiveDoubling if !power => AllgatherBy::Bruck,
            other => other,
        }
    }
}

impl ReduceScatterBy {
    /// The algorithm for this number of bytes of each task.
    pub fn choose(self, bytes: u64, tasks: u32) -> ReduceScatterBy {
        let sum = bytes.saturating_mul(u64::from(tasks));
        match self {
            ReduceScatterBy::Auto if sum < 512 << 10 => ReduceScatterBy::RecursiveHalving,
            ReduceScatterBy::Auto => ReduceScatterBy::Pairwise,
            other => other,
        }
    }
}

impl AlltoallBy {
    /// The algorithm for this number of bytes of each pair.
    pub fn choose(self, bytes: u64, tasks: u32) -> AlltoallBy {
        match self {
            AlltoallBy::Auto if bytes <= 256 && tasks >= 8 => AlltoallBy::Bruck,
            AlltoallBy::Auto => AlltoallBy::Pairwise,
            other => other,
        }
    }
}
