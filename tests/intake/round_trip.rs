//! Whatever a file holds, every one of its rows comes out.

use dispatch_desk::{
    import::preview,
    intake::{Mapping, RowKind},
};
use proptest::prelude::*;

use crate::scene::{given, read};

const TO: &str = "about = 'x'\nformat = 'csv'\nseparator = ','\nkey = 'content'\npickup = { given = true }\n\
    dropoff = { lat = 'lat', lng = 'lng', address = 'to' }\nnote = 'note'";

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Rows of any quoting: as many come out as went in, and texts as they were.
    #[test]
    fn nothing_is_lost(
        rows in prop::collection::vec(("[a-z\",;\r\n 张👍]{0,12}", "[a-z\",\n ]{0,12}", 0_u8..4), 1..30),
        always in any::<bool>(),
        crlf in any::<bool>(),
    ) {
        let style = if always { csv::QuoteStyle::Always } else { csv::QuoteStyle::Necessary };
        let end = if crlf { csv::Terminator::CRLF } else { csv::Terminator::Any(b'\n') };
        let mut writer =
            csv::WriterBuilder::new().quote_style(style).terminator(end).from_writer(Vec::new());
        writer.write_record(["lat", "lng", "to", "note"]).unwrap();
        for (to, note, kind) in &rows {
            let row = match kind {
                0 => ["", "", "", ""],
                1 => ["x", "1", to.as_str(), note.as_str()],
                _ => ["1.5", "2.5", to.as_str(), note.as_str()],
            };
            writer.write_record(row).unwrap();
        }
        let file = writer.into_inner().unwrap();
        let mapping = Mapping::from_toml(TO).unwrap();
        let found = read(&mapping, &given(), &file);
        prop_assert_eq!(found.len(), rows.len());
        for (row, (to, note, kind)) in found.iter().zip(&rows) {
            match (&row.what, kind) {
                (RowKind::Blank, 0) => {}
                (RowKind::Refused { problem, .. }, 1) => prop_assert_eq!(problem.code(), "BAD_NUMBER"),
                (RowKind::Refused { problem, .. }, _) => {
                    prop_assert_eq!((problem.code(), to.trim()), ("FIELD_MISSING", ""));
                }
                (RowKind::Task(task), 2 | 3) => {
                    prop_assert_eq!(&task.new.dropoff.address, to.trim());
                    prop_assert_eq!(task.new.note.as_deref().unwrap_or_default(), note.trim());
                }
                other => prop_assert!(false, "{:?}", other),
            }
        }
        let summary = preview(&file[..], &mapping, &given(), 3).unwrap().summary;
        prop_assert_eq!(summary.rows, summary.tasks + summary.unread + summary.blank);
        prop_assert_eq!(usize::try_from(summary.rows).unwrap(), rows.len());
    }

    /// No bytes end the program.
    #[test]
    fn no_bytes_end_the_program(file in prop::collection::vec(any::<u8>(), 0..300), json in "[\\[\\]{}\":,a0-9.eE \\\\u-]{0,80}") {
        for name in ["shopify", "gloriafood", "meituan", "eleme"] {
            let mapping = Mapping::named(name).unwrap();
            for file in [&file[..], json.as_bytes()] {
                if let Ok(preview) = preview(file, &mapping, &given(), 1) {
                    prop_assert_eq!(preview.summary.tasks, 0);
                }
            }
        }
        let mapping = Mapping::from_toml(TO).unwrap();
        let with_header = [&b"lat,lng,to,note\n"[..], &file].concat();
        prop_assert!(preview(&with_header[..], &mapping, &given(), 1).is_ok() || file.is_empty());
    }
}
