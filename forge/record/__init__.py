"""Real servers: start one, run a scenario on it, keep its binary log and the facts of the session, verify."""
