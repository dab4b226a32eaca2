/** `npm run store`: the tests of checkpoints in a table, which `npm test` runs on a fake, on DynamoDB Local. */
import { globSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { conclude, proving } from "../../../infra/tally.ts";
import { runTests } from "../../../infra/tests.ts";
import { serverVariable } from "../../unit/adapters/dynamodb/serving.ts";
import { ensure } from "../setup/ensure.ts";
import { startDynamoLocal } from "./dynamodb.ts";

const help = `npm run store [-- [--name REGEX] [--json FILE]]

  --name REGEX  only tests whose name matches
  --json FILE   the outcome as data

Starts DynamoDB Local in memory on 127.0.0.1, and runs every test whose name ends with dynamodb, or lies in a folder of
that name, against it.`;

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: { help: { type: "boolean", short: "h" }, name: { type: "string" }, json: { type: "string" } },
  });
  if (values.help === true) return console.log(help);
  await ensure(["store"]);
  const dir = await mkdtemp(join(tmpdir(), "rekindle-store-"));
  const server = await startDynamoLocal(dir);
  process.env[serverVariable] = server.endpoint;
  try {
    const files = globSync("test/**/{dynamodb/*,*dynamodb}.test.ts").sort();
    const result = await runTests({
      files,
      ...(values.name === undefined ? {} : { names: [new RegExp(values.name)] }),
    });
    conclude(result.tally, values.json === undefined ? undefined : { file: values.json, details: result });
  } finally {
    await server.stop();
    await rm(dir, { recursive: true, force: true });
  }
};

process.chdir(new URL("../../..", import.meta.url).pathname);
await proving(main);
