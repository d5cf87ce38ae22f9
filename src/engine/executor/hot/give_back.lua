-- Takes a mark away, if it is still the one that was set.
-- KEYS: mark. ARGV: its token.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
