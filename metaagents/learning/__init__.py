"""Learning: indexes records, reads facts and playbooks out of turns, judges and promotes facts."""
