//! One command at a time on a node under strace (F6): was each on the disk before its answer was written?

use super::{
    Database,
    cast::{CANCEL, D1, GRAB, order, rider, shop},
    desk::Home,
    node::{Other, Start},
    raw,
    record::{Came, Recorder},
    trace::{self, Order},
};
use dispatch_desk::domain::{
    command::{Act, Actor, Command, What},
    id::{Revision, TaskId},
    refusal::Lang,
};

/// Sends `commands` commands, each after the answer to the one before, to a process with `env`, and judges its calls.
pub async fn order_of_calls(commands: usize, env: &[(&str, &str)]) -> Order {
    let home = Home::new(Database::Sqlite).await;
    raw::prepare(&home.url).await;
    let traces = tempfile::tempdir().expect("a temporary folder");
    let file = traces.path().join("calls");
    let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let start = Start { env, under: trace::under_strace(&file), ..Start::default() };
    let node = Other::start(&home.url, &start).await;
    let recorder = Recorder::default();
    let mut task = TaskId(0);
    for number in 0..commands {
        // Created, grabbed, grabbed too late, cancelled: a refusal is an answer that is stored, too.
        let change = |actor: Actor, revision, act: Act| {
            (actor, What::Change { task, revision: Revision(revision), act })
        };
        let (actor, what) = match number % 4 {
            0 => (shop(), What::Create(Box::new(order()))),
            1 => change(rider(1), 1, GRAB),
            2 => change(rider(2), 1, GRAB),
            _ => change(D1, 2, CANCEL),
        };
        let command = Command { actor, key: Some(recorder.fresh_key()), lang: Lang::En, what };
        let came = node.execute(command).await;
        assert!(matches!(came, Came::Back(_)), "{came:?}");
        task = came.answer().task.map_or(task, |task| task.id);
    }
    node.stop().await;
    let text = std::fs::read_to_string(&file).expect("strace has written");
    let order = trace::judge(&text);
    assert_eq!(order.answers, commands, "the trace shows every answer");
    order
}
