"""Most events of a large log by the kernel of forge.bulk.printing."""
