//! Three people at three windows: a dispatcher, a rider and a customer. What one does, the others see.

use dispatch_desk::domain::{command::Act, id::TaskId, refusal::Lang, task::StateName};

use crate::{
    driver::{Driver, Window, with_browsers},
    harness::{D1, GRAB, Site, offer, order, rider},
};

/// What is read on the pages, in one language.
struct Words {
    open: &'static str,
    offered: &'static str,
    assigned: &'static str,
    cancelled: &'static str,
    customer_open: &'static str,
    customer_offered: &'static str,
    customer_assigned: &'static str,
    customer_cancelled: &'static str,
    expired: &'static str,
    no_offer: &'static str,
}

const ZH: Words = Words {
    open: "待派",
    offered: "待确认",
    assigned: "已接",
    cancelled: "已取消",
    customer_open: "已下单，正在安排骑手",
    customer_offered: "正在邀请骑手，尚未接单",
    customer_assigned: "骑手已接单",
    customer_cancelled: "订单已取消",
    expired: "已到期",
    no_offer: "现在没有邀请",
};

const EN: Words = Words {
    open: "Open",
    offered: "Offered",
    assigned: "Assigned",
    cancelled: "Cancelled",
    customer_open: "Ordered; we are looking for a rider",
    customer_offered: "A rider was asked and has not accepted yet",
    customer_assigned: "A rider has taken it",
    customer_cancelled: "The order was cancelled",
    expired: "expired",
    no_offer: "No offer waits for you.",
};

struct Room {
    site: Site,
    dispatcher: Window,
    rider: Window,
    customer: Window,
    words: &'static Words,
}

impl Room {
    async fn enter(driver: &Driver, lang: Lang) -> Self {
        let site = Site::open().await;
        let room = Self {
            dispatcher: driver.window(&format!("dispatcher-{lang}"), (1440, 900)).await,
            rider: driver.window(&format!("rider-{lang}"), (360, 640)).await,
            customer: driver.window(&format!("customer-{lang}"), (390, 844)).await,
            words: if lang == Lang::Zh { &ZH } else { &EN },
            site,
        };
        for (window, actor, button) in
            [(&room.dispatcher, D1, "/desk/"), (&room.rider, rider(1), "/rider/")]
        {
            let link = room.site.link(&actor).await;
            window.go(&room.url(&format!("/taste?lang={lang}&back={link}"))).await;
            window.find(&format!("form[action^='{button}'] button")).await.click().await.unwrap();
            window.find(".bar form button").await;
        }
        room.customer.go(&room.url(&format!("/taste?lang={lang}&back=/rules"))).await;
        room
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.site.origin)
    }

    async fn order(&self) -> TaskId {
        self.site.order(order()).await
    }

    /// All three look at the task.
    async fn look(&self, task: TaskId) {
        self.dispatcher.go(&self.url(&format!("/tasks/{task}"))).await;
        self.rider.go(&self.url("/rider")).await;
        let tracking = self.site.tracking(task).await;
        self.customer.go(&self.url(&tracking)).await;
    }

    async fn clean(&self) {
        for window in [&self.dispatcher, &self.rider, &self.customer] {
            window.is_clean().await;
        }
    }

    /// The state as the dispatcher reads it, and as the customer does.
    async fn agree(&self, task: TaskId, state: &str, line: &str) {
        self.look(task).await;
        self.dispatcher.sees("main .row .chip", state).await;
        self.customer.sees("#line", line).await;
        self.clean().await;
    }

    async fn offer(&self, task: TaskId, number: i64) {
        self.dispatcher.go(&self.url(&format!("/tasks/{task}"))).await;
        self.dispatcher.choose("#offer-rider", &format!("R{number}")).await;
        self.dispatcher.press("/offer").await;
        self.dispatcher.find("#answer.done").await;
    }
}

async fn invited_and_accepted(room: &Room) -> TaskId {
    let task = room.order().await;
    room.offer(task, 1).await;
    room.agree(task, room.words.offered, room.words.customer_offered).await;
    room.rider.press(&format!("{task}/accept")).await;
    room.rider.find("#answer.done").await;
    room.agree(task, room.words.assigned, room.words.customer_assigned).await;
    room.dispatcher.sees("[aria-labelledby=who-title]", "rider 1 (R1)").await;
    room.customer.sees("main", "rider 1").await;
    room.rider.sees("[aria-labelledby=mine] .chip", room.words.assigned).await;
    task
}

