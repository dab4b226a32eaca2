/** A Spot machine gives notice: the executors on its node leave with their shuffle data before the machine ends. */
import { setTimeout as sleep } from "node:timers/promises";
import { proofWith } from "../../../support/proof.ts";
import type { Node } from "../../cluster/nodes.ts";
import type { Executor } from "../recovery/book.ts";
import { frozenNode as goingNode } from "../recovery/job.ts";
import { type Case, must, type Scene } from "../scene.ts";
import {
  begun,
  ended,
  livingIn,
  noticeKey,
  type Run,
  skippedStages,
  underKills,
  untilRunning,
  untilShuffled,
  untilStage,
} from "./fixture.ts";
import { application, checkedAnswer, openGate, type Waves } from "./job.ts";

const spot = (sparkVersion: string): Waves => ({
  ...{ name: `waves-spot-${sparkVersion.replaceAll(".", "-")}`, sparkVersion },
  ...{ first: 4, middle: 4, last: 1, most: 6 },
});

/** The time from a notice to the end of a Spot machine, ms. */
const noticeMs = 120_000;

const going = ({ cluster }: Scene): Node => {
  const node = cluster.nodes.find(({ name }) => name === goingNode);
  if (node === undefined) throw new Error(`this cluster has no ${goingNode}`);
  return node;
};

const onNode = (run: Run, name: string): readonly Executor[] =>
  livingIn(run, name).filter(({ spec }) => spec.nodeName === goingNode);

/** Sends the notice of the node; a host that is killed may not have taken it, so the caller repeats it. */
const notified = async ({ host }: Run, at: Date): Promise<void> => {
  const event = { specversion: "1.0", id: `spot-${at.getTime()}`, source: "/lane", type: "dev.rekindle.node.leaving" };
  const body = JSON.stringify({ ...event, subject: goingNode, time: at.toISOString() });
  const headers = {
    "content-type": "application/cloudevents+json",
    ...proofWith(noticeKey, { path: "/events", body }),
  };
  await fetch(`${host}/events`, { method: "POST", body, headers }).catch(() => {});
};

/** Resolves with the seconds until no executor is left on the node. */
const left = async (run: Run, name: string): Promise<number> => {
  const [at, began] = [new Date(), performance.now()];
  const pods = onNode(run, name).map(({ metadata }) => metadata.uid);
  const isLeft = () => run.book.now(name).every(({ metadata }) => !pods.includes(metadata.uid));
  for (let next = 0; !isLeft(); ) {
    must(performance.now() - began < noticeMs, `${name}: executors are on ${goingNode} when it ends`);
    if (performance.now() > next) {
      await notified(run, at);
      next = performance.now() + 3_000;
    }
    await sleep(200);
  }
  return (performance.now() - began) / 1_000;
};

/** Four executors on two nodes hold shuffle data; the node of two of them gives notice, and is killed after they left. */
const leavesBySpot = async (run: Run, waves: Waves): Promise<readonly string[]> => {
  const { scene, gates, ledger } = run;
  const { name, first } = waves;
  await begun(run, (dir) => application(waves, dir));
  await untilRunning(run, name, first);
  const two = onNode(run, name).length;
  must(two === 2, `${two} of ${first} executors are on ${goingNode}`);
  await openGate(gates, "many");
  await untilShuffled(run, name);
  const tookS = await left(run, name);
  must(onNode(run, name).length === 0, `${name}: a replacement is on ${goingNode}`);
  await going(scene).kill();
  await untilRunning(run, name, first);
  await openGate(gates, "few");
  await untilStage(run, name, "was skipped", ({ status }) => status === "SKIPPED");
  await openGate(gates, "again");
  const answer = checkedAnswer(await ended(run, name), waves);
  const { skipped, computed } = await skippedStages(run, name);
  return [
    `${name}: "${answer}", ${ledger.of(name).mostExecutors} executors at most`,
    `two of ${first} were gone ${tookS.toFixed(1)} s after the notice, and the node after them`,
    `event log: ${computed} stages computed, none of them again, ${skipped} skipped`,
  ];
};

export const movesByNotice = (sparkVersion: string): Case => ({
  name: `Spark ${sparkVersion}: two of four executors leave a node that is about to go, and no shuffle data is computed again`,
  run: async (scene) => {
    try {
      return await underKills(scene, (run) => leavesBySpot(run, spot(sparkVersion)));
    } finally {
      // The machine of the next cases; an agent that lives on would be forgotten.
      await going(scene).kill();
      await scene.cluster.addNode(goingNode);
    }
  },
});
