-- Notes a position, unless the known one is newer.
-- KEYS: positions. ARGV: prefix, rider, region, device, seq, at (16 digits each, ordered as text), rest, lng, lat, polar.
local known = redis.call('HGET', KEYS[1], ARGV[2])
if known then
  local device, seq, at, region = string.match(known, '^(%x+):(%x+):(%x+):(-?%d+):')
  if device == ARGV[4] then
    if ARGV[5] <= seq then return 0 end
  elseif ARGV[6] < at then
    return 0
  end
  redis.call('ZREM', ARGV[1] .. 'near:' .. region, ARGV[2])
  redis.call('SREM', ARGV[1] .. 'polar:' .. region, ARGV[2])
end
local record = table.concat({ARGV[4], ARGV[5], ARGV[6], ARGV[3], ARGV[7]}, ':')
redis.call('HSET', KEYS[1], ARGV[2], record)
if ARGV[10] == '1' then
  redis.call('SADD', ARGV[1] .. 'polar:' .. ARGV[3], ARGV[2])
else
  redis.call('GEOADD', ARGV[1] .. 'near:' .. ARGV[3], ARGV[8], ARGV[9], ARGV[2])
end
return 1
