/**
 * Upgrade and rollback: many running applications whose records another version has written. Steps and resyncs then
 * delete nothing and create nothing, and all applications run on in their first attempt.
 */

import type { World } from "../../../shared/engine/context/world.ts";
import { take } from "../../../shared/engine/reconcile/intake.ts";
import { openSimulator, type Simulator } from "../../../shared/simulator/open.ts";
import { numberAt, textAt } from "./fields.ts";
import { account, crds, manifest } from "./fixture.ts";
import { sweptOf } from "./kinds.ts";
import { base, namespace } from "./scenario.ts";
import { type Visit, visit } from "./visit.ts";

const crowd = 100;
const cluster = "upgrade";
const otherDigest = "0".repeat(64);

/** The differences of other versions' records. */
export const versions = [
  { name: "upgrade: records of the normaliser before (N-1)", memory: { normaliser: 0, spec: otherDigest } },
  {
    name: "rollback: records of the next normaliser (N+1), with fields that nobody knows here",
    memory: { normaliser: 99, spec: otherDigest, invented: { later: true } },
  },
] as const;

type UpgradeFixture = Visit & { readonly simulator: Simulator; readonly world: World };

const nodes = Array.from({ length: 12 }, (_, index) => ({ name: `node-${index}` }));

const open = async (): Promise<UpgradeFixture> => {
  const simulator = openSimulator({ crds, nodes, scripts: { "*": [{ hangs: true }] } });
  const visiting = visit(simulator, cluster);
  return { ...visiting, simulator, world: await visiting.anybody() };
};

const names = Array.from({ length: crowd }, (_, index) => `app-${index}`);

const stepAll = async (fixture: UpgradeFixture): Promise<void> => {
  for (const name of names)
    await take(fixture.world, [{ cluster, kind: "SparkApplication", namespace, name, reason: "test" }]);
};

/** Runs steps for the findings of resyncs, until a resync finds nothing. */
const resyncAll = async ({ found, world }: UpgradeFixture): Promise<void> => {
  const { messages } = await found("1");
  for (const message of messages) await take(world, [message]);
};

const running = async (fixture: UpgradeFixture): Promise<void> => {
  fixture.ask("POST", ...account);
  const spec = { ...base, executor: { ...base.executor, instances: 1 } };
  for (const name of names) fixture.ask("POST", ...manifest(sweptOf({}), name, spec));
  for (let round = 0; round < 2; round++) {
    await stepAll(fixture);
    fixture.simulator.clock.advanceTo(fixture.simulator.clock.now() + 20_000);
  }
  await stepAll(fixture);
};

const acting = /^(DELETE|POST (pods|services|configmaps))/;

/** The violations; empty where there are none. */
export const violationsOf = async (memory: Readonly<Record<string, unknown>>): Promise<readonly string[]> => {
  const fixture = await open();
  await running(fixture);
  const records = `/apis/rekindle.dev/v1alpha1/namespaces/${namespace}/checkpoints`;
  for (const name of names) fixture.ask("PATCH", `${records}/sparkapplication.${name}`, { spec: { memory } });
  fixture.requests.length = 0;
  await stepAll(fixture);
  await resyncAll(fixture);
  fixture.simulator.clock.advanceTo(fixture.simulator.clock.now() + 3_600_000);
  await resyncAll(fixture);
  const writes = fixture.requests.filter((request) => acting.test(request));
  const apps = fixture.simulator.store.list("sparkapplications.sparkoperator.k8s.io");
  const others = apps.filter(
    (app) =>
      textAt(app, "status", "applicationState", "state") !== "RUNNING" ||
      numberAt(app, "status", "submissionAttempts") !== 1,
  );
  const found = apps.length === crowd ? [] : [`${apps.length} applications instead of ${crowd}`];
  return [...found, ...writes, ...others.map(({ metadata }) => `${metadata.name} does not run in its first attempt`)];
};
