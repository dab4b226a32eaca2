/** The cases of applications that functions run in a storm, and of the quiet after it. */
import { setTimeout as sleep } from "node:timers/promises";
import { groupOf } from "../../../../shared/core/key.ts";
import { patienceMs } from "../../cluster/api.ts";
import { isWrite, tableOf } from "../../cluster/audit.ts";
import { depthOf, sendAll } from "../../lambda/queues.ts";
import { isSeen, operatorBegins } from "../beside.ts";
import { must } from "../scene.ts";
import { type Application, awaitState, driverLog, read, stateOf } from "../witness.ts";
import { beside, completing, deleted, failing, manifestOf, type Wanted } from "./applications.ts";
import { type Fixture, resyncEveryMs } from "./fixture.ts";
import { driverFaults, forwardFaults, quietFaults, stormFaults } from "./judgements.ts";
import { collection } from "./witness.ts";

/** A case. `run` throws the failure, and returns lines for the report. */
export type Case<Around = Fixture> = {
  readonly name: string;
  readonly run: (around: Around) => Promise<readonly string[]>;
};

/** The parts of a fixture that an application's life needs, whatever calls the functions. */
export type Observed = Pick<Fixture, "cluster" | "witness">;

/** The time after which nothing of a deleted application may be left where a queue keeps messages and timers. */
export const goneMs = 120_000;

const apply = async ({ cluster }: Observed, wanted: Wanted): Promise<void> => {
  const { status, body } = await cluster.api.call("POST", collection, manifestOf(wanted));
  must(status === 201, `create ${wanted.name}: ${JSON.stringify(body)}`);
};

const mustBeFine = (faults: readonly string[]): void => must(faults.length === 0, faults.join("; "));

const oneDriverPerAttempt = ({ witness }: Observed, name: string, attempts: number): void =>
  mustBeFine(driverFaults(witness.of(name), attempts));

const counted = ({ status }: Application, attempts: number): void => {
  const { executionAttempts, submissionAttempts } = status ?? {};
  must(executionAttempts === attempts, `executionAttempts is ${executionAttempts}, expected ${attempts}`);
  must(submissionAttempts === attempts, `submissionAttempts is ${submissionAttempts}, expected ${attempts}`);
};

/** Waits a moment, because the witness polls later than the caller. */
const story = async ({ witness }: Observed, name: string): Promise<string> => {
  await sleep(1_000);
  return witness.of(name).states.join(" → ");
};

const completes = (wanted: Wanted, index: number): Case<Observed> => ({
  name: `${wanted.name} runs to COMPLETED, with one driver`,
  run: async (fixture) => {
    const { api } = fixture.cluster;
    await sleep(index * 15_000);
    await apply(fixture, wanted);
    const app = await awaitState(api, wanted.name, ["COMPLETED", "FAILED"], patienceMs);
    must(stateOf(app) === "COMPLETED", `ended ${stateOf(app)}: ${JSON.stringify(app.status)}`);
    const said = /Pi is roughly 3\.\d+/.exec(await driverLog(api, app.status?.driverInfo?.podName ?? ""))?.[0];
    must(said !== undefined, "the driver's log does not say Pi");
    counted(app, 1);
    oneDriverPerAttempt(fixture, wanted.name, 1);
    return [`${await story(fixture, wanted.name)}; "${said}"`];
  },
});

const fails: Case<Observed> = {
  name: `${failing.name} is tried twice as its policy says, then FAILED`,
  run: async (fixture) => {
    await sleep(5_000);
    await apply(fixture, failing);
    const app = await awaitState(fixture.cluster.api, failing.name, ["COMPLETED", "FAILED"], patienceMs);
    must(stateOf(app) === "FAILED", `ended ${stateOf(app)}`);
    counted(app, 2);
    oneDriverPerAttempt(fixture, failing.name, 2);
    return [`${await story(fixture, failing.name)}; ${app.status?.applicationState?.errorMessage ?? ""}`];
  },
};

const kinds = "pods,services,configmaps,checkpoints.rekindle.dev";

const leftOf = async ({ cluster }: Observed, name: string): Promise<string> => {
  const { stdout } = await cluster.kubectl(["get", kinds, "-n", "default", "-o", "name"]);
  return stdout
    .split("\n")
    .filter((line) => line.includes(name))
    .join(" ");
};

