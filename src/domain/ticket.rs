//! Tickets: a member's right to grab while a round runs, signed per task, rider, round and deadline.
//!
//! Who is asked gets the ticket from the desk; nobody can make one for somebody else, or keep one for longer, without
//! the key (seed 002 §14.1). The ledger holds a number used once; what makes a ticket of it is never stored.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::{
    fingerprint::hex,
    id::{RiderId, TaskId, Timestamp},
};

/// What the signature is taken over, in front of the rest: no other use of the key makes the same bytes.
const OF: &str = "dispatch-desk ticket v1";

/// The key of tickets, 32 bytes. All nodes on one database have the same.
#[derive(Clone, PartialEq, Eq)]
pub struct TicketKey([u8; 32]);

impl fmt::Debug for TicketKey {
    /// Without the key itself.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TicketKey")
    }
}

/// What a ticket is for.
#[derive(Clone, Copy, Debug)]
pub struct Seat<'a> {
    /// The task.
    pub task: TaskId,
    /// Whose ticket it is.
    pub rider: RiderId,
    /// The round.
    pub round: i64,
    /// From this instant on it is worth nothing.
    pub until: Timestamp,
    /// The number used once, from the ledger.
    pub nonce: &'a str,
}

impl TicketKey {
    /// The key of these bytes.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The ticket of a seat: 32 hexadecimal digits.
    pub fn sign(&self, seat: &Seat<'_>) -> String {
        let Seat { task, rider, round, until, nonce } = seat;
        let text = format!("{OF}\n{}\n{}\n{round}\n{}\n{nonce}", task.0, rider.0, until.0);
        let mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes keys of any length");
        hex(&mac.chain_update(text).finalize().into_bytes()[..16])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_is_for_one_rider_one_round_one_deadline_and_one_key() {
        let key = TicketKey::new([7; 32]);
        let seat = Seat {
            task: TaskId(10_233),
            rider: RiderId(17),
            round: 5,
            until: Timestamp(1_000),
            nonce: "n",
        };
        let ticket = key.sign(&seat);
        assert_eq!(ticket.len(), 32);
        assert_eq!(ticket, key.sign(&seat), "the same seat has the same ticket");
        let others = [
            key.sign(&Seat { task: TaskId(10_234), ..seat }),
            key.sign(&Seat { rider: RiderId(18), ..seat }),
            key.sign(&Seat { round: 6, ..seat }),
            key.sign(&Seat { until: Timestamp(1_001), ..seat }),
            key.sign(&Seat { nonce: "m", ..seat }),
            TicketKey::new([8; 32]).sign(&seat),
        ];
        assert!(others.iter().all(|other| *other != ticket));
        assert!(!format!("{key:?}").contains('7'), "a key is never printed");
    }
}
