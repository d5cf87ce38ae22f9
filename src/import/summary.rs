//! The counts of an import. They add up: nothing is dropped silently.

use std::{collections::BTreeMap, fmt};

use super::outcome::{Line, Outcome};
use crate::{
    domain::refusal::Lang,
    intake::{Flag, Row, RowKind},
};

/// How many rows came to what. `rows` is the sum of `tasks`, `positions`, `unread` and `blank`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// All rows.
    pub rows: u64,
    /// Rows that are tasks. After an import: the sum of the next five.
    pub tasks: u64,
    /// Tasks that were created.
    pub created: u64,
    /// Tasks that were there already.
    pub existing: u64,
    /// Tasks that the rules of the desk refused.
    pub refused: u64,
    /// Tasks whose key belongs to other content.
    pub keys_reused: u64,
    /// Tasks that got no answer or could not be stored.
    pub failed: u64,
    /// Rows that are positions.
    pub positions: u64,
    /// Positions of nobody in the region.
    pub riders_unknown: u64,
    /// Riders whose last position is newer now.
    pub fixes: u64,
    /// Rows that the mapping makes nothing of.
    pub unread: u64,
    /// Rows with nothing in them.
    pub blank: u64,
    /// Codes of refusals, and how often each.
    pub codes: BTreeMap<String, u64>,
    /// Odd tasks, by what is odd.
    pub flags: BTreeMap<Flag, u64>,
}

impl Summary {
    /// Counts a row of the report.
    pub fn count(&mut self, line: &Line) {
        self.rows += 1;
        let (kind, what) = match &line.outcome {
            Outcome::Created(_) => (&mut self.tasks, Some(&mut self.created)),
            Outcome::Existing(_) => (&mut self.tasks, Some(&mut self.existing)),
            Outcome::Refused { .. } => (&mut self.tasks, Some(&mut self.refused)),
            Outcome::KeyReused => (&mut self.tasks, Some(&mut self.keys_reused)),
            Outcome::Failed(_) => (&mut self.tasks, Some(&mut self.failed)),
            Outcome::Position(_) => (&mut self.positions, None),
            Outcome::RiderUnknown(_) => (&mut self.positions, Some(&mut self.riders_unknown)),
            Outcome::Unread { .. } => (&mut self.unread, None),
            Outcome::Blank => (&mut self.blank, None),
        };
        *kind += 1;
        if let Some(what) = what {
            *what += 1;
        }
        if let Some(code) = line.outcome.code() {
            *self.codes.entry(code).or_default() += 1;
        }
        self.flag(&line.flags);
    }

    /// Counts a row that no desk was asked about.
    pub fn count_row(&mut self, row: &Row) {
        self.rows += 1;
        match &row.what {
            RowKind::Task(task) => {
                self.tasks += 1;
                self.flag(&task.flags);
            }
            RowKind::Position(_) => self.positions += 1,
            RowKind::Refused { problem, .. } => {
                self.unread += 1;
                *self.codes.entry(problem.code().to_owned()).or_default() += 1;
            }
            RowKind::Blank => self.blank += 1,
        }
    }

    fn flag(&mut self, flags: &[Flag]) {
        for flag in flags {
            *self.flags.entry(*flag).or_default() += 1;
        }
    }

    /// How many rows somebody has to look at.
    pub const fn refusals(&self) -> u64 {
        self.refused + self.keys_reused + self.failed + self.riders_unknown + self.unread
    }

    /// One sentence for people. What is none is left out, but for the rows.
    pub fn sentence(&self, lang: Lang) -> String {
        let asked = self.created + self.existing + self.refused + self.keys_reused + self.failed;
        let parts = [
            (self.tasks - asked, "可导入任务", "tasks that could be imported"),
            (self.created, "新建", "created"),
            (self.existing, "此前已有", "were there already"),
            (self.refused, "被派单台拒绝", "refused by the desk"),
            (self.keys_reused, "单号相同而内容不同", "under keys of other content"),
            (self.failed, "未能完成", "not answered"),
            (self.positions - self.riders_unknown, "位置", "positions"),
            (self.riders_unknown, "骑手不明的位置", "positions of unknown riders"),
            (self.fixes, "位骑手的位置已更新", "riders whose position is newer"),
            (self.unread, "无法读取", "could not be read"),
            (self.blank, "空行", "blank"),
        ];
        let parts = parts.into_iter().filter(|(count, ..)| *count > 0);
        match lang {
            Lang::Zh => {
                let parts: Vec<_> = parts.map(|(count, zh, _)| format!("{zh} {count}")).collect();
                format!("共 {} 行：{}。", self.rows, parts.join("，"))
            }
            Lang::En => {
                let parts: Vec<_> = parts.map(|(count, _, en)| format!("{count} {en}")).collect();
                format!("{} rows: {}.", self.rows, parts.join(", "))
            }
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence(Lang::En))
    }
}
