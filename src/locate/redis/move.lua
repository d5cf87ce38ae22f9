-- Takes a rider out of the region that they are in, and into another one if there is one.
-- KEYS: positions. ARGV: prefix, rider, region or nothing.
local known = redis.call('HGET', KEYS[1], ARGV[2])
if not known then return 0 end
local head, region, rest = string.match(known, '^(%x+:%x+:%x+:)(-?%d+)(:.*)$')
if region == ARGV[3] then return 0 end
local near, polar = ARGV[1] .. 'near:' .. region, ARGV[1] .. 'polar:' .. region
if ARGV[3] == '' then
  redis.call('ZREM', near, ARGV[2])
  redis.call('SREM', polar, ARGV[2])
  redis.call('HDEL', KEYS[1], ARGV[2])
  return 1
end
local score = redis.call('ZSCORE', near, ARGV[2])
if score then
  redis.call('ZREM', near, ARGV[2])
  redis.call('ZADD', ARGV[1] .. 'near:' .. ARGV[3], score, ARGV[2])
else
  redis.call('SMOVE', polar, ARGV[1] .. 'polar:' .. ARGV[3], ARGV[2])
end
redis.call('HSET', KEYS[1], ARGV[2], head .. ARGV[3] .. rest)
return 1
