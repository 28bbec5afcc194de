-- ARGV: time to live in milliseconds, view, mesh result.

enter(KEYS[1], ARGV[2])
redis.call('HSET', KEYS[1], 'mesh', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 0
