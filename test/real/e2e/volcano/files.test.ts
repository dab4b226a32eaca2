/** Checks that every example file of upstream has a row, and every row a file. */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { dataDir, skipWithoutData } from "../../../support/data.ts";
import { accounted, examplesIn } from "./files.ts";

const folderOf = async (files: Readonly<Record<string, string>>): Promise<string> => {
  const dir = await mkdtemp(join(tmpdir(), "rekindle-examples-"));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(dir, path, ".."), { recursive: true });
    await writeFile(join(dir, path), text);
  }
  return dir;
};

const job = (name: string): string =>
  `apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata:\n  name: ${name}\n---\n`;

test("every example of upstream has a row, and every row its file", {
  skip: skipWithoutData,
}, () => {
  assert.equal(accounted(examplesIn(join(dataDir ?? "", "volcano", "examples"))).length > 1, true);
});

test("a file without a row, a row without its file and an object without its word are told by name", async () => {
  const dir = await folderOf({ "new/one.yaml": job("one"), "job.yaml": job("another"), "notes.md": "no manifest" });
  try {
    assert.throws(
      () => accounted(examplesIn(dir)),
      (error: Error) =>
        error.message.includes("new/one.yaml has no row") &&
        error.message.includes("job.yaml: holds Job another; its row Job test-job") &&
        error.message.includes("job-plugin.yaml has a row, and is not there"),
    );
  } finally {
    await rm(dir, { recursive: true });
  }
});

test("files with the same names are beside each other in namespaces of their own", async () => {
  const named = job("x").replace("name: x", "name: x\n  namespace: team");
  const dir = await folderOf({ "a/Same_name.yaml": job("x"), "b/Same_name.yaml": job("x"), "c.yaml": named });
  try {
    const namespaces = examplesIn(dir).map(({ namespace }) => namespace);
    assert.deepEqual(namespaces, ["a-same-name", "b-same-name", "team"]);
  } finally {
    await rm(dir, { recursive: true });
  }
});
