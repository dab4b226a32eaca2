/**
 * The image's layout without a container engine: the files that the last stage copies, in a folder, and the commands
 * that run there.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { stagesIn } from "../../real/infra/containerfile.ts";
import { builtFor } from "../../support/build.ts";

const root = join(import.meta.dirname, "..", "..", "..");

/** Copies the files that the last stage takes from the clone, and the bundles. */
const laidOut = async (folder: string): Promise<void> => {
  const last = stagesIn(await readFile(join(root, "infra", "Containerfile"), "utf8")).at(-1);
  const copied = (last?.steps ?? []).filter(({ word, rest }) => word === "COPY" && !rest.startsWith("--from="));
  for (const { rest } of copied) {
    const [from = "", to = ""] = rest.split(/\s+/);
    const target = join(folder, to.endsWith("/") ? join(to, from) : to);
    await mkdir(dirname(target), { recursive: true });
    await cp(join(root, from), target, { recursive: true });
  }
  await builtFor(join(folder, "dist"));
};

describe("the image", () => {
  test("holds what the demo applies: its cluster comes up there", async () => {
    const folder = await mkdtemp(join(tmpdir(), "rekindle-image-layout-"));
    try {
      await laidOut(folder);
      const args = [join(folder, "dist", "cli.mjs"), "demo", "--skip-story"];
      const child = spawn(process.execPath, args, { cwd: tmpdir(), env: { PATH: process.env["PATH"] ?? "" } });
      let said = "";
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding("utf8").on("data", (text: string) => {
          said += text;
          if (said.includes("kubectl apply -f")) child.kill("SIGINT");
        });
      const code = await new Promise((resolve) => child.on("close", resolve));
      assert.equal(code, 0, said);
      assert.match(said, /The cluster is yours/);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
