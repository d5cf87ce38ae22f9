//! One of each page: brought about by real requests, in an order that is always the same.

use dispatch_desk::{
    domain::{
        command::{Act, Actor, NewTask},
        erase::EraseReason,
        facts::Duty,
        fix::Fix,
        geo::Place,
        id::{RiderId, TaskId},
        refusal::Lang,
        signal::{Evidence, Signal, SignalKind},
    },
    engine::expiry::Expiry,
};

use crate::{
    browser::{Browser, Page},
    harness::{
        ADMIN, AUDITOR, CANCEL, D1, D2, DECLINE, FOREIGN_DISPATCHER, FOREIGN_RIDER, GRAB,
        HAND_BACK, SUPERVISOR, Site, WITHDRAW, assign, offer, order, reassign, rider,
    },
};

/// The pages by name.
pub type Gallery = Vec<(String, Page)>;

struct Room {
    site: Site,
    lang: Lang,
    pages: Gallery,
}

impl Room {
    fn hang(&mut self, name: &str, page: Page) {
        self.pages.push((name.to_owned(), page));
    }

    fn browser(&self) -> Browser {
        let browser = Browser::new(&self.site);
        if self.lang == Lang::Zh { browser.chinese() } else { browser }
    }

    async fn enter(&self, actor: &Actor) -> Browser {
        let mut browser = self.browser();
        browser.enter_as(&self.site, actor).await;
        browser
    }

    /// Opens a page and hangs it up.
    async fn open(&mut self, browser: &mut Browser, name: &str, path: &str) -> Page {
        let page = browser.get(path).await;
        self.hang(name, page.clone());
        page
    }

    async fn later(&self, seconds: i64) {
        self.site.desk.advance_ms(seconds * 1_000).await;
        // The server's own expiry comes some time; the next page is to show what has lapsed.
        let expiry = Expiry::new(self.site.desk.executor.clone(), 100);
        expiry.run_once().await.unwrap();
    }

    async fn task(&self) -> TaskId {
        self.site.order(order()).await
    }

    async fn does(&self, actor: Actor, task: TaskId, revision: i64, act: Act) {
        self.site.desk.done(actor, task, revision, act).await;
    }
}

/// Every page in `lang`.
pub async fn all(lang: Lang) -> Gallery {
    let site = Site::open().await;
    let mut room = Room { site, lang, pages: Vec::new() };
    doors(&mut room).await;
    boards(&mut room).await;
    tasks(&mut room).await;
    answers(&mut room).await;
    new_tasks(&mut room).await;
    riders(&mut room).await;
    customers(&mut room).await;
    troubles(&mut room).await;
    imports(&mut room).await;
    kept(&mut room).await;
    personal(&mut room).await;
    room.pages.extend(audits(lang).await);
    room.pages.extend(rounds(lang).await);
    room.pages
}

/// The log as auditors see it, on a desk of its own: numbers there do not depend on what the other pages bring about.
async fn audits(lang: Lang) -> Gallery {
    let mut room = Room { site: Site::open().await, lang, pages: Vec::new() };
    let mut ada = room.enter(&AUDITOR).await;
    room.open(&mut ada, "audit_empty", "/audit").await;
    let task = room.task().await;
    room.does(D1, task, 1, offer(2)).await;
    room.later(4).await;
    let reason = dispatch_desk::domain::command::Reason::parse("too_far");
    room.does(rider(2), task, 2, Act::Decline { reason }).await;
    room.does(rider(3), task, 3, GRAB).await;
    room.site.desk.ask(rider(4), task, 3, GRAB).await;
    room.does(rider(3), task, 4, Act::Arrive).await;
    let change = dispatch_desk::store::RiderChange { capacity: Some(3), ..Default::default() };
    let id = dispatch_desk::domain::id::RiderId(3);
    room.site.desk.executor.change_rider(&ADMIN, id, &change).await.unwrap();
    room.site.seal().await;
    ada.get("/audit/export.csv?show=events").await.is(200);
    room.open(&mut ada, "audit", "/audit").await;
    room.open(&mut ada, "audit_events", "/audit?show=events&task=T10001&region=G1").await;
    room.open(&mut ada, "audit_nothing", "/audit?show=attempts&what=OFFER_EXPIRED").await;
    room.open(&mut ada, "audit_wrong", "/audit?task=R1&actor_kind=staff&actor=D1").await;
    room.pages
}

