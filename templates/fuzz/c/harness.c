/* A fuzz target: one log, given to read_binlog.  An error is fine, but for an unchanged seed of rows.txt, which has that
 * many rows; a crash, a hang, memory without end are not. */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The reader to try: read_binlog.c has one for MariaDB Connector/C; put yours into its place.  It returns 0 if it has read
 * the log, and sets rows to their number if it counts them. */
int read_binlog(const uint8_t *log, size_t size, long *rows);

#define MOST 1000
static struct { uint64_t hash; long rows; } seeds[MOST];
static int count = -1;

static void read_seeds(void) {
  FILE *file = fopen("rows.txt", "r");
  count = 0;
  if (!file) return;
  while (count < MOST && fscanf(file, "%" SCNx64 " %ld %*s", &seeds[count].hash, &seeds[count].rows) == 2) count++;
  fclose(file);
}

static uint64_t fnv1a(const uint8_t *log, size_t size) {
  uint64_t hash = 0xcbf29ce484222325;
  while (size--) hash = (hash ^ *log++) * 0x100000001b3;
  return hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *log, size_t size) {
  long rows = -1;
  int failed = read_binlog(log, size, &rows);
  uint64_t hash = fnv1a(log, size);
  if (count < 0) read_seeds();
  for (int at = 0; at < count; at++) {
    if (seeds[at].hash != hash || (!failed && (rows < 0 || rows == seeds[at].rows))) continue;
    if (failed) fprintf(stderr, "a correct log is refused\n");
    else fprintf(stderr, "a correct log gives %ld rows, there are %ld\n", rows, seeds[at].rows);
    abort();
  }
  return 0;
}
