//! Runs that are wrong in one known way each, beside the same runs done right.

use dispatch_desk::domain::{
    answer::Outcome,
    command::{Act, Actor, Command},
    event::{Change, Event},
    history::{Line, Return, Verdict, Violation, judge},
    id::{Revision, RiderId, Timestamp},
    refusal::Code,
    task::Mode,
};

use super::{
    explain, recorded,
    tape::{Tape, key, timed},
};
use crate::desk::{BEGIN, DISPATCHER, SUPERVISOR, TASK, rider};

const GRAB: Act = Act::Grab { ticket: None };
const CANCEL: Act = Act::Cancel { reason: None };
const WITHDRAW: Act = Act::Withdraw { reason: None };

fn offer(id: i64) -> Act {
    Act::Offer { rider: RiderId(id), seconds: Some(30), round: None }
}

/// The deadline of an offer that was made at the beginning.
const UNTIL: Timestamp = BEGIN.plus_ms(30_000);

fn done(revision: i64) -> Line {
    let seen_rev = Some(Revision(revision));
    Line::Ok(Return { outcome: Some(Outcome::Done), seen_rev, ..Return::default() })
}

fn refused(code: Code, revision: i64) -> Line {
    Line::Fail(Return {
        outcome: Some(Outcome::Refused),
        code: Some(code.as_str().to_owned()),
        seen_rev: Some(Revision(revision)),
        ..Return::default()
    })
}

fn verdict(lines: Vec<Line>) -> Verdict {
    judge(&recorded(lines).expect("the recording can be read"))
}

#[track_caller]
fn is_sound(tape: &Tape) -> Verdict {
    let verdict = verdict(tape.all());
    assert!(verdict.is_sound(), "{}", explain(&tape.all(), &verdict));
    verdict
}

/// Asserts that exactly this is wrong, at this revision, and returns the sentence that says so.
#[track_caller]
fn is_wrong(lines: &[Line], revision: i64, fits: fn(&Violation) -> bool) -> String {
    let verdict = verdict(lines.to_vec());
    let [finding] = verdict.findings.as_slice() else {
        panic!("one finding expected\n{}", explain(lines, &verdict));
    };
    let fits = fits(&finding.violation) && finding.revision == Revision(revision);
    assert!(fits, "{}", explain(lines, &verdict));
    finding.to_string()
}

#[test]
fn two_winners_of_one_revision_are_named() {
    let mut tape = Tape::new();
    tape.ask(&rider(1), 1, GRAB, BEGIN);
    is_sound(&tape);
    tape.tell(&rider(2), 1, GRAB, done(2));
    let said = is_wrong(&tape.all(), 2, |it| matches!(it, Violation::TwoWinners { .. }));
    assert_eq!(
        said,
        "T9, revision 2: two winners: the grab by R1 (line 2, process 1) and the grab by R2 \
         (line 4, process 2) were both told that they made it"
    );
}

#[test]
fn a_lost_grab_that_was_acknowledged_is_missed_in_the_log() {
    let mut tape = Tape::new();
    tape.ask(&rider(1), 1, GRAB, BEGIN);
    tape.log.truncate(1);
    is_wrong(&tape.all(), 2, |it| matches!(it, Violation::NotInLog { .. }));
}

#[test]
fn a_change_that_nobody_asked_for_is_found_in_the_log() {
    let mut tape = Tape::new();
    tape.ask(&rider(1), 1, GRAB, BEGIN);
    tape.lines.truncate(1);
    is_wrong(&tape.all(), 2, |it| matches!(it, Violation::NoRequest { .. }));
    // Before the recording began, it was somebody else's business.
    tape.lines[0] = Line::start(TASK, Revision(2), 0);
    is_sound(&tape);
}

#[test]
fn a_stale_read_after_an_acknowledged_cancel_is_out_of_time() {
    let mut tape = Tape::new();
    let mut before = Tape::new();
    before.look(&DISPATCHER);
    tape.ask(&DISPATCHER, 1, CANCEL, BEGIN);
    // The cancel lasted from 10 to 20 ns.
    let look = |began, ended| {
        let asked = Line::looks(7, began, DISPATCHER, TASK);
        [asked, timed(before.lines[2].clone(), 7, ended)]
    };
    let with = |began, ended| {
        let mut lines = tape.all();
        lines.extend(look(began, ended));
        lines
    };
    assert!(verdict(with(20, 40)).is_sound(), "it may have looked in the moment of the cancel");
    let said = is_wrong(&with(21, 40), 2, |it| matches!(it, Violation::OutOfTime { .. }));
    assert_eq!(
        said,
        "T9, revision 2: out of time: it was there at 20 ns for the cancel by D1 (line 2, process \
         1), and not yet at 21 ns for the read by D1 (line 6, process 7)"
    );
}

