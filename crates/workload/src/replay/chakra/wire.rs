//! The subset of the Protocol Buffers wire format that execution traces need.

use super::super::input::Fault;

/// A field's value.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    /// An integer of any kind.
    Varint(u64),
    /// Eight bytes.
    Fixed64(u64),
    /// Four bytes.
    Fixed32(u32),
    /// A text, a message, or a packed list.
    Bytes(&'a [u8], u64),
}

impl Value<'_> {
    /// The value as an integer; the bits of a signed one.
    pub fn number(self) -> Option<u64> {
        match self {
            Value::Varint(number) | Value::Fixed64(number) => Some(number),
            Value::Fixed32(number) => Some(u64::from(number)),
            Value::Bytes(..) => None,
        }
    }
}

/// The fields of a message, one after the other.
pub struct Message<'a> {
    rest: &'a [u8],
    /// Offset of the end of the message in the file, bytes.
    end: u64,
}

/// A field that ends before it should, at this byte.
pub fn damaged(byte: u64, what: &str) -> Fault {
    Fault {
        place: format!("byte {byte}"),
        message: what.into(),
        remedy: "the file is damaged or not complete, or no Chakra trace (these are binary, not \
                 JSON): write it again"
            .into(),
    }
}

impl<'a> Message<'a> {
    /// A message that begins at this byte of the file.
    pub fn new(bytes: &'a [u8], at: u64) -> Message<'a> {
        Message {
            rest: bytes,
            end: at + bytes.len() as u64,
        }
    }

    fn at(&self) -> u64 {
        self.end - self.rest.len() as u64
    }

    /// True if all of it has been read.
    pub fn is_over(&self) -> bool {
        self.rest.is_empty()
    }

    /// An integer in 7 bits per byte.
    ///
    /// # Errors
    /// If it does not end, or has more than 64 bits.
    pub fn varint(&mut self) -> Result<u64, Fault> {
        let at = self.at();
        let mut number = 0u64;
        for place in 0..10 {
            let Some((&byte, rest)) = self.rest.split_first() else {
                return Err(damaged(at, "a number does not end"));
            };
            self.rest = rest;
            if place == 9 && byte > 1 {
                break;
            }
            number |= u64::from(byte & 0x7f) << (7 * place);
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(damaged(at, "a number has more than 64 bits"))
    }

    fn take(&mut self, count: u64) -> Result<&'a [u8], Fault> {
        let at = self.at();
        let taken = usize::try_from(count)
            .ok()
            .and_then(|count| self.rest.split_at_checked(count));
        let Some((taken, rest)) = taken else {
            let message = format!(
                "a field of {count} bytes, and there are {}",
                self.rest.len()
            );
            return Err(damaged(at, &message));
        };
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N as u64)?);
        Ok(array)
    }

    /// The next field: its number and value. None at the end.
    ///
    /// # Errors
    /// If it is damaged.
    pub fn field(&mut self) -> Result<Option<(u64, Value<'a>)>, Fault> {
        if self.is_over() {
            return Ok(None);
        }
        let at = self.at();
        let key = self.varint()?;
        let value = match key & 7 {
            0 => Value::Varint(self.varint()?),
            1 => Value::Fixed64(u64::from_le_bytes(self.array()?)),
            2 => {
                let count = self.varint()?;
                let from = self.at();
                Value::Bytes(self.take(count)?, from)
            }
            5 => Value::Fixed32(u32::from_le_bytes(self.array()?)),
            kind => return Err(damaged(at, &format!("there is no wire type {kind}"))),
        };
        match key >> 3 {
            0 => Err(damaged(at, "a field without a number")),
            number => Ok(Some((number, value))),
        }
    }
}

/// The numbers of a repeated field: a single one, or a packed list.
///
/// # Errors
/// If the list is damaged.
pub fn numbers(value: Value, into: &mut Vec<u64>) -> Result<(), Fault> {
    match value {
        Value::Bytes(bytes, at) => {
            let mut list = Message::new(bytes, at);
            while !list.is_over() {
                into.push(list.varint()?);
            }
        }
        other => into.extend(other.number()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_protobuf_writes_them() {
        // The examples of the encoding's documentation: 150, and -2 as 64 bits.
        let mut message = Message::new(&[0x08, 0x96, 0x01], 0);
        let field = message.field().unwrap().unwrap();
        assert!(matches!(field, (1, Value::Varint(150))));
        assert!(message.field().unwrap().is_none());
        let minus = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert_eq!(Message::new(&minus, 0).varint().unwrap() as i64, -2);
        let mut list = Vec::new();
        numbers(
            Value::Bytes(&[0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05], 0),
            &mut list,
        )
        .unwrap();
        assert_eq!(list, [3, 270, 86_942]);
    }

    #[test]
    fn damage_is_named_with_its_byte() {
        for (bytes, place) in [
            (&[0x80u8, 0x80][..], "byte 5"),
            (&[0x0a, 0x05, 0x61], "byte 7"),
            (&[0x0b], "byte 5"),
            (&[0x00, 0x00], "byte 5"),
            (&[0x09, 0, 0], "byte 6"),
            (&[0xff; 12], "byte 5"),
        ] {
            let fault = Message::new(bytes, 5).field().err().unwrap();
            assert_eq!(fault.place, place, "{bytes:?}");
        }
    }
}
