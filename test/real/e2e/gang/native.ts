/**
 * Gangs of Kubernetes (`--gang native`) on a control plane whose scheduler places them. Each case judges by Jobs, PodGroups and
 * pods alone.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { patienceMs } from "../../cluster/api.ts";
import { byFunctions } from "../dispatch/fixture.ts";
import { startHost } from "../installed.ts";
import { killing } from "../killing.ts";
import { type Case, must, running } from "../scene.ts";
import { allEnd, fewNames, inDefault, narrow } from "./applications.ts";
import { longestLifeMs, mix, pair, secondsText, whole } from "./cases.ts";
import { createClass } from "./evictions.ts";
import {
  allowPods,
  bound,
  createGangs,
  denyPods,
  type Fixture,
  type GangForm,
  inNamespace,
  untilCompleted,
  untilGang,
} from "./fixture.ts";
import { mostTogether } from "./judgements.ts";
import {
  createJob,
  judgeNative,
  membersOf,
  nativeFlags,
  nativeGroupOf,
  type TaskForm,
  untilNativeGroup,
  untilNoneLeft,
  untilSaid,
  untilWhole,
} from "./native-fixture.ts";

const whileHosted = (
  name: string,
  namespace: string,
  work: (fixture: Fixture) => Promise<readonly string[]>,
): Case => ({
  name,
  run: (scene) => inNamespace(scene, namespace, (fixture) => running(scene, () => work(fixture), nativeFlags)),
});

const placed = /the cluster places gangs/;

/** Two gangs of which one fits, both of which have their pods. */
const oneAfterTheOther = async (fixture: Fixture): Promise<readonly string[]> => {
  const { record, namespace } = fixture;
  await createGangs(fixture, pair);
  await untilSaid(fixture, "GangNative", placed);
  for (const { name } of pair) await untilCompleted(fixture, name);
  const most = mostTogether(record.changes(namespace));
  must(most === 1, `${most} gangs had nodes at the same time`);
  const half = judgeNative(fixture, pair);
  await untilNoneLeft(fixture);
  return [`bound within ${secondsText(half)}; no PodGroup of Kubernetes is left`];
};

/** The host dies when the PodGroup exists and no pod of it. */
const killedBefore = async (fixture: Fixture): Promise<readonly string[]> => {
  const { scene, record, namespace } = fixture;
  // The probe needs a pod in the namespace, too.
  await running(scene, () => first(fixture), nativeFlags);
  const form = whole("planned");
  const host = startHost(scene.kubeconfig, scene.hostLog, nativeFlags);
  let uid: string;
  try {
    await denyPods(fixture);
    await createGangs(fixture, [form]);
    ({ uid } = (await untilNativeGroup(fixture, form.name)).metadata);
  } finally {
    await host.kill();
  }
  const before = record.pods(namespace, form.name).length;
  must(before === 0, `${before} pods were there when the host was killed`);
  await allowPods(fixture);
  return await running(
    scene,
    async () => {
      const group = await untilWhole(fixture, form.name, form.pods);
      must(group.metadata.uid === uid, "the next host created another PodGroup");
      await untilCompleted(fixture, form.name);
      return [`bound within ${secondsText(judgeNative(fixture, [form]))}`];
    },
    nativeFlags,
  );
};

/** A gang that is placed natively, after the probe of the cluster's gangs. */
const first = async (fixture: Fixture): Promise<void> => {
  const form: GangForm = { name: "first", pods: 2, cpu: "1", seconds: 5 };
  await createGangs(fixture, [form]);
  await untilWhole(fixture, form.name, form.pods);
  await untilCompleted(fixture, form.name);
};

