//! How often somebody may try to sign in: by account and by peer, counted in the database for all nodes. An account is
//! slowed down and never locked, so that nobody can lock somebody else out (OWASP ASVS 5.0, 6.1.1 and 6.3.1).

use std::net::IpAddr;

use axum::{
    http::{StatusCode, header},
    response::Response,
};

use super::{desk::Desk, page::words, peer::Peer};
use crate::{
    domain::{id::Timestamp, refusal::Lang},
    store::{self, Failures, Tx, token_hash},
};

/// So many failures of an account cost nothing.
const FREE: i64 = 10;
/// The longest delay of an account, in seconds.
const LONGEST_S: i64 = 300;
/// Failures of an account are forgotten after so long without another, in milliseconds.
const FORGOTTEN_MS: i64 = 3_600_000;
/// So many failures of a peer are allowed in a minute.
const PER_MINUTE: i64 = 30;
/// So many wrong codes of a second factor are allowed in a quarter of an hour.
const CODES: i64 = 5;
/// That quarter of an hour, in milliseconds.
const CODES_MS: i64 = 15 * 60_000;

/// How many seconds to wait before the next try.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait(i64);

impl Wait {
    /// What the page says about it.
    pub(super) fn words(self, lang: Lang) -> String {
        words(lang, "sign-in-wait", &[("v", &self.0.to_string())])
    }

    /// A page that says it, as an answer that scripts understand as well.
    pub(super) fn answer(self, mut page: Response) -> Response {
        *page.status_mut() = StatusCode::TOO_MANY_REQUESTS;
        page.headers_mut().insert(header::RETRY_AFTER, self.0.into());
        page
    }
}

/// One try to sign in, counted as a failure until it has succeeded.
#[derive(Debug)]
pub(super) struct Try {
    account: String,
}

/// What is counted: hashed, because what somebody typed as their name may be their password.
fn account(kind: &str, name: &str) -> String {
    token_hash(&format!("account {kind} {name}"))
}

fn peer(group: IpAddr, minute: i64) -> String {
    token_hash(&format!("peer {group} {minute}"))
}

/// How long an account has to wait after so many failures, in seconds: 1, 2, 4, … 300.
fn delay_s(failures: i64) -> i64 {
    let beyond = failures - FREE;
    if beyond < 0 { 0 } else { (1 << beyond.min(9)).min(LONGEST_S) }
}

/// What is left of the delay after these failures, in seconds.
fn left_s(failures: Failures, now: Timestamp) -> i64 {
    if failures.count < FREE {
        return 0;
    }
    let over = failures.last_at.plus_ms(delay_s(failures.count) * 1_000);
    (over.ms_since(now) + 999).div_euclid(1_000).max(0)
}

/// The present minute.
fn minute(now: Timestamp) -> i64 {
    now.0.div_euclid(60_000)
}

/// Begins a try on the account of that kind and name. It counts as a failure at once, so that many at the same time
/// gain nothing.
pub(super) async fn begin(
    desk: &Desk,
    kind: &str,
    name: &str,
    from: Peer,
) -> store::Result<Result<Try, Wait>> {
    let mut tx = desk.db().begin().await?;
    let now = tx.now().await?;
    let (account, peer) = (account(kind, name), peer(from.group(), minute(now)));
    // In this order, everywhere: those who try at once wait for each other, and nobody for ever.
    tx.hold_bucket(&peer, now).await?;
    tx.hold_bucket(&account, now).await?;
    let tried = tx.failures(&peer).await?;
    if tried.count >= PER_MINUTE {
        let next = Timestamp((minute(now) + 1) * 60_000);
        return Ok(Err(Wait((next.ms_since(now) + 999) / 1_000)));
    }
    let left = left_s(known(&mut tx, &account, now).await?, now);
    if left > 0 {
        // The try of somebody who is to wait is not counted: the delay ends, whatever others do.
        note(&mut tx, &peer, now).await?;
        tx.commit().await?;
        return Ok(Err(Wait(left)));
    }
    note(&mut tx, &peer, now).await?;
    note(&mut tx, &account, now).await?;
    tx.commit().await?;
    Ok(Ok(Try { account }))
}

async fn known(tx: &mut Tx, bucket: &str, now: Timestamp) -> store::Result<Failures> {
    let failures = tx.failures(bucket).await?;
    let forgotten = failures.last_at < now.plus_ms(-FORGOTTEN_MS);
    Ok(if forgotten { Failures::default() } else { failures })
}

async fn note(tx: &mut Tx, bucket: &str, now: Timestamp) -> store::Result<()> {
    tx.note_failure(bucket, now, now.plus_ms(-FORGOTTEN_MS)).await
}

impl Try {
    /// It succeeded: the account's failures are forgotten. The peer's are not: one good account is no licence to try
    /// others.
    pub(super) async fn succeeded(self, desk: &Desk) -> store::Result<()> {
        let mut tx = desk.db().begin().await?;
        tx.forget_failures(&self.account).await?;
        tx.commit().await
    }
}

/// Begins a try of a second factor's code. Wrong codes are few, because codes are short.
pub(super) async fn begin_code(desk: &Desk, name: &str) -> store::Result<Result<Try, Wait>> {
    let mut tx = desk.db().begin().await?;
    let now = tx.now().await?;
    let account = account("code", name);
    tx.note_failure(&account, now, now.plus_ms(-CODES_MS)).await?;
    let tried = tx.failures(&account).await?;
    if tried.count > CODES {
        // Not counted, so that the time to wait does not begin anew.
        tx.rollback().await?;
        return Ok(Err(Wait(CODES_MS / 1_000)));
    }
    tx.commit().await?;
    Ok(Ok(Try { account }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_grow_to_five_minutes_and_no_further() {
        let delays: Vec<_> = (9..21).map(delay_s).collect();
        assert_eq!(delays, [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
        assert_eq!(delay_s(i64::MAX), 300);
    }

    #[test]
    fn what_is_left_counts_from_the_last_failure() {
        let failures = Failures { count: 12, since: Timestamp(0), last_at: Timestamp(10_000) };
        assert_eq!(left_s(failures, Timestamp(10_000)), 4);
        assert_eq!(left_s(failures, Timestamp(13_001)), 1);
        assert_eq!(left_s(failures, Timestamp(14_000)), 0);
    }
}
