/**
 * The invariants of a Volcano job after every call and at the end, judged from objects alone: it asks nothing of the
 * engine or of a kind's room. Those of pods, V1–V4, V13 and V14: see `bodies.ts`; at rest, V9–V12 and V15: see
 * `rest.ts`.
 *
 * V5. Phases follow each other as the table says, in the record and in the status; an end is final.
 * V6. Version and retries never go back. Every way into Restarting spends a retry, unless the job exempts some or Kueue evicts it, and
 *     nothing else does. The version moves by one, only where all pods are ended: always into Aborting, Terminating
 *     and Completing.
 * V7. Shared objects and the group are not deleted while pods of the job live; an ssh key never changes.
 * V8. A command is removed when a record shows it as taken, and not before.
 * I5. Steps write only the job's own objects, commands for it, changes of queues, and in the job missing claim
 *     names and the mark of forwarding. For a deleted job of its name, an object may still be created within fence and
 *     timeout: it is deleted with its owner (V12).
 * I8. No secret in an event, a status, a checkpoint, a message or a line.
 * I9. A checkpoint can be read and is small.
 * W1. A record's past waits are those of its saves: see `../past-waits.ts`.
 */
import { same } from "../../../../shared/simulator/storage/json.ts";
import type { Change } from "../../../../shared/simulator/storage/store.ts";
import { textOf } from "../../../../shared/simulator/verbs/read.ts";
import { at, numberAt, ownersOf, textAt } from "../fields.ts";
import { forked } from "../forked.ts";
import { isCounted, isDelivery } from "../objects.ts";
import type { Actor, Oracle, Subject } from "../oracle.ts";
import { checkWaits } from "../past-waits.ts";
import { checkStrays, hearPod, longestArrivalMs, replicasIn } from "./bodies.ts";
import { type Facts, fresh, type Saved } from "./facts.ts";
import { follows, isFinal, isOver, keepsPods } from "./phases.ts";
import { checkRest } from "./rest.ts";
import { checkSaved, recordOf } from "./saved.ts";

type Item = Change["object"];

const jobs = "jobs.batch.volcano.sh";
const checkpoints = "checkpoints.rekindle.dev";
const groups = "podgroups.scheduling.volcano.sh";
const shared: ReadonlySet<string> = new Set([
  ...["configmaps", "services", "secrets"],
  "networkpolicies.networking.k8s.io",
]);
/** The tables of a job's own objects. */
const accompanying: ReadonlySet<string> = new Set([
  ...shared,
  ...["pods", "persistentvolumeclaims", groups, "podgroups.scheduling.k8s.io", "workloads.kueue.x-k8s.io"],
]);

/** Notes the instants of the record's last changes. */
const noteTimes = (facts: Facts, { version, phase }: Saved, now: number): void => {
  if (facts.record?.version !== version) facts.movedAt = now;
  facts.overAt = isOver(phase) ? (facts.overAt ?? now) : undefined;
};

const sameButStatus = ({ object, before }: Change): boolean => {
  const bare = (one: Item | undefined): string =>
    JSON.stringify({ ...one, status: undefined, metadata: { ...one?.metadata, resourceVersion: "" } });
  return bare(object) === bare(before);
};

const volumesOf = (job: Item | undefined): readonly object[] => {
  const volumes = at(job, "spec", "volumes");
  return Array.isArray(volumes) ? volumes.map(Object) : [];
};

const claimsOf = (job: Item | undefined): readonly string[] =>
  volumesOf(job).map((volume) => textAt(volume, "volumeClaimName") ?? "");

/** A job without its status and the names of its claims. */
const unnamed = (job: Item | undefined): unknown => ({
  ...job,
  status: undefined,
  metadata: { ...job?.metadata, resourceVersion: "", generation: 0 },
  spec: {
    ...Object(job?.["spec"]),
    volumes: volumesOf(job).map((volume) => ({ ...volume, volumeClaimName: undefined })),
  },
});

/** True when claims without a name get one, and nothing else changes. */
const isNaming = ({ object, before }: Change): boolean => {
  const names = claimsOf(object);
  return same(unnamed(object), unnamed(before)) && claimsOf(before).every((name, i) => ["", names[i]].includes(name));
};

const forwardingKey = "volcano.sh/job-forwarding";

const unforwarded = (job: Item | undefined): unknown => {
  const { [forwardingKey]: _, ...annotations } = job?.metadata.annotations ?? {};
  return { ...job, metadata: { ...job?.metadata, annotations, resourceVersion: "" } };
};

