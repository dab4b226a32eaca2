/** The world of a trial: a real control plane, nodes that run scripted pods, and the history of the pods of each namespace. */
import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from "../real/cluster/controlplane.ts";
import { ensure } from "../real/setup/ensure.ts";
import { openKubelet, type PodPlan } from "./kubelet.ts";
import { openPoints, type Points } from "./points.ts";
import { isActive, nameOf, namespaceOf, textAt, uidOf } from "./values.ts";
import { watchAll } from "./watch.ts";

/** The pods of a namespace, in the order of their creation; `isGone`: removed from the API server. */
export type PodRecord = { pod: unknown; isGone: boolean };

export type History = {
  readonly pods: ReadonlyMap<string, PodRecord>;
  /** Sentences about two pods of one attempt that were active at once. */
  readonly duplicates: readonly string[];
};

type Place = {
  readonly pods: Map<string, PodRecord>;
  readonly duplicates: string[];
  readonly attemptOf: (pod: unknown) => string;
  readonly planOf: (pod: unknown, nth: number) => PodPlan;
};

export type Scripted = Pick<Place, "attemptOf" | "planOf">;

type Passed = (namespace: string, pattern: string) => void;

export type World = {
  readonly plane: ControlPlane;
  readonly points: Points;
  readonly pki: string;
  /** Called for each report and each step of the user in the namespaces of a subject, until the returned function is called. */
  readonly onPoint: (subject: string, passed: Passed) => () => void;
  /** A name for a namespace of a subject that this world has not had. */
  readonly fresh: (subject: string) => string;
  readonly enter: (namespace: string, scripted: Scripted) => History;
  readonly pass: (namespace: string, pattern: string) => void;
  readonly close: () => Promise<void>;
};

const noteDuplicate = ({ pods, duplicates, attemptOf }: Place, pod: unknown): void => {
  const attempt = attemptOf(pod);
  if (attempt === "" || !isActive(pod)) return;
  const twin = [...pods.values()].find(
    (other) =>
      uidOf(other.pod) !== uidOf(pod) && !other.isGone && attemptOf(other.pod) === attempt && isActive(other.pod),
  );
  if (twin === undefined) return;
  const line = `${attempt} exists twice: ${[nameOf(pod), nameOf(twin.pod)].toSorted().join(" and ")}`;
  if (!duplicates.includes(line)) duplicates.push(line);
};

/** The pod's number among those with its name or, where names are generated, its attempt. */
const nthOf = ({ pods, attemptOf }: Place, pod: unknown): number => {
  const alike = [...pods.values()].filter(
    (other) => nameOf(other.pod) === nameOf(pod) || (attemptOf(pod) !== "" && attemptOf(other.pod) === attemptOf(pod)),
  );
  return alike.findIndex((other) => uidOf(other.pod) === uidOf(pod)) + 1;
};

/** `extra`: flags of parts of the control plane. */
export const openWorld = async (extra: ControlPlaneOptions["extra"] = {}): Promise<World> => {
  await ensure(["go"]);
  const dir = await mkdtemp(join(tmpdir(), "judge-"));
  process.once("exit", () => rmSync(dir, { recursive: true, force: true }));
  const plane = await startControlPlane({ dir, extra });
  const points = openPoints();
  const places = new Map<string, Place>();
  let count = 0;
  const listeners = new Map<string, Passed>();
  /** The name of a namespace is its subject's, and a number. */
  const passed: Passed = (namespace, pattern) => listeners.get(namespace.replace(/-\d+$/, ""))?.(namespace, pattern);
  const kubelet = await openKubelet({
    api: plane.api,
    planOf: (pod) => {
      const place = places.get(namespaceOf(pod));
      return place === undefined ? { exit: 0 } : place.planOf(pod, nthOf(place, pod));
    },
    reported: (namespace, what, name) => {
      points.log(namespace, `${what} ${name}`);
      passed(namespace, what);
    },
  });
  const pki = join(dir, "pki");
  const watch = watchAll({ server: plane.server, pki, path: "/api/v1/pods" }, (type, pod) => {
    points.sawVersion(textAt(pod, "metadata", "resourceVersion"));
    const place = places.get(namespaceOf(pod));
    if (place === undefined) return;
    place.pods.set(uidOf(pod), { pod, isGone: type === "DELETED" });
    if (type !== "DELETED") noteDuplicate(place, pod);
    kubelet.seen(type, pod);
  });
  return {
    plane,
    points,
    pki,
    onPoint: (subject, does) => {
      listeners.set(subject, does);
      return () => void listeners.delete(subject);
    },
    fresh: (subject) => {
      count += 1;
      return `${subject}-${count}`;
    },
    enter: (namespace, scripted) => {
      const place = { pods: new Map<string, PodRecord>(), duplicates: [], ...scripted };
      places.set(namespace, place);
      return place;
    },
    pass: (namespace, pattern) => {
      points.log(namespace, pattern);
      passed(namespace, pattern);
    },
    close: async () => {
      watch.stop();
      kubelet.stop();
      await plane.stop();
    },
  };
};