/// Rounds, from the look before to the manual pool, on a desk of its own.
async fn rounds(lang: Lang) -> Gallery {
    use dispatch_desk::{
        domain::{fix::Fix, geo::Place, id::RiderId},
        engine::rounds::Rounds,
    };
    let mut room = Room { site: Site::open().await, lang, pages: Vec::new() };
    let executor = room.site.desk.executor.clone();
    let locator = executor.positions().locator().clone();
    for number in 1..=14 {
        let north = 0.000_9 * f64::from(i32::try_from(number).unwrap());
        let place = Place { lat: 31.2304 + north, lng: 121.4737 };
        let fix = Fix::new(1, crate::harness::NOON, place);
        locator.note(crate::harness::NORTH, RiderId(number), fix).await.unwrap();
    }
    let rounds = Rounds::new(executor, locator);
    let mut dora = room.enter(&D1).await;
    room.open(&mut dora, "pool_empty", "/pool").await;
    let task = room.task().await;
    let path = format!("/tasks/{task}");
    let would = room.open(&mut dora, "candidates", &format!("{path}/candidates")).await;
    let wrong = format!("{path}/candidates?radius_m=1");
    room.open(&mut dora, "candidates_wrong", &wrong).await;
    let sent = dora.send(&would.form(&format!("{path}/rounds/start"))).await;
    room.hang("task_round", sent);
    let mut ron = room.enter(&rider(1)).await;
    let asked = room.open(&mut ron, "rider_asked", "/rider").await;
    let no = asked.forms().into_iter().find(|form| form.action.ends_with("/decline")).unwrap();
    ron.send(&no).await;
    // Nobody else answers, round after round.
    for _ in 0..4 {
        room.later(20).await;
        rounds.run_once().await.unwrap();
    }
    room.open(&mut dora, "task_pooled", &path).await;
    room.open(&mut dora, "pool", "/pool").await;
    let tracking = room.site.tracking(task).await;
    let mut customer = room.browser();
    room.open(&mut customer, "track_by_hand", &tracking).await;
    room.pages
}

/// The pages for keeping the desk, and one's own account.
async fn kept(room: &mut Room) {
    let mut ada = room.enter(&ADMIN).await;
    for (name, path) in [
        ("staff", "/admin/staff"),
        ("staff_one", "/admin/staff/D1"),
        ("riders", "/admin/riders"),
        ("rider_one", "/admin/riders/R3"),
        ("regions", "/admin/regions"),
        ("region_one", "/admin/regions/G1"),
        ("tokens", "/admin/tokens"),
        ("access", "/rules/access"),
        ("me", "/me"),
    ] {
        room.open(&mut ada, &format!("kept_{name}"), path).await;
    }
    let stale = ada.get("/admin/staff/D2").await.form("/admin/staff/D2");
    let saved = ada.send(&stale.clone().with("name", "Dan 丹")).await;
    room.hang("kept_saved", saved);
    let late = ada.send(&stale.with("name", "Dan 单")).await;
    room.hang("kept_stale", late);
    let wrong = ada.get("/admin/regions").await.form("/admin/regions").with("name", "X");
    let wrong = ada.send(&wrong).await;
    room.hang("kept_wrong", wrong);
    let mut dora = room.enter(&D1).await;
    room.open(&mut dora, "kept_denied", "/admin/staff").await;
    let mut rui = room.enter(&rider(3)).await;
    room.open(&mut rui, "kept_rider_me", "/rider/me").await;
    signals(room, &mut ada).await;
}

