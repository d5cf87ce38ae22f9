-- Everybody is in it now, if nothing was lost since the filling began.
-- KEYS: state. ARGV: what the filling is called.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], 'whole')
return 1
