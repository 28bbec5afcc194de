-- Prelude of every script that writes to the hash of an agent.
--
-- The hash belongs to one view: the field view holds a digest of the user and the topics for which
-- it was filled. An empty view is the runtime itself, which writes under whatever view is there.

-- Give the hash to a view; what was put in under another one goes first.
-- A server without memory refuses a script at its first HSET, but none after a DEL, so HSET it is.
local function enter(key, view)
  if view ~= '' and redis.call('HGET', key, 'view') ~= view then
    redis.call('HSET', key, 'view', view)
    redis.call('DEL', key)
    redis.call('HSET', key, 'view', view)
  end
end
