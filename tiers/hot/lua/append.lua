-- ARGV: time to live in milliseconds, capacity, field of the turn, turn.
-- Returns the turns that no longer fit, oldest first.

redis.call('HSET', KEYS[1], ARGV[3], ARGV[4])
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return trim(KEYS[1], tonumber(ARGV[2]))
