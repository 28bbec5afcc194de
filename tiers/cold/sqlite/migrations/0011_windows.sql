-- What an agent is given unasked, the window of its model, and how much of it a turn filled.

ALTER TABLE agents ADD COLUMN inject TEXT NOT NULL DEFAULT 'off';
ALTER TABLE agents ADD COLUMN model_window_tokens INTEGER;
ALTER TABLE turns ADD COLUMN tail TEXT;
