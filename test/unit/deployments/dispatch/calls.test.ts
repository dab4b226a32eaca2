/**
 * The contract between a dispatcher and the functions that it calls, over HTTP: who may call, what an answer carries,
 * and a whole application through a dispatcher on the simulator.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type Call, openAgents, openCall } from "../../../../shared/adapters/dispatch/call.ts";
import { openCarrier } from "../../../../shared/adapters/dispatch/carrier.ts";
import { recordsOf } from "../../../../shared/adapters/lambda.ts";
import { dispatchUntil } from "../../../../shared/deployments/dispatch/process.ts";
import { serveCalls } from "../../../../shared/deployments/http/dispatch-calls.ts";
import { openReconcile, openTaking } from "../../../../shared/deployments/reconcile/function.ts";
import { settingsFor } from "../../../../shared/deployments/settings/read.ts";
import { messageOf } from "../../../real/queue/counter.ts";
import { freePort } from "../../../support/port.ts";
import { onCluster, record } from "../surroundings.ts";

const secret = "a-secret-that-signs-calls";

const delivery = (...names: readonly string[]) => ({
  ...{ group: "g", namespace: "ns", receipt: 7 },
  messages: names.map((name) => messageOf(name, "1")),
  received: names.map(() => 1),
});

type Take = Parameters<typeof serveCalls>[0]["take"];

/** Serves a function whose batches `take` handles, and calls it with proofs of these secrets. */
const withFunction = async (
  take: Take,
  act: (callBy: (secret: string | undefined) => Call, url: string) => Promise<void>,
  accepts = secret,
): Promise<void> => {
  const port = await freePort();
  const settings = settingsFor("reconcile", {
    REKINDLE_CLUSTER_RECORD: "in-cluster",
    REKINDLE_LISTEN: `127.0.0.1:${port}`,
    REKINDLE_CALL_SECRET: accepts,
    REKINDLE_LOG_LEVEL: "error",
  });
  let stop = (): void => {};
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const { queue, during } = openCarrier();
  const taking: Take = async (...given) => {
    await queue.sendLater(messageOf("later", "timer"), "timer-id", 5_000);
    return await take(...given);
  };
  const serving = serveCalls({ settings, take: taking, during, report: () => {} }, stopped);
  const agents = await openAgents({}, 4);
  const url = `http://127.0.0.1:${port}/reconcile`;
  try {
    await sleep(50);
    await act((by) => {
      const prove = by === undefined ? undefined : async () => ({ secret: by });
      return openCall({ url, limitMs: 20_000, leastAgainMs: 1_000, prove, agents, now: Date.now });
    }, url);
  } finally {
    agents.close();
    stop();
    await serving;
  }
};

