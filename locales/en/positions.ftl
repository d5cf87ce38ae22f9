# Where riders are, and what looks wrong about them.

position = Position
position-and-signals = Position and signals
position-seen = { $v } ago
position-stale = old
position-none = never seen
device-said = the device’s clock said { $v }
signals-open = Signals: { $v }
signals-none = Nothing looks wrong.
signals-help = A signal is a reason to look. It refuses the rider nothing; that is for a person to set.
signal-speed = Impossible speed
signal-teleport = Somewhere else all at once
signal-shared_device = One device, two riders
signal-grab_rate = Grabs faster than by hand
signal-dismiss = Looked at it: dismiss
evidence-moved = { $metres } in { $span }, { $kmh } km/h: from { $from } ({ $fromat }) to { $to } ({ $toat })
evidence-shared = the same device as { $other }, who used it at { $at }
evidence-shared-elsewhere = the same device as a rider of another region, who used it at { $at }
evidence-grabs = { $count } grabs within { $within }
dismissed-by = dismissed by { $by } at { $at }
risk-reject = May not grab (risk)
risk-rejected-mark = may not grab
done-signal-dismissed = dismissed a signal
audit-did-signal-dismissed = Dismissed a signal
