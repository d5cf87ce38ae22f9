//! The `OpenAPI` document as a promise: whatever was answered must stand in it, with its status, its type and its
//! shape. Strict where the document is silent: a field that it does not name is a finding, and so is a keyword of
//! JSON Schema that this checker does not know.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

/// The document.
#[derive(Debug)]
pub struct Book {
    document: Value,
}

/// An answer that is to be checked.
#[derive(Clone, Copy, Debug)]
pub struct Said<'a> {
    pub method: &'a str,
    /// Without the query.
    pub path: &'a str,
    pub status: u16,
    pub media: Option<&'a str>,
    pub body: &'a str,
    /// The names of the headers.
    pub headers: &'a [String],
}

impl Book {
    pub fn new(document: Value) -> Self {
        Self { document }
    }

    pub fn document(&self) -> &Value {
        &self.document
    }

    /// Every operation as `METHOD path`, with its description.
    pub fn operations(&self) -> BTreeMap<String, &Value> {
        let mut all = BTreeMap::new();
        for (path, item) in object(&self.document["paths"]) {
            for (method, operation) in object(item) {
                if ["get", "post", "put", "patch", "delete"].contains(&method.as_str()) {
                    all.insert(format!("{} {path}", method.to_uppercase()), operation);
                }
            }
        }
        all
    }

    /// Every documented path.
    pub fn paths(&self) -> Vec<&str> {
        object(&self.document["paths"]).keys().map(String::as_str).collect()
    }

    /// The documented path that a real one belongs to.
    fn template(&self, path: &str) -> Option<&str> {
        let fits = |template: &&str| {
            let (mut known, mut real) = (template.split('/'), path.split('/'));
            loop {
                match (known.next(), real.next()) {
                    (None, None) => return true,
                    (Some(known), Some(real)) => {
                        let any = known.starts_with('{') && !real.is_empty();
                        if !any && known != real {
                            return false;
                        }
                    }
                    _ => return false,
                }
            }
        };
        let fitting: Vec<_> = self.paths().into_iter().filter(fits).collect();
        // `/tasks/{id}/offer` before anything with more variables.
        fitting.into_iter().min_by_key(|path| path.matches('{').count())
    }

    /// What is wrong with an answer, by the document.
    pub fn findings(&self, said: &Said<'_>) -> Vec<String> {
        let Said { method, path, status, media, body, headers } = *said;
        let Some(template) = self.template(path) else {
            let known = status == 404 || path == "/api/v1/openapi.json";
            return if known { Vec::new() } else { vec![format!("{path} is not documented")] };
        };
        let method = if method == "HEAD" { "GET" } else { method };
        let name = format!("{method} {template}");
        let operation = &self.document["paths"][template][method.to_lowercase()];
        if operation.is_null() {
            let known = status == 405 && headers.iter().any(|header| header == "allow");
            return if known { Vec::new() } else { vec![format!("{name} is not documented")] };
        }
        let response = &operation["responses"][status.to_string()];
        if response.is_null() {
            return vec![format!("{name}: status {status} is not documented: {body}")];
        }
        let mut findings = Vec::new();
        for (header, _) in response["headers"].as_object().into_iter().flatten() {
            if !headers.contains(&header.to_lowercase()) {
                findings.push(format!("{name} {status}: no header {header}"));
            }
        }
        if said.method == "HEAD" {
            return findings;
        }
        let media = media.unwrap_or_default().split(';').next().unwrap_or_default();
        let content = &response["content"][media];
        if content.is_null() {
            findings.push(format!("{name} {status}: type {media:?} is not documented"));
            return findings;
        }
        if media.ends_with("json") {
            match serde_json::from_str::<Value>(body) {
                Ok(value) => {
                    let at = format!("{name} {status}");
                    self.check(&content["schema"], &value, &at, true, &mut findings);
                }
                Err(error) => findings.push(format!("{name} {status}: no JSON: {error}")),
            }
        }
        findings
    }

    fn resolve<'a>(&'a self, schema: &'a Value) -> &'a Value {
        match schema["$ref"].as_str() {
            None => schema,
            Some(to) => {
                let pointer = to.strip_prefix('#').expect("a place in the same document");
                let found = self.document.pointer(pointer);
                self.resolve(found.unwrap_or_else(|| panic!("{to} is not in the document")))
            }
        }
    }

    /// The fields that a schema names, with those of its parts.
    fn named(&self, schema: &Value, names: &mut BTreeSet<String>) {
        let schema = self.resolve(schema);
        names
            .extend(schema["properties"].as_object().into_iter().flatten().map(|(n, _)| n.clone()));
        for part in ["allOf", "anyOf", "oneOf"] {
            for part in schema[part].as_array().into_iter().flatten() {
                self.named(part, names);
            }
        }
    }

