/** Workflows and issue templates in `.github`: they call what exists here, and name no registry. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { parse } from "yaml";
import * as z from "zod";

const root = join(import.meta.dirname, "..", "..", "..");
const folder = join(root, ".github");

const read = (path: string): string => readFileSync(join(folder, path), "utf8");

const workflow = z.object({
  name: z.string(),
  on: z.record(z.string(), z.unknown()),
  permissions: z.record(z.string(), z.string()),
  jobs: z.record(
    z.string(),
    z.object({
      "timeout-minutes": z.number(),
      steps: z.array(z.object({ uses: z.string().optional(), run: z.string().optional() })),
    }),
  ),
});

const commandsOf = (path: string): string =>
  Object.values(workflow.parse(parse(read(path))).jobs)
    .flatMap(({ steps }) => steps.map(({ run = "" }) => run))
    .join("\n");

describe(".github", () => {
  test("runs the lanes of .ci/run on each change, with the time that these may take", () => {
    const { on, jobs } = workflow.parse(parse(read("workflows/ci.yml")));
    assert.deepEqual(Object.keys(on), ["push", "pull_request"]);
    assert.match(commandsOf("workflows/ci.yml"), /\.ci\/run$/);
    assert.ok((statSync(join(root, ".ci", "run")).mode & 0o111) !== 0, ".ci/run can be run");
    const [, limit = ""] = /^limit=(\d+)/m.exec(readFileSync(join(root, ".ci", "run"), "utf8")) ?? [];
    assert.ok(Number(limit) / 60 < (jobs["lanes"]?.["timeout-minutes"] ?? 0));
  });

  test("releases package, image and chart of the version of a tag", () => {
    const commands = commandsOf("workflows/release.yml");
    for (const part of [
      /npm pack/,
      /npm publish/,
      /podman push "\$IMAGE_REGISTRY\//,
      /helm push .* "oci:\/\/\$IMAGE_REGISTRY\//,
    ])
      assert.match(commands, part);
    for (const path of ["infra/Containerfile", "infra/helm/rekindle", "infra/helm/rekindle/Chart.yaml", "CHANGELOG.md"])
      assert.ok(commands.includes(path) && existsSync(join(root, path)), path);
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    assert.match(
      readFileSync(join(root, "infra/helm/rekindle/Chart.yaml"), "utf8"),
      new RegExp(`^appVersion: "?${version}"?$`, "m"),
    );
  });

  test("asks for what a reader of an issue needs", () => {
    const template = z.object({
      name: z.string(),
      description: z.string(),
      body: z.array(z.object({ type: z.string() })).min(2),
    });
    for (const file of readdirSync(join(folder, "ISSUE_TEMPLATE")).filter((name) => name !== "config.yml"))
      template.parse(parse(read(join("ISSUE_TEMPLATE", file))));
    assert.match(read("ISSUE_TEMPLATE/bug.yml"), /rekindle plan NAME -o wide/);
  });
});
