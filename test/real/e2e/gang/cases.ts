/**
 * Gangs on a real scheduler, which binds pods one by one and knows nothing of gangs. Each case judges by Jobs, PodGroups
 * and pods alone.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { startHost } from "../installed.ts";
import { killing } from "../killing.ts";
import { type Case, must, running } from "../scene.ts";
import {
  allowPods,
  createGangs,
  createThief,
  denyPods,
  type Fixture,
  type GangForm,
  hostFlags,
  inNamespace,
  judge,
  nodeCount,
  takenBackBy,
  untilCompleted,
  untilGang,
  untilPlanned,
} from "./fixture.ts";
import { wereTogether } from "./judgements.ts";
import { insideHyperNode } from "./near.ts";
import type { Gang } from "./record.ts";

export const secondsText = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

/** A gang that needs every node. */
export const whole = (name: string): GangForm => ({ name, pods: nodeCount, cpu: "2", seconds: 6 });

/** The first runs longer than the 5 s between two admission rounds of functions. */
export const pair = ["one", "other"].map((name) => ({ ...whole(name), seconds: 20 }));

/** Creates two gangs of which one fits, and judges their course. */
export const oneAfterTheOther = async (fixture: Fixture): Promise<readonly string[]> => {
  const { record, namespace } = fixture;
  await createGangs(fixture, pair);
  const gangs = await Promise.all(pair.map(({ name }) => untilCompleted(fixture, name)));
  must(!wereTogether(record.changes(namespace), "one", "other"), "both had unfinished pods at the same time");
  const waited = gangs.flatMap(({ reasons }) => [...reasons]).filter((reason) => /needs 3 × 2 cpu/.test(reason));
  must(waited.length > 0, `no gang said what it lacked: ${JSON.stringify(gangs.map(({ reasons }) => [...reasons]))}`);
  const half = judge(fixture, pair);
  return [`a part held nodes for ${secondsText(half)} at most`, ...new Set(waited)];
};

const forOnePlace: Case = {
  name: "two gangs for one place: one starts whole, the other has no pod until it has ended",
  run: (scene) =>
    inNamespace(scene, "gang-pair", (fixture) => running(scene, () => oneAfterTheOther(fixture), hostFlags)),
};

const refused = /^GangNotBound: .*gang-others\/thief/;

/** Its pods outlast the time after which the gang is taken back. */
const robbed: GangForm = { ...whole("robbed"), seconds: 3_600 };

/** A pod of others takes a place after the plan and before the gang's pods. */
const stealing = async (fixture: Fixture): Promise<readonly string[]> => {
  const { record, namespace } = fixture;
  const { name } = robbed;
  const pods = () => record.pods(namespace, name);
  const bound = (count: number) => (): boolean => pods().filter(({ node }) => node !== undefined).length === count;
  await denyPods(fixture);
  await createGangs(fixture, [robbed]);
  const plan = await untilPlanned(fixture, name);
  const thief = await createThief(fixture, plan.nodes[0] ?? "");
  try {
    await allowPods(fixture);
    await untilGang(fixture, name, "half bound", bound(2), takenBackBy(plan) - Date.now());
    const isBack = ({ reasons }: Gang): boolean => [...reasons].some((reason) => refused.test(reason));
    await untilGang(fixture, name, "taken back", isBack, takenBackBy(plan) - Date.now());
    await untilGang(fixture, name, "without pods", () => pods().length === 0, takenBackBy(plan) - Date.now());
    const afterMs = Date.now() - plan.since;
    await sleep(5_000);
    must(pods().length === 0, `${pods().length} pods came although a place is missing`);
    await thief.end();
    const isRunning = ({ phases }: Gang): boolean => bound(3)() && phases.at(-1) === "Running";
    const gang = await untilGang(fixture, name, "Running", isRunning);
    judge(fixture, [robbed]);
    const why = [...gang.reasons].filter((reason) => refused.test(reason));
    return [`0 pods ${secondsText(afterMs)} after the plan; it runs by plan ${gang.plans.size}`, ...why];
  } finally {
    await thief.end();
  }
};

const stolen: Case = {
  name: "a pod of others takes a place of a plan: the gang is taken back whole, and runs when the place is free",
  run: (scene) => inNamespace(scene, "gang-stolen", (fixture) => running(scene, () => stealing(fixture), hostFlags)),
};

/** The host dies when a plan is saved and no pod of it exists. */
const killedAfterPlan: Case = {
  name: "the host is killed between a plan and its pods: the next one creates them on the same places",
  run: (scene) =>
    inNamespace(scene, "gang-planned", async (fixture) => {
      const { record, namespace } = fixture;
      const form = whole("planned");
      const first = startHost(scene.kubeconfig, scene.hostLog, hostFlags);
      try {
        await denyPods(fixture);
        await createGangs(fixture, [form]);
        await untilPlanned(fixture, form.name);
      } finally {
        await first.kill();
      }
      const before = record.pods(namespace, form.name).length;
      must(before === 0, `${before} pods were there when the host was killed`);
      await allowPods(fixture);
      return await running(
        scene,
        async () => {
          const { plans } = await untilCompleted(fixture, form.name);
          const [plan, ...more] = plans.values();
          must(plan !== undefined && more.length === 0, `${plans.size} plans, expected 1`);
          const nodes = record.pods(namespace, form.name).map(({ node }) => node ?? "");
          must(
            nodes.toSorted().join() === plan?.nodes.join(),
            `planned on ${plan?.nodes.join()}, bound to ${nodes.join()}`,
          );
          return [`a part held nodes for ${secondsText(judge(fixture, [form]))} at most`];
        },
        hostFlags,
      );
    }),
};

/** Gangs that need between a third of the room and all of it. */
export const mix = (wave: number): readonly GangForm[] =>
  [
    { pods: 3, cpu: "2", seconds: 3 },
    { pods: 4, cpu: "1", seconds: 5 },
    { pods: 2, cpu: "2", seconds: 4 },
    { pods: 6, cpu: "1", seconds: 3 },
    { pods: 4, cpu: "500m", seconds: 5 },
    { pods: 5, cpu: "1", seconds: 4 },
  ].map((form, at) => ({ ...form, name: `w${wave}-${at}` }));

/** A host takes a second or two to start, and a round with its pods less than one. */
export const longestLifeMs = 6_000;

const killedOften = (least: number): Case => ({
  name: "the host is killed again and again: every gang starts whole, and no pod is created twice",
  run: (scene) =>
    inNamespace(scene, "gang-killed", async (fixture) => {
      const killer = killing(scene, hostFlags, longestLifeMs);
      const all: GangForm[] = [];
      try {
        for (let wave = 1; wave === 1 || killer.kills() < least; wave += 1) {
          const forms = mix(wave);
          await createGangs(fixture, forms);
          await killer.during(Promise.all(forms.map(({ name }) => untilCompleted(fixture, name))));
          all.push(...forms);
        }
      } finally {
        await killer.stop();
      }
      const half = judge(fixture, all);
      return [`${killer.kills()} kills; ${all.length} gangs; a part held nodes for ${secondsText(half)} at most`];
    }),
});

export const gangCases = (kills: number): readonly Case[] => [
  ...[forOnePlace, stolen, killedAfterPlan, insideHyperNode],
  killedOften(kills),
];
