/** Paths, steps and plans of pods from which the scripts of subjects are made. */
import { setTimeout as sleep } from "node:timers/promises";
import type { PodPlan } from "./kubelet.ts";
import type { Scenario, Step, User } from "./subject.ts";
import { nameOf } from "./values.ts";

export type PathOf = (namespace: string) => string;

export const pathsOf =
  (group: string, resource: string, name = ""): PathOf =>
  (namespace) =>
    `apis/${group}/namespaces/${namespace}/${resource}${name === "" ? "" : `/${name}`}`;

export const step = (name: string, does: Step["does"]): Step => ({ name, does });

export const wait = (phase: string, count: number): Step =>
  step(`wait for ${count} ${phase}`, (user: User) => user.pods(phase, count));

export const createIn = (path: PathOf, object: object): Step =>
  step("create", (user) => user.create({ path: path(user.namespace), ...object }));

export const edit = (name: string, path: PathOf, body: object): Step =>
  step(name, (user) => user.patch(path(user.namespace), body));

export const removeAt = (name: string, path: PathOf): Step => step(name, (user) => user.remove(path(user.namespace)));

/** The node of a pod falls silent: the pod is to be deleted, and goes when the node is given up. */
export const loseNode = (path: PathOf): readonly Step[] => [
  removeAt("evict", path),
  step("give the node up", async ({ namespace, remove }) => {
    await sleep(3_000);
    await remove(path(namespace), true);
  }),
];

export const succeed: Scenario["planOf"] = () => ({ runMs: 1_500, exit: 0 });
export const stay: Scenario["planOf"] = () => ({ exit: 0 });
/** The first pod of its name fails; later ones succeed. */
export const failOnce =
  (name: string): Scenario["planOf"] =>
  (pod, nth): PodPlan =>
    nameOf(pod).startsWith(name) && nth === 1 ? { runMs: 800, exit: 1 } : { runMs: 2_000, exit: 0 };
/** The first pod of this name is on a node that falls silent; later ones, and others, follow the plan. */
export const lostOnce =
  (name: string, later: Scenario["planOf"]): Scenario["planOf"] =>
  (pod, nth) =>
    nameOf(pod) === name && nth === 1 ? { exit: 0, isLost: true } : later(pod, nth);
/** The first pod of each name stays; later ones succeed. */
export const stayOnce: Scenario["planOf"] = (_pod, nth) => (nth === 1 ? { exit: 0 } : { runMs: 1_500, exit: 0 });
