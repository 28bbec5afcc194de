-- ARGV: time to live in milliseconds, capacity, then field and turn, field and turn, ...
-- A turn already in the ring is newer knowledge than the copy from cold, so it stays.

for i = 3, #ARGV, 2 do
  redis.call('HSETNX', KEYS[1], ARGV[i], ARGV[i + 1])
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
trim(KEYS[1], tonumber(ARGV[2]))
return 0
