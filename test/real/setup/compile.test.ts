/** Tests the progress of a Go build with a script that prints what Go prints. */
import assert from "node:assert/strict";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { compile, progressText } from "./compile.ts";

/**
 * Prints as Go does: modules on stderr while they are downloaded, then the packages; a build prints compiled packages
 * on stderr.
 */
const script = `#!/bin/sh
case "$1" in
list)
  echo "go: downloading k8s.io/api v0.1.0" >&2
  sleep 0.3
  printf 'unsafe\\nk8s.io/api/core/v1\\nk8s.io/apiserver\\nrekindle/controlplane\\n'
  ;;
build)
  echo k8s.io/api/core/v1 >&2
  sleep 0.3
  echo k8s.io/apiserver >&2
  sleep 0.3
  echo done > binary
  ;;
esac
`;

const built = async (everyMs: number): Promise<readonly string[]> => {
  const folder = await mkdtemp(join(tmpdir(), "rekindle-compile-"));
  try {
    const go = join(folder, "go");
    await writeFile(go, script);
    await chmod(go, 0o755);
    const lines: string[] = [];
    await compile({ sources: folder, binary: "binary", ldflags: "-s", say: (line) => lines.push(line), go, everyMs });
    return lines;
  } finally {
    await rm(folder, { recursive: true });
  }
};

describe("a build of Go", () => {
  test("tells what is downloaded, then how many of its packages are compiled and which is now", async () => {
    const lines = await built(50);
    const kinds = [
      /^downloading modules: 1 so far/,
      /^compiled 1 of 4 packages .*now k8s\.io\/api\/core\/v1/,
      /^compiled 2 of 4 /,
    ];
    for (const kind of kinds)
      assert.ok(
        lines.some((line) => kind.test(line)),
        `${kind} in ${lines.join("\n")}`,
      );
  });

  test("that is quick tells nothing", async () => {
    assert.deepEqual(await built(60_000), []);
  });

  test("is linked after its own package, the last one", () => {
    const main = "rekindle/controlplane";
    const whole = { downloaded: 3, compiled: 2640, total: 2700, last: main, main, seconds: 480 };
    assert.equal(progressText(whole), "compiled 2,640 of 2,700 packages, linking, after 480 s");
  });
});