#[test]
fn nobody_sees_a_change_before_it_was_asked_for() {
    let mut tape = Tape::new();
    tape.ask(&DISPATCHER, 1, CANCEL, BEGIN).look(&DISPATCHER);
    let look = tape.lines.split_off(3);
    let with = |ended| {
        let mut lines = tape.all();
        lines.extend([Line::looks(7, 1, DISPATCHER, TASK), timed(look[1].clone(), 7, ended)]);
        lines
    };
    assert!(verdict(with(10)).is_sound());
    is_wrong(&with(9), 2, |it| matches!(it, Violation::OutOfTime { .. }));
}

#[test]
fn nothing_revives_a_cancelled_task() {
    let mut tape = Tape::new();
    tape.ask(&DISPATCHER, 1, CANCEL, BEGIN);
    let grab = Event {
        task: TASK,
        region: tape.desk.task.region,
        from: Revision(2),
        to: Revision(3),
        action: GRAB.verb(),
        actor: rider(1),
        at: BEGIN,
        reason: None,
        rider: Some(RiderId(1)),
        change: Change::Assigned { slot: 0, mode: Mode::Grabbed },
    };
    tape.tell(&rider(1), 2, GRAB, done(3)).happens(grab);
    let said = is_wrong(&tape.all(), 2, |it| matches!(it, Violation::AgainstRules { .. }));
    assert_eq!(
        said,
        "T9, revision 2: the grab by R1 (line 4, process 2) was done; the rules say CANCELLED"
    );
}

/// Replaces the time of the last event.
fn last_at(tape: &mut Tape, at: Timestamp) {
    if let Some(Line::Event(logged)) = tape.log.last_mut() {
        logged.event.at = at;
    }
}

#[test]
fn an_offer_is_answered_before_its_deadline_and_released_from_it_on() {
    let mut accepted = Tape::new();
    accepted.ask(&DISPATCHER, 1, offer(1), BEGIN).ask(&rider(1), 2, Act::Accept, BEGIN);
    last_at(&mut accepted, UNTIL.plus_ms(-1));
    is_sound(&accepted);
    last_at(&mut accepted, UNTIL);
    is_wrong(&accepted.all(), 3, |it| matches!(it, Violation::WrongSideOfDeadline { .. }));

    let mut released = Tape::new();
    released.ask(&DISPATCHER, 1, offer(1), BEGIN);
    released.ask(&rider(2), 2, Act::Accept, UNTIL);
    is_sound(&released);
    last_at(&mut released, UNTIL.plus_ms(-1));
    is_wrong(&released.all(), 3, |it| matches!(it, Violation::WrongSideOfDeadline { .. }));
}

#[test]
fn an_offer_waits_as_long_as_it_was_asked_to() {
    let mut tape = Tape::new();
    tape.ask(&DISPATCHER, 1, offer(1), BEGIN);
    is_sound(&tape);
    if let Some(Line::Ok(told)) = tape.lines.last_mut() {
        told.offer_until = Some(UNTIL.plus_ms(1));
    }
    is_wrong(&tape.all(), 2, |it| matches!(it, Violation::SawOtherState { .. }));
    if let Some(Line::Event(logged)) = tape.log.last_mut()
        && let Change::Offered { until, .. } = &mut logged.event.change
    {
        *until = UNTIL.plus_ms(1);
    }
    is_wrong(&tape.all(), 2, |it| matches!(it, Violation::WrongDeadline { .. }));
}

#[test]
fn a_refusal_for_want_of_a_fact_has_to_be_possible_where_it_was_given() {
    let full = |seen| refused(Code::RiderAtCapacity, seen);
    let mut tape = Tape::new();
    tape.tell(&DISPATCHER, 1, offer(1), full(1));
    let verdict = is_sound(&tape);
    assert_eq!(verdict.on_facts.get(&Code::RiderAtCapacity), Some(&vec![0]), "for another judge");

    let with = |named, act, answer, seen_before: fn(&mut Tape)| {
        let mut tape = Tape::new();
        seen_before(&mut tape);
        tape.tell(&DISPATCHER, named, act, answer);
        tape.all()
    };
    let nothing = |_: &mut Tape| {};
    let grabbed = |tape: &mut Tape| {
        tape.ask(&rider(1), 1, GRAB, BEGIN);
    };
    let is_lost = |it: &Violation| matches!(it, Violation::NotInLog { .. });
    is_wrong(&with(1, offer(1), full(9), nothing), 9, is_lost);
    is_wrong(&with(1, offer(1), full(0), nothing), 0, is_lost);
    let is_late = |it: &Violation| matches!(it, Violation::OutOfTime { .. });
    is_wrong(&with(1, offer(1), full(1), grabbed), 2, is_late);
    let is_against_rules = |it: &Violation| matches!(it, Violation::AgainstRules { .. });
    is_wrong(&with(1, offer(1), full(2), grabbed), 2, is_against_rules);
    // The state was right, but no fact makes an offer fail like this.
    is_wrong(&with(1, offer(1), refused(Code::HandBackLimit, 1), nothing), 1, is_against_rules);
    // Whether the handover was confirmed stands in the command itself.
    let reassign = |handover_confirmed| Act::Reassign {
        rider: RiderId(2),
        seconds: None,
        handover_confirmed,
        reason: None,
    };
    let unconfirmed = || refused(Code::HandoverNotConfirmed, 2);
    assert!(super::cases::verdict(with(2, reassign(false), unconfirmed(), grabbed)).is_sound());
    is_wrong(&with(2, reassign(true), unconfirmed(), grabbed), 2, is_against_rules);
    is_wrong(&with(2, reassign(false), full(2), grabbed), 2, is_against_rules);
}

