/** The decision of one step of a Job: what has happened, the one action that it leads to, and the plan of it. Pure. */
import type { Key } from "../../core/key.ts";
import type { Stored } from "../../core/object.ts";
import type { Decision, Effect, Query, View } from "../../core/plan.ts";
import { queryId } from "../../core/plan.ts";
import { isEnding, ownedBy } from "../../kube/pods.ts";
import { pods } from "../../kube/resources.ts";
import type { Json } from "../../kube/responses.ts";
import { commandsIn, leftover, ordersFor } from "../command/order.ts";
import { misread } from "../plugins/all.ts";
import { claimName } from "../pods/names.ts";
import { foundedFor } from "../queue/default-queues.ts";
import { jobs, keys, queues } from "../resource.ts";
import { specIn } from "../schema/parse.ts";
import type { JobSpec, Volume } from "../schema/spec.ts";
import { annotationPoliciesOf } from "./annotation-policies.ts";
import { applyAction, endsAll } from "./apply-action.ts";
import { againOf } from "./completed-pods.ts";
import { answerTo, got, groupAgain, groupsOf, type JobContext, ownerOf, podsOf, refOf } from "./context.ts";
import { owed } from "./events.ts";
import { isFinished, moveFor } from "./machine.ts";
import { type Memory, seeded, shownPhase } from "./memory.ts";
import { withObservedPods } from "./observed-pods.ts";
import { held, invalid, payingPlan, planOf, refusedPlan } from "./plan.ts";
import { membersOf } from "./pods.ts";
import { classesOf, prioritiesOf } from "./priorities.ts";
import { awaiting } from "./recovery-window.ts";
import { isToEnd, type SelectedAction, selectAction } from "./select-action.ts";
import { startingUp } from "./startup.ts";

/** Claims by the names that they are made under. */
const claimed = (spec: JobSpec, key: Key, uid: string): JobSpec => {
  if (spec.volumes === undefined) return spec;
  const owner = { name: key.name, namespace: key.namespace, uid };
  const named = (volume: Volume, at: number): Volume =>
    volume.volumeClaim !== undefined && (volume.volumeClaimName ?? "") === ""
      ? { ...volume, volumeClaimName: claimName(owner, at) }
      : volume;
  return { ...spec, volumes: spec.volumes.map(named) };
};

const lacksNames = ({ volumes = [] }: JobSpec): boolean =>
  volumes.some(({ volumeClaim, volumeClaimName = "" }) => volumeClaim !== undefined && volumeClaimName === "");

/**
 * What upstream writes into the job before anything is made of it: the names of its claims, and that its queue sends
 * its pods to other clusters. Undefined when it stands there.
 */
const lacking = ({ object, spec, memory }: JobContext, stored: JobSpec): Json | undefined => {
  const names = lacksNames(stored) ? { spec: { volumes: spec.volumes } } : {};
  const shown = object.metadata.annotations?.[keys.forwarding] === "true";
  const forwarding = memory.forwarding && !shown ? { metadata: { annotations: { [keys.forwarding]: "true" } } } : {};
  const patch = { ...names, ...forwarding };
  return Object.keys(patch).length === 0 ? undefined : patch;
};

const writing = ({ object, memory }: JobContext, patch: Json): Decision<Memory> => {
  const { uid, resourceVersion } = object.metadata;
  const effect: Effect = { do: "patch", ref: refOf(jobs, object), uid, resourceVersion, patch };
  return { memory, stages: [[effect]], again: true };
};

const queueOf = (spec: JobSpec): Query => ({
  do: "get",
  ref: { resource: queues, name: spec.queue ?? "default" },
  known: true,
});

/** Who was never told anything has no group yet, and one that has is not given another: it is called after its UID. */
const groupLooks = (key: Key, { uid, memory, object }: View<Memory>): readonly Query[] => {
  const groups = groupsOf(key, uid);
  if (memory !== undefined) return memory.legacy === true ? groups : groups.slice(0, 1);
  return shownPhase({ ...EMPTY, ...object }) === undefined ? [] : groups;
};

/** While the job waits, its queue may be missing, or send it elsewhere. */
const looksOf = (key: Key, view: View<Memory>, spec: JobSpec, memory: Memory): readonly Query[] => [
  podsOf(key),
  ...groupLooks(key, view),
  commandsIn(key.namespace),
  ...(memory.phase === "Pending" ? [queueOf(spec)] : []),
  ...classesOf(spec),
];

const EMPTY: Stored = { apiVersion: "", kind: "", metadata: { name: "", uid: "", resourceVersion: "" } };

const groupIn = (key: Key, view: View<Memory>): Stored | undefined =>
  groupsOf(key, view.uid)
    .flatMap((query) => answerTo(view, query) ?? [])
    .find((group) => ownedBy(group, view.uid));

/** A group of an earlier upstream's name is looked for again as long as the job stands in it. */
const namedAlike = ({ key, group }: JobContext): Pick<Memory, "legacy"> =>
  group?.metadata.name === key.name ? { legacy: true } : {};

/** A look is not always of the newest state: what an action rests on is asked for once more, by itself. */
const confirmed = (scene: JobContext, { witness, because }: SelectedAction): "yes" | "no" | Query => {
  if (witness === undefined) return "yes";
  // Who has failed stays so: a look that is not behind what is remembered is enough.
  const firm = because?.event === "PodFailed" ? ({ known: "firm" } as const) : {};
  const query = { ...got(scene.key, pods, witness.name), ...firm };
  const answer = answerTo(scene.view, query);
  if (answer === undefined) return query;
  const [pod] = answer.filter((one) => ownedBy(one, ownerOf(scene).uid));
  return pod?.metadata.uid === witness.uid ? "yes" : "no";
};

