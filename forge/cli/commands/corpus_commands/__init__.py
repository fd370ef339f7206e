"""The subcommands of ``forge corpus`` that have a module of their own."""