#[test]
fn a_refusal_has_the_very_code_that_the_rules_give() {
    let mut tape = Tape::new();
    tape.ask(&rider(1), 1, GRAB, BEGIN);
    tape.tell(&rider(2), 1, GRAB, refused(Code::StaleRevision, 2));
    let said = is_wrong(&tape.all(), 2, |it| matches!(it, Violation::AgainstRules { .. }));
    assert!(said.ends_with("was STALE_REVISION; the rules say TAKEN_BY_OTHER"), "{said}");
}

#[test]
fn a_rider_is_shown_no_other_rider() {
    let mut tape = Tape::new();
    tape.ask(&rider(1), 1, GRAB, BEGIN).look(&rider(2));
    is_sound(&tape);
    if let Some(Line::Ok(told)) = tape.lines.last_mut() {
        told.rider = Some(RiderId(1));
    }
    is_wrong(&tape.all(), 2, |it| matches!(it, Violation::SawOtherState { .. }));
}

#[test]
fn one_command_at_most_releases_a_lapsed_offer() {
    let mut tape = Tape::new();
    tape.ask(&DISPATCHER, 1, offer(1), BEGIN).ask(&DISPATCHER, 2, WITHDRAW, UNTIL);
    is_sound(&tape);
    // Named the dead offer too, so it could only be told so if it had met it.
    tape.tell(&SUPERVISOR, 2, WITHDRAW, refused(Code::OfferExpired, 3));
    is_wrong(&tape.all(), 3, |it| matches!(it, Violation::TwoReleases { .. }));
    // Who came after the release has simply seen an old page.
    tape.lines.truncate(5);
    tape.tell(&SUPERVISOR, 2, WITHDRAW, refused(Code::StaleRevision, 3));
    is_sound(&tape);
}

#[test]
fn nobody_sees_the_inside_of_a_release_and_change() {
    let mut tape = Tape::new();
    tape.ask(&DISPATCHER, 1, offer(1), BEGIN);
    // This grab met the dead offer and released it: revisions 3 and 4 in one step.
    tape.ask(&rider(2), 2, GRAB, UNTIL);
    is_sound(&tape);
    let inside = Return {
        seen_rev: Some(Revision(3)),
        state: Some(dispatch_desk::domain::task::StateName::Open),
        ..Return::default()
    };
    let look = [Line::looks(7, 35, DISPATCHER, TASK), timed(Line::Ok(inside), 7, 36)];
    let mut lines = tape.all();
    lines.extend(look.clone());
    is_wrong(&lines, 3, |it| matches!(it, Violation::SeenInBetween { .. }));
    // Had the sweeper released it before, revision 3 would have been there to be seen.
    let mut swept = Tape::new();
    swept.ask(&DISPATCHER, 1, offer(1), BEGIN);
    let expire = swept.desk.clone().must(&Actor::System, &Act::Expire, UNTIL).log[2].clone();
    swept.happens(expire).ask(&rider(2), 3, GRAB, UNTIL);
    let mut lines = swept.all();
    lines.extend(look);
    assert!(verdict(lines).is_sound());
}

