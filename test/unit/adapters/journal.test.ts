/** The journal of a host on a disk that is full: at its start, and later. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { openJournal } from "../../../shared/adapters/journal.ts";

describe("a journal whose disk is full", () => {
  const folder = mkdtempSync(join(tmpdir(), "rekindle-journal-"));
  const warnings: string[] = [];
  const open = () => openJournal(folder, (_, text, fields = {}) => void warnings.push(`${text}: ${fields["error"]}`));
  before(() => {
    // Each write to this device fails as on a full disk.
    symlinkSync("/dev/full", join(folder, "quarantine.json.new"));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  test("reports it once, and the process goes on", () => {
    const journal = open();
    for (let nth = 0; nth < 3; nth += 1) journal.save([{ key: "k", namespace: "ns", version: "1", count: 1, at: nth }]);
    assert.equal(warnings.length, 1);
    assert.match(warnings.join(), /^cannot write the state directory, going on without it: Error: ENOSPC/);
  });

  test("is written again when there is room", () => {
    const journal = open();
    rmSync(join(folder, "quarantine.json.new"));
    journal.save([{ key: "k", namespace: "ns", version: "1", count: 1, at: 1 }]);
    assert.equal(openJournal(folder, () => {}).stops.length, 1);
  });

  test("is refused where the folder can never be written", () => {
    assert.throws(() => openJournal(join(folder, "in-flight", "below"), () => {}), /ENOTDIR/);
  });
});
