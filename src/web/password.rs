//! Passwords: argon2id at the strength that OWASP asks for (19 MiB, 2 passes, 1 lane), off the threads that answer.

use argon2::{Argon2, PasswordHash, PasswordHasher, PasswordVerifier, password_hash::SaltString};

use super::{
    desk::Desk,
    hashing::{Crowded, Place},
};

/// What an unknown name is checked against, so that it takes as long as a known one.
const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$ZGlzcGF0Y2gtZGVzay1uYg$\
                      o3eN4eXkDN2a9rpoC4kWIJ+5Vv7e5HsVJ5LhmVeXdnM";
/// What every hash that we make begins with.
const STRENGTH: &str = "$argon2id$v=19$m=19456,t=2,p=1$";

/// A new password has at least so many characters.
pub const SHORTEST: usize = 12;
/// And at most so many.
pub const LONGEST: usize = 128;
/// Words that make a password of this product easy to guess.
const OF_THE_PRODUCT: &[&str] =
    &["dispatch", "desk", "diaodu", "paidan", "paidantai", "派单台", "调度", "rider"];

/// Why a password will not do. Any characters do, as they are; none is asked for (OWASP ASVS 5.0, 6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// Fewer than [`SHORTEST`] characters.
    Short,
    /// More than [`LONGEST`] characters.
    Long,
    /// Among the first that are tried: common, or made of the owner's names or the product's words.
    Guessable,
}

/// Looks at a new password. `names`: what others know of its owner.
///
/// # Errors
/// [`Unfit`].
pub fn fit(password: &str, names: &[&str]) -> Result<(), Unfit> {
    let length = password.chars().count();
    if length < SHORTEST {
        return Err(Unfit::Short);
    }
    if length > LONGEST || password.contains('\0') {
        return Err(Unfit::Long);
    }
    let words: Vec<&str> = OF_THE_PRODUCT.iter().chain(names).copied().collect();
    let guesses = zxcvbn::zxcvbn(password, &words).guesses_log10();
    if guesses < 8.0 { Err(Unfit::Guessable) } else { Ok(()) }
}

/// Hashes a password with a salt of 128 bits, as one text (PHC).
///
/// # Errors
/// If the salt or the password is out of the range that argon2 takes.
pub fn hash(password: &str, salt: &[u8; 16]) -> Result<String, argon2::password_hash::Error> {
    let salt = SaltString::encode_b64(salt)?;
    Ok(Argon2::default().hash_password(password.as_bytes(), &salt)?.to_string())
}

/// Whether a hash was made at less than the strength that we use now.
pub(super) fn is_weak(phc: &str) -> bool {
    !phc.starts_with(STRENGTH)
}

/// Whether `password` is the one behind `phc`. Without a stored one it takes as long and says no.
pub(super) async fn verify(place: Place, password: String, phc: Option<String>) -> bool {
    let known = phc.is_some();
    let phc = phc.unwrap_or_else(|| NOBODY.to_owned());
    let checked = place.run(move || {
        PasswordHash::new(&phc).is_ok_and(|parsed| {
            Argon2::default().verify_password(password.as_bytes(), &parsed).is_ok()
        })
    });
    checked.await.unwrap_or(false) && known
}

/// The hash of a new password; `None` if there is no randomness.
pub(super) async fn make(desk: &Desk, password: String) -> Result<Option<String>, Crowded> {
    let place = desk.hashing().join()?;
    let Ok(salt) = desk.salt() else { return Ok(None) };
    Ok(place.run(move || hash(&password, &salt).ok()).await.flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_kept_at_the_asked_strength() {
        let phc = hash("正确的 马", &[7; 16]).unwrap_or_default();
        assert!(phc.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{phc}");
        assert!(!is_weak(&phc));
        assert!(is_weak("$argon2id$v=19$m=4096,t=3,p=1$"));
        let parsed = PasswordHash::new(&phc);
        let fits = |password: &str| {
            parsed.as_ref().is_ok_and(|parsed| {
                Argon2::default().verify_password(password.as_bytes(), parsed).is_ok()
            })
        };
        assert!(fits("正确的 马"));
        assert!(!fits("正确的 马 "));
    }

    #[test]
    fn an_unknown_name_costs_as_much_as_a_known_one() {
        let parsed = PasswordHash::new(NOBODY);
        assert!(parsed.is_ok_and(|parsed| parsed.to_string().contains("m=19456,t=2,p=1")));
    }

    #[test]
    fn what_is_tried_first_will_not_do() {
        for (password, unfit) in [
            ("short-11-ch", Unfit::Short),
            ("password1234", Unfit::Guessable),
            ("diaodu123456", Unfit::Guessable),
            ("dispatchdesk", Unfit::Guessable),
            ("qwertyuiop12", Unfit::Guessable),
            ("aaaaaaaaaaaaaaaa", Unfit::Guessable),
            ("wang.xiaoming1", Unfit::Guessable),
        ] {
            assert_eq!(fit(password, &["wang.xiaoming"]), Err(unfit), "{password}");
        }
        assert_eq!(fit(&"界".repeat(129), &[]), Err(Unfit::Long));
    }

    #[test]
    fn any_characters_do_as_they_are() {
        for password in [
            "correct horse battery staple",
            "  spaces count, too  ",
            "派单台旁边的银杏树下午三点",
            "v7#kP-2mQ!xT9",
        ] {
            assert_eq!(fit(password, &["wang"]), Ok(()), "{password}");
        }
        // 64 characters, the fewest that must be allowed.
        let words = "river piano candle 银杏 window saddle 灯塔 copper 羊毛 lantern oyster 9";
        let long: String = words.chars().cycle().take(64).collect();
        assert_eq!(fit(&long, &[]), Ok(()));
    }
}
