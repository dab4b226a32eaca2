/** The examples of the HTTP reference page: each curl command gets the answer that the page shows. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { getRequestListener } from "@hono/node-server";
import { apiApp } from "../../../functions/api.ts";
import { identifier } from "../../../shared/api/callers.ts";
import { callersOf } from "../../../shared/deployments/common/authentication.ts";
import { listening } from "../../support/port.ts";

const page = readFileSync(join(import.meta.dirname, "..", "..", "..", "infra", "docs", "reference", "http.md"), "utf8");
const block = (language: string): string => new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page)?.[1] ?? "";
const run = promisify(execFile);
const asked = { curl: "--version", openssl: "version", bash: "--version" };
const tools = await Promise.all(Object.entries(asked).map(([tool, how]) => run(tool, [how]).catch(() => undefined)));
const skip = tools.includes(undefined) ? "no curl, openssl or bash here" : false;

test("the examples of the HTTP reference page get the answers that the page shows", { skip }, async () => {
  const sent: string[] = [];
  const app = apiApp({
    ...{ ready: () => true, kinds: () => ["SparkApplication"], plurals: {} },
    trigger: async ({ namespace, name }) => void sent.push(`step ${namespace}/${name}`),
    notice: async (node) => void sent.push(`notice ${node}`),
    reader: {
      list: async (query) => ({ items: [], continue: `${query.namespace} ${query.limit}` }),
      find: async () => undefined,
    },
    identify: identifier(callersOf(block("json")), { now: Date.now, subjectOf: async () => undefined }),
  });
  const server = createServer(getRequestListener(app.fetch));
  const port = await listening(server);
  try {
    const DOOR = `http://127.0.0.1:${port}`;
    const { stdout } = await run("bash", ["-euc", block("bash")], { env: { PATH: process.env["PATH"], DOOR } });
    assert.equal(stdout, '{"accepted":true}{"items":[],"continue":"team-a 50"}{"accepted":1,"passed":[]}');
    assert.deepEqual(sent, ["step team-a/pi", "notice node-1"]);
  } finally {
    server.close();
  }
});
