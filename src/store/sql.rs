//! Statements as text: one for both databases, or one per database where the text must differ.

use serde::Serialize;

/// A statement. Both texts take the same parameters and return the same columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sql {
    pub(super) sqlite: &'static str,
    pub(super) postgres: &'static str,
}

impl Sql {
    /// A statement that both databases read alike.
    pub(super) const fn same(text: &'static str) -> Self {
        Self { sqlite: text, postgres: text }
    }
}

impl Sql {
    /// The statement without its row lock or revision guard, for planted faults alone.
    pub(super) fn unlocked_if(self, planted: bool) -> Self {
        let cut = |text: &'static str, at: &str| {
            text.rfind(at).map_or(text, |index| if planted { &text[..index] } else { text })
        };
        Self { sqlite: self.sqlite, postgres: cut(self.postgres, " FOR NO KEY UPDATE") }
    }

    /// The statement without its last condition, for planted faults alone.
    pub(super) fn unguarded_if(self, planted: bool) -> Self {
        let cut = |text: &'static str| {
            text.rfind(" AND ").map_or(text, |index| if planted { &text[..index] } else { text })
        };
        Self { sqlite: cut(self.sqlite), postgres: cut(self.postgres) }
    }
}

/// The row source of a set-wise statement: one parameter, a JSON array of objects.
///
/// `setwise!(head, rows(column kind, …), tail)` makes `head <source AS r> tail`, where the source is
/// `json_each` on SQLite and `json_to_recordset` on PostgreSQL. Kinds are `int`, `text` and `real`. A last
/// argument is added on PostgreSQL alone: the row lock.
macro_rules! setwise {
    ($head:literal, rows($($column:ident $kind:ident),+), $tail:literal $(, lock $lock:literal)?) => {
        $crate::store::sql::Sql {
            sqlite: concat!(
                $head, "(SELECT 1 AS row_",
                $(", value ->> '", stringify!($column), "' AS ", stringify!($column),)+
                " FROM jsonb_each($1)) AS r", $tail
            ),
            postgres: concat!(
                $head, "json_to_recordset(CAST($1 AS json)) AS r(row_ bigint",
                $(", ", stringify!($column), " ", setwise!(@type $kind),)+
                ")", $tail $(, $lock)?
            ),
        }
    };
    // The same where the ends are put together from literals by macros.
    (@text $head:expr, rows($($column:ident $kind:ident),+), $tail:expr) => {
        $crate::store::sql::Sql {
            sqlite: concat!(
                $head, "(SELECT 1 AS row_",
                $(", value ->> '", stringify!($column), "' AS ", stringify!($column),)+
                " FROM jsonb_each($1)) AS r", $tail
            ),
            postgres: concat!(
                $head, "json_to_recordset(CAST($1 AS json)) AS r(row_ bigint",
                $(", ", stringify!($column), " ", $crate::store::sql::setwise!(@type $kind),)+
                ")", $tail
            ),
        }
    };
    (@type int) => { "bigint" };
    (@type text) => { "text" };
    (@type real) => { "double precision" };
}

pub(super) use setwise;

/// A page over regions: `paged!(head, table, key, which, order(before, direction), limit, tail)` makes
/// `head <keys AS k> tail`.
///
/// Of each region it takes the first `limit` keys of rows `p`, of these the first `limit`; the tail joins what is shown.
/// So a page costs by its own length: a plain join would read and sort all that the regions hold. `$1` is the regions,
/// `which` is what must hold beside the region. The index is on the region, then what `before` names, then the key.
///
/// PostgreSQL is told to order by all of it, and not in a way that it could see through: it would go by the primary key
/// instead, which takes for ever where a region has but few rows.
macro_rules! paged {
    ($head:expr, $table:literal, $key:literal, $which:literal, order($before:literal, $order:literal), $limit:literal,
     $tail:expr) => {
        $crate::store::sql::Sql {
            sqlite: concat!(
                $head,
                "(SELECT q.",
                $key,
                " FROM (SELECT value ->> 'id' AS id FROM jsonb_each($1)) AS r CROSS JOIN ",
                $table,
                " q WHERE q.",
                $key,
                " IN (SELECT p.",
                $key,
                " FROM ",
                $table,
                " p WHERE p.region_id = r.id AND ",
                $which,
                " ORDER BY ",
                $before,
                "p.",
                $key,
                " ",
                $order,
                " LIMIT ",
                $limit,
                ") ORDER BY q.",
                $key,
                " ",
                $order,
                " LIMIT ",
                $limit,
                ") AS k",
                $tail
            ),
            postgres: concat!(
                $head,
                "(SELECT q.",
                $key,
                " FROM json_to_recordset(CAST($1 AS json)) AS r(id bigint) \
                 CROSS JOIN LATERAL (SELECT p.",
                $key,
                " FROM ",
                $table,
                " p WHERE p.region_id = ANY(ARRAY[r.id]) AND ",
                $which,
                " ORDER BY p.region_id ",
                $order,
                ", ",
                $before,
                "p.",
                $key,
                " ",
                $order,
                " LIMIT ",
                $limit,
                ") AS q ORDER BY q.",
                $key,
                " ",
                $order,
                " LIMIT ",
                $limit,
                ") AS k",
                $tail
            ),
        }
    };
}

pub(super) use paged;

/// Rows as the parameter of a set-wise statement.
///
/// Whole numbers travel as JSON numbers: both databases read them exactly over the whole range of 64 bits,
/// and the types here can hold no others. (Beyond it SQLite would turn them into floating point.)
pub(super) fn rows<T: Serialize>(rows: &[T]) -> String {
    serde_json::to_string(rows).expect("rows have only text keys")
}
