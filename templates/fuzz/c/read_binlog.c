/* The reader of binary logs of MariaDB Connector/C (3.3 or newer): it reads files, so that a log becomes one in memory.
 * It does not count rows. */
#define _GNU_SOURCE
#include <mysql.h>
#include <mariadb_rpl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int read_binlog(const uint8_t *log, size_t size, long *rows) {
  (void)rows;
  char name[40];
  int file = memfd_create("log", 0), failed = 1;
  if (file < 0 || write(file, log, size) != (ssize_t)size) return 1;
  size_t length = snprintf(name, sizeof name, "/proc/self/fd/%d", file) + 1; /* It does not add the zero byte. */
  MARIADB_RPL *reader = mariadb_rpl_init(NULL);
  MARIADB_RPL_EVENT *event;
  if (reader) {
    mariadb_rpl_optionsv(reader, MARIADB_RPL_FILENAME, name, length);
    mariadb_rpl_optionsv(reader, MARIADB_RPL_UNCOMPRESS, 1);
    mariadb_rpl_optionsv(reader, MARIADB_RPL_EXTRACT_VALUES, 1);
    if (!mariadb_rpl_open(reader)) {
      while ((event = mariadb_rpl_fetch(reader, NULL))) mariadb_free_rpl_event(event);
      failed = mariadb_rpl_errno(reader) != 0;
    }
    mariadb_rpl_close(reader);
  }
  close(file);
  return failed;
}