    fn check(
        &self,
        schema: &Value,
        value: &Value,
        at: &str,
        closed: bool,
        findings: &mut Vec<String>,
    ) {
        let schema = self.resolve(schema);
        let Some(rules) = schema.as_object() else {
            findings.push(format!("{at}: no schema"));
            return;
        };
        for (rule, wanted) in rules {
            let mut wrong = |what: String| findings.push(format!("{at}: {what}: {value}"));
            match rule.as_str() {
                "description"
                | "examples"
                | "example"
                | "title"
                | "default"
                | "required"
                | "additionalProperties"
                // What a request has to keep, not an answer.
                | "minLength"
                | "maxLength"
                | "pattern"
                | "minItems"
                | "maxItems"
                | "uniqueItems" => {}
                "type" => {
                    if !types(wanted).iter().any(|kind| is(value, kind)) {
                        wrong(format!("is no {wanted}"));
                    }
                }
                "format" => {
                    if let Some(what) = misformed(wanted.as_str().unwrap_or_default(), value) {
                        wrong(what);
                    }
                }
                "enum" => {
                    if !wanted.as_array().is_some_and(|known| known.contains(value)) {
                        wrong(format!("is none of {wanted}"));
                    }
                }
                "minimum" | "maximum" => {
                    let (is, limit) = (value.as_f64(), wanted.as_f64());
                    let fits = match rule.as_str() {
                        "minimum" => is >= limit,
                        _ => is <= limit,
                    };
                    if value.is_number() && !fits {
                        wrong(format!("breaks {rule} {wanted}"));
                    }
                }
                "items" => {
                    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(wanted, item, &format!("{at}/{index}"), true, findings);
                    }
                }
                "properties" => {
                    for (name, field) in wanted.as_object().into_iter().flatten() {
                        if let Some(value) = value.get(name) {
                            self.check(field, value, &format!("{at}/{name}"), true, findings);
                        }
                    }
                }
                "allOf" => {
                    for part in wanted.as_array().into_iter().flatten() {
                        self.check(part, value, at, false, findings);
                    }
                }
                "oneOf" | "anyOf" => {
                    let tries: Vec<Vec<String>> = (wanted.as_array().into_iter().flatten())
                        .map(|part| {
                            let mut findings = Vec::new();
                            self.check(part, value, at, true, &mut findings);
                            findings
                        })
                        .collect();
                    if !tries.iter().any(Vec::is_empty) {
                        findings.extend(tries.into_iter().flatten());
                    }
                }
                other => panic!("{at}: the checker does not know the keyword {other}"),
            }
        }
        let Some(fields) = value.as_object() else { return };
        for name in schema["required"].as_array().into_iter().flatten() {
            let name = name.as_str().unwrap_or_default();
            if !fields.contains_key(name) {
                findings.push(format!("{at}: {name} is missing"));
            }
        }
        let choice = rules.contains_key("oneOf") || rules.contains_key("anyOf");
        if closed && !choice {
            let mut names = BTreeSet::new();
            self.named(schema, &mut names);
            for name in fields.keys().filter(|name| !names.contains(*name)) {
                findings.push(format!("{at}: {name} is not documented"));
            }
        }
    }
}

fn object(value: &Value) -> &Map<String, Value> {
    value.as_object().expect("an object")
}

fn types(wanted: &Value) -> Vec<&str> {
    match wanted {
        Value::String(one) => vec![one],
        many => many.as_array().into_iter().flatten().filter_map(Value::as_str).collect(),
    }
}

fn is(value: &Value, kind: &str) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("no such type: {other}"),
    }
}

fn misformed(format: &str, value: &Value) -> Option<String> {
    match format {
        "date-time" => {
            let text = value.as_str()?;
            chrono::DateTime::parse_from_rfc3339(text).err().map(|error| error.to_string())
        }
        "int32" => {
            let number = value.as_i64()?;
            i32::try_from(number).err().map(|error| error.to_string())
        }
        "int64" | "double" | "float" | "" => None,
        other => panic!("the checker does not know the format {other}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn book() -> Book {
        Book::new(json!({
            "paths": { "/a/{id}": { "get": { "responses": { "200": { "content": {
                "application/json": { "schema": { "$ref": "#/components/schemas/A" } }
            } } } } } },
            "components": { "schemas": { "A": { "type": "object", "required": ["n"], "properties": {
                "n": { "type": "integer", "format": "int64" },
                "s": { "type": ["string", "null"], "enum": ["x", null] },
                "list": { "type": "array", "items": { "type": "string", "format": "date-time" } }
            } } } }
        }))
    }

    fn findings(status: u16, media: &str, body: &str) -> usize {
        let said =
            Said { method: "GET", path: "/a/1", status, media: Some(media), body, headers: &[] };
        book().findings(&said).len()
    }

    #[test]
    fn what_fits_fits_and_what_does_not_is_found() {
        let good = "application/json";
        assert_eq!(findings(200, good, r#"{"n":1,"s":"x","list":["2026-11-30T04:00:00Z"]}"#), 0);
        assert_eq!(findings(200, "application/json; charset=utf-8", r#"{"n":1}"#), 0);
        for bad in [
            "{}",
            "[]",
            "{",
            r#"{"n":"1"}"#,
            r#"{"n":1.5}"#,
            r#"{"n":1,"more":1}"#,
            r#"{"n":1,"s":"y"}"#,
            r#"{"n":1,"list":["yesterday"]}"#,
        ] {
            assert_eq!(findings(200, good, bad), 1, "{bad}");
        }
        assert_eq!(findings(200, "text/plain", r#"{"n":1}"#), 1);
        assert_eq!(findings(500, good, r#"{"n":1}"#), 1);
    }
}
