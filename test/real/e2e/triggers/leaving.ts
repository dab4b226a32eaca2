/**
 * A notice for a node moves its executors before the node goes: in both modes, without and with the right to cordon the
 * node.
 */
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { rekindle } from "../installed.ts";
import { untilBack } from "../recovery/blows.ts";
import { type Book, type Executor, isUp, openBook } from "../recovery/book.ts";
import {
  application,
  checkedAnswer,
  driversNode,
  gatesIn,
  frozenNode as goingNode,
  type Mode,
  modes,
  nameOf,
  openGate,
  wanted,
} from "../recovery/job.ts";
import { type Case, kubectl, must, type Scene } from "../scene.ts";
import { awaitState, driverLog, stateOf } from "../witness.ts";
import type { Fixture } from "./fixture.ts";
import { signed } from "./knocks.ts";

const machine = "i-0123456789abcdef0";
const warningMs = 120_000;

const each = <T>(work: (mode: Mode) => Promise<T>): Promise<readonly T[]> => Promise.all(modes.map(work));

/** Returns a job that is short enough for this lane. */
const shortened = (mode: Mode, gates: string): object => {
  const body = application(mode, gates, {});
  return { ...body, spec: { ...body.spec, arguments: [`/gates/${nameOf(mode)}`, "20", "12", "400"] } };
};

const begun = async (scene: Scene, book: Book, mode: Mode, gates: string): Promise<void> => {
  const { api } = scene.cluster;
  const path = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications";
  const { status, body } = await api.call("POST", path, shortened(mode, gates));
  must(status === 201, `${nameOf(mode)} is not created: ${JSON.stringify(body)}`);
  await awaitState(api, nameOf(mode), ["RUNNING"], 200_000);
  await untilBack(scene, book, mode);
};

const onNode = (book: Book, mode: Mode): readonly Executor[] =>
  book.now(nameOf(mode)).filter((one) => isUp(one) && one.spec.nodeName === goingNode);

const events = z.object({ items: z.array(z.object({ reason: z.string(), message: z.string() })) });

const told = async ({ cluster }: Scene, mode: Mode, reason: string): Promise<readonly string[]> => {
  const field = encodeURIComponent(`involvedObject.name=${nameOf(mode)},reason=${reason}`);
  const { body } = await cluster.api.call("GET", `/api/v1/namespaces/default/events?fieldSelector=${field}`);
  return events.parse(body).items.map(({ message }) => message);
};

const until = async (what: string, ms: number, holds: () => boolean | Promise<boolean>): Promise<number> => {
  const began = performance.now();
  while (!(await holds())) {
    if (performance.now() - began > ms) throw new Error(`${what}: not within ${ms / 1_000} s`);
    await sleep(150);
  }
  return (performance.now() - began) / 1_000;
};

/** Returns the lowest number of running executors in one reading while `work` went on. */
const fewest = async <T>(book: Book, mode: Mode, work: Promise<T>): Promise<number> => {
  let least = Number.POSITIVE_INFINITY;
  let over = false;
  const ends = work.finally(() => {
    over = true;
  });
  while (!over) {
    least = Math.min(least, book.now(nameOf(mode)).filter(isUp).length);
    await sleep(100);
  }
  await ends;
  return least;
};

const has = (book: Book, mode: Mode): readonly string[] => onNode(book, mode).map(({ metadata }) => metadata.name);

/** Sends a notice as any tool would, with the node's name. Rekindle has no right to cordon the node. */
const byName = async (scene: Scene, { live }: Fixture, book: Book): Promise<readonly string[]> => {
  const [own, assist] = [has(book, "own"), has(book, "assist")];
  must(own.length > 0 && assist.length > 0, `nobody is on ${goingNode}: ${own.join()}; ${assist.join()}`);
  const event = { specversion: "1.0", id: "leaving-1", source: "/lane", type: "dev.rekindle.node.leaving" };
  const time = new Date().toISOString();
  const body = JSON.stringify({ ...event, subject: goingNode, time });
  const headers = { "content-type": "application/cloudevents+json" };
  must((await signed(live, { path: "/events", body, headers })).status === 202, "the notice was not taken");
  const gone = until(`own: nobody on ${goingNode}`, 60_000, () => onNode(book, "own").length === 0);
  const least = await fewest(book, "own", gone);
  must(least >= wanted, `own: only ${least} executors ran while ${own.length} were moved`);
  await untilBack(scene, book, "own", [driversNode]);
  const warned = until(
    "assist: NodeLeaving",
    30_000,
    async () => (await told(scene, "assist", "NodeLeaving")).length > 0,
  );
  await warned;
  const [warning = ""] = await told(scene, "assist", "NodeLeaving");
  must(/cannot be moved/.test(warning), `assist is told ${warning}`);
  must(
    has(book, "assist").join() === assist.join(),
    "assist: an executor was ended that could come back to the same node",
  );
  const seconds = (await gone).toFixed(1);
  return [
    `own: ${own.length} executor(s) off ${goingNode} after ${seconds} s, ${least} running at the least`,
    `assist, without the right to close the node: "${warning}"`,
  ];
};