const deletedWhole = async (fixture: Observed, name: string, withinMs: number): Promise<void> => {
  await fixture.cluster.api.call("DELETE", `${collection}/${name}`);
  const until = performance.now() + withinMs;
  for (let left = "all"; left !== ""; left = await leftOf(fixture, name)) {
    must(performance.now() < until, `left behind: ${left}`);
    await sleep(1_000);
  }
};

const isDeleted = (withinMs: number): Case<Observed> => ({
  name: `${deleted.name} is deleted while it runs: nothing is left`,
  run: async (fixture) => {
    await apply(fixture, deleted);
    await awaitState(fixture.cluster.api, deleted.name, ["RUNNING"], patienceMs);
    await sleep(3_000);
    await deletedWhole(fixture, deleted.name, withinMs);
    oneDriverPerAttempt(fixture, deleted.name, 1);
    return [await story(fixture, deleted.name)];
  },
});

/** Cases that run side by side. `withinMs`: the time after which nothing of a deleted application may be left. */
export const livesWithin = (withinMs: number): readonly Case<Observed>[] => [
  ...completing.map(completes),
  fails,
  isDeleted(withinMs),
];

const everywhereCold = async ({ cloud }: Fixture): Promise<void> => {
  await Promise.all(Object.values(cloud.functions).map((one) => one.cool()));
};

/** A message may be delayed by six seconds, and is then received within two. */
const takenMs = 8_000;

/**
 * Invokes resyncs, which look for other controllers and send unfinished keys, until the application has begun.
 * Functions that start cold rely on the findings of a resync.
 */
const resyncUntilBegun = async (fixture: Fixture, { name }: Wanted): Promise<void> => {
  const { cluster, cloud } = fixture;
  const until = performance.now() + patienceMs;
  for (let turn = 0; stateOf(await read(cluster.api, name)) === ""; turn++) {
    must(performance.now() < until, `${name} was not begun`);
    await cloud.functions.resync.invoke({ id: `beside-${turn}`, source: "aws.events" });
    await everywhereCold(fixture);
    await sleep(1_000);
  }
};

const secondsSince = (since: number): number => Math.round((performance.now() - since) / 1_000);

/** Runs in the storm, while the lane waits for its kills. */
export const standsAside: Case = {
  name: "beside an operator without a lease cold functions write nothing; when it has gone, they begin",
  run: async (fixture) => {
    const { api } = fixture.cluster;
    const came = performance.now();
    const leave = await operatorBegins(api);
    try {
      await isSeen(api, /kubeflow spark-operator runs in the pod kube-system\/theirs-/);
      await everywhereCold(fixture);
      const begun = Date.now();
      await apply(fixture, beside);
      const { resourceVersion } = (await read(api, beside.name)).metadata;
      const until = performance.now() + patienceMs;
      while (!fixture.sent.some(({ name, at }) => name === beside.name && at >= begun)) {
        must(performance.now() < until, `nobody sent ${beside.name}`);
        await sleep(100);
      }
      // A cold function on a busy machine takes its time.
      const isAnswered = (): boolean =>
        fixture.cloud.ledger.entries.some(({ name, ended, at }) => {
          return name === "reconcile" && ended === "answered" && at >= begun;
        });
      while (!isAnswered()) {
        must(performance.now() < until, "no step was asked for");
        await sleep(100);
      }
      await sleep(takenMs);
      const now = await read(api, beside.name);
      must(now.metadata.resourceVersion === resourceVersion, `written beside it: ${JSON.stringify(now)}`);
      const left = await leftOf(fixture, beside.name);
      must(left === "", `made beside it: ${left}`);
    } finally {
      await leave();
    }
    const gone = performance.now();
    await resyncUntilBegun(fixture, beside);
    const after = secondsSince(gone);
    await awaitState(api, beside.name, ["SUBMITTED", "RUNNING"], patienceMs);
    const states = await story(fixture, beside.name);
    await deletedWhole(fixture, beside.name, goneMs);
    oneDriverPerAttempt(fixture, beside.name, 1);
    return [`begun ${after} s after it went: ${states}; ${secondsSince(came)} s in all`];
  },
};

