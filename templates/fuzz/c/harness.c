/* A fuzz target: one log, given to read_binlog.  An error is fine; a crash, a hang, memory without end are not. */
#include <stddef.h>
#include <stdint.h>

/* The reader to try: read_binlog.c has one for MariaDB Connector/C; put yours into its place. */
int read_binlog(const uint8_t *log, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *log, size_t size) {
  (void)read_binlog(log, size);
  return 0;
}
