//! The past hour of each region, from the log: the same on every node. Gauges, for each scrape looks back anew.

use super::Text;
use crate::{
    domain::id::RegionId,
    store::{self, Db, Measures, Window},
};

const HOUR_MS: i64 = 3_600_000;

/// What happened in each region in the hour until now.
pub(super) async fn read(db: &Db) -> store::Result<Vec<(RegionId, Measures)>> {
    let mut tx = db.read().await?;
    let now = tx.now().await?;
    let mut read = Vec::new();
    for found in tx.regions(now).await? {
        let region = found.region.id;
        let window = Window { region, from: now.plus_ms(-HOUR_MS), until: now.plus_ms(1) };
        read.push((region, tx.measures(window).await?));
    }
    tx.rollback().await?;
    Ok(read)
}

/// One figure of a region: what tells it from others of its name, and its value.
type Read = fn(&Measures) -> Vec<(&'static str, f64)>;

/// All figures: a name, what it means, how it is read.
const FIGURES: [(&str, &str, Read); 10] = [
    (
        "rounds",
        "Broadcast rounds; empty: nobody could be asked; placed: somebody took the task.",
        |it| {
            let of =
                |count: fn(&store::StepRounds) -> i64| it.rounds.iter().map(count).sum::<i64>();
            vec![
                ("what=\"all\"", number(of(|step| step.rounds))),
                ("what=\"empty\"", number(of(|step| step.empty))),
                ("what=\"placed\"", number(of(|step| step.placed))),
            ]
        },
    ),
    ("first_batch", "Riders asked in first rounds; answered: they grabbed or declined.", |it| {
        share(it.first_batch.sent, "what=\"answered\"", it.first_batch.hit)
    }),
    ("shown", "Offers and tickets; reached: a rider's page has shown them.", |it| {
        share(it.shown.sent, "what=\"reached\"", it.shown.hit)
    }),
    ("reassigned", "Tasks that were reassigned; times: how often; most: one of them.", |it| {
        spread(&it.reassigned)
    }),
    ("contended", "Tasks that riders tried to grab; times: how many tried; most: for one.", |it| {
        spread(&it.contended)
    }),
    ("grabs", "Grabs; won: they got the task.", |it| {
        share(it.grabs(false), "what=\"won\"", it.grabs(true))
    }),
    ("created", "Tasks created; owned: somebody has had them since.", |it| {
        let all = i64::try_from(it.waited_ms.len()).unwrap_or(i64::MAX);
        let owned = it.waited_ms.iter().flatten().count();
        share(all, "what=\"owned\"", i64::try_from(owned).unwrap_or(i64::MAX))
    }),
    ("owner_seconds", "From a task's creation to its first owner.", |it| {
        let mut waits: Vec<i64> = it.waited_ms.iter().flatten().copied().collect();
        waits.sort_unstable();
        let at = |per_cent: usize| waits.get((waits.len() * per_cent).div_ceil(100).max(1) - 1);
        let quantile = |per_cent, label| at(per_cent).map(|ms| (label, number(*ms) / 1_000.0));
        [quantile(50, "quantile=\"0.5\""), quantile(95, "quantile=\"0.95\"")]
            .into_iter()
            .flatten()
            .collect()
    }),
    ("expired", "Offers that were released because nobody answered in time.", |it| {
        vec![("", did(it, "expire"))]
    }),
    ("handed_back", "Tasks given back before pickup.", |it| vec![("", did(it, "hand-back"))]),
];

fn did(measures: &Measures, action: &str) -> f64 {
    let did = measures.did.iter().filter(|(name, _)| name == action);
    number(did.map(|(_, count)| count).sum())
}

fn share(all: i64, label: &'static str, hit: i64) -> Vec<(&'static str, f64)> {
    vec![("what=\"all\"", number(all)), (label, number(hit))]
}

fn spread(it: &store::Spread) -> Vec<(&'static str, f64)> {
    vec![
        ("what=\"tasks\"", number(it.tasks)),
        ("what=\"times\"", number(it.sum)),
        ("what=\"most\"", number(it.most)),
    ]
}

/// Counts of an hour are far below what a floating-point number holds exactly.
fn number(count: i64) -> f64 {
    i32::try_from(count).map_or(f64::INFINITY, f64::from)
}

/// Their text.
pub(super) fn written(regions: &[(RegionId, Measures)]) -> String {
    let mut text = Text::default();
    for (name, help, read) in FIGURES {
        let name = format!("desk_hour_{name}");
        text.about(&name, "gauge", &format!("In the past hour. {help}"));
        for (region, measures) in regions {
            for (label, value) in read(measures) {
                let comma = if label.is_empty() { "" } else { "," };
                text.line(&name, &format!("{{region=\"{region}\"{comma}{label}}}"), value);
            }
        }
    }
    text.about(
        "desk_hour_attempts",
        "gauge",
        "In the past hour. Commands on tasks, by what came of them.",
    );
    for (verb, code, count, region) in regions.iter().flat_map(|(region, measures)| {
        measures.tried.iter().map(move |(verb, code, count)| (verb, code, count, region))
    }) {
        let labels = format!("{{region=\"{region}\",verb=\"{verb}\",code=\"{code}\"}}");
        text.line("desk_hour_attempts", &labels, count);
    }
    text.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Share, Spread, StepRounds};

    #[test]
    fn every_figure_of_an_hour_is_written_for_each_region() {
        let measures = Measures {
            did: vec![("expire".to_owned(), 3)],
            tried: vec![
                ("grab".to_owned(), "done".to_owned(), 2),
                ("grab".to_owned(), "TAKEN_BY_OTHER".to_owned(), 5),
            ],
            contended: Spread { tasks: 2, sum: 7, most: 4 },
            reassigned: Spread { tasks: 1, sum: 2, most: 2 },
            rounds: vec![
                StepRounds { step: 1, rounds: 4, placed: 2, empty: 1 },
                StepRounds { step: 2, rounds: 2, placed: 1, empty: 0 },
            ],
            first_batch: Share { sent: 12, hit: 9 },
            shown: Share { sent: 20, hit: 18 },
            waited_ms: vec![Some(1_500), None, Some(9_000)],
        };
        let text = written(&[(RegionId(1), measures), (RegionId(2), Measures::default())]);
        for line in [
            "# TYPE desk_hour_rounds gauge",
            "desk_hour_rounds{region=\"G1\",what=\"all\"} 6",
            "desk_hour_rounds{region=\"G1\",what=\"empty\"} 1",
            "desk_hour_rounds{region=\"G2\",what=\"placed\"} 0",
            "desk_hour_first_batch{region=\"G1\",what=\"answered\"} 9",
            "desk_hour_shown{region=\"G1\",what=\"reached\"} 18",
            "desk_hour_reassigned{region=\"G1\",what=\"times\"} 2",
            "desk_hour_contended{region=\"G1\",what=\"most\"} 4",
            "desk_hour_grabs{region=\"G1\",what=\"all\"} 7",
            "desk_hour_grabs{region=\"G1\",what=\"won\"} 2",
            "desk_hour_created{region=\"G1\",what=\"all\"} 3",
            "desk_hour_created{region=\"G1\",what=\"owned\"} 2",
            "desk_hour_owner_seconds{region=\"G1\",quantile=\"0.5\"} 1.5",
            "desk_hour_owner_seconds{region=\"G1\",quantile=\"0.95\"} 9",
            "desk_hour_expired{region=\"G1\"} 3",
            "desk_hour_handed_back{region=\"G2\"} 0",
            "desk_hour_attempts{region=\"G1\",verb=\"grab\",code=\"TAKEN_BY_OTHER\"} 5",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in {text}");
        }
        assert!(!text.contains("owner_seconds{region=\"G2\""), "nothing is no number of seconds");
    }
}