describe("a function that a dispatcher calls", () => {
  test("returns the failed messages, and the messages that its steps send", async () => {
    const take: Take = async (delivered) => delivered.slice(1).map(({ id }) => id);
    await withFunction(take, async (callBy) => {
      const called = await callBy(secret)(delivery("a", "b"));
      assert.deepEqual(called, {
        ...{ did: "answered", failed: [1], againMs: undefined },
        carried: [{ body: JSON.stringify(messageOf("later", "timer")), id: "timer-id", delayMs: 5_000 }],
      });
    });
  });

  test("receives the time that is left", async () => {
    const seen: number[] = [];
    const take: Take = async (_, remainingMs) => {
      seen.push(remainingMs);
      return [];
    };
    await withFunction(take, async (callBy) => void (await callBy(secret)(delivery("a"))));
    assert.deepEqual(seen, [19_000]);
  });

  const object = {
    apiVersion: "sparkoperator.k8s.io/v1beta2",
    kind: "SparkApplication",
    metadata: { name: "a", namespace: "ns", uid: "app-1", resourceVersion: "7" },
  };
  const enclosure = { date: 1_000, object, lists: [] };
  const [limited, full] = ["a-key-that-may-trigger-only", "a-key-that-may-enclose-too"];
  const callers = JSON.stringify([
    { name: "limited", keys: [limited], may: ["trigger"] },
    { name: "full", keys: [full], may: ["trigger", "enclose"] },
  ]);
  for (const { who, accepts, by, want } of [
    { who: "a caller with the one secret", accepts: secret, by: secret, want: enclosure },
    { who: "a caller that may enclose", accepts: callers, by: full, want: enclosure },
    { who: "a caller that may only trigger", accepts: callers, by: limited, want: undefined },
  ])
    test(`${want === undefined ? "ignores" : "reads"} the enclosure of ${who}`, async () => {
      const taken: unknown[] = [];
      const take: Take = async (_, __, enclosed) => {
        taken.push(enclosed);
        return [];
      };
      await withFunction(take, async (callBy) => void (await callBy(by)(delivery("a"), enclosure)), accepts);
      assert.deepEqual(taken, [want]);
    });

  for (const [what, by] of [
    ["no signature", undefined],
    ["another secret", "another-secret-of-somebody"],
  ] as const)
    test(`refuses a call with ${what} and takes no step`, async () => {
      let steps = 0;
      const take: Take = async () => {
        steps += 1;
        return [];
      };
      await withFunction(take, async (callBy) => {
        assert.deepEqual(await callBy(by)(delivery("a")), {
          ...{ did: "refused", why: "the function answered 401", againMs: undefined },
        });
      });
      assert.equal(steps, 0);
    });

  test("refuses a body that is too large, a call without proof whatever its body, and a method other than POST", async () => {
    await withFunction(
      async () => [],
      async (_, url) => {
        const body = "x".repeat(300_000);
        const large = await fetch(url, { method: "POST", body, headers: { authorization: "Bearer no" } });
        const unproven = await fetch(url, { method: "POST", body });
        const other = await fetch(url, { method: "PUT", body: "{}" });
        const health = await fetch(new URL("/healthz", url));
        assert.deepEqual([large.status, unproven.status, other.status, health.status], [413, 401, 405, 200]);
      },
    );
  });

  test("has its messages delivered again if it throws", async () => {
    const take: Take = () => Promise.reject(new Error("it broke"));
    await withFunction(take, async (callBy) => {
      assert.deepEqual(await callBy(secret)(delivery("a")), {
        ...{ did: "broke", why: "the function answered 500", againMs: undefined },
      });
    });
  });

  test("ignores an enclosure inside a message", async () => {
    await onCluster(["pi"], async (env, podsNow) => {
      const { take, during } = openTaking({ ...env, REKINDLE_CALL_SECRET: secret, REKINDLE_LOG_LEVEL: "error" });
      const spec = {
        type: "Scala",
        mainClass: "a.B",
        image: "forged",
        sparkVersion: "4.1.1",
        driver: {},
        executor: {},
      };
      const forged = { ...object, metadata: { ...object.metadata, name: "gone", namespace: "default" }, spec };
      const inside = { enclosure: { date: Date.now(), object: forged, lists: [[]] }, fresh: true, watched: true };
      await during(() => take(recordsOf({ Records: [record("pi"), record("gone", inside)] }), 60_000));
      assert.deepEqual(await podsNow(), ["pi-driver"]);
    });
  });

  test("sends the delivery of a recent update again in each later step, because an answer may be lost", async () => {
    await onCluster(["pi"], async (env) => {
      const to = { REKINDLE_UPDATES_TO: "https://listener.example/", REKINDLE_LOG_LEVEL: "error" };
      const { take, during } = openTaking({ ...env, ...to, REKINDLE_CALL_SECRET: secret });
      const updates = async (): Promise<ReadonlySet<string>> => {
        const { carried } = await during(() => take(recordsOf({ Records: [record("pi")] }), 60_000));
        return new Set(carried.flatMap(({ body, id }) => (body.includes('"reason":"update"') ? [id] : [])));
      };
      const lost = await updates();
      assert.equal(lost.size, 1);
      assert.deepEqual(await updates(), lost);
    });
  });

  test("does not start without a queue and without a call secret", () => {
    assert.throws(
      () => settingsFor("reconcile", { REKINDLE_CLUSTER_RECORD: "in-cluster" }),
      /REKINDLE_FIFO_URL \(is missing\), REKINDLE_DELAY_URL \(is missing\)/,
    );
  });

  test("throws for a batch of SQS, because the messages that it sends would be lost", async () => {
    await onCluster(["pi"], async (env) => {
      const handler = await openReconcile({ ...env, REKINDLE_CALL_SECRET: secret });
      await assert.rejects(handler({ Records: [record("pi")] }), /calls this function over HTTP/);
    });
  });

  test("does not start as a function URL without a secret, because it sees no client certificate", async () => {
    await onCluster([], async (env) => {
      const opening = openReconcile({ ...env, REKINDLE_TLS_CLIENT_CA_FILE: "ca.pem" });
      await assert.rejects(opening, /REKINDLE_CALL_SECRET \(is missing: a function URL sees no certificate/);
    });
  });

  test("answers a function URL, and 401 without a signature", async () => {
    await onCluster(["pi"], async (env, podsNow) => {
      const handler = await openReconcile({ ...env, REKINDLE_CALL_SECRET: secret });
      const body = JSON.stringify({ Records: [record("pi")] });
      const event = { rawPath: "/", headers: {}, body, requestContext: { http: { method: "POST" } } };
      const answer = await handler(event);
      assert.ok("statusCode" in answer);
      assert.equal(answer.statusCode, 401);
      assert.deepEqual(await podsNow(), []);
    });
  });
});

/** Returns whether a server listens at this URL. */
const answers = (url: string): Promise<boolean> =>
  fetch(`${url}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  );

describe("a dispatcher", () => {
  test("runs an application by calls of reconcile, and its standby answers triggers with Retry-After", async () => {
    await onCluster(["pi"], async (env, podsNow, simulator) => {
      const [door, port, second] = [await freePort(), await freePort(), await freePort()];
      const common = { ...env, REKINDLE_CALL_SECRET: secret, REKINDLE_LOG_LEVEL: "error", REKINDLE_HOME: "default" };
      const listening = { ...common, REKINDLE_LISTEN: `127.0.0.1:${port}` };
      const url = `http://127.0.0.1:${port}/`;
      let stop = (): void => {};
      const stopped = new Promise<void>((resolve) => {
        stop = resolve;
      });
      const { take, during, report } = openTaking(listening);
      const serving = serveCalls({ settings: settingsFor("reconcile", listening), take, during, report }, stopped);
      const dispatchAt = (own: number): Promise<void> =>
        dispatchUntil(
          {
            ...common,
            REKINDLE_LISTEN: `127.0.0.1:${own}`,
            REKINDLE_CALL_URLS: `reconcile=${url},deliver=${url}`,
          },
          stopped,
        );
      const dispatching = [dispatchAt(door)];
      try {
        for (let turn = 0; turn < 400 && (await podsNow()).length === 0; turn += 1) await sleep(25);
        assert.deepEqual(await podsNow(), ["pi-driver"]);
        const metrics = await (await fetch(`http://127.0.0.1:${door}/metrics`)).text();
        assert.match(metrics, /rekindle_steps_total\{ending="answered"\} \d/);
        assert.match(metrics, /rekindle_queue_age_seconds_count \d/);
        dispatching.push(dispatchAt(second));
        const standby = `http://127.0.0.1:${second}`;
        for (let turn = 0; turn < 400 && !(await answers(standby)); turn += 1) await sleep(25);
        const trigger = await fetch(`${standby}/reconcile/SparkApplication/default/pi`, { method: "POST" });
        assert.deepEqual([trigger.status, trigger.headers.get("retry-after")], [503, "2"]);
        const ready = await Promise.all([door, second].map((at) => fetch(`http://127.0.0.1:${at}/readyz`)));
        assert.deepEqual(
          ready.map(({ status }) => status),
          [200, 503],
        );
      } finally {
        stop();
        simulator.clock.advanceTo(simulator.clock.now());
        await Promise.all([serving, ...dispatching]);
      }
    });
  });
});