export const tallied = (values: readonly string[]): string => {
  const counts = Map.groupBy(values, (value) => value);
  return [...counts].map(([value, all]) => `${value} ${all.length}`).join(", ");
};

/** Checks that the storm had enough kills and stalls, and duplicated and delayed messages. */
export const stormy = (least: number): Case => ({
  name: `the storm: ≥ ${least} environments killed, others frozen, messages twice and late`,
  run: async ({ cloud }) => {
    const { kills, stalls, entries } = cloud.ledger;
    const { twice, late } = cloud.meddler.done();
    const dead = await depthOf(cloud.queue, cloud.queues.dead);
    mustBeFine(stormFaults({ kills, stalls, twice, late, dead }, least));
    return [
      `${kills.length} kills: ${tallied(kills.map(({ when }) => when))}; ${tallied(kills.map(({ name }) => name))}`,
      `${stalls.length} stopped in the middle for up to 13 s, ${twice} messages twice, ${late} late`,
      `${entries.length} invocations: ${tallied(entries.map(({ ended }) => ended))}`,
    ];
  },
});

export const missesNothing: Case = {
  name: "the windowed forwarder, stopped and resumed between every two windows, misses nothing",
  run: async ({ witness, sent, forwarding, cloud }) => {
    const changes = witness.changes();
    const windows = cloud.ledger.entries.filter(({ name }) => name === "forward");
    mustBeFine(forwardFaults({ changes, sent, windows }));
    return [
      `${changes.length} changes; ${forwarding.fired()} windows due, ${windows.length} begun, each in a new environment: ` +
        tallied(windows.map(({ ended }) => ended)),
    ];
  },
};

const keyOf = (name: string) => ({ cluster: "default", kind: "SparkApplication", namespace: "default", name });

/** Sends one message for every application, including the deleted one. */
const deliverAll = ({ cloud }: Fixture, occasion: string): Promise<void> =>
  sendAll(
    cloud.queue,
    cloud.queues.fifo,
    [...completing, failing, deleted].map(({ name }) => ({
      MessageBody: JSON.stringify({ ...keyOf(name), reason: "the lane asks" }),
      MessageGroupId: groupOf(keyOf(name)),
      MessageDeduplicationId: `${occasion} ${name}`.replaceAll(" ", "-"),
    })),
  );

const restMs = resyncEveryMs + 5_000;

/** Resolves when no message is under way and a whole resync has passed without a write. */
const settled = async ({ cloud, audit }: Fixture): Promise<void> => {
  const until = performance.now() + 180_000;
  for (;;) {
    await sleep(1_000);
    const waiting = (await depthOf(cloud.queue, cloud.queues.fifo)) + cloud.meddler.held();
    const newest = (await audit.read()).filter(isWrite).at(-1)?.at ?? 0;
    if (waiting === 0 && !cloud.mappings.keys.isBusy() && Date.now() - newest > restMs) return;
    must(performance.now() < until, "it does not come to rest");
  }
};

export const quiet: Case = {
  name: "then quiet: a minute of deliveries, resyncs and windows, and 0 writes",
  run: async (fixture) => {
    const { cloud, audit } = fixture;
    await settled(fixture);
    const begun = Date.now();
    for (let round = 0; round < 12; round++) {
      await deliverAll(fixture, `quiet ${round}`);
      if (round % 3 === 0) {
        const { ended, body } = await cloud.functions.resync.invoke({ id: `quiet-${round}`, source: "aws.events" });
        must(ended === "answered", `resync ${ended}: ${body}`);
      }
      await sleep(Math.max(0, begun + (round + 1) * 5_000 - Date.now()));
    }
    const asked = (await audit.read()).filter(({ at }) => at >= begun);
    // A window that began in the storm may still be killed in this minute.
    const entries = cloud.ledger.entries.filter(({ at }) => at >= begun);
    mustBeFine(quietFaults(asked.filter(isWrite), entries));
    const reads = tableOf(asked).map(([what, count]) => `${count} ${what}`);
    return [`${entries.length} invocations: ${tallied(entries.map(({ name }) => name))}`, `reads: ${reads.join(", ")}`];
  },
};
