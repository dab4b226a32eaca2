/** The dispatcher at work beside its lease: without it, nothing is called. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { openParts } from "../../../../shared/deployments/dispatch/process.ts";
import { startDispatching } from "../../../../shared/deployments/dispatch/start.ts";
import { settingsFor } from "../../../../shared/deployments/settings/read.ts";
import { onCluster } from "../surroundings.ts";

/** Returns the number of calls that a dispatcher begins until its first resync is over. */
const callsWhere = async (mayCall: boolean): Promise<number> => {
  let calls = 0;
  const server = createServer((request, response) => {
    request.resume().once("end", () => {
      calls += 1;
      response.end(JSON.stringify({ batchItemFailures: [] }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  const url = `http://127.0.0.1:${address.port}/`;
  try {
    await onCluster(["pi"], async (env) => {
      const parts = await openParts(
        settingsFor("dispatch", {
          ...{ ...env, REKINDLE_HOME: "default", REKINDLE_LOG_LEVEL: "error" },
          ...{
            REKINDLE_CALL_URLS: `reconcile=${url},deliver=${url}`,
            REKINDLE_CALL_SECRET: "a-secret-that-signs-calls",
          },
        }),
      );
      const active = await startDispatching({ ...parts, mayCall: () => mayCall });
      for (let turn = 0; turn < 400 && (!active.ready() || (mayCall && calls === 0)); turn += 1) await sleep(25);
      await sleep(100);
      await active.stop(0);
      parts.agents.close();
    });
  } finally {
    server.closeAllConnections();
    server.close();
  }
  return calls;
};

describe("a dispatcher at work", () => {
  test("calls the function while it holds the lease", async () => {
    assert.ok((await callsWhere(true)) > 0);
  });

  test("begins no call while it does not hold the lease", async () => {
    assert.equal(await callsWhere(false), 0);
  });
});
