//! How dispatching goes: figures of a region over a while, each with a sentence that says how it is counted, and a few
//! distributions as charts, each with its table.

mod figures;
mod page;

pub(super) use page::page;
