//! Pictures that the server draws.

use std::fmt;

use askama::filters::HtmlSafe;
use qrcode::{QrCode, render::svg};

/// A picture as an SVG element. It was made here and holds nothing that anybody typed as it is.
#[derive(Clone, Debug, Default)]
pub(super) struct Picture(String);

impl fmt::Display for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl HtmlSafe for Picture {}

/// A text as a picture that phones read (QR, ISO/IEC 18004), to stand in a page; nothing if it is too long for one.
pub(super) fn qr(text: &str) -> Picture {
    let Ok(code) = QrCode::new(text.as_bytes()) else { return Picture::default() };
    // Black on white in both colour schemes: many cameras read nothing else.
    let picture = code
        .render::<svg::Color<'_>>()
        .min_dimensions(200, 200)
        .dark_color(svg::Color("#000"))
        .light_color(svg::Color("#fff"))
        .build();
    // The declaration before the element is for files, not for pages.
    Picture(picture.find("<svg").map_or_else(String::new, |start| picture[start..].to_owned()))
}

#[cfg(test)]
mod tests {
    use super::qr;

    #[test]
    fn a_picture_is_an_element_without_scripts_and_styles() {
        let picture = qr("https://desk.example/enter/0123456789abcdef").to_string();
        assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"));
        assert!(!picture.contains("style=") && !picture.contains("<script"));
        assert_eq!(qr(&"x".repeat(8_000)).to_string(), "", "too long for a picture");
    }
}
