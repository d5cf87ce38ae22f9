//! # Dispatch Desk: the house on one page
//!
//! While an offer waits for its rider, who owns the task, who may still take it, and can you prove it? All of this
//! house serves one promise: **one owner per task revision, every outcome recorded, every answer explained.**
//!
//! ```text
//!   dispatchers · riders · customers · scripts              files of other systems
//!                   │  HTTP                                            │ rows
//!                   ▼                                                  ▼
//!  ┌──────────────── web ────────────────┐                  ┌─ intake ──► import ─┐
//!  │ console  rider  track  api          │                  │ mapping → NewTask    │
//!  └────────────────┬────────────────────┘                  └─────────┬───────────┘
//!                   │  a command: who, which task, based on which revision, under which key
//!                   ▼                                                  ▼
//!  ┌──────────────────────────────── engine ────────────────────────────────┐
//!  │  executor   lanes ─► batch: lock + load ─► decide ─► write ─► number    │
//!  │  expiry     asks the executor to release what is due                    │
//!  │  reconcile  folds the log against the rows, and repairs nothing         │
//!  │  sealer     binds the log to a key; verify names what does not fit      │
//!  └───────┬───────────────────────────┬───────────────────────────────────┘
//!          │ facts, rows               │ pure calls
//!          ▼                           ▼
//!  ┌──── store ─────┐          ┌──── domain ────┐
//!  │ Db, Tx, all SQL│ ───────► │ table, decide, │
//!  │ SQLite | PgSQL │  words   │ evolve, judge  │
//!  └────────────────┘          └────────────────┘
//! ```
//!
//! # The way of one command: R17 grabs T10233
//! 1. [`engine::executor::Executor::execute`] puts it into its task's lane. Dropping the future gives up the answer, not the
//!    command.
//! 2. The lane takes whatever waits, at most 256 commands, and opens one transaction. People, riders and tasks are
//!    locked in this order, each sorted by number; then facts, used keys and the store's own time are read.
//! 3. Each command is decided in order against the working set: has R17 the right? was the key used? is there a lapsed
//!    offer to release first? Then [`domain::decide::decide`] says `Apply`, `Already` or `Refused`. It is a pure
//!    function; the next command sees what it decided.
//! 4. The net rows are written set-wise, each only if the task is still at the revision it was loaded at. Last, the
//!    numbers are taken from the counter, the events, attempts and answers are inserted, and the transaction commits.
//! 5. Only now is anyone answered. The same key gets the same bytes for seven days.
//!
//! # An offer lapses
//! Accept needs `now < offer_until`, release needs `now >= offer_until`, both by the store's clock, so they never overlap.
//! [`engine::expiry`] releases at the deadline; but whoever touches the task first (a grab, an accept, a cancel) makes the
//! decision release it as the system's own event before anything else. So no release waits for a timer, and no late
//! accept revives anything.
//!
//! # Invariants, and what holds them
//! | invariant | held by |
//! |---|---|
//! | one owner per task revision | the row lock, `WHERE revision = …`, and `UNIQUE (task_id, to_revision)` in the log |
//! | only the table changes a task | [`Transition`](domain::decide::Transition) can be made by the decision alone, and [`Tx::apply`](store::Tx::apply) takes nothing else |
//! | a rider holds no more than the capacity | places: `UNIQUE (rider_id, rider_slot)`, taken under the rider's lock |
//! | what was acknowledged survives | answers leave after the commit; SQLite syncs at each commit, PostgreSQL must |
//! | same key, one effect, one answer | the answer is stored in the command's own transaction |
//! | numbers without holes | one counter row, taken last before the commit |
//! | the log is the truth | it is append-only by the database, and folding it gives the rows ([`engine::reconcile`]) |
//! | a change of the log shows | each row is in a chain that is sealed every second under a key outside of the database ([`engine::verify`]) |
//! | time and randomness are inputs | [`clock`]; `clippy.toml` bans the rest |
//!
//! # Who may know whom
//! `main → web → engine → store → domain`. Only [`web`] names axum and askama. The simulated people of the demo and
//! of the replay know the desk through HTTP alone, like any stranger. [`domain`] knows nobody. Only [`store`] names sqlx. [`clock`] and [`fault`] are leaves that
//! anyone may use. `tests/house` reads the `use` lines and fails on anything else.
//!
//! # Rooms
//! | room | |
//! |---|---|
//! | [`domain`] | words, the transition table, decisions, the judge of recorded runs: pure |
//! | [`store`] | all SQL; one statement serves SQLite and PostgreSQL |
//! | [`engine`] | what happens by itself and in which order |
//! | [`locate`] | where riders are, and who is nearest: it proposes, the store decides |
//! | [`client`] | a typed client of the JSON API |
//! | [`simulate`] | people who act by themselves, through the client |
//! | [`demo`] | a desk to try, with such people |
//! | [`intake`] | files of other systems, read row by row: what each row is, or why it is nothing |
//! | [`web`] | HTTP: pages, forms, JSON |
//! | [`admin`] | regions, people, tokens and links, from the command line |
//! | [`import`] | brings those rows to the desk, and says what became of each |
//! | [`replay`] | a file of another system, played through the desk by such people |
//! | [`acceptance`] | for people who buy dispatch software: scenarios, three clients, a judge, evidence |
//! | [`stand`] | a desk of its own for one acceptance run, and its people |
//! | [`clock`] | time and randomness as inputs |
//! | [`config`] | flags and their environment twins |
//! | [`fault`] | faults that tests plant; nothing of it is left in a product |

pub mod acceptance;
pub mod admin;
pub mod client;
pub mod clock;
pub mod config;
pub mod demo;
pub mod domain;
pub mod engine;
pub mod fault;
pub mod import;
pub mod intake;
pub mod locate;
pub mod replay;
pub mod simulate;
pub mod stand;
pub mod store;
pub mod web;