/// A rider about whom much looks wrong: some of it open, some dismissed, somebody in it from elsewhere.
async fn signals(room: &mut Room, ada: &mut Browser) {
    let at = |seconds: i64| crate::harness::NOON.plus_ms(seconds * 1_000);
    let fix = |seconds, lat| Fix::new(seconds, at(seconds), Place { lat, lng: 121.4737 });
    let moved = Evidence::Moved {
        from: fix(1, 31.2304),
        to: fix(9, 31.4101),
        metres: 19_980.0,
        kmh: 8_991.0,
    };
    let shared = |other| Evidence::Shared { other: RiderId(other), seen_at: at(-90) };
    let signal =
        |kind, seconds, evidence| Signal { rider: RiderId(4), kind, at: at(seconds), evidence };
    let mut tx = room.site.desk.db.begin().await.unwrap();
    for found in [
        signal(SignalKind::SharedDevice, 2, shared(3)),
        signal(SignalKind::Teleport, 9, moved),
        signal(SignalKind::GrabRate, 12, Evidence::Grabs { count: 20, within_ms: 1_900 }),
    ] {
        tx.raise_signals(&[found]).await.unwrap();
    }
    tx.commit().await.unwrap();
    let page = ada.get("/admin/riders/R4").await.is(200).clone();
    let dismiss = page.forms().into_iter().find(|form| form.action.contains("/signals/")).unwrap();
    ada.send(&dismiss).await;
    let elsewhere = signal(SignalKind::SharedDevice, 20, shared(FOREIGN_RIDER));
    let mut tx = room.site.desk.db.begin().await.unwrap();
    tx.raise_signals(&[elsewhere]).await.unwrap();
    tx.commit().await.unwrap();
    room.open(ada, "kept_signals", "/admin/riders/R4").await;
}

async fn imports(room: &mut Room) {
    use crate::files::{import, trips, upload};
    let mut dora = room.enter(&D1).await;
    room.open(&mut dora, "import", "/import").await;
    let wrong = upload(&mut dora, "chicago", "1", "").await;
    room.hang("import_wrong", wrong);
    let unread = upload(&mut dora, "chicago", "1", "PK\u{3}\u{4}").await;
    room.hang("import_unread", unread);
    let looked = upload(&mut dora, "chicago", "1", &trips()).await;
    let done = import(&mut dora, &looked).await;
    room.hang("import_waiting", looked);
    room.hang("import_done", done);
}

async fn doors(room: &mut Room) {
    room.site.password(1, "dora").await;
    let mut nobody = room.browser();
    let form = room.open(&mut nobody, "sign_in", "/sign-in?next=/board").await.only_form();
    let failed = form.with("login", "dora").with("password", "not it");
    let failed = nobody.send(&failed).await;
    room.hang("sign_in_failed", failed);
    let link = room.site.link(&D2).await;
    room.open(&mut nobody, "enter", &link).await;
    room.open(&mut nobody, "error", "/nowhere").await;
    room.open(&mut nobody, "rules", "/rules").await;
    room.open(&mut nobody, "closed", "/rider/closed").await;
}

const TABS: [&str; 6] = ["open", "offered", "assigned", "picked_up", "delivered", "cancelled"];

async fn boards(room: &mut Room) {
    let mut south = room.enter(&FOREIGN_DISPATCHER).await;
    for tab in TABS {
        let path = format!("/board?show={tab}");
        room.open(&mut south, &format!("board_empty_{tab}"), &path).await;
    }
    mixed(&room.site).await;
    let mut dora = room.enter(&D1).await;
    for tab in TABS {
        let path = format!("/board?show={tab}");
        room.open(&mut dora, &format!("board_{tab}"), &path).await;
    }
    room.open(&mut dora, "board_every", "/board?show=open&every=15").await;
    room.open(&mut dora, "board_beyond", "/board?show=open&beyond=999999").await;
    let mut auditor = room.enter(&AUDITOR).await;
    room.open(&mut auditor, "board_auditor", "/board").await;
}

