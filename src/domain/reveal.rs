//! Masked phone numbers that somebody has to see: which of them, and why. Both stand in the log; the numbers do not.

use super::text_enum::text_enum;

text_enum! {
    /// Whose number is shown.
    pub enum Which {
        /// Those at both ends.
        Contacts = "contacts",
        /// The one at the pickup.
        Pickup = "pickup",
        /// The one at the drop-off.
        Dropoff = "dropoff",
        /// That of the rider who is invited or owns the task.
        Rider = "rider",
    }
}

impl Which {
    /// Whether it has the number at the pickup in it.
    pub const fn pickup(self) -> bool {
        matches!(self, Self::Contacts | Self::Pickup)
    }

    /// Whether it has the number at the drop-off in it.
    pub const fn dropoff(self) -> bool {
        matches!(self, Self::Contacts | Self::Dropoff)
    }
}

text_enum! {
    /// Why a number is shown. The list is closed.
    pub enum RevealReason {
        /// Somebody can not be reached by the rider.
        NotReached = "not_reached",
        /// The address is wrong or not clear.
        Address = "address",
        /// It will be late, or will not be done.
        Delay = "delay",
        /// Somebody asked to be called back, or complained.
        CallBack = "call_back",
        /// An accident, or a danger to somebody.
        Emergency = "emergency",
    }
}
