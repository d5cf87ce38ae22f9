-- The nearest few of a region, about, with their exact positions: rider, metres, record, and so on.
-- KEYS: positions, state, near, polar. ARGV: lng, lat, metres (everybody if it is empty), how many.
-- Nothing if not everybody may be in it.
if redis.call('GET', KEYS[2]) ~= 'whole' then return false end
local found = {}
if ARGV[3] == '' then
  for _, rider in ipairs(redis.call('ZRANGE', KEYS[3], 0, -1)) do
    found[#found + 1] = {rider, '0'}
  end
else
  found = redis.call('GEOSEARCH', KEYS[3], 'FROMLONLAT', ARGV[1], ARGV[2], 'BYRADIUS', ARGV[3], 'm', 'ASC',
    'COUNT', ARGV[4], 'WITHDIST')
end
local answer = {#found}
local function tell(rider, metres)
  local record = redis.call('HGET', KEYS[1], rider)
  if record then
    answer[#answer + 1] = rider
    answer[#answer + 1] = metres
    answer[#answer + 1] = record
  end
end
for _, one in ipairs(found) do tell(one[1], one[2]) end
for _, rider in ipairs(redis.call('SMEMBERS', KEYS[4])) do tell(rider, '0') end
return answer