async fn reassigned(room: &Room, task: TaskId) {
    let path = room.url(&format!("/tasks/{task}"));
    room.dispatcher.go(&path).await;
    room.dispatcher.find("#do-reassign summary").await.click().await.unwrap();
    room.dispatcher.choose("#reassign-rider", "R2").await;
    // Without the handover it is refused, and the choice is still there.
    room.dispatcher.press("/reassign").await;
    room.dispatcher.find("#answer.refused").await;
    room.dispatcher.find("#handover").await.click().await.unwrap();
    room.dispatcher.press("/reassign").await;
    room.dispatcher.find("#answer.done").await;
    room.agree(task, room.words.offered, room.words.customer_offered).await;
    room.rider.sees("[aria-labelledby=mine]", "0").await;
    let customer = room.customer.text().await;
    assert!(!customer.contains("rider 1") && !customer.contains("rider 2"), "nobody owns it now");
    let revision = room.site.desk.task(task).await.revision.0;
    room.site.desk.done(rider(2), task, revision, Act::Accept).await;
    room.agree(task, room.words.assigned, room.words.customer_assigned).await;
    room.dispatcher.sees("[aria-labelledby=who-title]", "rider 2 (R2)").await;
    room.customer.sees("main", "rider 2").await;
}

async fn invited_and_expired(room: &Room) {
    let task = room.order().await;
    room.offer(task, 1).await;
    room.look(task).await;
    room.rider.falls_behind().await;
    // The board comes anew by itself: it shows the task as open once the expiry has run.
    room.dispatcher.go(&room.url("/board?show=open&every=5")).await;
    room.site.desk.advance_ms(30_000).await;
    room.dispatcher.sees("td a.id", &task.to_string()).await;
    // The rider's page is from before: too late is said, and nothing is revived.
    room.rider.press(&format!("{task}/accept")).await;
    room.rider.sees("#answer.refused", "OFFER_EXPIRED").await;
    room.rider.go(&room.url("/rider")).await;
    room.rider.sees("[aria-labelledby=offers]", room.words.no_offer).await;
    room.rider.sees("[aria-labelledby=gone]", room.words.expired).await;
    room.agree(task, room.words.open, room.words.customer_open).await;
}

async fn grab_lost(room: &Room) {
    let task = room.order().await;
    room.look(task).await;
    room.rider.falls_behind().await;
    room.site.desk.done(rider(3), task, 1, GRAB).await;
    room.rider.press(&format!("{task}/grab")).await;
    room.rider.sees("#answer.refused", "TAKEN_BY_OTHER").await;
    assert!(!room.rider.text().await.contains("R3"), "who was faster is not said");
    room.agree(task, room.words.assigned, room.words.customer_assigned).await;
}

async fn cancelled(room: &Room) {
    let task = room.order().await;
    room.site.desk.done(D1, task, 1, offer(1)).await;
    room.look(task).await;
    room.rider.falls_behind().await;
    room.customer.find("details summary").await.click().await.unwrap();
    room.customer.press("/cancel").await;
    room.customer.find("#answer.done").await;
    // The rider's page is from before.
    room.rider.press(&format!("{task}/accept")).await;
    room.rider.sees("#answer.refused", "CANCELLED").await;
    room.agree(task, room.words.cancelled, room.words.customer_cancelled).await;
    assert_eq!(room.site.desk.task(task).await.state.name(), StateName::Cancelled);
}

async fn three_people(driver: &Driver, lang: Lang) {
    let room = Room::enter(driver, lang).await;
    let task = invited_and_accepted(&room).await;
    reassigned(&room, task).await;
    invited_and_expired(&room).await;
    grab_lost(&room).await;
    cancelled(&room).await;
    room.site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_people_see_the_same_in_chinese() {
    with_browsers("three-zh", async |driver| three_people(driver, Lang::Zh).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_people_see_the_same_in_english() {
    with_browsers("three-en", async |driver| three_people(driver, Lang::En).await).await;
}
