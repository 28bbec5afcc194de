"""An adversary for the stores: worlds full of traps, attempts to cross a scope, and a judge."""
