/** Objects of the attacker, and the checks that the host reports about each in time and keeps running. */
import { sparkPi } from "../../support/pi.ts";
import { type Attack, type AttackClass, must } from "./attack.ts";
import { attackers, fresh, type Hands, pathOf, type Stand, waitFor } from "./stand.ts";

export type Fields = Readonly<Record<string, unknown>>;
export type Texts = Readonly<Record<string, string>>;

export type Obj = Fields & {
  readonly kind: string;
  readonly metadata: Fields & { readonly name: string; readonly namespace?: string };
};

type Meta = { readonly namespace?: string; readonly annotations?: Texts; readonly labels?: Texts };

const metadata = (name: string, meta: Meta = {}) => ({ name, namespace: attackers, ...meta });

export const application = (name: string, spec: Fields, meta?: Meta): Obj => ({
  ...sparkPi(name, spec),
  metadata: metadata(name, meta),
});

const { spec: piSpec } = sparkPi("pi");

export const scheduled = (name: string, spec: Fields, template: Fields = {}): Obj => ({
  apiVersion: "sparkoperator.k8s.io/v1beta2",
  kind: "ScheduledSparkApplication",
  metadata: metadata(name),
  spec: { schedule: "0 0 1 1 *", template: { ...piSpec, ...template }, ...spec },
});

export const connect = (name: string, spec: Fields): Obj => ({
  apiVersion: "sparkoperator.k8s.io/v1alpha1",
  kind: "SparkConnect",
  metadata: metadata(name),
  spec: {
    sparkVersion: "4.1.1",
    image: "docker.io/apache/spark:4.1.1",
    server: { cores: 1, memory: "512m", template: { spec: { containers: [], serviceAccount: "spark" } } },
    executor: { instances: 1, cores: 1, memory: "512m" },
    ...spec,
  },
});

export const container = { name: "c", image: "none" };

export const task = (name: string, replicas: number, more: Fields = {}, pod: Fields = {}): Fields => ({
  name,
  replicas,
  template: { spec: { restartPolicy: "Never", containers: [container], ...pod } },
  ...more,
});

export const jobSpec = (spec: Fields): Fields => ({
  schedulerName: "volcano",
  minAvailable: 1,
  maxRetry: 3,
  tasks: [task("w", 1)],
  ...spec,
});

export const job = (name: string, spec: Fields, meta?: Meta): Obj => ({
  apiVersion: "batch.volcano.sh/v1alpha1",
  kind: "Job",
  metadata: metadata(name, meta),
  spec: jobSpec(spec),
});

export const cron = (name: string, spec: Fields): Obj => ({
  apiVersion: "batch.volcano.sh/v1alpha1",
  kind: "CronJob",
  metadata: metadata(name),
  spec: { schedule: "0 0 1 1 *", jobTemplate: { spec: jobSpec({}) }, ...spec },
});

export const flow = (name: string, flows: readonly Fields[]): Obj => ({
  apiVersion: "flow.volcano.sh/v1alpha1",
  kind: "JobFlow",
  metadata: metadata(name),
  spec: { jobRetainPolicy: "retain", flows },
});

export const queue = (name: string, spec: Fields, annotations: Texts = {}): Obj => ({
  apiVersion: "scheduling.volcano.sh/v1beta1",
  kind: "Queue",
  metadata: { name, annotations },
  spec: { weight: 1, ...spec },
});

export const command = (name: string, action: string, target: Fields): Obj => ({
  apiVersion: "bus.volcano.sh/v1alpha1",
  kind: "Command",
  metadata: metadata(name),
  action,
  target,
});

const placeOf = ({ kind, metadata: { namespace = "" } }: Obj): string => pathOf(kind, namespace);

const eventsOf = async (
  { call }: Stand,
  { metadata: { namespace = "default", name } }: Obj,
): Promise<readonly unknown[]> => {
  const { body } = await call(
    "GET",
    `${pathOf("Event", namespace)}?fieldSelector=involvedObject.name%3D${name}&limit=20`,
  );
  return Object(body)["items"] ?? [];
};

/** True once the host has reported about an object: by its status, by an event, or by deleting it. */
export const isTold = async (stand: Stand, object: Obj): Promise<boolean> => {
  const { status, body } = await stand.call("GET", `${placeOf(object)}/${object.metadata.name}`);
  if (status === 404 || Object.keys(Object(Object(body)["status"])).length > 0) return true;
  return (await eventsOf(stand, object)).length > 0;
};

