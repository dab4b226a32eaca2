/** `rekindle cluster add`: functions accept the record that it creates. */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { Transport } from "../../../shared/core/http.ts";
import { settingsFor } from "../../../shared/deployments/settings/read.ts";
import { openTerminal } from "./terminal.ts";

const eks = ["cluster", "add", "--eks", "prod", "--region", "eu-west-1"];

describe("rekindle cluster add", () => {
  test("for EKS prints a record by which functions log in as their role", async () => {
    const { code, out, err } = await openTerminal().run(...eks);
    assert.equal(code, 0);
    assert.match(err, /needs an access entry of the cluster prod/);
    const { clusterRecord: endpoint } = settingsFor("submitter", { REKINDLE_CLUSTER_RECORD: out });
    assert.ok("server" in endpoint && endpoint.auth !== undefined);
    assert.deepEqual([endpoint.server, endpoint.ca], ["https://cluster.example:6443", "-----BEGIN CERTIFICATE-----"]);
    assert.ok("provider" in endpoint.auth);
  });

  test("for a service account prints a record with a token of the server, and reports when it expires", async () => {
    const asked: string[] = [];
    const transport: Transport = {
      stream: () => Promise.reject(new Error("not asked for")),
      send: async ({ method, path, body }) => {
        asked.push(`${method} ${path} ${body}`);
        const status = { token: "t0k", expirationTimestamp: "2026-11-03T09:00:00Z" };
        return { status: 201, headers: {}, body: JSON.stringify({ status }) };
      },
    };
    const terminal = openTerminal({ transport });
    const { out, err } = await terminal.run("cluster", "add", "--service-account", "rekindle/fn", "--duration", "2h");
    assert.match(err, /the token expires at 2026-11-03T09:00:00Z/);
    const { clusterRecord: endpoint } = settingsFor("submitter", { REKINDLE_CLUSTER_RECORD: out });
    assert.ok("server" in endpoint);
    assert.deepEqual(endpoint.auth, { token: "t0k" });
    assert.match(asked[0] ?? "", /^POST .*\/rekindle\/serviceaccounts\/fn\/token .*"expirationSeconds":7200/);
  });

  test("writes the record to a file that only its owner can read, whatever was there", async () => {
    const dir = await mkdtemp(join(tmpdir(), "rekindle-"));
    const file = join(dir, "record.json");
    await writeFile(file, "before", { mode: 0o644 });
    const { out } = await openTerminal().run(...eks, "--out", file);
    assert.ok(!out.includes("BEGIN"));
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.deepEqual(JSON.parse(await readFile(file, "utf8")).eks, { name: "prod", region: "eu-west-1" });
    await rm(dir, { recursive: true });
  });

  const mistakes: Readonly<Record<string, readonly string[]>> = {
    "say how functions log in": [],
    "--eks needs --region REGION": ["--eks", "prod"],
    "write a region, such as eu-west-1": ["--eks", "prod", "--region", "Ireland"],
    "write NAMESPACE/NAME": ["--service-account", "fn"],
  };
  for (const [expected, args] of Object.entries(mistakes)) {
    test(`fails with ${expected}`, async () => {
      const { code, err } = await openTerminal().run("cluster", "add", ...args);
      assert.deepEqual([code, err.includes(expected)], [1, true], err);
    });
  }
});
