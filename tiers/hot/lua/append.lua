-- ARGV: time to live in milliseconds, view, capacity, field of the turn, turn.
-- Returns the turns that no longer fit, oldest first; none of another view.

enter(KEYS[1], ARGV[2])
redis.call('HSET', KEYS[1], ARGV[4], ARGV[5])
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return trim(KEYS[1], tonumber(ARGV[3]))
