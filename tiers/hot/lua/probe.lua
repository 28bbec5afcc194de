-- Changes nothing: tells whether the user may run scripts on this key.

return 0
