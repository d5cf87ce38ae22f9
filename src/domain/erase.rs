//! Why personal data is erased before its time. It stands in the log; the data does not.

use super::text_enum::text_enum;

text_enum! {
    /// Why somebody's personal data is erased. The list is closed.
    pub enum EraseReason {
        /// Whoever it belongs to has asked for it.
        Asked = "asked",
        /// Nobody needs it any more.
        NotNeeded = "not_needed",
        /// It should not have been written down: another's data, a test, a mistake.
        Mistake = "mistake",
    }
}