/// Tasks in every state, some of them late, some about to lapse.
pub async fn mixed(site: &Site) {
    let desk = &site.desk;
    let due = |minutes: i64| {
        let due = crate::harness::NOON.plus_ms(minutes * 60_000);
        NewTask { due_at: Some(due), ..order() }
    };
    for minutes in [-20, 5, 45] {
        site.order(due(minutes)).await;
    }
    for number in 21..24 {
        let task = site.order(due(30)).await;
        desk.done(D1, task, 1, offer(number)).await;
    }
    desk.advance_ms(12_000).await;
    for number in 24..26 {
        let task = site.order(due(-3)).await;
        desk.done(D2, task, 1, offer(number)).await;
    }
    desk.advance_ms(10_000).await;
    for (number, steps) in [(31, 0), (32, 1), (33, 2), (34, 3), (35, 3)] {
        let task = site.order(due(15)).await;
        desk.done(rider(number), task, 1, GRAB).await;
        let all = [Act::Arrive, Act::PickUp, Act::Deliver];
        for (revision, act) in (2..).zip(&all[..steps]) {
            desk.done(rider(number), task, revision, act.clone()).await;
        }
    }
    let task = site.order(due(20)).await;
    desk.done(D1, task, 1, CANCEL).await;
}

async fn tasks(room: &mut Room) {
    let mut dora = room.enter(&D1).await;
    let mut sue = room.enter(&SUPERVISOR).await;
    let mut auditor = room.enter(&AUDITOR).await;
    room.site.fix(2, 31.2310, 121.4750).await;
    room.site.fix(3, 31.2500, 121.4000).await;
    for (number, duty) in [(4, Duty::Paused), (5, Duty::Off)] {
        let change = dispatch_desk::store::RiderChange { duty: Some(duty), ..Default::default() };
        let id = dispatch_desk::domain::id::RiderId(number);
        room.site.desk.executor.change_rider(&rider(number), id, &change).await.unwrap();
    }
    let task = room.task().await;
    let path = format!("/tasks/{task}");
    room.open(&mut dora, "task_open", &path).await;
    room.open(&mut sue, "task_open_supervisor", &path).await;
    room.open(&mut auditor, "task_open_auditor", &path).await;
    room.does(D1, task, 1, offer(2)).await;
    room.later(4).await;
    room.open(&mut dora, "task_offered", &path).await;
    room.open(&mut auditor, "task_offered_auditor", &path).await;
    let reason = dispatch_desk::domain::command::Reason::parse("too_far");
    room.does(rider(2), task, 2, Act::Decline { reason }).await;
    room.does(D2, task, 3, offer(3)).await;
    room.later(3).await;
    room.does(rider(3), task, 4, Act::Accept).await;
    room.open(&mut dora, "task_assigned", &path).await;
    room.does(D1, task, 5, reassign(2)).await;
    room.open(&mut dora, "task_reassigned", &path).await;
    room.does(rider(2), task, 6, Act::Accept).await;
    for (revision, act, name) in [
        (7, Act::Arrive, "task_at_pickup"),
        (8, Act::PickUp, "task_picked_up"),
        (9, Act::Deliver, "task_delivered"),
    ] {
        room.later(60).await;
        room.does(rider(2), task, revision, act).await;
        room.open(&mut dora, name, &path).await;
    }
    let task = room.task().await;
    room.does(D1, task, 1, CANCEL).await;
    room.open(&mut dora, "task_cancelled", &format!("/tasks/{task}")).await;
    let task = room.task().await;
    room.does(SUPERVISOR, task, 1, assign(6)).await;
    room.open(&mut dora, "task_direct", &format!("/tasks/{task}")).await;
    let release_at = Some(crate::harness::NOON.plus_ms(3_600_000));
    let task = room.site.order(NewTask { release_at, ..order() }).await;
    room.open(&mut dora, "task_planned", &format!("/tasks/{task}")).await;
}

async fn answers(room: &mut Room) {
    let mut dora = room.enter(&D1).await;
    let task = room.task().await;
    let path = format!("/tasks/{task}");
    let (page, tab) = (dora.get(&path).await, dora.get(&path).await);
    let form = page.form(&format!("{path}/offer")).with("rider", "R7").with("seconds", "45");
    let done = dora.send(&form).await;
    room.hang("answer_done", done);
    room.does(rider(7), task, 2, Act::Accept).await;
    room.later(2).await;
    // From a tab that was open before.
    let form = tab.form(&format!("{path}/offer")).with("rider", "R8").with("seconds", "20");
    let refused = dora.send(&form).await;
    room.hang("answer_refused", refused);
    let unusable = dora.get(&path).await.form(&format!("{path}/reassign"));
    let unusable = dora.send(&unusable.with("seconds", "soon").with("rider", "R9")).await;
    room.hang("answer_unusable", unusable);
    room.does(rider(7), task, 3, HAND_BACK).await;
    let cancel = dora.get(&path).await.form(&format!("{path}/cancel"));
    let mut other = room.enter(&D1).await;
    let again = other.get(&path).await.form(&format!("{path}/cancel"));
    dora.send(&cancel.with("reason", "duplicate")).await;
    let already = other.send(&again.with("reason", "duplicate")).await;
    room.hang("answer_already", already);
}

