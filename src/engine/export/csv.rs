//! Cells of a table for spreadsheets, which take some texts for formulas (CWE-1236; OWASP ASVS 5.0 1.2.10).

/// What a text may not start with, lest a spreadsheet runs it: signs of a formula, the same in full width, and what
/// spreadsheets skip in front of one.
const FORMULA: [char; 12] = ['=', '+', '-', '@', '\t', '\r', '\n', '\0', '＝', '＋', '－', '＠'];

/// A text as a cell: always quoted, and never a formula. One that might be has an apostrophe in front.
pub fn csv_text(text: &str) -> String {
    let apostrophe = if text.starts_with(FORMULA) { "'" } else { "" };
    format!("\"{apostrophe}{}\"", text.replace('"', "\"\""))
}

/// A number as a cell: bare, since -5 is a number.
pub fn csv_number(number: i64) -> String {
    number.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_a_formula() {
        for (text, cell) in [
            ("=1+1", "\"'=1+1\""),
            ("+1", "\"'+1\""),
            ("-5", "\"'-5\""),
            ("@SUM(A1)", "\"'@SUM(A1)\""),
            ("\t=1", "\"'\t=1\""),
            ("\r=1", "\"'\r=1\""),
            ("\n=1", "\"'\n=1\""),
            ("\0=1", "\"'\0=1\""),
            ("＝1+1", "\"'＝1+1\""),
            ("＋1", "\"'＋1\""),
            ("－1", "\"'－1\""),
            ("＠SUM(A1)", "\"'＠SUM(A1)\""),
        ] {
            assert_eq!(csv_text(text), cell, "{text:?}");
        }
    }

    #[test]
    fn a_text_stays_in_its_cell() {
        for (text, cell) in [
            ("", "\"\""),
            ("a", "\"a\""),
            ("a=b", "\"a=b\""),
            ("\"=1\"", "\"\"\"=1\"\"\""),
            ("x\",=cmd", "\"x\"\",=cmd\""),
            ("a;b,c\r\nd", "\"a;b,c\r\nd\""),
        ] {
            assert_eq!(csv_text(text), cell, "{text:?}");
        }
        assert_eq!(csv_number(-5), "-5");
    }
}
