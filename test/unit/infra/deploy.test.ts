/**
 * `npm run deploy`: mistakes are reported before the build, and everything else is passed to sam, for which a script
 * stands in.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { commandsFor, problemsWith, type Wanted } from "../../../infra/aws/plan.ts";
import { template } from "../../support/aws-template.ts";

const record = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:rekindle/prod-AbCdEf";
const good: Wanted = { alias: "prod", record, set: ["LogDays=7"], region: "eu-west-1" };

const root = join(import.meta.dirname, "..", "..", "..");

/** Runs the command with stand-ins for sam and npm, and returns their arguments. */
const deployed = (args: readonly string[], env: Record<string, string>, ends = 0) => {
  const dir = mkdtempSync(join(tmpdir(), "rekindle-deploy-"));
  const log = join(dir, "log");
  writeFileSync(log, "");
  for (const name of ["sam", "npm"]) {
    writeFileSync(join(dir, name), `#!/bin/sh\necho "${name} $*" >> ${log}\nexit ${name === "sam" ? ends : 0}\n`);
    chmodSync(join(dir, name), 0o755);
  }
  const run = spawnSync(process.execPath, ["infra/door.mjs", "infra/aws/deploy.ts", ...args], {
    ...{ cwd: root, encoding: "utf8" },
    env: { PATH: `${dir}:${process.env["PATH"]}`, ...env },
  });
  const asked = readFileSync(log, "utf8").trim().split("\n").filter(Boolean);
  rmSync(dir, { recursive: true });
  return { ...run, asked };
};

describe("a deployment", () => {
  const rows: readonly (readonly [more: Partial<Wanted>, expected: RegExp])[] = [
    [{ alias: "Prod" }, /^--alias:/],
    [{ record: "rekindle/prod" }, /^--record: the ARN of a secret/],
    [{ region: undefined }, /^set AWS_REGION/],
    [{ region: "us-east-1" }, /^the record is in eu-west-1, AWS_REGION is us-east-1/],
    [{ set: ["LogDays"] }, /^--set LogDays: write PARAMETER=VALUE/],
    [{ set: ["LogDay=7"] }, /^--set LogDay: the template has no such parameter \(Alias, /],
    [{ set: ["LogDays=8"] }, /^--set LogDays=8: one of 1, 3, 5, 7/],
    [{ set: ["ForwardWindow=900"] }, /^--set ForwardWindow=900: a number is needed, 5 to 840$/],
    [{ set: ["AdmissionPath=short"] }, /^--set AdmissionPath: 16 to 128 letters/],
    [{ set: ["Subnets=subnet-1,subnet-2"] }, /^--set Subnets need SecurityGroups$/],
  ];
  for (const [more, expected] of rows) {
    test(`with ${JSON.stringify(more)} says one line`, () => {
      const problems = problemsWith(template, { ...good, ...more });
      assert.equal(problems.length, 1);
      assert.match(problems[0] ?? "", expected);
    });
  }

  test("takes the record from a parameter, too", () => {
    const parameter = "arn:aws:ssm:eu-west-1:123456789012:parameter/rekindle/prod";
    assert.deepEqual(problemsWith(template, { ...good, record: parameter }), []);
  });

  test("as it should be has no problem, and executes nothing unless it is told to", () => {
    assert.deepEqual(problemsWith(template, good), []);
    const [plan, apply] = [false, true].map((one) => commandsFor(good, one)[1]?.join(" ") ?? "");
    assert.ok(plan?.includes("--no-execute-changeset") && !apply?.includes("--no-execute-changeset"));
    assert.ok(apply?.endsWith(`--parameter-overrides Alias=prod ClusterRecord=${record} LogDays=7`));
  });

  const args = ["--alias", "prod", "--record", record, "--set", "AdmissionPath=a-path-that-nobody-knows"];

  test("is built, planned, and told without what is secret in it", () => {
    const { status, asked, stdout } = deployed(args, { AWS_REGION: "eu-west-1" });
    assert.equal(status, 0);
    assert.deepEqual(
      asked.map((line) => line.split(" ").slice(0, 2).join(" ")),
      ["npm run", "sam build", "sam deploy"],
    );
    assert.match(stdout, /that is the plan/);
    assert.doesNotMatch(stdout, /a-path-that-nobody-knows/);
  });

  test("with a mistake asks nobody", () => {
    const { status, asked, stderr } = deployed(args, { AWS_REGION: "us-east-1" });
    assert.deepEqual([status, asked], [1, []]);
    assert.match(stderr, /^the record is in eu-west-1/);
  });

  test("whose build fails is not deployed", () => {
    const { status, asked, stderr } = deployed(args, { AWS_REGION: "eu-west-1" }, 3);
    assert.deepEqual([status, asked.length], [1, 2]);
    assert.match(stderr, /sam ended with 3: nothing after it was done/);
  });
});
