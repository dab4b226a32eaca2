/**
 * Measures each function's bundle in environments of the real runtime client: the time until a cold one is ready for an
 * event, and the duration of an event in a warm one.
 */
import type { Cloud } from "../../real/lambda/cloud.ts";
import { median } from "../../real/lambda/ledger.ts";
import type { Lambda } from "../../real/lambda/pool.ts";
import type { Bench } from "../costs.ts";
import type { Figure } from "../figures.ts";

const times = 5;

const nobody = { cluster: "default", kind: "SparkApplication", namespace: "default", name: "nobody", reason: "start" };
const batch = (body: object): object => ({
  Records: [{ messageId: "1", body: JSON.stringify(body), attributes: { ApproximateReceiveCount: "1" } }],
});

const health = {
  version: "2.0",
  ...{ routeKey: "$default", rawPath: "/healthz", rawQueryString: "", headers: {}, isBase64Encoded: false },
  requestContext: { http: { method: "GET", path: "/healthz" }, requestId: "start", stage: "$default" },
};

/** Events with nothing to do, and the fields that each function requires. */
const events = {
  reconcile: batch(nobody),
  wake: batch({ message: nobody, id: "start" }),
  deliver: batch({ ...nobody, kind: "updates.SparkApplication" }),
  forward: { id: "start" },
  resync: { id: "start" },
  api: health,
  admission: health,
  submitter: health,
} as const;

export type Start = {
  readonly name: string;
  readonly coldMs: number;
  readonly firstMs: number;
  readonly warmMs: number;
};

const startOf = async (bench: Bench, name: string, lambda: Lambda, event: object): Promise<Start> => {
  const { entries } = bench.cloud.ledger;
  const from = entries.length;
  for (const fate of [{ do: "kill", when: "idle" }, { do: "live" }] as const) {
    bench.fate.now = fate;
    for (let turn = 0; turn < times; turn += 1) {
      const { ended, body } = await lambda.invoke(event);
      if (ended !== "answered") throw new Error(`${name} ${ended}: ${body.slice(0, 500)}`);
    }
  }
  const own = entries.slice(from).filter((entry) => entry.name === name);
  const cold = own.filter(({ initMs }) => initMs !== undefined);
  return {
    name,
    coldMs: median(cold.map(({ initMs = 0 }) => initMs)),
    firstMs: median(cold.map(({ durationMs }) => durationMs)),
    warmMs: median(own.filter(({ initMs }) => initMs === undefined).map(({ durationMs }) => durationMs)),
  };
};

/** Measures each function in its own environments; a forwarder's window is a second. */
export const startsOf = async (bench: Bench): Promise<readonly Start[]> => {
  const { cloud } = bench;
  const more: Parameters<Cloud["another"]>[1] = { REKINDLE_WINDOW: "1" };
  const starts: Start[] = [];
  for (const [name, event] of Object.entries(events)) {
    const lambda = cloud.another(name, more);
    starts.push(await startOf(bench, name, lambda, event));
    await lambda.stop();
  }
  bench.fate.now = { do: "live" };
  return starts;
};

export const figuresOfStarts = (starts: readonly Start[]): readonly Figure[] =>
  starts.flatMap(({ name, coldMs, firstMs, warmMs }) => [
    { name: `cloud.${name}.cold-start`, value: coldMs, unit: "ms" },
    { name: `cloud.${name}.first-event`, value: firstMs, unit: "ms" },
    { name: `cloud.${name}.warm-event`, value: warmMs, unit: "ms" },
  ]);
