//! Passwords: argon2id at the strength that OWASP asks for (19 MiB, 2 passes, 1 lane), off the threads that answer.

use argon2::{Argon2, PasswordHash, PasswordHasher, PasswordVerifier, password_hash::SaltString};

use super::desk::Desk;

/// What an unknown name is checked against, so that it takes as long as a known one.
const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$ZGlzcGF0Y2gtZGVzay1uYg$\
                      o3eN4eXkDN2a9rpoC4kWIJ+5Vv7e5HsVJ5LhmVeXdnM";

/// Hashes a password with a salt of 128 bits, as one text (PHC).
///
/// # Errors
/// If the salt or the password is out of the range that argon2 takes.
pub fn hash(password: &str, salt: &[u8; 16]) -> Result<String, argon2::password_hash::Error> {
    let salt = SaltString::encode_b64(salt)?;
    Ok(Argon2::default().hash_password(password.as_bytes(), &salt)?.to_string())
}

/// Whether `password` is the one behind `phc`. Without a stored one it takes as long and says no.
pub(super) async fn verify(desk: &Desk, password: String, phc: Option<String>) -> bool {
    let Some(_turn) = desk.hashing_turn().await else { return false };
    let known = phc.is_some();
    let phc = phc.unwrap_or_else(|| NOBODY.to_owned());
    let checked = tokio::task::spawn_blocking(move || {
        PasswordHash::new(&phc).is_ok_and(|parsed| {
            Argon2::default().verify_password(password.as_bytes(), &parsed).is_ok()
        })
    });
    checked.await.unwrap_or(false) && known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_kept_at_the_asked_strength() {
        let phc = hash("正确的 马", &[7; 16]).unwrap_or_default();
        assert!(phc.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{phc}");
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
}
