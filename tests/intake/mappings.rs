//! The mappings themselves: those that come with the program, and what is told about a bad one.

use dispatch_desk::intake::{Mapping, MappingError};

#[test]
fn every_mapping_can_be_read_and_says_what_it_is() {
    let names = Mapping::names();
    assert_eq!(names.len(), 18);
    for (name, about) in &names {
        let mapping = Mapping::named(name).expect(name);
        assert_eq!(mapping.about(), about);
        assert!(about.contains(" / ") && about.len() > 20, "{name} says it in both languages");
        let text = Mapping::text(name).expect(name);
        assert!(text.starts_with("# ") && text.contains("# Refuses:") || *name == "bus", "{name}");
        assert_eq!(mapping.reads_positions(), *name == "bus", "{name}");
    }
    assert_eq!(Mapping::named("nobody").err(), Some(MappingError::Unknown("nobody".to_owned())));
}

#[test]
fn a_bad_mapping_is_told_with_the_field() {
    let good = "about = 'x'\nformat = 'csv'\nkey = '{id}'\npickup = { given = true }\n\
                dropoff = { lat = 'lat', lng = 'lng', address = 'to' }\n";
    Mapping::from_toml(good).unwrap();
    for (old, new, told) in [
        ("format = 'csv'", "format = 'xml'", "unknown variant `xml`"),
        ("about", "abuot", "unknown field `abuot`"),
        ("'{id}'", "'{id'", "a brace does not close"),
        ("lat = 'lat', ", "", "either lat and lng, or point"),
        (", address = 'to'", "", "a stop needs an address"),
        ("key = '{id}'", "", "key: a task needs it"),
        (
            "format = 'csv'",
            "format = 'csv'\nzone = 'Mars/Base'\ndue_at = { from = 'a', formats = [] }",
            "no time zone Mars/Base",
        ),
        (
            "format = 'csv'",
            "format = 'csv'\ndue_at = { from = 'a', formats = ['soon'] }",
            "no form of times: soon",
        ),
        ("format = 'csv'", "format = 'csv'\nfee = { from = 'a', decimals = 9 }", "0 to 4 decimals"),
        ("format = 'csv'", "format = 'csv'\nnote = 7", "a source, a list of sources"),
        ("format = 'csv'", "format = 'json'", "a JSON pointer starts with /"),
        ("format = 'csv'", "format = 'csv'\nseparator = '，'", "one ASCII character"),
    ] {
        assert!(good.contains(old), "{old}");
        let error = Mapping::from_toml(&good.replacen(old, new, 1)).expect_err(new).to_string();
        assert!(error.contains(told), "{new}: {error}");
    }
}
