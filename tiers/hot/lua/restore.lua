-- ARGV: time to live in milliseconds, view, capacity, then field and turn, field and turn, ...
-- A turn already in the ring is newer knowledge than the copy from cold, so it stays.

enter(KEYS[1], ARGV[2])
for i = 4, #ARGV, 2 do
  redis.call('HSETNX', KEYS[1], ARGV[i], ARGV[i + 1])
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
trim(KEYS[1], tonumber(ARGV[3]))
return 0
