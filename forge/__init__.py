"""binlog-forge: compiler, assembler and disassembler for MySQL binary logs."""

__version__ = "0.1.0"
