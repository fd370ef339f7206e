// A testee: it answers requests with the rows of binary logs, a JSON object a line (PROTOCOL.md of the kit).
import readline from "node:readline";

// How the reader shows values: PROTOCOL.md has all forms. What is not named here is shown as the kit has it.
const forms = {
  integer: "text", decimal: "text", float: "value", bits: "text", year: "number", date: "text", datetime: "text",
  timestamp: "text", time: "text", enum: "number", set: "number", text: "text", bytes: "hex", json: "value",
  geometry: "none", vector: "none", diffs: "none",
};
const hello = { name: "my-reader", version: "1", language: "JavaScript", levels: ["rows"], forms };

/**
 * The rows of a log one after the other, as it is read: call your reader here. flavor: mysql or mariadb.
 *
 * A row is {kind: "update", database: "shop", table: "orders", before: [{column: 1, value: "7"}], after: [...]}; before
 * is null for an insert, after for a delete.
 */
async function* rows(path, flavor) {
  throw new Error("rows is to be filled in");
}

function answer(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

async function read({ file, flavor }) {
  try {
    for await (const row of rows(file, flavor)) answer({ row });
  } catch (error) {
    return { end: "refused", message: String(error.message) };
  }
  return { end: "ok" };
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  answer({ id: request.id, ...("hello" in request ? { hello } : await read(request)) });
}