async fn new_tasks(room: &mut Room) {
    let mut dora = room.enter(&D1).await;
    let form = room.open(&mut dora, "new_task", "/tasks/new").await.form("/tasks/new");
    let typed = form
        .with("pickup_address", "人民大道 100 号")
        .with("pickup_place", "people's square")
        .with("dropoff_address", "世纪大道 1 号")
        .with("dropoff_place", "31.2397, 121.4998")
        .with("fee", "8.50");
    let wrong = dora.send(&typed).await;
    let outside = wrong.form("/tasks/new").with("pickup_place", "48.1, 11.5");
    room.hang("new_task_wrong", wrong);
    let refused = dora.send(&outside).await;
    room.hang("new_task_refused", refused);
}

async fn riders(room: &mut Room) {
    let mut ron = room.enter(&rider(41)).await;
    // The pool is what is left from before: it is emptied first.
    room.open(&mut ron, "rider_pool", "/rider").await;
    let pool = room
        .site
        .desk
        .read()
        .await
        .pool(crate::harness::NORTH, None, crate::harness::NOON.plus_ms(7_200_000), TaskId(0), 100)
        .await
        .unwrap();
    for card in pool {
        room.site.desk.ask(D1, card.task.id, card.task.revision.0, CANCEL).await;
    }
    room.open(&mut ron, "rider_empty", "/rider").await;
    room.site.fix(41, 31.2310, 121.4750).await;
    let task = room.task().await;
    room.does(D1, task, 1, offer(41)).await;
    room.later(3).await;
    room.open(&mut ron, "rider_offer", "/rider").await;
    let accept = ron.get("/rider").await.form(&format!("/rider/tasks/{task}/accept"));
    let done = ron.send(&accept).await;
    room.hang("rider_answer_done", done);
    room.open(&mut ron, "rider_assigned", "/rider").await;
    for (revision, act, name) in [
        (3, Act::Arrive, "rider_at_pickup"),
        (4, Act::PickUp, "rider_picked_up"),
        (5, Act::Deliver, "rider_delivered"),
    ] {
        room.does(rider(41), task, revision, act).await;
        room.open(&mut ron, name, "/rider").await;
    }
    let task = room.task().await;
    let grab = ron.get("/rider").await.form(&format!("/rider/tasks/{task}/grab"));
    room.does(rider(42), task, 1, GRAB).await;
    let lost = ron.send(&grab).await;
    room.hang("rider_grab_lost", lost);
    for act in [Some(DECLINE), None] {
        let task = room.task().await;
        room.does(D1, task, 1, offer(41)).await;
        match act {
            Some(act) => room.does(rider(41), task, 2, act).await,
            None => room.does(D1, task, 2, WITHDRAW).await,
        }
        room.does(D1, task, 3, CANCEL).await;
    }
    room.open(&mut ron, "rider_gone", "/rider").await;
    for name in ["paused", "off"] {
        let duty = ron.get("/rider").await;
        let forms = duty.forms().into_iter();
        let mut forms = forms.filter(|form| form.action == "/rider/duty");
        let form = forms.find(|form| form.value("duty") == name).unwrap();
        let page = ron.send(&form).await;
        room.hang(&format!("rider_{name}"), page);
    }
}

