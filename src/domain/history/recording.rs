//! Lines become requests with one answer each.

use std::collections::HashMap;

use super::{
    line::{Invoke, Line, READ, Return},
    request::{Call, History, Op, Reply, View},
    retries,
};
use crate::domain::{
    answer::Outcome,
    command::{Act, Actor, RequestKey, Verb},
    decide::Already,
    id::{Revision, TaskId},
    refusal::Code,
};

/// A line that does not belong in a recording. Nothing is skipped: the recording is not judged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct Broken {
    /// Which line, counted from 1.
    pub line: usize,
    /// What is wrong with it.
    pub why: String,
}

/// A recording that is still being read.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    lines: usize,
    clients: HashMap<u64, Client>,
    unknown: Vec<Asked>,
    history: History,
}

#[derive(Clone, Debug)]
enum Client {
    Idle { since_ns: u64 },
    Waits(Box<Asked>),
    Gone,
}

/// A request without its answer.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) line: usize,
    pub(super) process: u64,
    pub(super) actor: Actor,
    pub(super) key: Option<RequestKey>,
    pub(super) task: Option<TaskId>,
    pub(super) call: Call,
    pub(super) began_ns: u64,
}

impl Asked {
    pub(super) fn told(self, task: TaskId, ended_ns: u64, told: &Told) -> Op {
        let Self { line, process, actor, key, call, began_ns, task: _ } = self;
        let Told { reply, seen, view } = *told;
        Op { line, process, actor, key, task, call, began_ns, ended_ns, reply, seen, view }
    }
}

/// A decided answer, or what was read.
pub(super) struct Told {
    pub(super) reply: Reply,
    pub(super) seen: Revision,
    pub(super) view: Option<View>,
}

/// What a line says about the request that it ends.
enum End {
    Told(Told),
    TurnedAway,
    Unknown,
}

impl History {
    /// Reads a recording, one line after the other.
    ///
    /// # Errors
    /// [`Broken`] at the first line that can not be read or does not fit those before it.
    pub fn parse<T: AsRef<str>>(lines: impl IntoIterator<Item = T>) -> Result<Self, Broken> {
        let mut recording = Recording::default();
        for (before, text) in lines.into_iter().enumerate() {
            let line = serde_json::from_str(text.as_ref())
                .map_err(|error| Broken { line: before + 1, why: error.to_string() })?;
            recording.push(line)?;
        }
        Ok(recording.finish())
    }
}

impl Recording {
    /// Adds the next line.
    ///
    /// # Errors
    /// [`Broken`] if it does not fit those before it.
    pub fn push(&mut self, line: Line) -> Result<(), Broken> {
        self.lines += 1;
        let fits = match line {
            Line::Start(start) => {
                self.history.starts.push(start);
                Ok(())
            }
            Line::Event(logged) => {
                self.history.log.push(*logged);
                Ok(())
            }
            Line::Invoke(invoke) => self.asked(*invoke),
            Line::Ok(told) => self.ended(&told, succeeded),
            Line::Fail(told) => self.ended(&told, failed),
            Line::Info(told) => self.ended(&told, |_, told| lost(told)),
        };
        fits.map_err(|why| Broken { line: self.lines, why })
    }

    /// Takes the recording as complete: who still waits will never know.
    pub fn finish(self) -> History {
        let Self { clients, mut unknown, mut history, .. } = self;
        unknown.extend(clients.into_values().filter_map(|client| match client {
            Client::Waits(asked) => Some(*asked),
            Client::Idle { .. } | Client::Gone => None,
        }));
        unknown.sort_by_key(|asked| asked.line);
        retries::settle(&mut history, unknown);
        history
    }

    fn asked(&mut self, invoke: Invoke) -> Result<(), String> {
        let process = invoke.p;
        match self.clients.get(&process) {
            None => {}
            Some(Client::Idle { since_ns }) if *since_ns <= invoke.t_ns => {}
            Some(Client::Idle { .. }) => {
                return Err(format!("process {process} asks before it had its last answer"));
            }
            Some(Client::Waits(_)) => {
                return Err(format!("process {process} still waits for an answer"));
            }
            Some(Client::Gone) => {
                return Err(format!("process {process} is gone: it never had its last answer"));
            }
        }
        let call = call(&invoke)?;
        let asked = Asked {
            line: self.lines,
            process,
            actor: invoke.actor,
            key: invoke.key,
            task: invoke.task,
            call,
            began_ns: invoke.t_ns,
        };
        self.clients.insert(process, Client::Waits(Box::new(asked)));
        Ok(())
    }

