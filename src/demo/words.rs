//! What is printed at the start.

use std::{fmt::Write, net::SocketAddr};

use crate::domain::refusal::Lang;

/// Whose link it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    Dispatcher,
    Rider,
    Customer,
    Supervisor,
    Auditor,
}

impl Whose {
    const fn name(self, lang: Lang) -> &'static str {
        match (self, lang) {
            (Self::Dispatcher, Lang::Zh) => "调度 赵强 D1  ",
            (Self::Dispatcher, Lang::En) => "dispatcher D1   ",
            (Self::Rider, Lang::Zh) => "骑手 李明 R1  ",
            (Self::Rider, Lang::En) => "rider R1        ",
            (Self::Customer, Lang::Zh) => "用户（追踪页）",
            (Self::Customer, Lang::En) => "customer's page ",
            (Self::Supervisor, Lang::Zh) => "主管 王芳 D2  ",
            (Self::Supervisor, Lang::En) => "supervisor D2   ",
            (Self::Auditor, Lang::Zh) => "审计 陈静 D3  ",
            (Self::Auditor, Lang::En) => "auditor D3      ",
        }
    }
}

const TRY_ZH: &str = "\
先试这些：
  1. 用调度链接打开看板，把一个待派任务邀请给 R1 李明；再用骑手链接（同一浏览器的另一个标签页即可）在 30 秒内接受。
  2. 把另一个任务邀请给 R2 王伟：多数邀请会被忽略，30 秒后到期释放，任务回到待派。
  3. 骑手页先停在某个任务上，到看板把它邀请给别人，再回骑手页抢单：您会输，并看到是谁先。
  4. 打开用户追踪页并取消：骑手立即解除，看板和日志都能看到原因。
  5. 把 R1 的任务改派给别人：邀请发出的那一刻，R1 就不再拥有它。
自动排班 D9 只处理最旧的一部分任务，总会留一些给您。按 Ctrl-C 结束；再次启动会接着用同样的数据，--fresh 从头开始。
";

const TRY_EN: &str = "\
What to try first:
  1. Open the board by the dispatcher's link and invite R1 to an open task; accept by the rider's link (another
     tab will do) within 30 seconds.
  2. Invite R2 to another task: most invitations are ignored, lapse after 30 seconds, and the task is open again.
  3. Keep the rider's page on a task, invite somebody else to it on the board, then grab it on the rider's page: you
     lose, and see who was first.
  4. Open the customer's page and cancel: the rider is free at once, and the board and the log say why.
  5. Reassign R1's task to another rider: R1 does not own it any more from the moment the invitation is sent.
The colleague D9 takes the oldest tasks only and always leaves some to you. Ctrl-C ends it; the next start goes on with
the same data, --fresh starts over.
";

/// Everything that a newcomer needs.
pub(super) fn words(
    address: SocketAddr,
    links: &[(Whose, String)],
    moved: bool,
    lang: Lang,
) -> String {
    let mut text = String::new();
    let (head, port, links_head) = match lang {
        Lang::Zh => ("派单台演示", "默认端口被占用，改用", "登录链接（演示期间可重复使用）："),
        Lang::En => (
            "Dispatch Desk, demo",
            "the default port is in use; instead:",
            "Sign-in links, good as long as the demo:",
        ),
    };
    // Writing to a text can not fail.
    let _ = writeln!(text, "{head}: http://{address}");
    if moved {
        let _ = writeln!(text, "{port} {}", address.port());
    }
    let _ = writeln!(text, "{links_head}");
    for (whose, link) in links {
        let _ = writeln!(text, "  {}  {link}", whose.name(lang));
    }
    text.push_str(match lang {
        Lang::Zh => TRY_ZH,
        Lang::En => TRY_EN,
    });
    text
}
