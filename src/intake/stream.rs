//! Cuts a stream of JSON into values: the elements of an array, or values after each other (JSON Lines).

use std::io::BufRead;

use super::trouble::FileError;

/// The largest single value: one order, or a whole batch where the mapping's rows lie within a value.
pub(super) const MOST_BYTES: usize = 8 * 1024 * 1024;

/// The values of a file, one at a time. It holds one value and no more.
#[derive(Debug)]
pub(super) struct Values<R> {
    input: R,
    /// Whether the file is one array whose elements are the values.
    array: Option<bool>,
    inside: bool,
    count: u64,
}

impl<R: BufRead> Values<R> {
    /// `elements`: the elements of a top-level array are the values, and not the array itself.
    pub(super) fn new(input: R, elements: bool) -> Self {
        Self { input, array: elements.then_some(false), inside: false, count: 0 }
    }

    /// Whether the values are elements of a top-level array.
    pub(super) fn in_array(&self) -> bool {
        self.array == Some(true)
    }

    fn peek(&mut self) -> Result<Option<u8>, FileError> {
        Ok(self.input.fill_buf()?.first().copied())
    }

    /// The next byte that is no white space; it stays.
    fn mark(&mut self) -> Result<Option<u8>, FileError> {
        while let Some(byte) = self.peek()? {
            if !byte.is_ascii_whitespace() {
                return Ok(Some(byte));
            }
            self.input.consume(1);
        }
        Ok(None)
    }

    /// The bytes of the next value.
    pub(super) fn next(&mut self) -> Result<Option<Vec<u8>>, FileError> {
        let Some(mut byte) = self.mark()? else {
            // The array did not end.
            return if self.inside { Err(self.not_json()) } else { Ok(None) };
        };
        if byte == b'[' && self.array == Some(false) && self.count == 0 {
            self.input.consume(1);
            (self.array, self.inside) = (Some(true), true);
            byte = self.mark()?.ok_or_else(|| self.not_json())?;
        } else if self.inside && self.count > 0 {
            if byte == b',' {
                self.input.consume(1);
                byte = self.mark()?.ok_or_else(|| self.not_json())?;
            } else if byte != b']' {
                return Err(self.not_json());
            }
        }
        if self.inside && byte == b']' {
            self.input.consume(1);
            self.inside = false;
            return if self.mark()?.is_none() { Ok(None) } else { Err(self.not_json()) };
        }
        let value = self.value()?;
        self.count += 1;
        Ok(Some(value))
    }

    fn not_json(&self) -> FileError {
        FileError::NotJson { after: self.count }
    }

    fn value(&mut self) -> Result<Vec<u8>, FileError> {
        let mut value = Vec::new();
        let (mut depth, mut text, mut escaped) = (0_u32, false, false);
        while let Some(byte) = self.peek()? {
            let ends = byte.is_ascii_whitespace() || matches!(byte, b',' | b']' | b'}');
            if depth == 0 && !text && ends {
                // A bare word or number, or a mark that belongs to nothing.
                return if value.is_empty() { Err(self.not_json()) } else { Ok(value) };
            }
            self.input.consume(1);
            value.push(byte);
            if value.len() > MOST_BYTES {
                return Err(FileError::TooLarge { line: self.count + 1, limit: MOST_BYTES });
            }
            if text {
                text = escaped || byte != b'"';
                escaped = !escaped && byte == b'\\';
                if !text && depth == 0 {
                    return Ok(value);
                }
                continue;
            }
            match byte {
                b'"' => text = true,
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth -= 1;
                    if depth == 0 {
                        return Ok(value);
                    }
                }
                _ => {}
            }
        }
        // The file ended within the value; a bare word may end with it.
        if depth == 0 && !text { Ok(value) } else { Err(self.not_json()) }
    }
}
