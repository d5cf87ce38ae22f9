//! Large files: rows come out before the file has been read, and one row is held at a time.

use std::{
    cell::Cell,
    io::{BufReader, Read},
    rc::Rc,
};

use dispatch_desk::intake::{RowKind, rows};

use crate::scene::{given, plain, plain_json};

const ROWS: u64 = 200_000;

/// A file that is made while it is read, and counts what was taken of it.
struct Made<F> {
    row: F,
    next: u64,
    left: Vec<u8>,
    at: usize,
    taken: Rc<Cell<u64>>,
}

impl<F: FnMut(u64) -> Option<String>> Read for Made<F> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        while self.at == self.left.len() {
            let Some(row) = (self.row)(self.next) else { return Ok(0) };
            (self.left, self.at, self.next) = (row.into_bytes(), 0, self.next + 1);
        }
        let count = into.len().min(self.left.len() - self.at);
        into[..count].copy_from_slice(&self.left[self.at..self.at + count]);
        self.at += count;
        self.taken.set(self.taken.get() + count as u64);
        Ok(count)
    }
}

fn made<F: FnMut(u64) -> Option<String>>(row: F) -> (BufReader<Made<F>>, Rc<Cell<u64>>) {
    let taken = Rc::new(Cell::new(0));
    let file = Made { row, next: 0, left: Vec::new(), at: 0, taken: Rc::clone(&taken) };
    (BufReader::new(file), taken)
}

/// What may be read ahead: the look at the start, and the buffers.
const AHEAD: u64 = 128 * 1024;

#[test]
fn csv_of_200_000_rows_is_never_held() {
    let (file, taken) = made(|row| match row {
        0 => Some("id,lat,lng,to\n".to_owned()),
        row if row <= ROWS => Some(format!("{row},1.5,2.5,somewhere\n")),
        _ => None,
    });
    let (mapping, given) = (plain(""), given());
    let (mut count, mut written) = (0, 14);
    for row in rows(file, &mapping, &given).unwrap() {
        let row = row.unwrap();
        count += 1;
        written += format!("{count},1.5,2.5,somewhere\n").len() as u64;
        assert!(matches!(row.what, RowKind::Task(_)) && row.spot.line == count + 1);
        assert!(taken.get() <= written + AHEAD, "{} of {written} at row {count}", taken.get());
    }
    assert_eq!(count, ROWS);
}

#[test]
fn a_json_array_and_json_lines_are_never_held() {
    let order = |id: u64| format!("{{\"id\":{id},\"lat\":1.5,\"lng\":2.5,\"to\":\"x\"}}");
    for array in [true, false] {
        let (file, taken) = made(|row| match row {
            row if row < 20_000 && array => {
                Some(format!("{}{}", if row == 0 { '[' } else { ',' }, order(row)))
            }
            row if row < 20_000 => Some(order(row) + "\n"),
            20_000 if array => Some("]".to_owned()),
            _ => None,
        });
        let (mapping, given) = (plain_json(""), given());
        let (mut count, mut written) = (0, 0);
        for row in rows(file, &mapping, &given).unwrap() {
            written += order(count).len() as u64 + 1;
            count += 1;
            assert!(matches!(row.unwrap().what, RowKind::Task(_)));
            assert!(taken.get() <= written + AHEAD, "{} of {written} at row {count}", taken.get());
        }
        assert_eq!(count, 20_000);
    }
}
