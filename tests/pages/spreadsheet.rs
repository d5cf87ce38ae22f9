//! An export as a spreadsheet program opens it: `LibreOffice` itself.
//!
//! Needs Debian's `libreoffice-calc-nogui`. Without it the test says that it skips, or fails if
//! `CI_REQUIRE_SPREADSHEET=1`.

use std::{path::Path, process::Command};

use crate::{
    audit::{PAYLOADS, export_of_payloads},
    harness::Site,
};

/// The file as `LibreOffice` understands it, as one document of XML: told to work out whatever looks like a formula.
fn opened(folder: &Path, name: &str, text: &str) -> Option<String> {
    let csv = folder.join(name);
    std::fs::write(&csv, text).unwrap();
    let profile = format!("-env:UserInstallation=file://{}/profile", folder.display());
    // Comma, quote, UTF-8, from line 1; all columns by themselves, quoted fields too, special numbers, formulas.
    let read =
        "--infilter=Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1,true";
    let run = Command::new("soffice")
        .args([&profile, "--headless", "--norestore", read, "--convert-to", "fods", "--outdir"])
        .arg(folder)
        .arg(&csv)
        .output();
    let run = match run {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let required = std::env::var("CI_REQUIRE_SPREADSHEET").is_ok_and(|value| value == "1");
            assert!(!required, "it needs a spreadsheet: apt-get install libreoffice-calc-nogui");
            eprintln!("LibreOffice SKIPPED: it is not installed");
            return None;
        }
        other => other.unwrap(),
    };
    let document = std::fs::read_to_string(csv.with_extension("fods"));
    Some(document.unwrap_or_else(|error| panic!("{error}: {run:?}")))
}

fn formulas(document: &str) -> usize {
    document.matches("table:formula=").count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_cell_of_an_export_is_a_formula_in_libreoffice() {
    let site = Site::open().await;
    let export = export_of_payloads(&site).await;
    let folder = tempfile::tempdir().unwrap();
    let Some(document) = opened(folder.path(), "export.csv", &export) else {
        return site.close().await;
    };
    assert_eq!(formulas(&document), 0, "{document}");
    // All of it is there, as text,
    let hyperlink = document.matches("=HYPERLINK(").count();
    // Equal cells beside each other are written once.
    assert!(hyperlink >= 3, "the texts are shown as they are: {hyperlink}");
    // and the same texts without our care are formulas.
    let mut bare = csv::Writer::from_writer(Vec::new());
    for payload in PAYLOADS {
        bare.write_record([payload]).unwrap();
    }
    let bare = String::from_utf8(bare.into_inner().unwrap()).unwrap();
    let document = opened(folder.path(), "bare.csv", &bare).unwrap();
    assert!(formulas(&document) >= 2, "what is found would be found: {document}");
    site.close().await;
}
