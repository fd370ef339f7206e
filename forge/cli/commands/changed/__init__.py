"""Commands that say what logs changed."""
