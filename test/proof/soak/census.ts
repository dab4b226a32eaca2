/**
 * Judges a life by API objects alone. The sweep's oracle judges each application by its UID, and an executor id belongs
 * to one pod only. For the comparison, this file counts double drivers and applications called FAILED while their
 * driver runs.
 */
import type { Change } from "../../../shared/simulator/storage/store.ts";
import { ownersOf, roleOf, textAt } from "../sweep/fields.ts";
import { type Oracle, openOracle } from "../sweep/oracle.ts";
import { canaries, namespace } from "../sweep/scenario.ts";

const apps = "sparkapplications.sparkoperator.k8s.io";
const checkpoints = "checkpoints.rekindle.dev";

export type Counts = {
  /** Drivers created while another driver of the same application runs. */
  doubleDrivers: number;
  /** Executors created under an id that another pod of the same run had before. */
  doubledIds: number;
  /** Applications whose status became FAILED while their driver ran. */
  failedThoughRunning: number;
  drivers: number;
  executors: number;
};

export const noCounts = (): Counts => ({
  doubleDrivers: 0,
  doubledIds: 0,
  failedThoughRunning: 0,
  drivers: 0,
  executors: 0,
});

type Body = { readonly uid: string; readonly app: string; readonly role: string; live: boolean; ending: boolean };

const isOver = (object: unknown): boolean => ["Succeeded", "Failed"].includes(textAt(object, "status", "phase") ?? "");

/** Counts driver and executor pods from their watch events. */
const openCounting = (counts: Counts) => {
  const bodies = new Map<string, Body>();
  const ids = new Map<string, string>();
  const alive = (app: string): readonly Body[] =>
    [...bodies.values()].filter((one) => one.live && one.role === "driver" && one.app === app);
  const appear = (object: Change["object"], role: string): void => {
    const { uid } = object.metadata;
    const [app = ""] = ownersOf(object);
    if (role === "driver") {
      counts.drivers += 1;
      if (alive(app).length > 0) counts.doubleDrivers += 1;
    } else {
      counts.executors += 1;
      const id = `${app} ${textAt(object, "metadata", "labels", "spark-app-selector")} ${textAt(object, "metadata", "labels", "spark-exec-id")}`;
      if ((ids.get(id) ?? uid) !== uid) counts.doubledIds += 1;
      ids.set(id, uid);
    }
    bodies.set(uid, { uid, app, role, live: true, ending: false });
  };
  const hearPod = ({ type, object }: Change): void => {
    const role = roleOf(object);
    if (role === undefined || ownersOf(object).length === 0) return;
    if (type === "ADDED") appear(object, role);
    const body = bodies.get(object.metadata.uid);
    if (body === undefined) return;
    body.live = type !== "DELETED" && !isOver(object);
    body.ending ||= object.metadata.deletionTimestamp !== undefined;
  };
  const stateOf = (object: unknown): string => textAt(object, "status", "applicationState", "state") ?? "";
  const hearApp = ({ object, before }: Change): void => {
    if (stateOf(object) !== "FAILED" || stateOf(before) === "FAILED") return;
    if (alive(object.metadata.uid).some(({ ending }) => !ending)) counts.failedThoughRunning += 1;
  };
  return { hearPod, hearApp };
};

/** Returns the UID of the application that an application or a record is about; undefined for other objects. */
const uidOf = ({ table, object }: Change): string | undefined => {
  if (table === apps) return object.metadata.uid;
  return table === checkpoints ? textAt(object, "spec", "uid") : undefined;
};

export type Judging = { readonly oracle: Oracle; readonly counts: Counts };

/** Judges all applications of a life. `strictly` adds the sweep's invariants, which suppose that there are records. */
export const openJudging = (strictly: boolean): Judging => {
  const counts = noCounts();
  const counting = openCounting(counts);
  const each = new Map<string, Oracle>();
  const violations: string[] = [];
  const blame = (what: string): void => {
    if (!violations.includes(what)) violations.push(what);
  };
  const begin = ({ type, table, object }: Change): void => {
    if (table !== apps || type !== "ADDED" || !strictly) return;
    const { name, uid } = object.metadata;
    each.set(uid, openOracle({ namespace, name, canaries, together: true }));
  };
  const concerned = (change: Change): readonly Oracle[] => {
    const uid = uidOf(change);
    if (uid === undefined) return [...each.values()];
    const one = each.get(uid);
    return one === undefined ? [] : [one];
  };
  const checkDeed = (change: Change): void => {
    if (change.table === "events" && change.type === "ADDED") return;
    if ([...each.values()].some((one) => one.permits(change))) return;
    blame(`I5: ${change.type} ${change.table}/${change.object.metadata.name} was not ours to do`);
  };
  const oracle: Oracle = {
    hear: (change, actor, now) => {
      begin(change);
      if (change.table === "pods") counting.hearPod(change);
      if (change.table === apps) counting.hearApp(change);
      for (const one of concerned(change)) one.hear(change, actor, now);
      if (actor === "engine" && strictly) checkDeed(change);
    },
    permits: () => true,
    said: (text, where) => {
      const secret = canaries.find((canary) => text.includes(canary));
      if (secret !== undefined && strictly) blame(`I8: a secret stands in ${where}`);
    },
    end: (objects, now) => {
      for (const [uid, one] of each)
        one.end(
          objects.filter(({ table, object }) => (uidOf({ table, object } as Change) ?? uid) === uid),
          now,
        );
      if (counts.doubleDrivers > 0) blame(`I1: ${counts.doubleDrivers} time(s) two drivers lived`);
      if (counts.doubledIds > 0) blame(`E1: ${counts.doubledIds} executor id(s) were given twice`);
    },
    violations: () => [
      ...violations,
      ...[...each].flatMap(([uid, one]) => one.violations().map((what) => `${uid.slice(0, 8)}: ${what}`)),
    ],
    phase: () => "",
    uid: () => undefined,
    copy: () => oracle,
  };
  return { oracle, counts };
};