/** True when the job gets the mark that its queue forwards its pods. */
const isForwarding = ({ object, before }: Change): boolean =>
  object.metadata.annotations?.[forwardingKey] === "true" && same(unforwarded(object), unforwarded(before));

export const openJobOracle = (
  subject: Subject,
  facts: Facts = fresh(),
  seen: { job: Item | undefined } = { job: undefined },
): Oracle => {
  const blame = (what: string): void => {
    if (!facts.violations.includes(what)) facts.violations.push(what);
  };
  const isSubject = ({ metadata }: Item): boolean =>
    metadata.namespace === subject.namespace && metadata.name === subject.name;
  const isRecord = ({ metadata }: Item): boolean => metadata.name === `job.${subject.name}`;
  const isOwned = (object: Item): boolean => facts.uid !== undefined && ownersOf(object).includes(facts.uid);
  const checkSecret = (text: string, where: string): void => {
    if (subject.canaries.some((canary) => text.includes(canary))) blame(`I8: a secret stands in ${where}`);
  };

  const hearJob = ({ type, object }: Change, now: number): void => {
    const { uid } = object.metadata;
    if (type === "DELETED") {
      facts.gone ||= uid === facts.uid;
      facts.earlier.set(uid, now);
      return;
    }
    if (facts.uid !== uid) Object.assign(facts, { uid, gone: false, phase: "", removed: 0, overAt: undefined });
    const phase = textAt(object, "status", "state", "phase") ?? "";
    const ordered = facts.record?.ordered === true && phase === "Terminated";
    if (!ordered && !follows(facts.phase, phase)) blame(`V5: ${facts.phase || "nothing"} became ${phase || "nothing"}`);
    Object.assign(facts, { phase, replicas: replicasIn(object) });
    if (phase === "Aborted") facts.key = undefined;
    seen.job = object;
    checkSecret(JSON.stringify(object["status"]) ?? "", "a status");
  };

  const hearRecord = (change: Change, actor: Actor, now: number): void => {
    const { type, object } = change;
    if (type === "DELETED") facts.record = undefined;
    // Changes of a record by users or another cluster are not judged; only its cluster and an order count.
    if (type === "DELETED" || actor !== "engine") {
      const [cluster = "", ordered] = [textAt(object, "spec", "cluster"), at(object, "spec", "cleanup") !== undefined];
      if (facts.record !== undefined) facts.record = { ...facts.record, cluster, ordered };
      return;
    }
    const spec = object["spec"];
    const text = textOf(object);
    checkSecret(text, "a checkpoint");
    const readable = numberAt(spec, "schema") === 1 && textAt(spec, "uid") && at(spec, "memory") !== undefined;
    if (!readable) blame("I9: a checkpoint cannot be read");
    if (text.length > 65_536) blame("I9: a checkpoint is larger than 64 KiB");
    checkWaits(change, now, blame);
    const { record: before } = facts;
    const record = recordOf(object);
    if (before?.job === record.job) checkSaved(before, record, seen.job, blame);
    noteTimes(facts, record, now);
    facts.record = record;
  };

  const livesOn = (): boolean => [...facts.pods.values()].some(({ live, job }) => live && job === facts.uid);

  /** V7. */
  const hearShared = ({ type, table, object }: Change, actor: Actor): void => {
    if (type === "DELETED" && actor === "engine" && livesOn())
      blame(`V7: ${table}/${object.metadata.name} is taken away from pods that live`);
    if (type === "ADDED" && isOver(facts.record?.phase ?? "")) {
      facts.late.add(object.metadata.uid);
      return;
    }
    const text = textAt(object, "data", "id_rsa");
    if (table !== "secrets" || text === undefined || type === "DELETED") return;
    if (!facts.gone && facts.key?.job === facts.uid && facts.key?.text !== text)
      blame("V7: the job's ssh key has changed");
    facts.key = { job: facts.uid ?? "", text };
  };

  const hearGroup = ({ type, object }: Change, actor: Actor): void => {
    const { uid, name } = object.metadata;
    const { record } = facts;
    const current = [...facts.pods.values()].some(({ live, version }) => live && version === record?.version);
    if (type === "DELETED") {
      if (actor === "engine" && current && record?.ordered === false && keepsPods(record.phase))
        blame("V7: the group is taken away from pods that live");
      facts.groups.delete(uid);
    } else facts.groups.set(uid, { name, phase: textAt(object, "status", "phase") ?? "", owned: isOwned(object) });
  };

  const isExpired = ({ object }: Change): boolean =>
    isFinal(facts.phase) && numberAt(object, "spec", "ttlSecondsAfterFinished") !== undefined;

  /** The allowed changes by table; in all other tables, changes of the job's own objects. */
  const permits: Readonly<Record<string, (change: Change) => boolean>> = {
    [checkpoints]: ({ object }) =>
      isRecord(object) || isDelivery(object, { ...subject, kind: "Job" }) || object.metadata.name.startsWith("queue."),
    [jobs]: (change) =>
      isSubject(change.object) &&
      (change.type === "DELETED"
        ? isExpired(change)
        : sameButStatus(change) || isNaming(change) || isForwarding(change)),
    events: ({ type, object }) =>
      type === "ADDED" &&
      (textAt(object, "involvedObject", "uid") === facts.uid ||
        textAt(object, "involvedObject", "kind") === "Queue" ||
        // A pod of others is told why its group is not let in.
        (textAt(object, "involvedObject", "kind") === "Pod" && textAt(object, "reason") === "FailedScheduling")),
    "queues.scheduling.volcano.sh": ({ type }) => type === "MODIFIED",
    "commands.bus.volcano.sh": ({ type, object }) =>
      type === "DELETED" && textAt(object, "target", "name") === subject.name,
  };

  /** True for an object of a job that was deleted a moment ago. */
  const isLate = ({ type, object }: Change, now: number): boolean =>
    type === "ADDED" &&
    ownersOf(object).some((owner) => now - (facts.earlier.get(owner) ?? Number.NEGATIVE_INFINITY) <= longestArrivalMs);

  const permitted = (change: Change, now = 0): boolean => {
    const { table, object, before } = change;
    const isOurs = isOwned(before ?? object) || isLate(change, now);
    // The queue's rounds judge groups of others, too: R4 of room-judge.ts.
    const isOfOthers =
      table === groups && ownersOf(object).length === 0 && before !== undefined && same(object["spec"], before["spec"]);
    return permits[table]?.(change) ?? (isOfOthers || (accompanying.has(table) && isOurs));
  };

  const hearOwned = (change: Change, actor: Actor): void => {
    const { table, object } = change;
    if (!isOwned(object)) return;
    if (shared.has(table)) hearShared(change, actor);
    if (table === groups) hearGroup(change, actor);
  };

  /** V8. */
  const hearCommand = ({ type, object }: Change, actor: Actor): void => {
    if (type !== "DELETED" || actor !== "engine" || facts.gone) return;
    if (facts.record?.taken.includes(object.metadata.uid) !== true)
      blame(`V8: ${object.metadata.name} is removed, and no record says that it was taken`);
  };

  const hears: Readonly<Record<string, (change: Change, actor: Actor, now: number) => void>> = {
    [jobs]: (change, _, now) => (isSubject(change.object) ? hearJob(change, now) : undefined),
    [checkpoints]: (change, actor, now) => (isRecord(change.object) ? hearRecord(change, actor, now) : undefined),
    pods: (change, actor, now) => hearPod(facts, change, { actor, blame, job: seen.job, now }),
    "commands.bus.volcano.sh": hearCommand,
    events: ({ object }, actor) => (actor === "engine" ? checkSecret(textOf(object), "an event") : undefined),
  };

  return {
    hear: (change, actor, now) => {
      checkStrays(facts, now, blame);
      if (actor === "engine" && subject.together !== true && !isCounted(change) && !permitted(change, now))
        blame(`I5: ${change.type} ${change.table}/${change.object.metadata.name} was not ours to do`);
      (hears[change.table] ?? hearOwned)(change, actor, now);
    },
    permits: permitted,
    said: (text, where) => checkSecret(text, where),
    end: (objects) => {
      const job = objects.find(({ table, object }) => table === jobs && isSubject(object))?.object;
      const owned = objects.filter(
        ({ table, object }) => isOwned(object) || (table === checkpoints && isRecord(object)),
      );
      for (const { table, object } of objects)
        if (ownersOf(object).some((owner) => facts.earlier.has(owner)))
          blame(`V12: ${table}/${object.metadata.name} is left of an earlier job`);
      checkRest({ facts, job, owned }, blame);
    },
    violations: () => facts.violations,
    phase: () => facts.phase,
    uid: () => facts.uid,
    copy: () => openJobOracle(subject, forked(facts), forked(seen)),
  };
};
