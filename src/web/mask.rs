//! Phone numbers as most readers see them: enough to tell two apart, not enough to call (OWASP ASVS 5.0, 14.2.6).

use super::who::Relation;
use crate::domain::task::Stage;

/// `138****1234`. Of a short one only the last two characters are left.
pub(super) fn masked(phone: &str) -> String {
    let characters: Vec<char> = phone.chars().collect();
    let (first, last) =
        if characters.len() >= 9 { (3, 4) } else { (0, 2.min(characters.len() / 2)) };
    let head: String = characters[..first].iter().collect();
    let tail: String = characters[characters.len() - last..].iter().collect();
    format!("{head}****{tail}")
}

/// How much a reader sees of whom to call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Contact {
    /// Nothing.
    Hidden,
    /// The name, and a number that can be told from another, and not be called.
    Masked,
    /// All of it.
    Whole,
}

impl Contact {
    /// What goes with how a reader stands to a task at that stage.
    pub(super) fn of(relation: Relation, stage: Option<Stage>) -> Self {
        match relation {
            Relation::Desk => Self::Masked,
            Relation::Owner if stage != Some(Stage::Delivered) => Self::Whole,
            Relation::Owner | Relation::Invited | Relation::Candidate | Relation::Bystander => {
                Self::Hidden
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_owner_calls_until_it_is_delivered_and_nobody_else() {
        for stage in [Stage::Waiting, Stage::AtPickup, Stage::PickedUp, Stage::Delivered] {
            let of = |relation| Contact::of(relation, Some(stage));
            let owner = if stage == Stage::Delivered { Contact::Hidden } else { Contact::Whole };
            assert_eq!(of(Relation::Owner), owner, "{stage}");
            assert_eq!(of(Relation::Desk), Contact::Masked);
            assert_eq!(of(Relation::Bystander), Contact::Hidden);
        }
        for relation in [Relation::Invited, Relation::Candidate, Relation::Bystander] {
            assert_eq!(Contact::of(relation, None), Contact::Hidden);
        }
    }

    #[test]
    fn the_middle_of_a_number_is_not_shown() {
        assert_eq!(masked("13800001234"), "138****1234");
        assert_eq!(masked("+8613800001234"), "+86****1234");
        assert_eq!(masked("12345"), "****45");
        assert_eq!(masked("1"), "****");
        assert_eq!(masked(""), "****");
    }
}
