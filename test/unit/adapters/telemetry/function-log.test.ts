/**
 * One trace id from a watched event to all its consequences: through the queue, a step, a delay and back, in log lines
 * and in events.
 */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { request } from "../../../../shared/adapters/kubernetes/requests.ts";
import { isRecord } from "../../../../shared/core/json.ts";
import { openForward } from "../../../../shared/deployments/forward/function.ts";
import { openReconcile } from "../../../../shared/deployments/reconcile/function.ts";
import { openWake } from "../../../../shared/deployments/wake/function.ts";
import type { Json } from "../../../../shared/kube/responses.ts";
import { onCluster, withQueue } from "../../deployments/surroundings.ts";
import { taken } from "../sqs/fake.ts";

const context = { getRemainingTimeInMillis: () => 11_000 };
const batch = (body: unknown) => ({
  Records: [{ messageId: "1", body: JSON.stringify(body), attributes: { ApproximateReceiveCount: "1" } }],
});

const idIn = (message: Json | undefined): string =>
  /^00-([0-9a-f]{32})-/.exec(String(message?.["trace"]))?.[1] ?? "none";

/** Returns the lines that the functions print while `act` runs. */
const printed = async (t: TestContext, act: () => Promise<unknown>): Promise<readonly Json[]> => {
  const log = t.mock.method(console, "log", () => {});
  await act();
  const lines = log.mock.calls.map(({ arguments: [line] }): unknown => JSON.parse(String(line)));
  log.mock.restore();
  return lines.filter(isRecord);
};

const told = (lines: readonly Json[], id: string): readonly unknown[] => [
  ...new Set(lines.filter(({ trace }) => trace === id).map(({ message }) => message)),
];

test("the trace id of a watched event is in every log line, message and Event that follow from it", async (t) => {
  await onCluster(["pi"], async (env, _, { transport }) => {
    await withQueue(taken, async (queues, bodies) => {
      await request(transport, "POST", "/api/v1/namespaces", { metadata: { name: "rekindle" } });
      const around = { ...queues, ...env, REKINDLE_LEASES: "" };
      const forward = await openForward({ ...around, REKINDLE_WINDOW: "1" });
      const watched = await printed(t, () => forward({}, context));
      const message = bodies().find(({ name }) => name === "pi");
      const id = idIn(message);
      assert.deepEqual(told(watched, id), ["sent"]);

      const step = async (env: typeof around) => (await openReconcile(env))(batch(message));
      const stepped = told(await printed(t, () => step(around)), id);
      assert.deepEqual(stepped, ["SparkApplication pi was submitted successfully", "sent", "step"]);

      const away = { ...around, REKINDLE_CLUSTER_RECORD: JSON.stringify({ server: "http://127.0.0.1:9" }) };
      assert.deepEqual(told(await printed(t, () => step(away)), id), ["sent"]);
      const later = bodies().at(-1);
      assert.equal(isRecord(later?.["message"]) ? idIn(later["message"]) : "none", id);

      const wake = await openWake(around);
      assert.deepEqual(told(await printed(t, () => wake(batch(later))), id), ["sent"]);
      assert.equal(idIn(bodies().at(-1)), id);

      const { items } = await request(transport, "GET", "/api/v1/namespaces/default/events");
      assert.match(JSON.stringify(items), new RegExp(`"rekindle.dev/trace":"${id}"`));
    });
  });
});
