# answers
answer-done-title = 已完成
answer-already-title = 此前已完成
answer-refused-title = 未执行
answer-done = { $verb }：已完成。
answer-already = 此前已完成该操作，没有重复执行。
answer-first-title = 先发生的是：
answer-first = { $who }：{ $verb }（版本 { $from } → { $to }）
answer-decided = 判定于
answer-still = 现在仍可以：
answer-nothing-left = 现在没有可做的操作。
story = { $who } { $did }
story-with-rider = { $who } { $did } · { $rider }
story-refused = { $who } 的「{ $verb }」未执行
