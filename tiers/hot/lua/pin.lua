-- ARGV: time to live in milliseconds, view, most pins of one agent, field of the belief, belief.
-- Returns 1, or 0 when a new belief would be one too many.

enter(KEYS[1], ARGV[2])
if redis.call('HEXISTS', KEYS[1], ARGV[4]) == 0 then
  local pins = 0
  for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
    if string.sub(field, 1, 4) == 'pin:' then
      pins = pins + 1
    end
  end
  if pins >= tonumber(ARGV[3]) then
    return 0
  end
end
redis.call('HSET', KEYS[1], ARGV[4], ARGV[5])
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1
