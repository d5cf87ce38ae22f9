//! What a page carries so that it can follow what happens: its stream, and the number that it is true at.

/// What a live page carries.
#[derive(Clone, Debug)]
pub(in crate::web) struct Mark {
    /// What kind of page it is: `board`, `task`, `rider`, `track`.
    pub(in crate::web) kind: &'static str,
    /// Where its stream is.
    pub(in crate::web) stream: String,
    /// The number of the last event, in the snapshot that the page shows.
    pub(in crate::web) number: i64,
    /// The task that it is about, if it is about one.
    pub(in crate::web) task: Option<i64>,
    /// After how many seconds it comes anew even if nothing was pushed; 0 is never. Without JavaScript, that is all.
    pub(in crate::web) poll_s: u32,
    /// Whether it can sound.
    pub(in crate::web) sounds: bool,
}

impl Mark {
    /// Of a page of the console.
    pub(in crate::web) fn console(kind: &'static str, number: i64, task: Option<i64>) -> Self {
        let stream = "/board/stream".to_owned();
        Self { kind, stream, number, task, poll_s: 0, sounds: kind == "board" }
    }
}
