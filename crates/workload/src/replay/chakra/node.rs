//! The nodes of an execution trace.

use super::super::input::Fault;
use super::wire::{Message, Value, damaged, numbers};

/// Kind of a node, by its number in the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing: converters use it for unknown operations.
    Invalid,
    /// Information about the trace.
    Metadata,
    /// Memory, storage, checkpoints.
    Memory,
    /// Computes.
    Compute,
    /// Sends.
    Send,
    /// Receives.
    Receive,
    /// Takes part in a collective operation.
    Collective,
}

/// A node.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// Offset in the file, bytes.
    pub at: u64,
    /// Its name in the file.
    pub id: u64,
    /// Its kind's number.
    pub kind: u64,
    /// Names of the nodes that it waits for.
    pub after: Vec<u64>,
    /// Duration, us.
    pub duration: u64,
    /// Content of a metadata node.
    pub values: Option<String>,
    /// True if it names dimensions of the network for its operation (`involved_dim`).
    pub dimensions: bool,
    /// Attributes with numbers: name and bits.
    numbers: Vec<(String, u64)>,
    /// Attributes with texts.
    texts: Vec<(String, String)>,
}

impl Node {
    /// Reads a node that begins at this byte.
    ///
    /// # Errors
    /// If it is damaged.
    pub fn read(bytes: &[u8], at: u64) -> Result<Node, Fault> {
        let mut node = Node {
            at,
            ..Node::default()
        };
        let mut message = Message::new(bytes, at);
        while let Some((field, value)) = message.field()? {
            match (field, value) {
                (1, Value::Varint(id)) => node.id = id,
                (3, Value::Varint(kind)) => node.kind = kind,
                (4 | 5, value) => numbers(value, &mut node.after)?,
                (7, Value::Varint(duration)) => node.duration = duration,
                (8, Value::Bytes(bytes, at)) => node.values = text_field(bytes, at, 1)?,
                (10, Value::Bytes(bytes, at)) => node.attribute(bytes, at)?,
                _ => {}
            }
        }
        Ok(node)
    }

    fn attribute(&mut self, bytes: &[u8], at: u64) -> Result<(), Fault> {
        let mut message = Message::new(bytes, at);
        let (mut name, mut number, mut text) = (String::new(), None, None);
        while let Some((field, value)) = message.field()? {
            match (field, value) {
                (1, Value::Bytes(bytes, at)) => name = utf8(bytes, at)?,
                // Signed numbers that are not zigzag, unsigned ones and booleans.
                (7 | 9 | 11 | 13 | 19 | 21 | 23 | 25 | 27, value) => number = value.number(),
                (15 | 17, Value::Varint(bits)) => {
                    number = Some((bits >> 1) ^ (bits & 1).wrapping_neg());
                }
                (29, Value::Bytes(bytes, at)) => text = Some(utf8(bytes, at)?),
                _ => {}
            }
        }
        self.dimensions |= name == "involved_dim";
        if let Some(number) = number {
            self.numbers.push((name, number));
        } else if let Some(text) = text {
            self.texts.push((name, text));
        }
        Ok(())
    }

    /// The value of a numeric attribute.
    pub fn number(&self, name: &str) -> Option<u64> {
        let mut named = self.numbers.iter().filter(|(own, _)| own == name);
        named.next().map(|&(_, number)| number)
    }

    /// The value of a text attribute, or of a number as text.
    pub fn text(&self, name: &str) -> Option<String> {
        let named = self.texts.iter().find(|(own, _)| own == name);
        named
            .map(|(_, text)| text.clone())
            .or_else(|| self.number(name).map(|number| number.to_string()))
    }

    /// The value of a required numeric attribute.
    ///
    /// # Errors
    /// If it is missing.
    pub fn need(&self, name: &str) -> Result<u64, Fault> {
        self.number(name).ok_or_else(|| Fault {
            place: format!("byte {}", self.at),
            message: format!("node {} has no `{name}`", self.id),
            remedy: "complete the trace".into(),
        })
    }

    /// Its kind.
    ///
    /// # Errors
    /// If there is no such kind.
    pub fn kind(&self) -> Result<Kind, Fault> {
        Ok(match self.kind {
            0 => Kind::Invalid,
            1 | 9 => Kind::Metadata,
            2 | 3 | 8 | 10 => Kind::Memory,
            4 => Kind::Compute,
            5 => Kind::Send,
            6 => Kind::Receive,
            7 => Kind::Collective,
            kind => {
                let message = format!("node {} is of kind {kind}, which there is not", self.id);
                return Err(damaged(self.at, &message));
            }
        })
    }
}

/// A text within a message.
fn text_field(bytes: &[u8], at: u64, wanted: u64) -> Result<Option<String>, Fault> {
    let mut message = Message::new(bytes, at);
    let mut found = None;
    while let Some((field, value)) = message.field()? {
        if let (true, Value::Bytes(bytes, at)) = (field == wanted, value) {
            found = Some(utf8(bytes, at)?);
        }
    }
    Ok(found)
}

fn utf8(bytes: &[u8], at: u64) -> Result<String, Fault> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_string()),
        Err(_) => Err(damaged(at, "this is no text")),
    }
}
