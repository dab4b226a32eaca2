/**
 * The cluster side of `rekindle recover` and of `rekindle plan`: the same steps as a host's, for the keys that the
 * user names. A recovery adopts, deletes and records; creations are left to hosts, which alone know their settings.
 * Each save is conditional, so the command may run beside a host, be killed at any point, and be repeated. `rekindle
 * replay` reads recorded decisions out of log lines, and takes each again with this version's operators.
 */

import * as z from "zod";
import { kubernetesCheckpoints } from "../../adapters/checkpoints/kubernetes.ts";
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { mergeObject } from "../../adapters/kubernetes/requests.ts";
import { openTelemetry } from "../../adapters/telemetry/tracing.ts";
import type { Recovered, RecoverHow, Replayed } from "../../cli/io/tools.ts";
import { ApiError, type Transport } from "../../core/http.ts";
import { fieldsOf, jsonOf } from "../../core/json.ts";
import type { Key } from "../../core/key.ts";
import { refText, type Stored } from "../../core/object.ts";
import { type Plan, waitsForText } from "../../core/plan.ts";
import { timeText } from "../../core/time.ts";
import { readRecord } from "../../engine/checkpoint/record.ts";
import type { DecisionRecording } from "../../engine/cluster/queries.ts";
import { replay } from "../../engine/cluster/replay.ts";
import type { Ending, Finding, RecoveryRequest, World } from "../../engine/context/world.ts";
import type { CheckpointRecord, Cluster, Queue, Report } from "../../engine/ports.ts";
import { step } from "../../engine/reconcile/step.ts";
import { recovery, timing } from "../../engine/settings.ts";
import { statusPatch } from "../../engine/writes/status.ts";
import { upstreamsOf } from "../../forward/controller-detection.ts";
import { findController } from "../../forward/controller-workloads.ts";
import type { Session } from "../../inspection/io/session.ts";
import type { SeenByDecision } from "../../inspection/sweep-case.ts";
import { usualNamespaces } from "../../kube/upstream-controllers.ts";
import { defaultOptions, type Options } from "../../spark/auxiliary-objects/options.ts";
import type { QueueOptions } from "../../volcano/queue/decide.ts";
import { operatorsFor } from "../common/operators.ts";
import { openRuntime } from "../common/runtime.ts";
import { operatorsByKind } from "../common/step-dependencies.ts";
import { aliasOf } from "./cluster-alias.ts";

const nowhere: Queue = { send: async () => {}, sendLater: async () => {} };

const leftToHosts = "creating objects is left to a host";

/** Wraps the cluster: Events are created; any other creation is left to hosts. */
const withoutCreating = (cluster: Cluster): Cluster => ({
  ...cluster,
  create: (ref, object) => {
    if (ref.resource.kind === "Event") return cluster.create(ref, object);
    throw new ApiError({ status: 0, reason: "LeftToHosts", message: leftToHosts });
  },
});

type RecoverContext = {
  readonly transport: Transport;
  readonly world: World;
  readonly key: Key;
  readonly how: RecoverHow;
  readonly controllerNamespaces: readonly string[];
  readonly sleep: (ms: number) => Promise<void>;
  readonly findings: Finding[];
  readonly ended: Set<string>;
};

/**
 * Returns the fence and the timeout of the deployment, if its record holds them, so that the fence of a recovery is no
 * shorter than a host's.
 */
const madeBy = (stored: unknown): Partial<typeof timing> => {
  const read = readRecord(stored);
  const { fenceMs, requestTimeoutMs } = (read.ok ? read.record.made : undefined) ?? {};
  return {
    ...(typeof fenceMs === "number" ? { fenceMs } : {}),
    ...(typeof requestTimeoutMs === "number" ? { requestTimeoutMs } : {}),
  };
};

const askOf = ({ mode, fresh, returnMs, graceSeconds }: RecoverHow): RecoveryRequest => ({
  mode,
  fresh,
  graceSeconds,
  ...(returnMs === undefined ? {} : { returnMs }),
});

/** The cluster of a key, and the table of its record. */
export type Place = Pick<Session, "transport" | "table" | "controllerNamespaces">;

const silent: Report = () => {};

/** Opens steps that a command takes by itself: no queue gets their messages, and nothing is logged. */
const openSteps = (
  { transport, table }: Pick<Session, "transport" | "table">,
  set: typeof timing,
  own: (opened: World) => Partial<World>,
): Promise<World> =>
  openRuntime({
    ...{ transport, checkpoints: table?.records, operatorOf: operatorsByKind(operatorsFor(set)) },
    ...{ queue: nowhere, report: silent, timing: set, clockFrom: "answered", own, more: () => ({}) },
    telemetry: openTelemetry({ report: silent, level: "debug" }),
  });

