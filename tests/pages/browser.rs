//! A browser without scripts and without pictures: keeps cookies, follows 303, and sends a form as browsers do.

use std::collections::BTreeMap;

use reqwest::{
    Client, Method, RequestBuilder, StatusCode, header,
    header::{HeaderMap, HeaderName},
    redirect::Policy,
};
use scraper::{ElementRef, Html, Selector};

use crate::harness::Site;

/// One browser: its cookies are its own.
#[derive(Clone, Debug)]
pub struct Browser {
    http: Client,
    base: String,
    origin: String,
    language: &'static str,
    pub cookies: BTreeMap<String, String>,
}

/// What came back.
#[derive(Clone, Debug)]
pub struct Page {
    pub status: StatusCode,
    /// The path and query that it stands at.
    pub path: String,
    pub headers: HeaderMap,
    pub html: String,
}

/// A form, filled in.
#[derive(Clone, Debug)]
pub struct Form {
    pub action: String,
    fields: Vec<Field>,
}

#[derive(Clone, Debug)]
struct Field {
    name: String,
    value: String,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Hidden,
    Line(usize),
    Text(usize),
    Check { value: String, checked: bool },
    Select(Vec<String>),
}

pub fn select(css: &str) -> Selector {
    Selector::parse(css).expect("a selector")
}

/// The text below an element, as it is read: with single spaces.
pub fn words_of(element: ElementRef<'_>) -> String {
    element.text().collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether an answer goes on for as long as it can.
pub fn is_stream(headers: &header::HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
}

impl Browser {
    /// A browser without cookies that prefers English.
    pub fn new(site: &Site) -> Self {
        Self {
            http: Client::builder().redirect(Policy::none()).build().expect("a client"),
            base: format!("http://{}", site.address),
            origin: site.origin.clone(),
            language: "en",
            cookies: BTreeMap::new(),
        }
    }

    /// A browser that prefers Chinese.
    pub fn chinese(self) -> Self {
        Self { language: "zh-CN,zh;q=0.9", ..self }
    }

    /// Signs in by a link, as the one that it is for.
    pub async fn enter(site: &Site, actor: &dispatch_desk::domain::command::Actor) -> Self {
        let mut browser = Self::new(site);
        browser.enter_as(site, actor).await;
        browser
    }

    /// The same in this browser.
    pub async fn enter_as(&mut self, site: &Site, actor: &dispatch_desk::domain::command::Actor) {
        let link = site.link(actor).await;
        let page = self.get(&link).await;
        let page = self.send(&page.only_form()).await;
        assert_eq!(page.status, 200, "{}", page.html);
    }

    /// A request with what every browser says.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let mut request = self
            .http
            .request(method, format!("{}{path}", self.base))
            .header(header::ACCEPT, "text/html,application/xhtml+xml,*/*;q=0.8")
            .header(header::ACCEPT_LANGUAGE, self.language);
        if !self.cookies.is_empty() {
            let cookies: Vec<_> =
                self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
            request = request.header(header::COOKIE, cookies.join("; "));
        }
        request
    }

    /// Sends it and keeps the cookies; follows nothing.
    pub async fn once(&mut self, request: RequestBuilder) -> Page {
        self.run(request.build().expect("a request")).await
    }

    /// The same with a request that is ready.
    pub async fn run(&mut self, request: reqwest::Request) -> Page {
        let mut response = self.http.execute(request).await.expect("an answer");
        let (status, headers) = (response.status(), response.headers().clone());
        let url = response.url();
        let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
        let path = format!("{}{query}", url.path());
        for line in headers.get_all(header::SET_COOKIE) {
            self.keep(line.to_str().expect("a cookie of visible characters"));
        }
        let html = if is_stream(&headers) {
            // It has no end: its first words are enough here.
            let first = response.chunk().await.expect("a frame").unwrap_or_default();
            String::from_utf8(first.to_vec()).expect("UTF-8")
        } else {
            response.text().await.expect("a body in UTF-8")
        };
        Page { status, path, headers, html }
    }

    fn keep(&mut self, line: &str) {
        let mut parts = line.split(';').map(str::trim);
        let (name, value) = parts.next().and_then(|pair| pair.split_once('=')).expect("name=value");
        let attributes: Vec<_> = parts.map(str::to_ascii_lowercase).collect();
        let secure = attributes.iter().any(|attribute| attribute == "secure");
        assert!(!secure || self.origin.starts_with("https"), "a browser would not keep {line}");
        if attributes.iter().any(|attribute| attribute == "max-age=0") {
            self.cookies.remove(name);
        } else {
            self.cookies.insert(name.to_owned(), value.to_owned());
        }
    }

    /// Opens a page, and follows where it leads.
    pub async fn get(&mut self, path: &str) -> Page {
        let request = self.request(Method::GET, path);
        let page = self.once(request).await;
        self.follow(page).await
    }

    /// Goes where an answer leads.
    pub async fn follow(&mut self, mut page: Page) -> Page {
        for _ in 0..5 {
            let Some(to) = page.leads_to() else { return page };
            assert!(to.starts_with('/') && !to.starts_with("//"), "it leads away: {to}");
            let request = self.request(Method::GET, &to);
            page = self.once(request).await;
        }
        panic!("it leads on and on: {}", page.path)
    }

    /// A request that changes something, with what browsers say of the page that it comes from.
    pub fn post(&self, path: &str) -> RequestBuilder {
        self.request(Method::POST, path)
            .header(header::ORIGIN, &self.origin)
            .header(HeaderName::from_static("sec-fetch-site"), "same-origin")
    }

    /// The word that forms of this browser's session carry: derived from the cookie, as anybody can who has it.
    pub fn word(&self, cookie: &str) -> String {
        use sha2::{Digest, Sha256};
        let session = self.cookies.get(cookie).map(String::as_str).unwrap_or_default();
        let digest = Sha256::digest(format!("dispatch-desk form{session}"));
        digest[..16].iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
    }

    /// Sends a form, and follows nothing.
    pub async fn submit(&mut self, form: &Form) -> Page {
        let request = self.post(&form.action).form(&form.sent());
        self.once(request).await
    }

    /// Sends a form, and follows where it leads.
    pub async fn send(&mut self, form: &Form) -> Page {
        let page = self.submit(form).await;
        self.follow(page).await
    }
}

