//! A typed client of the JSON API: what a shop, a rider's telephone or a buyer's script would use.
//!
//! **Architecture invariant.** It knows the API as any stranger does, over HTTP, and shares nothing with the product but
//! the domain's words. It records nothing and invents nothing: what it returns is what came over the wire.
//!
//! Whoever calls makes the request keys. If an answer is lost (no connection, no reply in time, `UNKNOWN`), the client
//! asks again under the same key, so that there is one effect however often it had to ask.
//!
//! | file | |
//! |---|---|
//! | `request` | commands as they are written |
//! | `reply` | what came back, and why there was no outcome |
//! | `retry` | how often, and how long to wait |
//! | `send` | one request until it is answered |
//! | `view` | what is read: tasks, pages, events |

mod reply;
mod request;
mod retry;
mod send;
mod view;

use std::time::Duration;

use reqwest::Method;
use serde_json::json;

pub use reply::{Error, Problem, Reply};
pub use request::Fix;
pub use retry::Retry;
pub use view::{
    ActorView, DetailView, EventItem, EventPage, StopView, TaskEvents, TaskItem, TaskPage,
    TicketView, Tracked,
};

use self::{request::path, send::Sender, view::Time};
use crate::domain::{
    command::{Act, NewTask, Reason, RequestKey},
    facts::Duty,
    id::{RegionId, Revision, TaskId, Timestamp},
    task::StateName,
};

/// One identity at one desk. Connections are kept alive. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Client {
    sender: Sender,
}

impl Client {
    /// A client of the desk at `origin`, such as `http://127.0.0.1:8080`, that speaks for whom `token` does; for a
    /// customer, whose link is enough, there is no token.
    ///
    /// # Errors
    /// If the token can not stand in a header, or no connection could ever be made.
    pub fn new(origin: &str, token: Option<&str>) -> Result<Self, Error> {
        Ok(Self { sender: Sender::new(origin, token)? })
    }

    /// The same client with other patience.
    #[must_use]
    pub fn with_retry(mut self, retry: Retry) -> Self {
        self.sender.retry = retry;
        self
    }

    /// The same client that waits `timeout` for each reply.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.sender.timeout = timeout;
        self
    }

    /// Another identity over the same connections.
    ///
    /// # Errors
    /// If the token can not stand in a header.
    pub fn speaking_for(&self, token: Option<&str>) -> Result<Self, Error> {
        Ok(Self { sender: self.sender.speaking_for(token)? })
    }

    /// Brings a task into being, under the order's own number.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn create(&self, key: &RequestKey, new: &NewTask) -> Result<Reply, Error> {
        self.sender.command(Method::POST, "/api/v1/tasks", None, &request::new_task(key, new)).await
    }

    /// Does something to a task, based on `revision`.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn act(
        &self,
        key: &RequestKey,
        task: TaskId,
        revision: Revision,
        act: &Act,
    ) -> Result<Reply, Error> {
        let path = format!("/api/v1/tasks/{}/{}", task.0, act.verb());
        self.sender.command(Method::POST, &path, Some(key), &request::act(revision, act)).await
    }

    /// Accepts an offer by its token.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn accept_offer(&self, key: &RequestKey, token: &str) -> Result<Reply, Error> {
        let path = path("/api/v1/offers/", token, "/accept")?;
        self.sender.command(Method::POST, &path, Some(key), &json!({})).await
    }

    /// Cancels by the customer's link.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn customer_cancel(
        &self,
        key: &RequestKey,
        token: &str,
        revision: Revision,
        reason: Option<&Reason>,
    ) -> Result<Reply, Error> {
        let path = path("/api/v1/track/", token, "/cancel")?;
        let body = json!({ "revision": revision, "reason": reason });
        self.sender.command(Method::POST, &path, Some(key), &body).await
    }

    /// Goes on duty, on a break, or off.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn duty(&self, duty: Duty) -> Result<(), Error> {
        let body = json!({ "duty": duty });
        let _: serde_json::Value = self.sender.put("/api/v1/rider/duty", &body).await?;
        Ok(())
    }

    /// Says no to a round: it asks this rider no more.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn decline_round(&self, key: &RequestKey, round: i64) -> Result<(), Error> {
        let path = format!("/api/v1/rider/rounds/{round}/decline");
        self.sender.post(&path, key).await
    }

    /// Says where the rider is, with 1 to 100 positions. Whether one of them is the rider's last known position now.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn locate(&self, fixes: &[Fix]) -> Result<bool, Error> {
        let body = json!({ "fixes": fixes });
        let kept: view::Kept = self.sender.put("/api/v1/rider/location", &body).await?;
        Ok(kept.kept)
    }

    /// One task.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn task(&self, task: TaskId) -> Result<TaskItem, Error> {
        self.sender.read(&format!("/api/v1/tasks/{}", task.0), &[]).await
    }

    /// All events of one task.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn task_events(&self, task: TaskId) -> Result<TaskEvents, Error> {
        self.sender.read(&format!("/api/v1/tasks/{}/events", task.0), &[]).await
    }

    /// A page of tasks, for staff.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn list(
        &self,
        state: Option<StateName>,
        region: Option<RegionId>,
        cursor: Option<TaskId>,
    ) -> Result<TaskPage, Error> {
        let query = [
            ("state", state.map(|state| state.as_str().to_owned())),
            ("region", region.map(|region| region.0.to_string())),
            ("cursor", cursor.map(|cursor| cursor.0.to_string())),
        ];
        self.sender.read("/api/v1/tasks", &query).await
    }

    /// A page of the open tasks that the rider could grab.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn pool(&self, cursor: Option<TaskId>) -> Result<TaskPage, Error> {
        let query = [("cursor", cursor.map(|cursor| cursor.0.to_string()))];
        self.sender.read("/api/v1/rider/pool", &query).await
    }

    /// The rider's own tasks, and the offers that wait for an answer.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn mine(&self) -> Result<TaskPage, Error> {
        self.sender.read("/api/v1/rider/tasks", &[]).await
    }

    /// The log beyond a number.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn events(&self, after: i64, limit: Option<i64>) -> Result<EventPage, Error> {
        let query =
            [("after", Some(after.to_string())), ("limit", limit.map(|limit| limit.to_string()))];
        self.sender.read("/api/v1/events", &query).await
    }

    /// What the customer's link shows.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn track(&self, token: &str) -> Result<Tracked, Error> {
        self.sender.read(&path("/api/v1/track/", token, "")?, &[]).await
    }

    /// The desk's clock.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn time(&self) -> Result<Timestamp, Error> {
        let time: Time = self.sender.read("/api/v1/time", &[]).await?;
        Ok(time.server_time)
    }
}
