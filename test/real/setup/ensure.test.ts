/** The set-up names missing programs before it begins anything, and says how far a download is. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { unmarked } from "../cluster/netns.ts";
import { prepareAll } from "./ensure.ts";
import { intoPlace, type Part } from "./part.ts";

type Begun = { readonly names: string[] };

const part = (name: string, begun: Begun, programs: NonNullable<Part["programs"]> = {}, ready = false): Part => ({
  ...{ name, why: name, sizeHint: "small", needs: [], programs },
  isReady: async () => ready || begun.names.includes(name),
  install: async () => void begun.names.push(name),
});

const missing = { "no-such-program": "some-package", "other-program": { from: "its own site" } } as const;

describe("the set-up", () => {
  test("names all missing programs of all parts at once, and begins none of them", async () => {
    const begun: Begun = { names: [] };
    const parts = [
      part("compiled", begun),
      part("first", begun, { "no-such-program": "some-package", node: "nodejs" }),
      part("second", begun, missing),
      part("there", begun, missing, true),
    ];
    const outcomes = await prepareAll(parts, () => {}, false);
    assert.deepEqual(begun.names, []);
    assert.deepEqual(
      outcomes.map(({ part: name, ok, message }) => [name, ok, message.replace("sudo ", "")]),
      [
        ["compiled", false, "not begun: other parts lack programs"],
        ...["first", "second"].map((name) => [
          name,
          false,
          "no-such-program, other-program not found; type:  apt-get install -y --no-install-recommends some-package; other-program: its own site",
        ]),
        ["there", true, "ready"],
      ],
    );
  });

  test("begins where no program of a part that is not ready is missing", async () => {
    const begun: Begun = { names: [] };
    const parts = [part("a", begun, { sh: "dash" }), part("b", begun, missing, true)];
    const cache = await mkdtemp(join(tmpdir(), "rekindle-setup-"));
    const before = process.env["REKINDLE_CACHE"];
    process.env["REKINDLE_CACHE"] = cache;
    try {
      const outcomes = await prepareAll(parts, () => {}, false);
      assert.deepEqual([begun.names, outcomes.map(({ ok }) => ok)], [["a"], [true, true]]);
    } finally {
      if (before === undefined) delete process.env["REKINDLE_CACHE"];
      else process.env["REKINDLE_CACHE"] = before;
      await rm(cache, { recursive: true });
    }
  });

  test("says how many bytes of a download have arrived", async () => {
    const folder = await mkdtemp(join(tmpdir(), "rekindle-growth-"));
    const lines: string[] = [];
    const fill = async (dir: string): Promise<void> => {
      await writeFile(join(dir, "file"), Buffer.alloc(2_500_000));
      // A line may come while the file is being written.
      for (let left = 100; lines.at(-1)?.startsWith("2.5 ") !== true && left > 0; left -= 1) await sleep(20);
    };
    await intoPlace(join(folder, "place"), fill, { say: (line) => lines.push(line), of: "3 MB in all", everyMs: 20 });
    assert.match(lines.at(-1) ?? "", /^2\.5 MB so far, after \d+ s \(3 MB in all\)$/);
    assert.ok(existsSync(join(folder, "place", "file")));
    await rm(folder, { recursive: true });
  });
});

test("a command in the test cluster has no variable that a host would refuse", () => {
  assert.deepEqual(unmarked({ REKINDLE_NETNS: "1", REKINDLE_CACHE: "/c", HOME: "/h" }), {
    REKINDLE_CACHE: "/c",
    HOME: "/h",
  });
});
