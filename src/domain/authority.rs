//! Who may do what to the desk itself. (Who may do what to tasks: [`table`](super::table).)

use super::{actor::Role, text_enum::text_enum};

text_enum! {
    /// Something that staff do beside commands on tasks. The list is closed; the product shows it with its roles.
    pub enum Matter {
        /// See the board, tasks and riders of their own regions.
        Board = "board",
        /// Bring in tasks from a file.
        Import = "import",
        /// Have a masked phone number shown, with a reason.
        Reveal = "reveal",
        /// Make links by which riders come in.
        RiderLinks = "rider-links",
        /// Add riders; change their capacity, vehicle, duty and region; shut them out.
        Riders = "riders",
        /// See who works here.
        SeeStaff = "see-staff",
        /// Add and change staff, shut them out, end their sessions.
        Staff = "staff",
        /// Add and change regions.
        Regions = "regions",
        /// Set the rules of a region.
        Policies = "policies",
        /// Make and end tokens of scripts.
        Tokens = "tokens",
        /// Set what holds for the whole desk.
        DeskRules = "desk-rules",
        /// Erase personal data.
        Erase = "erase",
        /// Search and export the log.
        Audit = "audit",
        /// Their own password, second factor and sessions.
        Own = "own",
    }
}

/// All roles of staff.
pub const STAFF: &[Role] = &[Role::Dispatcher, Role::Supervisor, Role::Admin, Role::Auditor];

/// The roles that may.
pub const fn who(matter: Matter) -> &'static [Role] {
    match matter {
        Matter::Board | Matter::Own => STAFF,
        Matter::Import | Matter::Reveal => &[Role::Dispatcher, Role::Supervisor],
        Matter::RiderLinks => &[Role::Dispatcher, Role::Supervisor, Role::Admin],
        Matter::Riders | Matter::Policies => &[Role::Supervisor, Role::Admin],
        Matter::SeeStaff | Matter::Audit => &[Role::Admin, Role::Auditor],
        Matter::Staff | Matter::Regions | Matter::Tokens | Matter::DeskRules | Matter::Erase => {
            &[Role::Admin]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_auditor_reads_and_changes_nothing_but_their_own() {
        let theirs: Vec<_> = Matter::ALL
            .iter()
            .filter(|matter| who(**matter).contains(&Role::Auditor))
            .map(|matter| matter.as_str())
            .collect();
        assert_eq!(theirs, ["board", "see-staff", "audit", "own"]);
    }

    #[test]
    fn a_supervisor_may_whatever_a_dispatcher_may() {
        for matter in Matter::ALL {
            let roles = who(*matter);
            assert!(
                !roles.contains(&Role::Dispatcher) || roles.contains(&Role::Supervisor),
                "{matter}"
            );
        }
    }
}