/** The job's end is not shown yet, and its group goes with it. */
const isNewEnd = ({ object }: JobContext, { phase }: Memory): boolean =>
  isFinished(phase) && shownPhase(object) !== phase;

/** What stays behind is remembered or goes now, so one answer that it is not there is not enough. */
const left = (scene: JobContext, choice: SelectedAction, after: Memory): JobContext | Query => {
  if (scene.group !== undefined) return scene;
  if (!endsAll(moveFor(scene.memory.phase, choice.action)) && !isNewEnd(scene, after)) return scene;
  const found = answerTo(scene.view, groupAgain(scene));
  if (found === undefined) return groupAgain(scene);
  return { ...scene, group: found.find((group) => ownedBy(group, scene.view.uid)) };
};

const act = (before: JobContext): Decision<Memory> => {
  const told = shownPhase(before.object) === before.memory.phase;
  const choice = selectAction(before, told);
  const witness = confirmed(before, choice);
  if (witness === "no") return { memory: before.memory, stages: [], pollMs: 1_000 };
  if (witness !== "yes") return { look: [witness] };
  const after = applyAction(before, choice, told);
  const scene = left(before, choice, after);
  if ("do" in scene) return { look: [scene] };
  const { untold: _, ...memory } = scene === before ? after : applyAction(scene, choice, told);
  const next = { ...scene, memory };
  const acted = choice.because !== undefined;
  const opens = acted || !told || memory.phase !== scene.memory.phase;
  const asked = {
    sure: !acted || choice.witness !== undefined,
    more: opens && selectAction(next, true).because !== undefined,
    settled: !acted,
    prioritiesOf: prioritiesOf(scene),
    ...(choice.wakeAt === undefined ? {} : { wakeAt: choice.wakeAt }),
  };
  const debt = owed(scene, next, choice.laters);
  return debt.length > 0 ? payingPlan(next, asked, debt) : planOf(next, asked);
};

/** What the job's annotations ask for, and what of them and of its plugins' flags is passed over. */
const askedBy = (object: Stored, spec: JobSpec): Pick<JobContext, "wishes" | "problems"> => {
  const { wishes, problems } = annotationPoliciesOf(object, spec);
  const unread = problems.map((message) => ({ reason: "RekindleAnnotationIgnored", message }));
  const unknown = misread(spec.plugins).map((message) => ({ reason: "PluginFlagIgnored", message }));
  return { wishes, problems: [...unread, ...unknown] };
};

const queueIn = (view: View<Memory>, spec: JobSpec): readonly Stored[] | undefined =>
  view.seen.get(queryId(queueOf(spec)));

const forwards = (queue: Stored | undefined): boolean => {
  const { extendClusters } = Object(queue?.["spec"]);
  return Array.isArray(extendClusters) && extendClusters.length > 0;
};

/** One step's decision for a Job. */
export const decide = (key: Key, view: View<Memory>): Decision<Memory> => {
  const { object } = view;
  if (object === undefined || isEnding(object)) return gone(key, view);
  const memory = view.memory ?? seeded(object, view.now);
  const read = specIn(object);
  if (!read.ok) return invalid({ object, memory, message: read.message, now: view.now });
  const unseen = looksOf(key, view, read.spec, memory).filter((query) => answerTo(view, query) === undefined);
  if (unseen.length > 0) return { look: unseen };
  const spec = claimed(read.spec, key, view.uid);
  const queue = queueIn(view, read.spec);
  const crew = membersOf({ name: key.name, uid: view.uid }, answerTo(view, podsOf(key)) ?? []);
  const again = againOf(crew, memory);
  const orders = ordersFor(object, jobs, answerTo(view, commandsIn(key.namespace)) ?? []);
  const bare: JobContext = {
    key,
    view,
    object,
    spec,
    memory,
    members: crew.filter((member) => !again.includes(member)),
    again,
    group: groupIn(key, view),
    orders,
    ...askedBy(object, spec),
  };
  const forwarding = queue === undefined ? memory.forwarding : forwards(queue[0]);
  const scene: JobContext = { ...bare, memory: { ...withObservedPods(bare), forwarding, ...namedAlike(bare) } };
  const unwritten = lacking(scene, read.spec);
  if (unwritten !== undefined && view.refused.length === 0) return writing(scene, unwritten);
  if (queue?.length === 0 && !isToEnd(scene)) return waiting(scene, `queue ${read.spec.queue} is not found`);
  if (view.refused.length > 0) return refusedPlan(scene, view.refused);
  return awaiting(scene, memory) ?? startingUp(scene, act(scene));
};

/** Its objects go with it: all but commands are its own. A job on its way out makes none. */
const gone = (key: Key, view: View<Memory>): Decision<Memory> => {
  const memory = view.memory ?? seeded({ ...EMPTY, ...view.object }, view.now);
  if (view.object !== undefined) return { memory, stages: [], rests: true };
  const query = commandsIn(key.namespace);
  const left = answerTo(view, query);
  return left === undefined ? { look: [query] } : { memory, stages: [leftover(view.uid, left)], forget: true };
};

const waiting = (scene: JobContext, message: string): Decision<Memory> =>
  held(scene, { reason: "QueueNotFound", message }, foundedFor(scene.spec.queue));
