//! The transition table, as data: who may ask what, and where each command leads from each state.
//!
//! The printed table is a committed snapshot, so a change of a rule
//! shows in review as a changed cell.

use super::{
    command::{Role, Verb},
    refusal::Code,
    task::{Stage, StateName},
};

/// What a command meets in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// It applies (facts permitting) and leads there.
    Apply(StateName),
    /// It applies for the rider who holds the task; anyone else is told the code.
    ForHolder(StateName, Code),
    /// It is refused with this code.
    Refuse(Code),
}

/// The cell for `verb` on a task in state `from`. `Create` and `Edit` stand outside the states:
/// one has no state before it, the other leaves it alone.
pub const fn cell(from: StateName, verb: Verb) -> Option<Cell> {
    use Cell::{Apply, ForHolder, Refuse};
    use StateName::{Assigned, Cancelled, Offered, Open};

    Some(match from {
        StateName::Open => match verb {
            Verb::Grab | Verb::Assign => Apply(Assigned),
            Verb::Offer => Apply(Offered),
            Verb::Accept | Verb::Decline => Refuse(Code::NotInvited),
            Verb::Withdraw | Verb::Expire => Refuse(Code::NotOffered),
            Verb::Cancel => Apply(Cancelled),
            Verb::Reassign => Refuse(Code::NotAssigned),
            Verb::HandBack | Verb::Arrive | Verb::PickUp | Verb::Deliver => Refuse(Code::NotOwner),
            Verb::Create | Verb::Edit => return None,
        },
        StateName::Offered => match verb {
            Verb::Grab | Verb::Offer | Verb::Assign => Refuse(Code::NotOpen),
            Verb::Accept => ForHolder(Assigned, Code::NotInvited),
            Verb::Decline => ForHolder(Open, Code::NotInvited),
            Verb::Withdraw | Verb::Expire => Apply(Open),
            Verb::Cancel => Apply(Cancelled),
            Verb::Reassign => Refuse(Code::NotAssigned),
            Verb::HandBack | Verb::Arrive | Verb::PickUp | Verb::Deliver => Refuse(Code::NotOwner),
            Verb::Create | Verb::Edit => return None,
        },
        StateName::Assigned => match verb {
            Verb::Grab => Refuse(Code::TakenByOther),
            Verb::Offer | Verb::Assign => Refuse(Code::NotOpen),
            Verb::Accept | Verb::Decline => Refuse(Code::NotInvited),
            Verb::Withdraw | Verb::Expire => Refuse(Code::NotOffered),
            Verb::Cancel => Apply(Cancelled),
            Verb::Reassign => Apply(Offered),
            Verb::HandBack => ForHolder(Open, Code::NotOwner),
            Verb::Arrive | Verb::PickUp | Verb::Deliver => ForHolder(Assigned, Code::NotOwner),
            Verb::Create | Verb::Edit => return None,
        },
        StateName::Cancelled => match verb {
            Verb::Grab
            | Verb::Offer
            | Verb::Assign
            | Verb::Accept
            | Verb::Decline
            | Verb::Withdraw
            | Verb::Expire
            | Verb::Cancel
            | Verb::Reassign
            | Verb::HandBack
            | Verb::Arrive
            | Verb::PickUp
            | Verb::Deliver => Refuse(Code::Cancelled),
            Verb::Create | Verb::Edit => return None,
        },
    })
}

/// Who may ask for `verb`. Everyone else is forbidden, whatever the state.
pub const fn who(verb: Verb) -> &'static [Role] {
    use Role::{Customer, Dispatcher, Intake, Rider, Supervisor, System};

    match verb {
        Verb::Create | Verb::Edit => &[Intake, Dispatcher, Supervisor],
        Verb::Grab
        | Verb::Accept
        | Verb::Decline
        | Verb::HandBack
        | Verb::Arrive
        | Verb::PickUp
        | Verb::Deliver => &[Rider],
        Verb::Offer | Verb::Withdraw => &[System, Dispatcher, Supervisor],
        Verb::Assign | Verb::Reassign => &[Dispatcher, Supervisor],
        Verb::Expire => &[System],
        Verb::Cancel => &[Intake, Customer, Dispatcher, Supervisor],
    }
}

/// The stage that a step leads to, and the one it starts from.
pub const fn step(verb: Verb) -> Option<(Stage, Stage)> {
    match verb {
        Verb::Arrive => Some((Stage::Waiting, Stage::AtPickup)),
        Verb::PickUp => Some((Stage::AtPickup, Stage::PickedUp)),
        Verb::Deliver => Some((Stage::PickedUp, Stage::Delivered)),
        Verb::Create
        | Verb::Grab
        | Verb::Offer
        | Verb::Assign
        | Verb::Accept
        | Verb::Decline
        | Verb::Withdraw
        | Verb::Expire
        | Verb::Cancel
        | Verb::Reassign
        | Verb::HandBack
        | Verb::Edit => None,
    }
}

/// The table as Markdown, for the documentation and for review.
pub fn print() -> String {
    use std::fmt::Write as _;

    let mut out = String::from(
        "| command | who | open | offered | assigned | cancelled |\n|---|---|---|---|---|---|\n",
    );
    for verb in Verb::ALL.iter().copied() {
        let roles: Vec<_> = who(verb).iter().map(|role| role.as_str()).collect();
        // Writing to a String can not fail.
        let _ = write!(out, "| {verb} | {} |", roles.join(", "));
        for from in StateName::ALL.iter().copied() {
            let _ = match cell(from, verb) {
                None if verb == Verb::Edit && from != StateName::Cancelled => {
                    write!(out, " stays |")
                }
                None if verb == Verb::Edit => write!(out, " `{}` |", Code::Cancelled),
                None => write!(out, " · |"),
                Some(Cell::Apply(to)) => write!(out, " → {to} |"),
                Some(Cell::ForHolder(to, code)) => match step(verb) {
                    Some((_, stage)) => write!(out, " → {stage}, else `{code}` |"),
                    None => write!(out, " → {to}, else `{code}` |"),
                },
                Some(Cell::Refuse(code)) => write!(out, " `{code}` |"),
            };
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_printed_table_is_reviewed() {
        insta::assert_snapshot!(super::print());
    }
}
