//! Values of any shape as bytes: messages between ranks besides packets and credits.
//!
//! The only place that knows bincode. Numbers are of variable length, so that the bytes do not
//! depend on the machine.

use std::hash::Hash;
use std::io::{BufWriter, Write};
use std::ops::{Deref, DerefMut};

use bincode::config::standard;
use bincode::error::{DecodeError, EncodeError};
use rustc_hash::FxHashMap;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

/// Bytes that are no such value.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{0}")]
pub struct CodecError(String);

impl CodecError {
    /// Bytes that are a value, but not one that is possible: why not.
    pub fn new(why: impl Into<String>) -> CodecError {
        CodecError(why.into())
    }
}

/// A hash map that is written in the order of its keys: equal maps are equal bytes, regardless of
/// their history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedMap<K: Hash + Eq, V>(FxHashMap<K, V>);

impl<K: Hash + Eq, V> Default for SavedMap<K, V> {
    fn default() -> Self {
        SavedMap(FxHashMap::default())
    }
}

impl<K: Hash + Eq, V> Deref for SavedMap<K, V> {
    type Target = FxHashMap<K, V>;

    fn deref(&self) -> &FxHashMap<K, V> {
        &self.0
    }
}

impl<K: Hash + Eq, V> DerefMut for SavedMap<K, V> {
    fn deref_mut(&mut self) -> &mut FxHashMap<K, V> {
        &mut self.0
    }
}

impl<K: Hash + Eq, V> FromIterator<(K, V)> for SavedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        SavedMap(entries.into_iter().collect())
    }
}

impl<K: Hash + Ord + Serialize, V: Serialize> Serialize for SavedMap<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut entries: Vec<(&K, &V)> = self.0.iter().collect();
        entries.sort_unstable_by_key(|(key, _)| *key);
        serializer.collect_seq(entries)
    }
}

impl<'a, K: Hash + Ord + Deserialize<'a>, V: Deserialize<'a>> Deserialize<'a> for SavedMap<K, V> {
    fn deserialize<D: Deserializer<'a>>(deserializer: D) -> Result<Self, D::Error> {
        let entries = Vec::<(K, V)>::deserialize(deserializer)?;
        if !entries.is_sorted_by(|before, after| before.0 < after.0) {
            return Err(D::Error::custom("the keys of a map are not in order"));
        }
        Ok(entries.into_iter().collect())
    }
}

/// A value as bytes.
///
/// # Errors
///
/// If the value cannot be written, such as a list whose length is not known in advance.
pub fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>, CodecError> {
    bincode::serde::encode_to_vec(value, standard()).map_err(|error| CodecError(error.to_string()))
}

/// Writes a value as the bytes that [`encode`] makes of it, in pieces.
///
/// # Errors
///
/// As of [`encode`]; also if the bytes cannot be written.
pub fn encode_into<T: Serialize>(value: &T, out: &mut dyn Write) -> Result<(), CodecError> {
    // A number is a few bytes: most of the time would be calls of `out`.
    let mut out = BufWriter::with_capacity(1 << 18, out);
    let written = bincode::serde::encode_into_std_write(value, &mut out, standard());
    written.map_err(|error| match error {
        EncodeError::Io { inner, .. } => CodecError(inner.to_string()),
        error => CodecError(error.to_string()),
    })?;
    out.flush().map_err(|error| CodecError(error.to_string()))
}

/// The value that [`encode`] made bytes of.
///
/// # Errors
///
/// If the bytes are not those of one whole value of this type.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, CodecError> {
    // No byte makes more than sixteen. Without a limit the length of a text is believed, and memory
    // taken for it.
    let decoded = match bytes.len() {
        0..0x1000 => decode_within::<T, 0x1_0000>(bytes),
        0x1000..0x10_0000 => decode_within::<T, 0x100_0000>(bytes),
        0x10_0000..0x1000_0000 => decode_within::<T, 0x1_0000_0000>(bytes),
        _ => decode_within::<T, 0x1000_0000_0000>(bytes),
    };
    let (value, read) = decoded.map_err(|error| CodecError(error.to_string()))?;
    if read == bytes.len() {
        Ok(value)
    } else {
        let left = bytes.len() - read;
        Err(CodecError(format!("{left} bytes are left over")))
    }
}

/// A value of at most `LIMIT` bytes in memory, and how many bytes it was read from.
fn decode_within<T: DeserializeOwned, const LIMIT: usize>(
    bytes: &[u8],
) -> Result<(T, usize), DecodeError> {
    bincode::serde::decode_from_slice(bytes, standard().with_limit::<LIMIT>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Value = (u64, Option<String>, Vec<[u64; 3]>, i64);

    #[test]
    fn cut_and_long_bytes_are_refused() {
        let value: Value = (7, Some("rank".into()), vec![[1, 2, u64::MAX]], -1);
        let mut bytes = encode(&value).unwrap();
        assert_eq!(decode::<Value>(&bytes), Ok(value));
        for length in 0..bytes.len() {
            assert!(decode::<Value>(&bytes[..length]).is_err(), "{length} bytes");
        }
        bytes.push(0);
        let error = decode::<Value>(&bytes).unwrap_err();
        assert_eq!(error.to_string(), "1 bytes are left over");
    }

    #[test]
    fn equal_maps_are_equal_bytes() {
        let (mut up, mut down) = (SavedMap::default(), SavedMap::default());
        down.reserve(1_000);
        for key in 0..100_u32 {
            up.insert(key, u64::from(key));
            down.insert(99 - key, u64::from(99 - key));
        }
        let bytes = encode(&up).unwrap();
        assert_eq!(encode(&down).unwrap(), bytes);
        assert_eq!(decode(&bytes), Ok(up));
    }

    #[test]
    fn keys_out_of_order_are_refused() {
        for keys in [[1_u32, 1], [2, 1]] {
            let bytes = encode(&keys.map(|key| (key, ())).to_vec()).unwrap();
            assert!(decode::<SavedMap<u32, ()>>(&bytes).is_err(), "{keys:?}");
        }
    }

    #[test]
    fn a_length_beyond_all_memory_is_refused() {
        // The length of a list: 2⁶⁴ - 1, and nothing after it.
        let bytes = [vec![253], vec![0xFF; 8]].concat();
        assert!(decode::<Vec<u64>>(&bytes).is_err());
        assert!(decode::<String>(&bytes).is_err());
    }

    #[test]
    fn the_shortest_bytes_of_the_longest_values_are_within_the_limit() {
        for length in [100, 0xFFF0, 0x1_0000, 0x11_0000] {
            let value = vec![0u128; length];
            assert_eq!(decode::<Vec<u128>>(&encode(&value).unwrap()), Ok(value));
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(value in any::<Value>()) {
            let bytes = encode(&value).unwrap();
            let mut written = Vec::new();
            encode_into(&value, &mut written).unwrap();
            prop_assert_eq!(&written, &bytes);
            prop_assert_eq!(decode::<Value>(&bytes), Ok(value));
        }

        #[test]
        fn no_bytes_crash(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = decode::<Value>(&bytes);
        }
    }
}
