# live
live-on = Live
live-stale = Stale
live-gone = Disconnected
live-age = as of % s ago
sound-on = Sound on
sound-off = Sound off
# What became of a card that the rider still saw
pool-gone = No longer open
pool-gone-taken = taken by another rider
pool-gone-reserved = offered to another rider
pool-gone-cancelled = cancelled
pool-gone-closed = not open to you now
