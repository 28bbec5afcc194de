-- ARGV: time to live in milliseconds, which stays as it is; view; field of the belief.
-- Nothing changes under another view.

if ARGV[2] == '' or redis.call('HGET', KEYS[1], 'view') == ARGV[2] then
  redis.call('HDEL', KEYS[1], ARGV[3])
  local left = redis.call('HKEYS', KEYS[1])
  if #left == 1 and left[1] == 'view' then
    redis.call('DEL', KEYS[1])
  end
end
return 0
