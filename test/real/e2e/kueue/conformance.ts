/**
 * The rows of the simulated Kueue on a real one, each in queues of its own: after each act a Workload must come to the
 * state that the simulated Kueue gives it, and at the end to the recorded one.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { Stored } from "../../../../shared/core/object.ts";
import { statusWithoutQuota } from "../../../../shared/kube/kueue.ts";
import {
  type Act,
  type Row,
  reclaimable,
  rows,
  type States,
  simulated,
  specOf,
  stateOf,
} from "../../../support/kueue-rows.ts";
import { patienceMs } from "../../cluster/api.ts";
import type { Cluster } from "../../cluster/cluster.ts";
import { type Case, must, type Scene } from "../scene.ts";
import { missing, startKueue } from "./controller.ts";
import { createObject, createQueues, workloadsPath } from "./queues.ts";

const merge = "application/merge-patch+json";

const listed = async ({ api }: Cluster, row: string): Promise<readonly Stored[]> => {
  const { body } = await api.call("GET", `${workloadsPath}?labelSelector=row%3D${row}`);
  return Object(body).items;
};

/** The states of a row's Workloads, by the names that the row gives them and their flavors. */
const statesIn = async (cluster: Cluster, row: string): Promise<States> =>
  Object.fromEntries(
    (await listed(cluster, row)).map((one) => [
      one.metadata.name.slice(row.length + 1),
      stateOf(one).replace(`${row}-`, ""),
    ]),
  );

const untilStates = async (cluster: Cluster, row: string, states: States): Promise<void> => {
  const began = performance.now();
  for (;;) {
    const has = await statesIn(cluster, row);
    if (isDeepStrictEqual(has, states)) return;
    const late = `${JSON.stringify(has)}, and the simulated Kueue has ${JSON.stringify(states)}`;
    must(performance.now() - began < patienceMs, late);
    await sleep(200);
  }
};

const act = async (cluster: Cluster, row: string, one: Act): Promise<void> => {
  const name = `${row}-${one.on}`;
  const path = `${workloadsPath}/${name}`;
  if (one.does === "ask") {
    const metadata = { name, namespace: "default", labels: { row } };
    return await createObject(cluster, workloadsPath, { kind: "Workload", metadata, spec: specOf(row, one.ask) });
  }
  if (one.does === "end") return void (await cluster.api.call("DELETE", path));
  const found = (await listed(cluster, row)).find(({ metadata }) => metadata.name === name);
  if (found === undefined) throw new Error(`there is no Workload ${name}`);
  const status = one.does === "reclaim" ? reclaimable(one.count) : statusWithoutQuota(found, Date.now());
  const reply = await cluster.api.call("PATCH", `${path}/status`, { status }, merge);
  must(reply.status === 200, `the status of ${name} was answered ${reply.status}: ${JSON.stringify(reply.body)}`);
};

/** Kueue orders Workloads by the seconds of their creations, ms. */
const orderMs = 1_100;

const played = async (cluster: Cluster, row: Row, at: number): Promise<void> => {
  const name = `row-${at}`;
  const flavors = Object.entries(row.quotas).map(([flavor, cpus]) => [`${name}-${flavor}`, cpus] as const);
  await createQueues(cluster, name, Object.fromEntries(flavors));
  const states = simulated(row);
  for (const [index, one] of row.acts.entries()) {
    await act(cluster, name, one);
    await untilStates(cluster, name, states[index] ?? {});
    await sleep(orderMs);
  }
  await untilStates(cluster, name, row.has);
};

const play = async ({ cluster }: Scene): Promise<readonly string[]> => {
  const faults = await Promise.all(
    rows.map((row, at) =>
      played(cluster, row, at).then(
        () => [],
        (error: unknown) => [`${row.what}: ${String(error)}`],
      ),
    ),
  );
  must(faults.flat().length === 0, faults.flat().join("\n    "));
  return [`${rows.length} rows: the simulated Kueue admits, evicts and queues as the real one`];
};

export const kueueRows: Case = {
  name: "Kueue: the simulated one has the states of the real one after each act",
  run: async (scene) => {
    const kueue = await startKueue(scene.cluster);
    if (kueue === undefined) return missing;
    try {
      return await play(scene);
    } finally {
      await kueue.stop();
    }
  },
};