const killedOften = async (fixture: Fixture, least: number): Promise<readonly string[]> => {
  const { scene } = fixture;
  const killer = killing(scene, nativeFlags, longestLifeMs);
  const all: GangForm[] = [];
  try {
    for (let wave = 1; wave === 1 || killer.kills() < least; wave += 1) {
      const forms = mix(wave);
      await createGangs(fixture, forms);
      await killer.during(Promise.all(forms.map(({ name }) => untilCompleted(fixture, name))));
      all.push(...forms);
    }
    await killer.during(untilNoneLeft(fixture));
  } finally {
    await killer.stop();
  }
  const half = judgeNative(fixture, all);
  return [`${killer.kills()} kills; ${all.length} gangs, each bound within ${secondsText(half)}`];
};

const task = (name: string, pods: number, cpu: string, more: Partial<TaskForm> = {}): TaskForm => ({
  ...{ name, pods, cpu, seconds: 10 },
  ...more,
});

/** The scheduler would spread small pods that come first, and leave no node for the second large one. */
const largestFirst = async (fixture: Fixture): Promise<readonly string[]> => {
  await createJob(fixture, "sizes", [task("small", 2, "1"), task("large", 2, "2")]);
  await untilWhole(fixture, "sizes", 4);
  await untilCompleted(fixture, "sizes");
  return [`bound within ${secondsText(judgeNative(fixture, [{ name: "sizes", pods: 4 }]))}`];
};

/** The scheduler refuses a gang whose PodGroup and pods have different priorities. */
const priorities = async (fixture: Fixture): Promise<readonly string[]> => {
  const { scene } = fixture;
  const { api } = scene.cluster;
  await createClass(scene, "gang-low", 10);
  await createClass(scene, "gang-high", 1_000);
  const classed = (name: string, priorityClassName: string): TaskForm =>
    task(name, 1, "1", { pod: { priorityClassName } });
  await createJob(fixture, "equal", [classed("a", "gang-high"), classed("b", "gang-high")]);
  const [equal] = [await untilWhole(fixture, "equal", 2)];
  must(equal.spec.priority === 1_000, `its PodGroup has the priority ${equal.spec.priority}`);
  await untilCompleted(fixture, "equal");
  await createJob(fixture, "mixed", [classed("a", "gang-low"), classed("b", "gang-high")]);
  const { plans } = await untilCompleted(fixture, "mixed");
  must(plans.size === 1, `the job of two priorities had ${plans.size} plans, expected 1`);
  const said = await untilSaid(fixture, "PlacedByPlan", /different priority classes/);
  await createClass(scene, "gang-usual", 7, { globalDefault: true });
  try {
    await createJob(fixture, "usual", [task("a", 2, "1")]);
    const usual = await untilWhole(fixture, "usual", 2);
    must(usual.spec.priority === 7, `a PodGroup without a class has the priority ${usual.spec.priority}`);
  } finally {
    await api.call("DELETE", "/apis/scheduling.k8s.io/v1/priorityclasses/gang-usual");
  }
  await untilCompleted(fixture, "usual");
  return [said];
};

/** Until the gate of one pod is removed, no pod of its gang gets a node, and no condition says so. */
const gated = async (fixture: Fixture): Promise<readonly string[]> => {
  const { api } = fixture.scene.cluster;
  const waits = { schedulingGates: [{ name: "example.com/wait" }] };
  await createJob(fixture, "gated", [task("open", 2, "1"), task("shut", 1, "1", { pod: waits })]);
  await untilGang(
    fixture,
    "gated",
    "with all pods",
    () => fixture.record.pods(fixture.namespace, "gated").length === 3,
  );
  await sleep(5_000);
  must(bound(fixture, "gated") === 0, `${bound(fixture, "gated")} pods have nodes beside a gated one`);
  const path = `/api/v1/namespaces/${fixture.namespace}/pods/gated-shut-0`;
  const { status } = await api.call("PATCH", path, { spec: { schedulingGates: null } }, "application/merge-patch+json");
  must(status === 200, `the gate was not removed: ${status}`);
  await untilWhole(fixture, "gated", 3);
  await untilCompleted(fixture, "gated");
  return ["no pod had a node for 5 s, and all of them without the gate"];
};

