/** Tests the choice of a row for a container, and the command of its stand-in. */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readStandIns, type StandInRow, standInFor } from "./standins.ts";

const table: readonly StandInRow[] = [
  { image: "^nginx", command: "^sh -c sleep", runs: "command" },
  { image: "^nginx", command: "^$", runs: { startMs: 300 } },
  { image: "^trainer:", pod: "^team/.*-0$", runs: { startMs: 10, runMs: 2_500, exitCode: 3 } },
];

const cases = [
  {
    name: "a command of this machine",
    pod: "a/b",
    image: "nginx:1",
    command: ["sh", "-c", "sleep 10s"],
    is: ["own", 0],
  },
  { name: "no command", pod: "a/b", image: "nginx:1", command: [], is: ["sleep infinity; exit 0", 300] },
  { name: "an end", pod: "team/x-0", image: "trainer:2", command: ["train"], is: ["sleep 2.5; exit 3", 10] },
  { name: "another pod", pod: "team/x-1", image: "trainer:2", command: ["train"], is: undefined },
  { name: "another command", pod: "a/b", image: "nginx:1", command: ["nginx", "-v"], is: undefined },
];

test("a container is stood in for by the first row that fits its pod, image and command", async () => {
  const dir = await mkdtemp(join(tmpdir(), "rekindle-stand-ins-"));
  const file = join(dir, "stand-ins.json");
  await writeFile(file, JSON.stringify(table));
  const rows = readStandIns(file);
  await rm(dir, { recursive: true });
  for (const { name, is, ...known } of cases) {
    const found = standInFor(rows, known);
    const seen = found === undefined ? undefined : [found.image.instead?.[2] ?? "own", found.startMs];
    assert.deepEqual(seen, is, name);
  }
});
