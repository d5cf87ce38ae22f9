# live
live-on = 实时
live-stale = 可能已过时
live-gone = 已断开
live-age = % 秒前的数据
sound-on = 提示音 开
sound-off = 提示音 关
# What became of a card that the rider still saw
pool-gone = 已不能抢
pool-gone-taken = 已被其他骑手接走
pool-gone-reserved = 已邀请其他骑手
pool-gone-cancelled = 订单已取消
pool-gone-closed = 现在不对您开放
