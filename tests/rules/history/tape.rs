//! Recordings written by hand: a true one by a desk that follows the rules, or line by line.

use dispatch_desk::domain::{
    answer::{Answer, TaskView, wording},
    command::{Act, Actor, Command, RequestKey},
    event::Event,
    fingerprint::key_hash,
    history::{Line, Return},
    id::{Revision, Timestamp},
    refusal::Lang,
};

use crate::desk::{BEGIN, Desk, Ruling, TASK, World};

/// A recorder at a desk. Everything happens one after the other, 10 ns apart, unless a test says
/// otherwise.
pub struct Tape {
    pub desk: Desk,
    pub lines: Vec<Line>,
    pub log: Vec<Line>,
    pub t_ns: u64,
    process: u64,
}

impl Tape {
    /// A task that has just been created.
    pub fn new() -> Self {
        let desk = Desk::new(TASK);
        let log = vec![Line::logged(desk.log[0].clone(), None)];
        let lines = vec![Line::start(TASK, Revision(1), 0)];
        Self { desk, lines, log, t_ns: 0, process: 0 }
    }

    /// Sends a command and writes down the answer that the rules give.
    pub fn ask(&mut self, actor: &Actor, named: i64, act: Act, now: Timestamp) -> &mut Self {
        let line = self.decide(actor, named, &act, now);
        self.tell(actor, named, act, line)
    }

    /// The same with another answer than the rules give: the desk does nothing.
    pub fn tell(&mut self, actor: &Actor, named: i64, act: Act, answer: Line) -> &mut Self {
        let process = self.next_process();
        let key = key(process);
        let command = Command::change(actor.clone(), key, TASK, Revision(named), act);
        self.t_ns += 10;
        let asked = Line::asked(process, self.t_ns, &command).expect("no edit of details");
        self.t_ns += 10;
        let answer = timed(answer, process, self.t_ns);
        self.lines.extend([asked, answer]);
        self
    }

    /// Looks at the task.
    pub fn look(&mut self, reader: &Actor) -> &mut Self {
        let process = self.next_process();
        let view = TaskView::of(&self.desk.task, reader, BEGIN);
        self.lines.push(Line::looks(process, self.t_ns + 10, reader.clone(), TASK));
        self.t_ns += 20;
        self.lines.push(Line::saw(process, self.t_ns, &view));
        self
    }

    /// Something that the desk logs though nobody asked.
    pub fn happens(&mut self, event: Event) -> &mut Self {
        self.log.push(Line::logged(event.clone(), None));
        self.desk.record(event);
        self
    }

    /// Lets the desk decide and log; the answer has no time yet.
    pub fn decide(&mut self, actor: &Actor, named: i64, act: &Act, now: Timestamp) -> Line {
        let world = World::kind_to(actor, act);
        let decision = self.desk.ask(actor, Revision(named), act, &world, now);
        if let Some(lapse) = &decision.lapse {
            self.log.push(Line::logged(lapse.event().clone(), None));
        }
        if let Ruling::Apply(change) = &decision.verdict {
            let hash = key_hash(&actor.principal(), &key(self.process + 1));
            self.log.push(Line::logged(change.event().clone(), Some(hash)));
        }
        let (outcome, code, reason, message) = wording(&decision.verdict, Lang::En);
        let task = Some(TaskView::of(&self.desk.task, actor, now));
        Line::answered(
            0,
            0,
            &Answer {
                outcome,
                code,
                reason,
                message,
                task,
                event: None,
                beaten_by: None,
                legal: Vec::new(),
                server_time: now,
            },
        )
    }

    /// All lines, the log last.
    pub fn all(&self) -> Vec<Line> {
        self.lines.iter().chain(&self.log).cloned().collect()
    }

    fn next_process(&mut self) -> u64 {
        self.process += 1;
        self.process
    }
}

/// The key of the process's only request.
pub fn key(process: u64) -> RequestKey {
    RequestKey::parse(&format!("key-{process}")).expect("a fine key")
}

/// The answer at its time.
pub fn timed(answer: Line, p: u64, t_ns: u64) -> Line {
    match answer {
        Line::Ok(told) => Line::Ok(Return { p, t_ns, ..told }),
        Line::Fail(told) => Line::Fail(Return { p, t_ns, ..told }),
        Line::Info(told) => Line::Info(Return { p, t_ns, ..told }),
        other => other,
    }
}
