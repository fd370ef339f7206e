"""One module a command; each has an attribute ``command``."""