/** The scheduler does not count finished pods, so a replacement would wait for ever. */
const replaced = async (fixture: Fixture): Promise<readonly string[]> => {
  const { scene, record, namespace } = fixture;
  await createJob(fixture, "part", [task("short", 1, "1", { seconds: 3 }), task("long", 1, "1", { seconds: 25 })]);
  await untilWhole(fixture, "part", 2);
  const isOver = (): boolean =>
    record.pods(namespace, "part").some(({ pod, state }) => pod === "part-short-0" && state === "over");
  await untilGang(fixture, "part", "half finished", isOver);
  const uidOf = async (): Promise<string | undefined> =>
    (await membersOf(fixture, "part")).find(({ metadata }) => metadata.name === "part-long-0")?.metadata.uid;
  const before = await uidOf();
  await scene.cluster.api.call("DELETE", `/api/v1/namespaces/${namespace}/pods/part-long-0`);
  const isBack = (): boolean =>
    record
      .pods(namespace, "part")
      .some(({ pod, uid, node }) => pod === "part-long-0" && uid !== before && node !== undefined);
  await untilGang(fixture, "part", "whole again", isBack, patienceMs);
  const { minCount } = (await nativeGroupOf(fixture, "part")).spec.schedulingPolicy.gang;
  must(minCount === 1, `the PodGroup needs ${minCount} pods, expected 1`);
  await untilCompleted(fixture, "part");
  return ["its number fell from 2 to 1, and the scheduler bound the replacement"];
};

export const nativeCases = (kills: number): readonly Case[] => [
  whileHosted(
    "native: two gangs for one place: the scheduler binds one whole, and no pod of the other until it has ended",
    "native-pair",
    oneAfterTheOther,
  ),
  {
    name: "native: the host is killed between a PodGroup of Kubernetes and its pods: the next one creates them in that group",
    run: (scene) => inNamespace(scene, "native-planned", killedBefore),
  },
  {
    name: "native: the host is killed again and again: every gang starts whole, and no pod is created twice",
    run: (scene) => inNamespace(scene, "native-killed", (fixture) => killedOften(fixture, kills)),
  },
  whileHosted("native: large pods are created before small ones, so that all find nodes", "native-sizes", largestFirst),
  whileHosted(
    "native: PodGroup and pods have one priority, also that of a default class; a job of two priorities has a plan",
    "native-priority",
    priorities,
  ),
  whileHosted(
    "native: a pod with a scheduling gate keeps its gang back until the gate is removed",
    "native-gated",
    gated,
  ),
  whileHosted(
    "native: a pod that is replaced after another has succeeded gets a node, because the gang needs fewer pods",
    "native-replaced",
    replaced,
  ),
  {
    name: "native, by functions: two gangs for one place, while the dispatcher and its functions are killed",
    run: (scene) =>
      inNamespace(scene, "native-functions", (fixture) =>
        byFunctions(scene, { REKINDLE_GANG: "native" }, () => oneAfterTheOther(fixture)),
      ),
  },
  {
    name: "native: Spark applications have plans: four on room for three, each starts whole",
    run: (scene) => inDefault(scene, (fixture) => running(scene, () => allEnd(fixture, fewNames, narrow), nativeFlags)),
  },
];

/** A gang where the cluster places none. */
const planned = async (fixture: Fixture, why: RegExp): Promise<readonly string[]> => {
  const form: GangForm = { name: "planned", pods: 3, cpu: "1", seconds: 3 };
  await createGangs(fixture, [form]);
  const { plans } = await untilCompleted(fixture, form.name);
  must(plans.size === 1, `it had ${plans.size} plans, expected 1`);
  return [await untilSaid(fixture, "GangNative", why)];
};

/** For a cluster that lacks a part of what gangs of Kubernetes need. */
export const withoutGates = (name: string, why: RegExp): Case =>
  whileHosted(`native, ${name}: groups have plans, and an event says why`, "native-fallback", (fixture) =>
    planned(fixture, why),
  );
