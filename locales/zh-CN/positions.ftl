# 骑手位置与异常信号。

position = 位置
position-and-signals = 位置与异常信号
position-seen = { $v } 前
position-stale = 已过时
position-none = 从未上报
device-said = 设备时钟显示 { $v }
signals-open = 异常信号 { $v } 条
signals-none = 暂无异常。
signals-help = 信号只提示需要查看，不会自动拒绝骑手；是否限制抢单由人工设置。
signal-speed = 速度不可能
signal-teleport = 位置瞬移
signal-shared_device = 一台设备两名骑手
signal-grab_rate = 抢单快于人手
signal-dismiss = 已核实，忽略
evidence-moved = { $span }内移动 { $metres }，时速 { $kmh } 公里：从 { $from }（{ $fromat }）到 { $to }（{ $toat }）
evidence-shared = 与 { $other } 使用同一台设备，对方最近使用时间 { $at }
evidence-shared-elsewhere = 与其他区域的一名骑手使用同一台设备，对方最近使用时间 { $at }
evidence-grabs = { $within }内抢单 { $count } 次
dismissed-by = { $by } 于 { $at } 忽略
risk-reject = 禁止抢单（风控）
risk-rejected-mark = 禁止抢单
done-signal-dismissed = 忽略了异常信号
audit-did-signal-dismissed = 忽略异常信号
