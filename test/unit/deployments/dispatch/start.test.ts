/** The dispatcher at work: without its lease nothing is called, and a notice is answered when a function has written it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { noticeKey } from "../../../../shared/core/key.ts";
import { openParts } from "../../../../shared/deployments/dispatch/process.ts";
import { type Dispatching, startDispatching } from "../../../../shared/deployments/dispatch/start.ts";
import { settingsFor } from "../../../../shared/deployments/settings/read.ts";
import { namespaces } from "../../../../shared/kube/resources.ts";
import { create, onCluster } from "../surroundings.ts";
import { openCalledFunction, type Reply } from "./called-function.ts";

/** Runs a dispatcher whose functions give these answers; `calls` are the bodies that they got. */
const withDispatcher = async (
  { mayCall, reply, host = "127.0.0.1" }: { readonly mayCall: boolean; readonly reply: Reply; readonly host?: string },
  act: (active: Dispatching, calls: readonly string[], create: (name: string) => Promise<void>) => Promise<void>,
): Promise<void> => {
  const { url, calls, close } = await openCalledFunction(reply, host);
  try {
    await onCluster(["pi"], async (env, _, simulator) => {
      const parts = await openParts(
        settingsFor("dispatch", {
          ...{ ...env, REKINDLE_HOME: "default", REKINDLE_LOG_LEVEL: "error" },
          ...{ REKINDLE_CALL_URLS: `reconcile=${url},deliver=${url}`, REKINDLE_CALL_SECRET: "a-secret-that-signs" },
        }),
      );
      const active = await startDispatching({ ...parts, mayCall: () => mayCall });
      for (let turn = 0; turn < 400 && !active.ready(); turn += 1) await sleep(25);
      try {
        await act(active, calls, async (name) => {
          // A renewal of the lease reads the server's clock, too.
          await parts.cluster.get({ resource: namespaces, name: "kube-system" });
          await create(simulator, name);
        });
      } finally {
        await active.stop(0);
        parts.agents.close();
      }
    });
  } finally {
    close();
  }
};

describe("a running dispatcher", () => {
  test("calls the function while it holds the lease", async () => {
    await withDispatcher({ mayCall: true, reply: { status: 200 } }, async (_, calls) => {
      for (let turn = 0; turn < 400 && calls.length === 0; turn += 1) await sleep(25);
      assert.match(calls[0] ?? "", /\\"name\\":\\"pi\\"/);
    });
  });

  for (const { host, encloses } of [
    { host: "127.0.0.1", encloses: true },
    { host: "localhost", encloses: true },
    { host: "0.0.0.0", encloses: false },
  ])
    test(`encloses the object in a call of ${host}: ${encloses}`, async () => {
      await withDispatcher({ mayCall: true, reply: { status: 200 }, host }, async (_, calls, appear) => {
        await appear("second");
        const isNew = (body: string): boolean => body.includes("second new");
        for (let turn = 0; turn < 400 && !calls.some(isNew); turn += 1) await sleep(25);
        const { enclosure } = JSON.parse(calls.find(isNew) ?? "{}");
        const want = encloses ? ["second", [[]]] : [undefined, undefined];
        assert.deepEqual([enclosure?.object.metadata.name, enclosure?.lists], want);
      });
    });

  test("starts no call while it does not hold the lease", async () => {
    await withDispatcher({ mayCall: false, reply: { status: 200 } }, async (_, calls) => {
      await sleep(100);
      assert.deepEqual(calls, []);
    });
  });
});

describe("a notice to a dispatcher", () => {
  const notice = { ...noticeKey("default", "SparkApplication", "node-1"), reason: "notice", until: 1_800_000_000_000 };

  test("is answered when the function has written it", async () => {
    await withDispatcher({ mayCall: true, reply: { status: 200 } }, async (active, calls) => {
      await active.notice(notice);
      assert.ok(calls.some((body) => body.includes("node-1")));
    });
  });

  for (const { what, reply, mayCall } of [
    { what: "the function failed", reply: { status: 500 }, mayCall: true },
    { what: "the function answers 429", reply: { status: 429 }, mayCall: true },
    { what: "the lease was lost", reply: { status: 200 }, mayCall: false },
    {
      what: "the step sends the notice again",
      reply: { status: 200, messages: [{ body: JSON.stringify(notice), id: "again", delayMs: 60_000 }] },
      mayCall: true,
    },
  ])
    test(`is refused, so that its sender tries again, if ${what}`, async () => {
      await withDispatcher({ mayCall, reply }, async (active) => {
        await assert.rejects(active.notice(notice), /the notice is not written/);
      });
    });
});
