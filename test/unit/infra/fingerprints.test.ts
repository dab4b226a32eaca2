/**
 * Files that `npm run check` checks again: those that changed since they passed, and all when the check itself changes.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { changedSince, fingerprints, rememberPassed } from "../../../infra/fingerprints.ts";

describe("files that a check passed", () => {
  const folder = mkdtempSync(join(tmpdir(), "rekindle-check-"));
  after(() => rmSync(folder, { recursive: true }));
  const cache = join(folder, "deep", "style.json");
  const files = { "a.ts": "1", "b.ts": "2" };

  test("all are looked at when nothing is known", () => {
    assert.equal(changedSince(cache, "biome 2", files), undefined);
  });

  test("only those that changed or came are looked at again", () => {
    rememberPassed(cache, "biome 2", files);
    assert.deepEqual(changedSince(cache, "biome 2", files), []);
    assert.deepEqual(changedSince(cache, "biome 2", { "a.ts": "3", "c.ts": "4" }), ["a.ts", "c.ts"]);
  });

  test("all are looked at when the tool or its configuration changed", () => {
    rememberPassed(cache, "biome 2", files);
    assert.equal(changedSince(cache, "biome 3", files), undefined);
  });

  test("all are looked at when what is known cannot be read", () => {
    writeFileSync(cache, "{");
    assert.equal(changedSince(cache, "biome 2", files), undefined);
  });

  test("fingerprints are of content, and of every tracked file", () => {
    const all = fingerprints();
    assert.match(all["package.json"] ?? "", /^[0-9a-f]{64}$/);
    assert.notEqual(all["package.json"], all["tsconfig.json"]);
    assert.deepEqual(fingerprints(), all);
  });
});
