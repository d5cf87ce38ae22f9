//! Dispatchers: they read the log, and invite riders who seem free.

use std::sync::atomic::Ordering;

use futures_util::StreamExt;

use super::{
    Next, World,
    agenda::{Deed, Turn},
    board::Board,
    locked,
};
use crate::domain::{
    command::{Act, Verb},
    id::{Revision, TaskId},
};

/// An invitation to be sent: of which task, and which rider of the cast.
type Invitation = (TaskId, Revision, usize);

impl World {
    /// A dispatcher reads what is new and invites riders for his or her share of the open tasks, the oldest first.
    pub(super) async fn dispatch(&self, turn: &mut Turn, dispatcher: usize) -> Next {
        let mut next = Vec::new();
        if let Some((client, board)) = self.dispatchers.get(dispatcher) {
            self.read_log(dispatcher).await;
            let invitations = self.choose(turn, dispatcher, &mut locked(board));
            let number = turn.number;
            let sent: Vec<_> = futures_util::stream::iter(invitations.into_iter().enumerate())
                .map(|(part, (task, revision, rider))| async move {
                    let key = self.manners.key(number, part)?;
                    let seat = &self.riders[rider].seat;
                    let act = Act::Offer {
                        rider: seat.id,
                        seconds: self.manners.offer_seconds,
                        round: None,
                    };
                    let answer = client.act(&key, task, revision, &act);
                    let answer = self.noted(Verb::Offer, answer).await?;
                    answer.task.iter().for_each(|task| locked(board).saw(task));
                    answer.is_success().then_some(rider)
                })
                .buffered(self.manners.abreast.max(1))
                .collect()
                .await;
            // A message on the telephone. It only reminds: what counts is what the rider reads then.
            for rider in sent.into_iter().flatten() {
                let soon = self.manners.paced(500.0 + 2_500.0 * turn.chance.f64());
                next.push((turn.at.plus_ms(soon), Deed::Look { rider, again: false }));
            }
        }
        let pause = self.manners.every(self.manners.dispatch_ms);
        next.push((turn.at.plus_ms(pause), Deed::Dispatch(dispatcher)));
        next
    }

    async fn read_log(&self, dispatcher: usize) {
        let (client, board) = &self.dispatchers[dispatcher];
        loop {
            let after = locked(board).through;
            let Some(page) = self.read(client.events(after, None)).await else { return };
            let mut board = locked(board);
            for event in &page.items {
                let verb = board.take(event);
                // All of them read all of it; one counts.
                if let (0, Some(verb)) = (dispatcher, verb) {
                    locked(&self.tally).logged(verb);
                }
            }
            board.through = page.through;
            if page.through >= page.head || page.through <= after {
                break;
            }
        }
        let board = locked(board);
        self.open.store(board.open().len(), Ordering::Relaxed);
        self.unowned.store(board.unowned(), Ordering::Relaxed);
    }

    /// Whom to invite for what.
    fn choose(&self, turn: &mut Turn, dispatcher: usize, board: &mut Board) -> Vec<Invitation> {
        let open = board.open();
        let most = open.len().saturating_sub(self.manners.keep_open);
        let most = most.min(self.manners.offers_per_look);
        let mut loads = board.loads();
        let of_mine = |task: TaskId| {
            let number = usize::try_from(task.0).unwrap_or_default();
            number % self.dispatchers.len() == dispatcher
        };
        let mut chosen = Vec::new();
        for (task, revision) in open.into_iter().filter(|(task, _)| of_mine(*task)) {
            if chosen.len() == most || self.riders.is_empty() {
                break;
            }
            let start = turn.chance.usize(0..self.riders.len());
            let around = (0..self.riders.len()).map(|step| (start + step) % self.riders.len());
            let free: Vec<_> = around
                .filter(|rider| {
                    let seat = &self.riders[*rider].seat;
                    loads.get(&seat.id).copied().unwrap_or_default() < seat.capacity
                })
                .collect();
            let fresh =
                free.iter().find(|rider| !board.was_asked(task, self.riders[**rider].seat.id));
            let rider = match (fresh, free.first()) {
                (Some(rider), _) => *rider,
                (None, Some(rider)) => {
                    board.ask_again(task);
                    *rider
                }
                // Nobody is free.
                (None, None) => break,
            };
            *loads.entry(self.riders[rider].seat.id).or_default() += 1;
            chosen.push((task, revision, rider));
        }
        chosen
    }
}