impl Page {
    /// Where a redirect leads to.
    pub fn leads_to(&self) -> Option<String> {
        let to = self.headers.get(header::LOCATION)?;
        assert_eq!(self.status, 303, "a page is fetched after a form, and nothing is sent twice");
        Some(to.to_str().expect("an address").to_owned())
    }

    pub fn document(&self) -> Html {
        Html::parse_document(&self.html)
    }

    /// Everything that a reader reads below `css`.
    pub fn text_of(&self, css: &str) -> String {
        let document = self.document();
        let texts: Vec<_> = document.select(&select(css)).map(words_of).collect();
        texts.join(" | ")
    }

    /// Everything that a reader reads.
    pub fn text(&self) -> String {
        self.text_of("main")
    }

    #[track_caller]
    pub fn says(&self, text: &str) -> &Self {
        assert!(self.text().contains(text), "{}: no {text:?} in: {}", self.path, self.text());
        self
    }

    #[track_caller]
    pub fn hides(&self, text: &str) -> &Self {
        assert!(!self.html.contains(text), "{}: {text:?} stands in: {}", self.path, self.html);
        self
    }

    #[track_caller]
    pub fn is(&self, status: u16) -> &Self {
        assert_eq!(self.status, status, "{}: {}", self.path, self.text());
        self
    }

    /// The kind of the answer that it shows: `done`, `already`, `refused`; none is "".
    pub fn answer(&self) -> String {
        let document = self.document();
        let found = document.select(&select("#answer")).next();
        let class = found.and_then(|found| found.attr("class")).unwrap_or_default();
        class.replace("box", "").trim().to_owned()
    }

    /// The path of the first task that it leads to.
    #[track_caller]
    pub fn first_task(&self) -> String {
        let document = self.document();
        let tasks = select("a.id[href]");
        document
            .select(&tasks)
            .next()
            .and_then(|link| link.attr("href"))
            .expect("a task")
            .to_owned()
    }

    /// All forms that send something, in order: those that only look (`get`) change nothing.
    pub fn forms(&self) -> Vec<Form> {
        let document = self.document();
        let looks = |form: &ElementRef<'_>| form.attr("method") == Some("get");
        document.select(&select("form")).filter(|form| !looks(form)).map(Form::read).collect()
    }

    /// The form that is sent to `action`.
    #[track_caller]
    pub fn form(&self, action: &str) -> Form {
        let mut forms = self.forms();
        let known: Vec<_> = forms.iter().map(|form| form.action.clone()).collect();
        let at = known.iter().position(|known| known == action);
        forms.swap_remove(at.unwrap_or_else(|| panic!("{}: no {action} in {known:?}", self.path)))
    }

    /// The one form in the page's own part.
    #[track_caller]
    pub fn only_form(&self) -> Form {
        let document = self.document();
        let mut forms: Vec<_> = document.select(&select("main form")).map(Form::read).collect();
        assert_eq!(forms.len(), 1, "{} has other than one form: {}", self.path, self.text());
        forms.remove(0)
    }
}

/// What browsers make of a single line: line ends are left out.
fn one_line(text: &str) -> String {
    text.replace(['\r', '\n'], "")
}

impl Form {
    /// A form without fields, as a script makes it.
    pub fn bare(action: &str) -> Self {
        Self { action: action.to_owned(), fields: Vec::new() }
    }

