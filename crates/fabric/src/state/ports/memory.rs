//! The words that a routing keeps at routers.

use serde::{Deserialize, Serialize};
use std::iter;

/// Routing state of all routers of a domain, in one piece.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Memory {
    words: Vec<u64>,
    /// Offset of each router's words, and after the last the end of all; empty if there are none at
    /// all.
    begins: Vec<usize>,
}

impl Memory {
    /// Zeroed words: for each router the number in `counts`.
    pub fn new(counts: impl Iterator<Item = u32>) -> Memory {
        let mut end = 0;
        let ends = counts.map(|count| {
            end += count as usize;
            end
        });
        let begins: Vec<usize> = iter::once(0).chain(ends).collect();
        match end {
            0 => Memory::default(),
            _ => Memory {
                words: vec![0; end],
                begins,
            },
        }
    }

    /// True if it has as many words for each router as another one.
    pub fn fits(&self, other: &Memory) -> bool {
        self.begins == other.begins && self.words.len() == other.words.len()
    }

    /// One of a router's words.
    pub fn word(&mut self, router: u32, word: u32) -> &mut u64 {
        let own = match self.begins.get(router as usize..router as usize + 2) {
            Some(&[begin, end]) => &mut self.words[begin..end],
            _ => &mut [],
        };
        let count = own.len();
        own.get_mut(word as usize)
            .unwrap_or_else(|| panic!("routing asks for word {word} of {count} at a router"))
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        8 * (self.words.capacity() + self.begins.capacity())
    }
}
