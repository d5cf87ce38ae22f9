//! Form bodies (`a=1&b=2`), as some systems send their orders, one per line.

use super::json::Json;

/// Whether the start of a file looks like a form body: `word=…` before anything else.
pub(super) fn is_form(head: &[u8]) -> bool {
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let name =
        line.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    name > 0 && line.get(name) == Some(&b'=') && line.contains(&b'&')
}

/// The fields of a form as a flat map of texts; `None` if it is not UTF-8 or not a form.
pub(super) fn fields(line: &[u8]) -> Option<Json> {
    let pairs = line.split(|byte| *byte == b'&').map(|pair| {
        let mut parts = pair.splitn(2, |byte| *byte == b'=');
        let name = decoded(parts.next()?)?;
        Some((name, Json::Text(decoded(parts.next().unwrap_or_default())?)))
    });
    pairs.collect::<Option<Vec<_>>>().map(Json::Map)
}

fn decoded(text: &[u8]) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        at += 1;
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = std::str::from_utf8(text.get(at..at + 2)?).ok()?;
                at += 2;
                u8::from_str_radix(digits, 16).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_told_from_csv_and_read() {
        assert!(is_form(b"order_id=1&x=%E7%8E%8B+a\n"));
        for other in [&b"a,b=c&d\n"[..], b"{\"a\":1}", b"a=b\n1&2", b"", b"=&"] {
            assert!(!is_form(other));
        }
        let form = fields(b"a=%E7%8E%8B+1&b=&c").expect("a form");
        assert_eq!(form.member("a"), Some(&Json::Text("王 1".to_owned())));
        assert_eq!(form.member("b"), form.member("c"));
        assert!(fields(b"a=%FF").is_none() && fields(b"a=%2").is_none());
    }
}