    fn read(form: ElementRef<'_>) -> Self {
        let action = form.attr("action").expect("a form says where it is sent to").to_owned();
        assert_eq!(form.attr("method"), Some("post"), "{action}");
        let fields = select("input, select, textarea");
        let fields = form.select(&fields).filter(|field| field.attr("disabled").is_none());
        Self { action, fields: fields.map(Field::read).collect() }
    }

    /// What is in a field now.
    #[track_caller]
    pub fn value(&self, name: &str) -> &str {
        let found = self.fields.iter().find(|field| field.name == name);
        &found.unwrap_or_else(|| panic!("{} has no field {name}", self.action)).value
    }

    /// Whether a box is checked.
    pub fn is_checked(&self, name: &str) -> bool {
        let checked = |kind: &Kind| matches!(kind, Kind::Check { checked: true, .. });
        self.fields.iter().any(|field| field.name == name && checked(&field.kind))
    }

    /// The choices of a list.
    #[track_caller]
    pub fn choices(&self, name: &str) -> &[String] {
        match self.fields.iter().find(|field| field.name == name).map(|field| &field.kind) {
            Some(Kind::Select(choices)) => choices,
            other => panic!("{name} is no list: {other:?}"),
        }
    }

    /// Fills a field in as a person can: a line has no line ends, a list only its choices.
    #[track_caller]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        let field = self.fields.iter_mut().find(|field| field.name == name);
        let field = field.unwrap_or_else(|| panic!("{} has no field {name}", self.action));
        let long = value.encode_utf16().count();
        match &mut field.kind {
            Kind::Hidden => panic!("{name} is hidden"),
            Kind::Line(most) | Kind::Text(most) => {
                assert!(long <= *most, "{name} takes {most} characters, not {long}");
                value.clone_into(&mut field.value);
            }
            Kind::Check { checked, .. } => *checked = value == "on",
            Kind::Select(choices) => {
                assert!(choices.iter().any(|choice| choice == value), "no {value} in {choices:?}");
                value.clone_into(&mut field.value);
            }
        }
        field.value = field.shown();
        self
    }

    /// Sets a field to anything, as only a script can.
    pub fn forged(mut self, name: &str, value: &str) -> Self {
        self.fields.retain(|field| field.name != name);
        let (name, value) = (name.to_owned(), value.to_owned());
        self.fields.push(Field { name, value, kind: Kind::Hidden });
        self
    }

    /// The fields as they are sent.
    pub fn sent(&self) -> Vec<(String, String)> {
        let line_ends = |text: &str| text.replace("\r\n", "\n").replace('\n', "\r\n");
        self.fields
            .iter()
            .filter_map(|field| {
                let value = match &field.kind {
                    Kind::Check { checked: false, .. } => return None,
                    Kind::Check { value, .. } => value,
                    Kind::Hidden | Kind::Line(_) | Kind::Text(_) | Kind::Select(_) => &field.value,
                };
                Some((field.name.clone(), line_ends(value)))
            })
            .collect()
    }
}

impl Field {
    fn read(field: ElementRef<'_>) -> Self {
        let name = field.attr("name").expect("a field has a name").to_owned();
        let value = field.attr("value").unwrap_or_default().to_owned();
        let most =
            field.attr("maxlength").map_or(usize::MAX, |most| most.parse().expect("a length"));
        let (value, kind) = match (field.value().name(), field.attr("type").unwrap_or("text")) {
            ("textarea", _) => (field.text().collect(), Kind::Text(most)),
            ("select", _) => chosen(field),
            (_, "hidden") => (value, Kind::Hidden),
            (_, "checkbox") => {
                let checked = field.attr("checked").is_some();
                (String::new(), Kind::Check { value, checked })
            }
            _ => (value, Kind::Line(most)),
        };
        let mut field = Self { name, value, kind };
        field.value = field.shown();
        field
    }

    /// What browsers make of the value.
    fn shown(&self) -> String {
        match self.kind {
            Kind::Line(_) => one_line(&self.value),
            Kind::Hidden | Kind::Text(_) | Kind::Check { .. } | Kind::Select(_) => {
                self.value.clone()
            }
        }
    }
}

/// The chosen option of a list, and all that can be chosen.
fn chosen(list: ElementRef<'_>) -> (String, Kind) {
    let options = select("option");
    let open: Vec<_> =
        list.select(&options).filter(|option| option.attr("disabled").is_none()).collect();
    let value =
        |option: &ElementRef<'_>| option.attr("value").expect("an option has a value").to_owned();
    // A list shows what is marked, even if it can not be chosen; a browser does not send that.
    let marked = list.select(&options).find(|option| option.attr("selected").is_some());
    let marked = marked.filter(|option| option.attr("disabled").is_none());
    let first = marked.or_else(|| open.first().copied());
    let first = first.as_ref().map(value).unwrap_or_default();
    (first, Kind::Select(open.iter().map(value).collect()))
}
