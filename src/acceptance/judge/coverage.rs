//! Which commands were given in which states: what was tested, and what was not.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use crate::{
    acceptance::table::{Table, Task},
    domain::{
        command::Verb,
        task::{Stage, StateName},
    },
};

/// Where a task is, as far as commands are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Where {
    /// It does not exist yet.
    Nowhere,
    /// Open.
    Open,
    /// Offered, before the deadline.
    Offered,
    /// Assigned, on the way to the pickup.
    Waiting,
    /// Assigned, at the pickup.
    AtPickup,
    /// Assigned, with the goods in hand.
    PickedUp,
    /// Delivered.
    Delivered,
    /// Cancelled.
    Cancelled,
}

impl Where {
    /// All but the one before a task exists.
    pub const STATES: [Self; 7] = [
        Self::Open,
        Self::Offered,
        Self::Waiting,
        Self::AtPickup,
        Self::PickedUp,
        Self::Delivered,
        Self::Cancelled,
    ];

    /// Where a task is.
    pub fn of(task: Option<&Task>) -> Self {
        let Some(task) = task else { return Self::Nowhere };
        match (task.state, task.stage) {
            (StateName::Open, _) => Self::Open,
            (StateName::Offered, _) => Self::Offered,
            (StateName::Cancelled, _) => Self::Cancelled,
            (StateName::Assigned, Some(Stage::AtPickup)) => Self::AtPickup,
            (StateName::Assigned, Some(Stage::PickedUp)) => Self::PickedUp,
            (StateName::Assigned, Some(Stage::Delivered)) => Self::Delivered,
            (StateName::Assigned, Some(Stage::Waiting) | None) => Self::Waiting,
        }
    }

    /// Its name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nowhere => "nowhere",
            Self::Open => "open",
            Self::Offered => "offered",
            Self::Waiting => "waiting",
            Self::AtPickup => "at_pickup",
            Self::PickedUp => "picked_up",
            Self::Delivered => "delivered",
            Self::Cancelled => "cancelled",
        }
    }
}

/// How often a command was given in a state, and how often it came out wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cell {
    /// How often.
    pub given: usize,
    /// How often wrong.
    pub wrong: usize,
}

/// The grid of commands and states.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// The commands of the table, in the table's order.
    pub commands: Vec<Verb>,
    cells: BTreeMap<(Verb, Where), Cell>,
}

impl Coverage {
    /// An empty grid of the table's commands.
    pub(super) fn of(table: &Table) -> Self {
        let mut commands = Vec::new();
        for row in &table.rows {
            if !commands.contains(&row.command) {
                commands.push(row.command);
            }
        }
        Self { commands, cells: BTreeMap::new() }
    }

    pub(super) fn add(&mut self, command: Verb, at: Where, fits: bool) {
        let cell = self.cells.entry((command, at)).or_default();
        cell.given += 1;
        cell.wrong += usize::from(!fits);
    }

    /// One cell.
    pub fn cell(&self, command: Verb, at: Where) -> Cell {
        self.cells.get(&(command, at)).copied().unwrap_or_default()
    }

    /// Whether there can be such a cell: a creation has no state, and the release at the deadline is no command that
    /// anybody could give elsewhere.
    pub fn exists(command: Verb, at: Where) -> bool {
        match command {
            Verb::Create => at == Where::Nowhere,
            Verb::Expire => at == Where::Offered,
            _ => at != Where::Nowhere,
        }
    }

    /// The cells that nothing was tried in.
    pub fn gaps(&self) -> Vec<(Verb, Where)> {
        let states = || std::iter::once(Where::Nowhere).chain(Where::STATES);
        let cells = self.commands.iter().flat_map(|command| states().map(|at| (*command, at)));
        cells
            .filter(|(command, at)| {
                Self::exists(*command, *at) && self.cell(*command, *at).given == 0
            })
            .collect()
    }
}

impl Serialize for Coverage {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let mut grid: BTreeMap<&str, BTreeMap<&str, Cell>> = BTreeMap::new();
        for ((command, at), cell) in &self.cells {
            grid.entry(command.as_str()).or_default().insert(at.name(), *cell);
        }
        grid.serialize(out)
    }
}