const openContext = async (
  place: Place,
  given: Key,
  how: RecoverHow,
  sleep: RecoverContext["sleep"],
): Promise<RecoverContext> => {
  const { transport, table, controllerNamespaces = usualNamespaces } = place;
  const key = { ...given, cluster: await aliasOf(place, given) };
  const stored = await (table?.records ?? kubernetesCheckpoints(transport)).load(key);
  const findings: Finding[] = [];
  const ended = new Set<string>();
  const world = await openSteps(place, { ...timing, ...madeBy(stored?.record) }, ({ cluster }) => ({
    cluster: withoutCreating(cluster),
    recovery: { ...recovery, strict: how.strict },
    found: (_, finding) => void findings.push(finding),
    witness: (_, effect) => void (effect.do === "delete" && ended.add(refText(effect.ref))),
    ...(how.dryRun ? { shadow: () => {} } : {}),
  }));
  return { transport, world, key, how, controllerNamespaces, sleep, findings, ended };
};

/** Returns the remaining wait of a recovery; undefined where it is settled or the record cannot be read. */
const leftIn = async ({ world, key }: RecoverContext): Promise<string | undefined> => {
  const read = readRecord((await world.checkpoints.load(key))?.record);
  if (!read.ok) return undefined;
  const { cleanup, returning, waitsFor } = read.record;
  if (cleanup !== undefined && cleanup.done === undefined) return waitsFor ?? "the objects that it owns to end";
  return returning === undefined
    ? undefined
    : (waitsFor ?? `missing pods to reappear, until ${timeText(returning.until)}`);
};

const pollMs = 1_000;

/** Takes steps until nothing is waited for or the time is over. Returns the remaining wait. */
const follow = async (stage: RecoverContext): Promise<string | undefined> => {
  const { how, sleep, world, key } = stage;
  for (let waited = 0; ; waited += pollMs) {
    const left = await leftIn(stage);
    if (left === undefined || waited >= how.waitMs) return left;
    await sleep(pollMs);
    await step(world, { ...key, reason: "recover" });
  }
};

/** Annotates the object, so that a watching host takes a step at once. */
const nudge = async ({ transport, world, key }: RecoverContext): Promise<void> => {
  const resource = world.operatorOf(key.kind)?.resource;
  if (resource === undefined) return;
  const ref = { resource, namespace: key.namespace, name: key.name };
  const { value: object, date } = await world.cluster.get(ref);
  if (object === undefined) return;
  const annotations = { "rekindle.dev/recovered-at": timeText(date) };
  await mergeObject(transport, { ref }, { metadata: { uid: object.metadata.uid, annotations } });
};

/** Removes the settings under which the record was made: the next host adopts it under its own. */
const reconfigured = async ({ world, key }: RecoverContext): Promise<string> => {
  const loaded = await world.checkpoints.load(key);
  const read = readRecord(loaded?.record);
  if (loaded === undefined || !read.ok || loaded.edited === true) return "there is no usable record to take over";
  const { made, saves, ...record } = read.record;
  const saved = await world.checkpoints.save(key, { ...record, saves: saves + 1 }, loaded.version);
  return saved === "raced"
    ? "another process was writing it: try again"
    : `settings removed from the record: ${JSON.stringify(made)}`;
};

const refusalOf = (ending: Ending, finding: Finding | undefined): string | undefined => {
  if (finding?.did === "refused") return finding.why;
  if (ending.did === "stopped") return ending.why;
  return ending.did === "troubled" && ending.message !== leftToHosts ? ending.message : undefined;
};

/**
 * Finds other controllers of the key's kind; while one is at work, nothing of the kind is written. `blind`: failed reads,
 * where a missing sign proves nothing.
 */
const controllersOf = async ({ transport, world, key, how, controllerNamespaces: namespaces }: RecoverContext) => {
  const operator = world.operatorOf(key.kind);
  const [upstream] = upstreamsOf([operator?.family ?? operator?.resource.group ?? ""]);
  if (how.coexist || upstream === undefined) return { signs: [], blind: [] };
  return await findController(openCluster(transport), upstream, { leases: [], namespaces });
};

const blindly = (line: string): string => `cannot see whether another controller leads: ${line}`;