async fn customers(room: &mut Room) {
    let mut carl = room.browser();
    let release_at = Some(crate::harness::NOON.plus_ms(3_600_000));
    let planned = room.site.order(NewTask { release_at, ..order() }).await;
    let path = room.site.tracking(planned).await;
    room.open(&mut carl, "track_planned", &path).await;
    let task = room.task().await;
    let path = room.site.tracking(task).await;
    let open = room.open(&mut carl, "track_open", &path).await;
    room.does(D1, task, 1, offer(43)).await;
    room.open(&mut carl, "track_offered", &path).await;
    for (revision, act, name) in [
        (2, Act::Accept, "track_assigned"),
        (3, Act::Arrive, "track_at_pickup"),
        (4, Act::PickUp, "track_picked_up"),
        (5, Act::Deliver, "track_delivered"),
    ] {
        room.later(5).await;
        room.does(rider(43), task, revision, act).await;
        room.open(&mut carl, name, &path).await;
    }
    let late = carl.send(&open.form(&format!("{path}/cancel"))).await;
    room.hang("track_refused", late);
    let task = room.task().await;
    let path = room.site.tracking(task).await;
    let cancel = carl.get(&path).await.form(&format!("{path}/cancel"));
    let cancelled = carl.send(&cancel.with("reason", "customer_request")).await;
    room.hang("track_cancelled", cancelled);
}

/// The end: nothing is decided any more.
async fn troubles(room: &mut Room) {
    let mut dora = room.enter(&D1).await;
    let mut rita = room.enter(&rider(44)).await;
    let mut carl = room.browser();
    let task = room.task().await;
    let other = room.task().await;
    let (path, tracking) = (format!("/tasks/{task}"), room.site.tracking(other).await);
    room.does(D1, task, 1, offer(44)).await;
    let withdraw = dora.get(&path).await.form(&format!("{path}/withdraw"));
    let create = dora.get("/tasks/new").await.form("/tasks/new");
    let create = create
        .with("pickup_address", "人民大道 100 号")
        .with("pickup_place", "31.2304, 121.4737")
        .with("dropoff_address", "世纪大道 1 号")
        .with("dropoff_place", "31.2397, 121.4998");
    let accept = rita.get("/rider").await.form(&format!("/rider/tasks/{task}/accept"));
    let cancel = carl.get(&tracking).await.form(&format!("{tracking}/cancel"));
    room.site.desk.executor.stop().await;
    room.later(31).await;
    room.open(&mut dora, "task_lapsed", &path).await;
    room.open(&mut dora, "board_lapsed", "/board?show=offered").await;
    room.open(&mut rita, "rider_lapsed", "/rider").await;
    let page = dora.send(&withdraw.with("reason", "wrong_rider")).await;
    room.hang("task_trouble", page);
    let page = dora.send(&create).await;
    room.hang("new_task_trouble", page);
    let page = rita.send(&accept).await;
    room.hang("rider_trouble", page);
    let page = carl.send(&cancel).await;
    room.hang("track_trouble", page);
}

/// Personal data: masked, shown, asked for without a reason, erased. Tasks from before serve: nothing is decided any more.
async fn personal(room: &mut Room) {
    let mut dora = room.enter(&D1).await;
    let path = dora.get("/board?show=picked_up").await.first_task();
    let form = room.open(&mut dora, "personal_masked", &path).await.form(&format!("{path}/reveal"));
    let wrong = dora.send(&form.clone()).await;
    room.hang("personal_wrong", wrong);
    let shown = dora.send(&form.with("which", "dropoff").with("reason", "address")).await;
    room.hang("personal_shown", shown);
    let path = dora.get("/board?show=cancelled").await.first_task();
    let task = TaskId::parse(path.trim_start_matches("/tasks/")).unwrap();
    room.site.desk.executor.erase_task(&ADMIN, task, EraseReason::Asked).await.unwrap();
    room.open(&mut dora, "personal_erased", &path).await;
    room.open(&mut dora, "personal_erased_board", "/board?show=cancelled").await;
    room.open(&mut dora, "measures", "/measures?hours=24").await;
    let mut ada = room.enter(&ADMIN).await;
    let form = room.open(&mut ada, "personal_erase", "/admin/erase?of=T10001").await;
    let form = form.form("/admin/erase").with("reason", "asked");
    let wrong = ada.send(&form).await;
    room.hang("personal_erase_wrong", wrong);
}
