//! Why a request got no outcome, by code: a closed list, which scripts depend on.

use crate::domain::refusal::Lang;

macro_rules! codes {
    ($($(#[$meta:meta])* $variant:ident = $status:literal $code:literal $zh:literal $en:literal,)+) => {
        /// Why a request got no outcome. The list is closed: scripts depend on it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum ProblemCode { $($(#[$meta])* $variant,)+ }

        impl ProblemCode {
            /// Every code, in the order of the declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The one spelling.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $code),+ }
            }

            /// The HTTP status that goes with it.
            pub const fn status(self) -> u16 {
                match self { $(Self::$variant => $status),+ }
            }

            /// One sentence for the person who asked.
            pub const fn sentence(self, lang: Lang) -> &'static str {
                match (self, lang) {
                    $((Self::$variant, Lang::Zh) => $zh, (Self::$variant, Lang::En) => $en,)+
                }
            }
        }
    };
}

codes! {
    /// Nobody we know.
    NotSignedIn = 401 "NOT_SIGNED_IN"
        "请先登录，或提供有效的访问令牌。" "Sign in, or send a valid access token.",
    /// Not in this capacity.
    Forbidden = 403 "FORBIDDEN"
        "您的角色无权执行此操作。" "Your role may not do this.",
    /// Something that only its owner may do, without the owner's password.
    ReauthRequired = 403 "REAUTH_REQUIRED"
        "请先输入您的当前密码。" "Give your present password first.",
    /// Somebody changed it meanwhile.
    RecordChanged = 409 "RECORD_CHANGED"
        "其间已被他人修改，请查看后再试。" "Somebody changed it meanwhile; look again and decide again.",
    /// Enough exports of the same person are under way.
    TooManyExports = 429 "TOO_MANY_EXPORTS"
        "您已有两个导出正在进行，请等其中一个完成。" "Two exports of yours are under way; wait until one is done.",
    /// The form came from another site.
    CrossSite = 403 "CROSS_SITE"
        "该请求来自其他网站，已拒绝。" "The request came from another site and was not carried out.",
    /// No such thing, or none that may be known of.
    NotFound = 404 "NOT_FOUND"
        "没有找到，或不在您的区域内。" "There is no such thing here, or it is not in your region.",
    /// The path takes other methods.
    MethodNotAllowed = 405 "METHOD_NOT_ALLOWED"
        "该地址不支持此请求方法。" "This address does not take that method; see the Allow header.",
    /// The request took too long to arrive.
    TimedOut = 408 "TIMED_OUT"
        "请求发送超时，未执行任何操作。" "The request took too long to arrive; nothing was done.",
    /// The key is in use by a request that is under way.
    RequestInProgress = 409 "REQUEST_IN_PROGRESS"
        "同一请求正在处理，请稍后用同一键查询。" "The same request is under way; ask again under the same key.",
    /// No request key.
    KeyMissing = 400 "KEY_MISSING"
        "缺少 Idempotency-Key：每个命令需要一个请求键。" "Idempotency-Key is missing: every command needs a request key.",
    /// A request key that is none.
    KeyMalformed = 400 "KEY_MALFORMED"
        "请求键须为 1 至 255 个可见 ASCII 字符。" "A request key is 1 to 255 visible ASCII characters.",
    /// The key belongs to another request.
    RequestKeyReused = 422 "REQUEST_KEY_REUSED"
        "该请求键已用于另一个请求，请换新的键。" "This request key belongs to another request; use a new one.",
    /// No revision.
    RevisionMissing = 428 "REVISION_MISSING"
        "缺少归属版本：请说明操作依据的版本。" "The revision is missing: say which one your command is based on.",
    /// No host, or two.
    HostMissing = 400 "HOST_MISSING"
        "请求须带有且仅有一个 Host。" "Every request names one Host, and one only.",
    /// The body is not JSON.
    BodyMalformed = 400 "BODY_MALFORMED"
        "请求正文不是有效的 UTF-8 JSON。" "The body is not valid JSON in UTF-8.",
    /// A field of a form that can only stand once stands twice.
    FieldTwice = 400 "FIELD_TWICE"
        "表单中同一字段出现了两次，未执行任何操作。" "A field stands in the form twice; nothing was done.",
    /// The body is JSON, but not what is asked for here.
    BodyInvalid = 422 "BODY_INVALID"
        "请求正文的字段不符合要求。" "A field of the body is unknown, missing or of the wrong type.",
    /// The query is not what is asked for here.
    QueryInvalid = 400 "QUERY_INVALID"
        "查询参数不符合要求。" "A parameter of the query is unknown or of the wrong type.",
    /// The body is too long.
    BodyTooLarge = 413 "BODY_TOO_LARGE"
        "请求正文过大。" "The body is too long.",
    /// The address is too long.
    UriTooLong = 414 "URI_TOO_LONG"
        "请求地址过长。" "The address is too long.",
    /// The head is too long or has too many lines.
    HeadTooLarge = 431 "HEAD_TOO_LARGE"
        "请求头过大或过多。" "The headers are too long or too many.",
    /// Too many tries of one kind.
    TooMany = 429 "TOO_MANY"
        "尝试过于频繁，未执行任何操作，请稍后再试。" "Too many tries; nothing was done. Wait a moment and try again.",
    /// As many streams are open as may be.
    TooManyStreams = 429 "TOO_MANY_STREAMS"
        "打开的实时连接过多，请关闭其他页面，或改用定时刷新。" "Too many live streams are open; close one, or read page by page.",
    /// The body is of another kind, by its own word, than is taken here.
    MediaType = 415 "MEDIA_TYPE"
        "Content-Type 不符：接口请用 application/json，网页表单请用 application/x-www-form-urlencoded。"
        "Another Content-Type is taken here: application/json by the API, application/x-www-form-urlencoded by forms.",
    /// One task stands twice in a bulk.
    TaskTwice = 400 "TASK_TWICE"
        "批量请求中同一任务出现了两次。" "A task stands in the bulk twice.",
    /// U+0000 in a text.
    NulInText = 400 "NUL_IN_TEXT"
        "文本中含有 U+0000，无法保存。" "A text holds U+0000, which can not be stored.",
    /// An instant before 1970 or after 9999.
    TimeOutOfRange = 400 "TIME_OUT_OF_RANGE"
        "时间超出 1970 至 9999 年。" "A time lies outside of the years 1970 to 9999.",
    /// A position outside of the globe.
    NotOnEarth = 400 "NOT_ON_EARTH"
        "经纬度超出范围。" "A latitude or longitude is out of range.",
    /// The offer's time lies outside the policy's limits.
    OfferSeconds = 422 "OFFER_SECONDS"
        "邀请时长超出区域规则。" "The offer's time lies outside the limits of the region's policy.",
    /// Too many commands wait.
    Busy = 503 "BUSY"
        "系统繁忙，未执行任何操作，请重试。" "Too much is going on; nothing was done. Ask again.",
    /// The database is away.
    Unavailable = 503 "UNAVAILABLE"
        "暂时无法保存，请稍后重试。" "Nothing can be stored at the moment. Ask again later.",
    /// The command may have been done.
    Unknown = 503 "UNKNOWN"
        "结果未知：请用同一请求键再次查询。" "The outcome is unknown: ask again under the same key.",
    /// This one request can not be carried out.
    Faulty = 500 "FAULTY"
        "系统错误，未执行任何操作；请把请求编号告知管理员。" "Something is wrong on our side; nothing was done. Tell your admin the request id.",
}
