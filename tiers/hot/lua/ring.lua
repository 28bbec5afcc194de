-- Prelude of every script that changes a ring.
--
-- KEYS[1] is the hash of one agent. Its fields: turn:<seq>, pin:<belief id>, mesh, view.
-- Work is bounded by the size of the hash, never by how many turns there ever were.

local function turn_seqs(key)
  local seqs = {}
  for _, field in ipairs(redis.call('HKEYS', key)) do
    local seq = string.match(field, '^turn:(%d+)$')
    if seq then
      seqs[#seqs + 1] = tonumber(seq)
    end
  end
  table.sort(seqs)
  return seqs
end

-- Remove the lowest turns beyond capacity and return them, oldest first.
local function trim(key, capacity)
  local seqs = turn_seqs(key)
  local evicted = {}
  for i = 1, #seqs - capacity do
    local field = string.format('turn:%.0f', seqs[i])
    evicted[i] = redis.call('HGET', key, field)
    redis.call('HDEL', key, field)
  end
  return evicted
end
