//! A problem on the wire.

use axum::{
    Json,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::problem::{Problem, ProblemCode};

/// A problem as scripts read it (RFC 9457).
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Problem)]
pub(super) struct ProblemBody {
    /// Where it is explained.
    #[serde(rename = "type")]
    kind: String,
    /// One sentence, always the same for a code.
    title: &'static str,
    /// The HTTP status.
    status: u16,
    /// What it is; a closed list.
    code: &'static str,
    /// What exactly: which field, which limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    /// Where in the body, as a JSON pointer (RFC 6901).
    #[serde(skip_serializing_if = "Option::is_none")]
    pointer: Option<String>,
    /// The request's own number, as in the header `X-Request-Id`: it finds the lines of the log. (Not of one item of a
    /// bulk, which is no request of its own.)
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) request_id: Option<String>,
    /// Whether the command may have been done all the same. Ask again under the same key to know.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unknown: bool,
}

impl Problem {
    /// The body as scripts read it.
    pub(super) fn body(&self) -> ProblemBody {
        ProblemBody {
            kind: format!("/rules#{}", self.code.as_str()),
            title: self.sentence(),
            status: self.code.status(),
            code: self.code.as_str(),
            detail: self.detail.clone(),
            pointer: self.pointer.clone(),
            request_id: None,
            unknown: self.code == ProblemCode::Unknown,
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.status(), Json(self.body())).into_response();
        let kind = HeaderValue::from_static("application/problem+json");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        // For people it is made into a page at the door, where it is known who asked.
        response.extensions_mut().insert(self.clone());
        match self.code.status() {
            401 => {
                let scheme = HeaderValue::from_static("Bearer realm=\"dispatch-desk\"");
                response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
            }
            503 => {
                response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            _ => {}
        }
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}
