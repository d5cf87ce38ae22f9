//! Phone numbers as lists show them: enough to tell two apart, not enough to call (OWASP ASVS 5.0, 14.2.6).

/// `138****1234`. Of a short one only the last two characters are left.
pub(super) fn masked(phone: &str) -> String {
    let characters: Vec<char> = phone.chars().collect();
    let (first, last) =
        if characters.len() >= 9 { (3, 4) } else { (0, 2.min(characters.len() / 2)) };
    let head: String = characters[..first].iter().collect();
    let tail: String = characters[characters.len() - last..].iter().collect();
    format!("{head}****{tail}")
}

#[cfg(test)]
mod tests {
    use super::masked;

    #[test]
    fn the_middle_of_a_number_is_not_shown() {
        assert_eq!(masked("13800001234"), "138****1234");
        assert_eq!(masked("+8613800001234"), "+86****1234");
        assert_eq!(masked("12345"), "****45");
        assert_eq!(masked("1"), "****");
        assert_eq!(masked(""), "****");
    }
}
