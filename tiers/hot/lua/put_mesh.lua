-- ARGV: time to live in milliseconds, mesh result.

redis.call('HSET', KEYS[1], 'mesh', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 0