#[test]
fn a_log_has_no_holes_and_its_clock_does_not_run_back() {
    let mut tape = Tape::new();
    tape.ask(&DISPATCHER, 1, offer(1), BEGIN).ask(&rider(1), 2, Act::Accept, BEGIN);
    let whole = tape.log.clone();
    last_at(&mut tape, BEGIN.plus_ms(-1));
    is_wrong(&tape.all(), 3, |it| matches!(it, Violation::ClockRanBack { .. }));
    tape.log = whole.clone();
    tape.log.remove(1);
    let broken = verdict(tape.all());
    let is_hole = |it: &Violation| matches!(it, Violation::BrokenLog { .. });
    assert!(broken.findings.iter().any(|finding| is_hole(&finding.violation)));
    // The same entry twice.
    tape.log = whole;
    tape.log.insert(1, tape.log[1].clone());
    let broken = verdict(tape.all());
    assert!(broken.findings.iter().any(|finding| is_hole(&finding.violation)));
}

/// A grab by the first rider whose answer was lost, with the log as the test left it.
fn unanswered(tape: &Tape) -> Vec<Line> {
    let mut lines = tape.all();
    lines[2] = Line::unknown(1, 20, Some(504));
    lines
}

#[test]
fn a_request_without_an_answer_was_done_exactly_if_its_key_stands_in_the_log() {
    let mut tape = Tape::new();
    tape.ask(&rider(1), 1, GRAB, BEGIN);
    let history = recorded(unanswered(&tape)).expect("the recording can be read");
    assert!(judge(&history).is_sound());
    assert_eq!((history.ops().len(), history.without_effect()), (1, 0));

    // It has all the time in the world to take effect, but not before it was sent.
    let look = |ended| {
        let mut before = Tape::new();
        before.ask(&rider(1), 1, GRAB, BEGIN).look(&DISPATCHER);
        [Line::looks(7, 1, DISPATCHER, TASK), timed(before.lines[4].clone(), 7, ended)]
    };
    let with = |ended| unanswered(&tape).into_iter().chain(look(ended)).collect::<Vec<_>>();
    assert!(verdict(with(10)).is_sound());
    is_wrong(&with(9), 2, |it| matches!(it, Violation::OutOfTime { .. }));

    let mut lost = tape.all();
    lost.truncate(2);
    lost.push(tape.log[0].clone());
    let history = recorded(lost).expect("who still waits at the end is unanswered too");
    assert!(judge(&history).is_sound());
    assert_eq!((history.ops().len(), history.without_effect()), (0, 1));
}

#[test]
fn a_request_that_was_sent_again_is_one_request() {
    let again = |named, act| {
        let key = key(1);
        let command = Command::change(rider(1), key, TASK, Revision(named), act);
        Line::asked(8, 30, &command).expect("no edit of details")
    };
    let mut tape = Tape::new();
    tape.ask(&rider(1), 1, GRAB, BEGIN);
    let answer = timed(tape.lines[2].clone(), 8, 40);
    let with = |mut lines: Vec<Line>, more: [Line; 2]| {
        lines.extend(more);
        lines
    };
    // Replayed after an answer, and after none.
    assert!(verdict(with(tape.all(), [again(1, GRAB), answer.clone()])).is_sound());
    assert!(verdict(with(unanswered(&tape), [again(1, GRAB), answer])).is_sound());

    let other = timed(refused(Code::NotOpen, 2), 8, 40);
    let lines = with(tape.all(), [again(1, GRAB), other]);
    is_wrong(&lines, 2, |it| matches!(it, Violation::AnswersDiffer { .. }));

    let other = timed(refused(Code::WrongStage, 2), 8, 40);
    let lines = with(tape.all(), [again(2, Act::PickUp), other]);
    is_wrong(&lines, 2, |it| matches!(it, Violation::KeyReused { .. }));
    // The right answer to that is 422, which decides nothing.
    let turned_away = Line::turned_away(8, 40, 422, Some("REQUEST_KEY_REUSED".to_owned()));
    assert!(verdict(with(tape.all(), [again(2, Act::PickUp), turned_away])).is_sound());
}

#[test]
fn tasks_are_judged_each_alone() {
    let mut tape = Tape::new();
    tape.ask(&rider(1), 1, GRAB, BEGIN);
    tape.tell(&rider(2), 1, GRAB, done(2));
    let other = dispatch_desk::domain::id::TaskId(10);
    let mut lines = tape.all();
    for line in tape.all() {
        lines.push(match line {
            Line::Start(start) => Line::start(other, start.seen_rev, start.t_ns),
            Line::Invoke(mut asked) => {
                asked.task = Some(other);
                asked.p += 10;
                asked.key = None;
                Line::Invoke(asked)
            }
            Line::Ok(told) => Line::Ok(Return { p: told.p + 10, task: None, ..told }),
            Line::Event(mut logged) => {
                logged.event.task = other;
                logged.key_hash = None;
                Line::Event(logged)
            }
            other => other,
        });
    }
    let verdict = verdict(lines);
    let places: Vec<_> = verdict.findings.iter().map(|finding| finding.task).collect();
    assert_eq!(places, [TASK, other]);
}