const leftAlone = (key: Key, signs: readonly string[]): Recovered => ({
  ...keyed(key),
  ...{ record: "not looked at", why: signs.join("; "), did: "refused" },
  ...{ kept: [], problems: [], adopted: [], ended: [], configured: undefined, waitsFor: undefined },
  refused: `${signs.join("; ")}: Rekindle writes nothing for these kinds meanwhile (--coexist, if that controller watches other namespaces)`,
});

const keyed = ({ kind, namespace, name }: Key) => ({ kind, namespace, name });

/** Requests the recovery; again, if a host won the race for the record or trouble prevented the beginning. */
const recovered = async (stage: RecoverContext): Promise<Ending> => {
  const world = { ...stage.world, ask: askOf(stage.how) };
  for (let tries = 0; ; tries += 1) {
    const ending = await step(world, { ...stage.key, reason: "recover", tries });
    const isUnbegun = ending.did === "troubled" && stage.findings.length === 0;
    if ((ending.did !== "raced" && !isUnbegun) || tries >= 4) return ending;
    await stage.sleep(pollMs);
  }
};

/** Recovers one key, and returns the outcome. */
export const recoverKey = async (
  place: Place,
  key: Key,
  how: RecoverHow,
  sleep: RecoverContext["sleep"],
): Promise<Recovered> => {
  const context = await openContext(place, key, how, sleep);
  const { signs, blind } = await controllersOf(context);
  if (signs.length > 0 && !how.dryRun) return leftAlone(key, signs);
  const recovered = (await isSound(context)) ? sound(key) : await brought(context);
  return { ...recovered, problems: [...recovered.problems, ...blind.map(blindly), ...signs] };
};

/** Whether a plan would write nothing but Events: no effect, and the status that the object shows. */
const isAtRest = ({ stages, status }: Plan<unknown>, object: Stored | undefined, record: CheckpointRecord): boolean =>
  stages.flat().every((effect) => effect.do === "record") &&
  (object === undefined || status === undefined || statusPatch(object, status, record.status) === undefined);

/**
 * Returns whether nothing is wrong: the record is usable, no recovery or cleanup is under way, and the next step would
 * write nothing. A choice of the user, such as `--fresh` or `--timeout`, is carried out in any case.
 */
const isSound = async ({ world, key, how }: RecoverContext): Promise<boolean> => {
  if (how.mode !== "reconnect" || how.fresh || how.reconfigure || how.returnMs !== undefined) return false;
  const loaded = await world.checkpoints.load(key);
  const read = readRecord(loaded?.record);
  if (loaded === undefined || !read.ok || loaded.edited === true) return false;
  const { cleanup, returning, trouble } = read.record;
  if (cleanup !== undefined || returning !== undefined || trouble !== undefined) return false;
  const seen: boolean[] = [];
  const found: Finding[] = [];
  const shadow: World["shadow"] = (_, plan, object) => void seen.push(isAtRest(plan, object, read.record));
  const looking = { ...world, shadow, found: (_: Key, finding: Finding) => void found.push(finding) };
  const { did } = await step(looking, { ...key, reason: "recover" });
  return found.length === 0 && did !== "troubled" && did !== "stopped" && seen.every((rests) => rests);
};

const sound = (key: Key): Recovered => ({
  ...keyed(key),
  ...{ record: "sound", why: "the record is usable", did: "nothing", refused: undefined },
  ...{ kept: [], problems: [], adopted: [], ended: [], configured: undefined, waitsFor: undefined },
});

/** Takes the steps of a recovery. */
const brought = async (stage: RecoverContext): Promise<Recovered> => {
  const { key, how } = stage;
  const configured = how.reconfigure && !how.dryRun ? await reconfigured(stage) : undefined;
  const ending = await recovered(stage);
  const [finding] = stage.findings;
  const refused = refusalOf(ending, finding);
  const left = refused === undefined && !how.dryRun ? await follow(stage) : undefined;
  if (refused === undefined && !how.dryRun && finding !== undefined) await nudge(stage);
  return {
    ...keyed(key),
    record: finding?.record ?? "none",
    why: finding?.why ?? ("why" in ending ? ending.why : "its object is gone: the objects that it left are deleted"),
    did: refused === undefined ? (finding?.did ?? "nothing") : "refused",
    kept: finding?.kept ?? [],
    problems: finding?.problems ?? [],
    adopted: (finding?.adopted ?? []).map(refText),
    ended: [...stage.ended],
    refused,
    configured,
    waitsFor: left,
  };
};

export type Previewed =
  | { readonly would: "plan"; readonly plan: Plan<unknown> }
  | { readonly would: "nothing" | "stop"; readonly why: string };

