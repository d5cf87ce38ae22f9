# answers
answer-done-title = Done
answer-already-title = Already done
answer-refused-title = Not done
answer-done = { $verb }: done.
answer-already = You had done this before; nothing changed.
answer-first-title = First there was:
answer-first = { $who }: { $verb } (revision { $from } → { $to })
answer-decided = Decided at
answer-still = What you can still do:
answer-nothing-left = There is nothing that you can do with it now.
story = { $who } { $did }
story-with-rider = { $who } { $did } · { $rider }
story-refused = { $who } was told no: { $verb }
