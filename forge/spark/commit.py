"""The end of a write: the rows of all partitions, in order, become the next logs of a chain."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from forge.bulk.file_sums import crc32_of
from forge.bulk.writing.log_end import LogEnd
from forge.bulk.writing.write import Prepared, prepared, write_rows
from forge.errors import ForgeError, ScenarioError
from forge.plan.tables import Table
from forge.spark.chain import Chain, Manifest, WrittenFile
from forge.spark.job import Job
from forge.spark.parts import Part, read_parts
from forge.spark.reading.presence import PRESENCE, with_full
from forge.spark.sink_options import SinkOptions


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of a streaming query; a query counts its batches from 0."""

    query: str
    number: int


class Commit:
    """One write of rows with that schema, which appends to a chain or replaces it."""

    def __init__(self, options: SinkOptions, schema: pa.Schema, *, overwrite: bool) -> None:
        self.options = options
        self.schema = schema
        self.overwrite = overwrite
        self.chain = Chain(options.folder, sync=options.sync)

    def check(self) -> None:
        """Take back what was left half-done.  Raises ScenarioError for what is wrong before there are rows."""
        manifest = None
        if self.options.folder.exists():
            with self.chain.locked():
                manifest = self.chain.manifest()
                self.chain.check(manifest, self.options.session.log_name)
        self._prepared(self._after(manifest))

    def run(self, parts: Sequence[Part], job: Job, batch: Batch | None = None) -> None:
        """Make the logs and commit them, unless the batch, or a write with the same ``commit_id``, is committed."""
        with self.chain.locked():
            manifest = self.chain.manifest()
            if not self._is_known(manifest, batch):
                try:
                    self._write(parts, job, manifest, batch)
                except OSError as error:
                    raise ForgeError(f"cannot write into {self.options.folder}: {error.strerror or error}") from error
            job.remove()
            if batch is not None:
                # A query runs one batch at a time: leftovers of its other batches can go.
                for other in self.chain.jobs(f"{batch.query}-"):
                    self.chain.take_back(other)

    def take_back(self, job: Job) -> None:
        """The folder as it was before the job."""
        if self.options.folder.exists():
            with self.chain.locked():
                self.chain.take_back(job)

    def _is_known(self, manifest: Manifest | None, batch: Batch | None) -> bool:
        if manifest is None:
            return False
        if batch is not None:
            return manifest.batches.get(batch.query, -1) >= batch.number
        return self.options.commit_id in manifest.commits

    def _after(self, manifest: Manifest | None) -> LogEnd | None:
        return None if manifest is None or self.overwrite else manifest.end

    def _first_name(self, after: LogEnd | None) -> str:
        session = self.options.session
        return f"{session.log_name}.{session.first_file if after is None else after.next_file:06}"

    def _prepared(self, after: LogEnd | None) -> Prepared:
        options = self.options
        return prepared(
            self.schema, options.table, Path(self._first_name(after)), options.server, operation=options.operation,
            session=options.session, definitions=options.definitions, after=after,
        )  # fmt: skip

    def _write(self, parts: Sequence[Part], job: Job, before: Manifest | None, batch: Batch | None) -> None:
        options = self.options
        there = self.chain.check(before, options.session.log_name)
        after = self._after(before)
        ready = self._prepared(after)
        job.new.mkdir(parents=True, exist_ok=True)
        made: list[WrittenFile] = []
        end = after
        if after is None or any(part.rows for part in parts):
            written = write_rows(
                self._batches(parts, job, ready.reader.table),
                ready.text,
                job.new / self._first_name(after),
                server=options.server,
                rows_per_transaction=options.rows_per_transaction,
                operation=options.operation,
                session=options.session,
                definitions=options.definitions,
                sync=options.sync,
                after=after,
            )
            made = [
                WrittenFile(name=path.name, size=path.stat().st_size, crc32=crc32_of(path)) for path in written.files
            ]
            end = written.end
        assert end is not None
        manifest = Manifest(
            commit=uuid.uuid4().hex,
            rows=sum(part.rows for part in parts) + (0 if before is None or self.overwrite else before.rows),
            files=made if self.overwrite else [*there, *made],
            end=end,
            batches={} if before is None else dict(before.batches),
            commits=[] if before is None else list(before.commits),
        )
        if batch is not None:
            manifest.batches[batch.query] = batch.number
        if options.commit_id is not None:
            manifest.commits.append(options.commit_id)
        replaced = [file.name for file in there] if self.overwrite else []
        self.chain.publish(job, manifest, [file.name for file in made], replaced)

    def _batches(self, parts: Sequence[Part], job: Job, table: Table) -> Iterator[pa.RecordBatch]:
        """The rows in order; first a batch without rows, which names the columns."""
        yield pa.RecordBatch.from_pylist([], schema=self.schema)
        bitmaps = [name for name in self.schema.names if name in PRESENCE]
        for batch in read_parts(parts, job):
            for name in bitmaps:
                place = batch.schema.get_field_index(name)
                batch = batch.set_column(place, name, _bitmaps(batch.column(place), name, len(table.columns)))
            yield batch


def _bitmaps(given: pa.Array, name: str, columns: int) -> pa.Array:
    """Spark knows no binary of a fixed size, and a read has null for whole images."""
    try:
        return with_full(given, columns)
    except pa.ArrowInvalid:
        expected = f"{-(-columns // 8)} bytes"
        raise ScenarioError(f"column {name!r} has bitmaps of other sizes", expected=expected) from None