/** True once the host has refused an object for its size, in its status or by an event: then it does no more for it. */
export const isRefused = async (stand: Stand, object: Obj): Promise<boolean> => {
  const { body } = await stand.call("GET", `${placeOf(object)}/${object.metadata.name}`);
  const told = JSON.stringify([Object(body)["status"], await eventsOf(stand, object)]);
  return /\b(at most|shorten it to) [0-9]/.test(told);
};

export const remove = async ({ call }: Hands, object: Obj): Promise<void> => {
  await call("DELETE", `${placeOf(object)}/${object.metadata.name}`, { propagationPolicy: "Background" });
};

/** The status and the message of an answer, in one line. */
export const answerOf = (reply: { status: number; body: unknown }): string =>
  `${reply.status} ${String(Object(reply.body)["message"] ?? "").slice(0, 300)}`;

/** The host's first word about an object may wait, ms: after a resync of forged records, keys of their namespace give way to others for up to 20 s, and again. */
const toldMs = 60_000;

/**
 * Creates an object past admission, waits until the host has reported about it, runs `act`, and deletes the object.
 * Does nothing more if the API server refuses the object.
 */
export const beside = async (stand: Stand, object: Obj, act: (made: Fields) => Promise<void>): Promise<void> => {
  const made = await stand.call("POST", placeOf(object), object);
  must(made.status < 500, `the API server could not take it: ${answerOf(made)}`);
  if (made.status >= 400) return;
  try {
    must(await waitFor(() => isTold(stand, object), toldMs), `the host said nothing of it in ${toldMs / 1_000} s`);
    await act(Object(made.body));
  } finally {
    await remove(stand, object);
  }
};

/** Does the same with a suspended application, which rests as soon as the host has reported about it. */
export const besideSuspended = async (
  stand: Stand,
  act: (object: Obj, made: Fields) => Promise<void>,
  meta: Meta = {},
): Promise<undefined> => {
  const object = application(fresh("suspended"), { suspend: true }, meta);
  let came = false;
  await beside(stand, object, async (made) => {
    came = true;
    await act(object, made);
  });
  must(came, "the API server took no suspended application");
  return undefined;
};

/** Creates an object past admission, waits until the host has reported about it, and deletes it. */
export const apply = async (stand: Stand, object: Obj): Promise<string | undefined> => {
  await beside(stand, object, async () => {});
  return undefined;
};

const doorMs = 3_000;

/** Sends an object to admission by a dry run. Both verdicts pass; a late answer or none throws. */
export const rehearse = async (stand: Stand, object: Obj): Promise<string | undefined> => {
  const began = performance.now();
  const reply = await stand.call("POST", `${placeOf(object)}?dryRun=All`, object);
  const ms = Math.round(performance.now() - began);
  must(reply.status < 500, `admission gave no answer: ${answerOf(reply)}`);
  must(ms <= doorMs, `admission answered after ${ms} ms`);
  return undefined;
};

export type Row = {
  readonly name: string;
  readonly object: (name: string) => Obj;
  readonly short?: true;
  /** The expected message of the refusal, where the bound's message is known. */
  readonly says?: RegExp;
};

/** Rows by their names. */
export const rowsOf = <Make>(
  objects: Readonly<Record<string, Make>>,
): readonly { readonly name: string; readonly object: Make }[] =>
  Object.entries(objects).map(([name, object]) => ({ name, object }));

const refused = async (stand: Stand, object: Obj, says: RegExp): Promise<undefined> => {
  const reply = await stand.call("POST", `${placeOf(object)}?dryRun=All`, object);
  must(reply.status >= 400 && reply.status < 500, `it was taken: ${reply.status}`);
  must(says.test(answerOf(reply)), `refused in other words: ${answerOf(reply)}`);
  return undefined;
};

/** Returns two attacks for each row: one past admission, against reconcile, and one at admission. */
export const bothWays = (of: AttackClass, rows: readonly Row[]): readonly Attack[] =>
  rows.flatMap(({ name, object, says, ...rest }): readonly Attack[] => [
    {
      ...rest,
      class: of,
      name: `${name}: in reconcile`,
      stage: "cluster",
      run: (stand) => apply(stand, object(fresh("attack"))),
    },
    {
      ...rest,
      class: of,
      name: `${name}: at admission`,
      stage: "admission",
      run: (stand) =>
        says === undefined ? rehearse(stand, object(fresh("attack"))) : refused(stand, object(fresh("attack")), says),
    },
  ]);
