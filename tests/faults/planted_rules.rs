//! Planted faults that break a rule of the desk as anyone can see it.

use dispatch_desk::{
    domain::{
        command::{Act, Actor, Command, What},
        id::Revision,
        refusal::{Code, Lang},
        task::StateName,
    },
    engine::reconcile::reconcile,
    fault::Fault,
};
use fail::FailGuard;

use super::planted::caught;
use crate::harness::{CANCEL, D1, Database, Desk, GRAB, offer, record::Came, rider};

const BOTH: [Database; 2] = [Database::Sqlite, Database::Postgres];

async fn nobody_accepts_too_late(desk: &Desk) -> Result<(), String> {
    let task = desk.create().await;
    desk.done(D1, task, 1, offer(1)).await;
    desk.advance_ms(30_000).await;
    let answer = desk.ask(rider(1), task, 2, Act::Accept).await;
    match answer.code.as_deref() {
        Some(code) if code == Code::OfferExpired.as_str() => Ok(()),
        _ => Err(format!("an accept at the deadline was answered {answer:?}")),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_accept_after_the_deadline_is_found() {
    for database in BOTH {
        let reason = "an accept at the deadline was answered";
        caught(database, Fault::AcceptAfterDeadline, reason, nobody_accepts_too_late).await;
    }
}

async fn no_release_comes_early(desk: &Desk) -> Result<(), String> {
    let task = desk.create().await;
    desk.done(D1, task, 1, offer(1)).await;
    desk.advance_ms(29_999).await;
    // A sweeper whose clock is fast, or that read an offer which was renewed since.
    let what = What::Change { task, revision: Revision(2), act: Act::Expire };
    let command = Command { actor: Actor::System, key: None, lang: Lang::En, what };
    desk.send(command).await.came.answer();
    let state = desk.task(task).await.state.name();
    if state == StateName::Offered { Ok(()) } else { Err(format!("released early to {state:?}")) }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_early_release_is_found() {
    for database in BOTH {
        let fault = Fault::SweeperWithoutRecheck;
        caught(database, fault, "released early", no_release_comes_early).await;
    }
}

async fn a_key_belongs_to_one_request(desk: &Desk) -> Result<(), String> {
    let (first, second) = (desk.create().await, desk.create().await);
    let grab = desk.change(rider(1), first, 1, GRAB);
    let other = Command { key: grab.key.clone(), ..desk.change(rider(1), second, 1, GRAB) };
    desk.send(grab).await.came.answer();
    match desk.send(other).await.came {
        Came::Error(code) if code == "REQUEST_KEY_REUSED" => Ok(()),
        came => Err(format!("a grab of {second} got another request's answer: {came:?}")),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_without_its_fingerprint_is_found() {
    for database in BOTH {
        let reason = "got another request's answer";
        caught(database, Fault::KeyWithoutFingerprint, reason, a_key_belongs_to_one_request).await;
    }
}

async fn the_same_key_gets_the_same_answer(desk: &Desk) -> Result<(), String> {
    let task = desk.create().await;
    let first = desk.send(desk.change(D1, task, 1, CANCEL)).await;
    let again = desk.again(&first).await;
    match (&first.came, &again.came) {
        (Came::Back(first), Came::Back(again)) if again.replayed && again.body == first.body => {
            Ok(())
        }
        (_, again) => Err(format!("the same request was decided twice: {again:?}")),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_ignored_key_is_found() {
    for database in BOTH {
        let reason = "the same request was decided twice";
        caught(database, Fault::KeyIgnored, reason, the_same_key_gets_the_same_answer).await;
    }
}

async fn every_change_is_in_the_log(desk: &Desk) -> Result<(), String> {
    let task = desk.create().await;
    // The connection goes at the worst moment: right after a commit.
    let lost = FailGuard::new("after-commit", "1*return(lost)").expect("a fail-point");
    desk.send(desk.change(rider(1), task, 1, GRAB)).await.came.answer();
    drop(lost);
    let report = reconcile(&desk.db, |_| ()).await.expect("everything can be read");
    match report.differences.first() {
        None => Ok(()),
        Some(difference) => Err(format!("log and rows differ: {difference}")),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_outside_of_the_transaction_is_found() {
    for database in BOTH {
        let reason = "log and rows differ";
        caught(database, Fault::EventOutsideTransaction, reason, every_change_is_in_the_log).await;
    }
}

async fn what_is_answered_is_there(desk: &Desk) -> Result<(), String> {
    let task = desk.create().await;
    // Every statement succeeds, and the commit does not: a deferred key that points nowhere.
    desk.sql(
        "CREATE TABLE poison (id INTEGER REFERENCES staff (id) DEFERRABLE INITIALLY DEFERRED); \
         CREATE TRIGGER poisoned AFTER UPDATE ON task BEGIN INSERT INTO poison VALUES (-1); END",
        "CREATE TABLE poison (id BIGINT REFERENCES staff (id) DEFERRABLE INITIALLY DEFERRED); \
         CREATE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         INSERT INTO poison VALUES (-1); RETURN NEW; END $$; \
         CREATE TRIGGER poisoned AFTER UPDATE ON task FOR EACH ROW EXECUTE FUNCTION poison()",
    )
    .await;
    let came = desk.send(desk.change(rider(1), task, 1, GRAB)).await.came;
    let revision = desk.task(task).await.revision;
    match came {
        Came::Error(code) if code == "FAULTY" && revision == Revision(1) => Ok(()),
        came => Err(format!("at revision {revision} the answer was {came:?}")),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_before_the_commit_is_found() {
    for database in BOTH {
        let reason = "at revision 1 the answer was Back";
        caught(database, Fault::AnswerBeforeCommit, reason, what_is_answered_is_there).await;
    }
}