    /// Ends the request that `line.p` waits for, as `what` reads the line.
    fn ended(
        &mut self,
        line: &Return,
        what: fn(&Call, &Return) -> Result<End, String>,
    ) -> Result<(), String> {
        let process = line.p;
        let Some(Client::Waits(asked)) = self.clients.remove(&process) else {
            return Err(format!("process {process} waits for no answer"));
        };
        if line.t_ns < asked.began_ns {
            return Err(format!("process {process} has an answer from before it asked"));
        }
        if line.f.as_deref().is_some_and(|f| f != asked.call.name()) {
            return Err(format!("process {process} asked for {}", asked.call.name()));
        }
        if asked.task.is_some() && line.task.is_some() && asked.task != line.task {
            return Err(format!("process {process} asked about another task"));
        }
        let client = match what(&asked.call, line)? {
            End::Told(told) => {
                let task = asked.task.or(line.task).ok_or("an answer names its task")?;
                self.history.ops.push(asked.told(task, line.t_ns, &told));
                Client::Idle { since_ns: line.t_ns }
            }
            End::TurnedAway => {
                self.history.without_effect += 1;
                Client::Idle { since_ns: line.t_ns }
            }
            End::Unknown => {
                self.unknown.push(*asked);
                Client::Gone
            }
        };
        self.clients.insert(process, client);
        Ok(())
    }
}

/// What an `invoke` line asks for.
fn call(line: &Invoke) -> Result<Call, String> {
    let Invoke { f, task, rev, act, key, rider, actor, .. } = line;
    let call = match (f.as_str(), task, rev, act) {
        (READ, Some(_), None, None) if key.is_none() => Call::Read,
        (_, None, None, None) if f == Verb::Create.as_str() => Call::Create,
        (_, Some(_), Some(named), Some(act)) if f == act.verb().as_str() => {
            Call::Change { named: *named, act: act.clone() }
        }
        _ => return Err(format!("{f:?} does not go with this task, rev, act and key")),
    };
    let named = act.as_ref().and_then(Act::named_rider).or_else(|| actor.rider());
    if rider.is_some() && *rider != named {
        return Err("the rider is neither the one named nor the one who acts".to_owned());
    }
    Ok(call)
}

/// What an `ok` line says.
fn succeeded(call: &Call, line: &Return) -> Result<End, String> {
    let status = if *call == Call::Create { 201 } else { 200 };
    if line.status.is_some_and(|it| it != status) {
        return Err(format!("a success like this has the status {status}"));
    }
    let already =
        |code: &str| [Already::Yours, Already::Done].into_iter().find(|it| it.as_str() == code);
    let reply = match (call, line.outcome, line.code.as_deref()) {
        (Call::Read, None, None) if line.state.is_some() => Reply::Read,
        (Call::Create | Call::Change { .. }, Some(Outcome::Done), None) => Reply::Done,
        (Call::Change { .. }, Some(Outcome::AlreadyDone), Some(code)) => {
            Reply::Already(already(code).ok_or("no such code of a success")?)
        }
        _ => return Err("outcome, code and state do not go with a success".to_owned()),
    };
    told(line, reply)
}

/// What a `fail` line says.
fn failed(call: &Call, line: &Return) -> Result<End, String> {
    let code = line.code.as_deref().and_then(Code::parse);
    match (line.outcome, code) {
        (Some(Outcome::Refused), Some(_)) if line.status.is_some_and(|status| status != 409) => {
            Err("a refusal has the status 409".to_owned())
        }
        // A task that was never made has no revision to be seen.
        (Some(Outcome::Refused), Some(_)) if *call == Call::Create => Ok(End::TurnedAway),
        (Some(Outcome::Refused), Some(code)) if *call != Call::Read => {
            told(line, Reply::Refused(code))
        }
        (None, None)
            if line.seen_rev.is_none()
                && line.status.is_some_and(|status| (400..500).contains(&status)) =>
        {
            Ok(End::TurnedAway)
        }
        _ => Err("outcome, code, status and seen_rev do not go with a failure".to_owned()),
    }
}

/// What an `info` line says.
fn lost(line: &Return) -> Result<End, String> {
    let leaves_open = |status: u16| status == 408 || status >= 499;
    if line.outcome.is_some() || line.code.is_some() || line.seen_rev.is_some() {
        return Err("whoever knows no outcome has seen nothing".to_owned());
    }
    if line.status.is_some_and(|status| !leaves_open(status)) {
        return Err("this status leaves nothing open".to_owned());
    }
    Ok(End::Unknown)
}

fn told(line: &Return, reply: Reply) -> Result<End, String> {
    let seen = line.seen_rev.ok_or("an answer carries the revision that it saw")?;
    let view = match line.state {
        Some(state) => Some(View {
            state,
            stage: line.stage,
            rider: line.rider,
            offer_until: line.offer_until,
        }),
        None if line.stage.is_none() && line.rider.is_none() && line.offer_until.is_none() => None,
        None => return Err("what was seen starts with the state".to_owned()),
    };
    Ok(End::Told(Told { reply, seen, view }))
}