const nodeShape = z.object({ spec: z.looseObject({ unschedulable: z.boolean().optional() }) });

/** Sends a notice as EventBridge does for a Spot instance, with the instance id. */
const byMachine = async (scene: Scene, { live }: Fixture, book: Book): Promise<readonly string[]> => {
  const { cluster } = scene;
  const manifests = await rekindle(["manifests", "--nodes", "--rbac-only"]);
  const { code, stderr } = await cluster.kubectl(["apply", "--server-side", "-f", "-"], { input: manifests });
  must(code === 0, `kubectl apply: ${stderr}`);
  const who = "--as=system:serviceaccount:rekindle:rekindle";
  await until(
    "the role",
    20_000,
    async () => (await cluster.kubectl(["auth", "can-i", "patch", "nodes", who])).code === 0,
  );
  const body = JSON.stringify({
    ...{ version: "0", id: "spot-1", source: "aws.ec2", "detail-type": "EC2 Spot Instance Interruption Warning" },
    ...{ account: "123456789012", region: "eu-west-1", resources: [], time: new Date().toISOString() },
    detail: { "instance-id": machine, "instance-action": "terminate" },
  });
  must((await signed(live, { path: "/events", body })).status === 202, "the interruption was not taken");
  const seconds = await until(`assist: nobody on ${goingNode}`, 60_000, () => onNode(book, "assist").length === 0);
  await untilBack(scene, book, "assist", [driversNode]);
  const { body: node } = await cluster.api.call("GET", `/api/v1/nodes/${goingNode}`);
  must(nodeShape.parse(node).spec.unschedulable === true, `${goingNode} is not closed`);
  const losses = await told(scene, "assist", "ExecutorLost");
  must(
    losses.some((text) => /node \(its node goes at/.test(text)),
    `assist is told ${losses.join("; ")}`,
  );
  return [`assist: ${goingNode} closed, its executors ended after ${seconds.toFixed(1)} s: "${losses[0]}"`];
};

const completed = async ({ cluster }: Scene, mode: Mode): Promise<string> => {
  const app = await awaitState(cluster.api, nameOf(mode), ["COMPLETED", "FAILED"], 200_000);
  must(
    stateOf(app) === "COMPLETED" && app.status?.executionAttempts === 1,
    `${nameOf(mode)}: ${JSON.stringify(app.status)}`,
  );
  return `${nameOf(mode)}: ${checkedAnswer(await driverLog(cluster.api, `${nameOf(mode)}-driver`))}`;
};

export const leaves = (opening: Promise<Fixture>): Case => ({
  name: "a node is about to go: executors are elsewhere before it does, and the jobs come to their right end",
  run: async (scene) => {
    const [fixture, gates] = [await opening, await gatesIn(dirname(scene.hostLog))];
    const book = openBook(scene.cluster.api);
    try {
      const spec = JSON.stringify({ spec: { providerID: `aws:///eu-west-1a/${machine}` } });
      await kubectl(scene.cluster, ["patch", "node", goingNode, "--type=merge", "-p", spec]);
      await each((mode) => begun(scene, book, mode, gates));
      const began = performance.now();
      const named = await byName(scene, fixture, book);
      const moved = await byMachine(scene, fixture, book);
      const tookMs = performance.now() - began;
      must(tookMs < warningMs, `it took ${Math.round(tookMs / 1_000)} s, and a Spot machine gives 120`);
      await kubectl(scene.cluster, ["delete", "node", goingNode, "--wait=false"]);
      await each((mode) => openGate(gates, mode));
      return [...named, ...moved, ...(await each((mode) => completed(scene, mode)))];
    } finally {
      await book.stop();
    }
  },
});
