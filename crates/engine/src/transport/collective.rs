//! Collective operations of all ranks, on values instead of bytes.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::interface::{Transport, TransportError};
use weir_model::codec;

/// Sends a value of every rank to rank 0, which gets all of them in the order of ranks.
/// Its own stays as it is.
///
/// # Errors
///
/// If the transport fails, or if a rank did not send such a value.
pub fn gather<V, T>(transport: &mut T, value: V) -> Result<Option<Vec<V>>, TransportError>
where
    V: Serialize + DeserializeOwned,
    T: Transport + ?Sized,
{
    let bytes = match transport.rank() {
        0 => Vec::new(),
        own => encode(own, &value)?,
    };
    let Some(all) = transport.gather(bytes)? else {
        return Ok(None);
    };
    let others = (0..).zip(all).skip(1);
    let others = others.map(|(rank, bytes)| decode(rank, &bytes));
    std::iter::once(Ok(value))
        .chain(others)
        .collect::<Result<_, _>>()
        .map(Some)
}

/// Sends a value of rank 0 to all ranks. The values of the others are ignored.
///
/// # Errors
///
/// If the transport fails, or if rank 0 did not send such a value.
pub fn broadcast<V, T>(transport: &mut T, value: &V) -> Result<V, TransportError>
where
    V: Serialize + DeserializeOwned,
    T: Transport + ?Sized,
{
    let bytes = match transport.rank() {
        0 => encode(0, value)?,
        _ => Vec::new(),
    };
    decode(0, &transport.broadcast(bytes)?)
}

fn encode<V: Serialize>(rank: u32, value: &V) -> Result<Vec<u8>, TransportError> {
    // No value that is sent here has a list of unknown length.
    codec::encode(value).map_err(|_| TransportError::Garbled { rank, bytes: 0 })
}

fn decode<V: DeserializeOwned>(rank: u32, bytes: &[u8]) -> Result<V, TransportError> {
    let bytes_read = bytes.len();
    codec::decode(bytes).map_err(|_| TransportError::Garbled {
        rank,
        bytes: bytes_read,
    })
}

#[cfg(test)]
mod tests {
    use super::super::threads::Threads;
    use super::*;

    /// Results that each of three ranks gets from `work`.
    fn on_three<R: Send>(work: impl Fn(&mut Threads) -> R + Sync) -> Vec<R> {
        std::thread::scope(|scope| {
            let ranks = Threads::ranks(3).into_iter();
            let work = &work;
            let threads: Vec<_> = ranks
                .map(|mut rank| scope.spawn(move || work(&mut rank)))
                .collect();
            let ends = threads.into_iter().map(|thread| thread.join());
            ends.map(|end| end.expect("no rank panics")).collect()
        })
    }

    #[test]
    fn rank_0_gathers_in_the_order_of_ranks() {
        let all = on_three(|rank| {
            let name = format!("rank {}", rank.rank());
            gather(rank, name)
        });
        let names = ["rank 0", "rank 1", "rank 2"].map(String::from).to_vec();
        assert_eq!(all, [Ok(Some(names)), Ok(None), Ok(None)]);
    }

    #[test]
    fn all_get_what_rank_0_says() {
        let all = on_three(|rank| broadcast(rank, &Some(rank.rank() + 7)));
        assert_eq!(all, vec![Ok(Some(7)); 3]);
    }

    #[test]
    fn the_least_and_the_sum_are_the_same_on_all() {
        let all = on_three(|rank| {
            let one = u64::from(rank.rank());
            let (mut least, mut sum) = ([one, 9 - one], [one, 10 * one]);
            rank.min(&mut least)?;
            rank.sum(&mut sum)?;
            Ok::<_, TransportError>((least, sum))
        });
        assert_eq!(all, vec![Ok(([0, 7], [3, 30])); 3]);
    }

    #[test]
    fn another_type_than_was_sent_is_an_error() {
        let all = on_three(|rank| match rank.rank() {
            1 => rank.gather(vec![1]).map(|_| None),
            _ => gather(rank, (1u64, 2u64)),
        });
        assert_eq!(all[0], Err(TransportError::Garbled { rank: 1, bytes: 1 }));
    }

    #[test]
    fn a_rank_that_is_gone_is_an_error_and_no_crash() {
        let all = on_three(|rank| match rank.rank() {
            2 => Ok(()),
            _ => rank.sum(&mut [1]),
        });
        // Rank 1 may have found it out and have ended by then.
        assert!(matches!(all[0], Err(TransportError::Gone { rank: 1 | 2 })));
    }
}