/** Previews the step. Records are read from `table`, else from the cluster. */
export const preview = async (place: Pick<Session, "transport" | "table">, key: Key): Promise<Previewed> => {
  const plans: Plan<unknown>[] = [];
  const world = await openSteps(place, timing, () => ({ shadow: (_, plan) => void plans.push(plan) }));
  const ending = await step(world, { ...key, reason: "preview" });
  const [plan] = plans;
  if (plan !== undefined) return { would: "plan", plan };
  if (ending.did === "troubled") throw new Error(ending.message);
  if (ending.did === "stopped") return { would: "stop", why: ending.why };
  return { would: "nothing", why: "why" in ending ? ending.why : ending.did };
};

/** The longest recording, unpacked, bytes. */
const longestJson = 16_777_216;

const hasKey = (value: unknown): boolean => {
  const { kind, namespace, name } = fieldsOf(value);
  return [kind, namespace, name].every((part) => typeof part === "string");
};

const isRecording = (value: unknown): boolean => {
  const { version, key, view, rounds, plan } = fieldsOf(value);
  const isRead = Array.isArray(rounds) && Array.isArray(fieldsOf(plan)["stages"]);
  return version === 1 && hasKey(key) && isRead && typeof fieldsOf(view)["now"] === "number";
};

const form = z.object({
  settings: z.object({
    timing: z.custom<typeof timing>((value) => typeof fieldsOf(value)["fenceMs"] === "number").default(timing),
    spark: z.custom<Options>((value) => typeof fieldsOf(value)["uiService"] === "boolean").default(defaultOptions),
    queues: z.custom<QueueOptions>((value) => typeof value === "object" && value !== null).default({}),
  }),
  recording: z.custom<DecisionRecording>(isRecording, "is not a recording of this format"),
});

const unpacked = (text: string): string | undefined => {
  try {
    const bytes = Buffer.from(text, "base64");
    return process.getBuiltinModule("node:zlib").gunzipSync(bytes, { maxOutputLength: longestJson }).toString();
  } catch {
    return undefined;
  }
};

/** Returns the JSON object of a line; collectors of logs put a time or a name before it. */
const objectIn = (line: string): unknown => {
  const start = line.indexOf("{");
  return start < 0 ? undefined : jsonOf(line.slice(start));
};

type Read = { readonly line: z.infer<typeof form> } | { readonly refused: string };

/** Returns the recording of a line; undefined for a line of another message. */
const recordingIn = (text: string): Read | undefined => {
  const { recording } = fieldsOf(objectIn(text));
  if (typeof recording !== "string") return undefined;
  const json = unpacked(recording);
  if (json === undefined) return { refused: "its recording is cut off or damaged" };
  const parsed = form.safeParse(jsonOf(json));
  return parsed.success ? { line: parsed.data } : { refused: z.prettifyError(parsed.error) };
};

const phaseIn = (memory: unknown): string => {
  const { phase } = fieldsOf(fieldsOf(memory)["state"]);
  return typeof phase === "string" ? phase : "";
};

/** Returns the objects that a recorded decision read, for a case of the sweep. */
const seenBy = ({ view, rounds, plan }: DecisionRecording): SeenByDecision => ({
  at: view.now,
  object: view.object,
  pods: rounds
    .flatMap(({ answers }) => answers.flatMap((answer) => ("objects" in answer ? answer.objects : [])))
    .filter(({ kind, metadata }) => kind === "Pod" || metadata.labels?.["spark-role"] !== undefined),
  phase: phaseIn(plan.memory),
});

const replayed = ({ settings, recording }: z.infer<typeof form>): Replayed => {
  const operators = operatorsFor(settings.timing, settings.spark, settings.queues);
  const operator = operatorsByKind(operators)(recording.key.kind);
  const { view, rounds, plan, key } = recording;
  const effects = plan.stages.flat();
  const reads = rounds.reduce((sum, { queries }) => sum + queries.length, 0);
  const about = { key, at: view.now, reads, effects, waitsFor: waitsForText(plan), next: plan.next.do };
  const difference =
    operator === undefined
      ? { path: "key.kind", recorded: key.kind, replayed: "a kind that this version does not run" }
      : replay(operator, recording);
  return { is: "decision", ...about, difference, seen: seenBy(recording) };
};

/** Replays every recording among the lines of a log, in their order. Other lines are passed over. */
export function* replayLines(text: string): Generator<Replayed> {
  let number = 0;
  for (const line of text.split("\n")) {
    number += 1;
    const read = recordingIn(line);
    if (read === undefined) continue;
    yield "refused" in read ? { is: "refused", line: number, why: read.refused } : replayed(read.line);
  }
}
