/** Rows as columns and back. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { columnsOf, type Row, rowsOf } from "../../../shared/page/wire.ts";
import { rowOf } from "./rows.ts";

test("rows are equal after encoding to columns and decoding, and each repeated text is sent once", () => {
  const rows: readonly Row[] = [
    rowOf({ name: "a", state: "FAILED", group: "failed", waits: "exit 1", strip: [[10, 4]] }),
    rowOf({ name: "b", state: "FAILED", group: "failed", waits: "exit 1", pods: [1, 2, 3] }),
  ];
  const columns = columnsOf(rows);
  assert.deepEqual(rowsOf(columns), rows);
  assert.equal(columns.words.filter((word) => word === "exit 1").length, 1);
});
