"""Foreign decoders as *testees*: programs that answer what they read, held against what is right (docs/conform.md)."""
