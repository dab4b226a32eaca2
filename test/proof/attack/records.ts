/**
 * Records: Checkpoint objects that a tenant writes in its own namespace. None makes Rekindle send an update that its
 * writer made up: to any listener, under anybody's id. The updates of a real application that was deleted still arrive.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { isRecord } from "../../../shared/core/json.ts";
import { type Attack, must, onDispatcher } from "./attack.ts";
import { signed } from "./doors.ts";
import { application } from "./objects.ts";
import { attackers, fresh, pathOf, type Stand, waitFor } from "./stand.ts";

type Fields = Readonly<Record<string, unknown>>;

const fieldsIn = (value: unknown, ...path: readonly string[]): Fields => {
  const found = path.reduce<unknown>((at, name) => (isRecord(at) ? at[name] : undefined), value);
  return isRecord(found) ? found : {};
};

/** What an attacker can read: a record of its own, and one of its neighbour's. */
type Seen = { readonly own: Fields; readonly other: Fields };

type Forgery = {
  readonly name: string;
  readonly kind?: string;
  /** Returns the spec of the record. */
  readonly spec: (seen: Seen, stand: Stand, entries: readonly Fields[]) => Fields;
  /** True: of the attacker's application that exists; absent: of one that never existed. */
  readonly lives?: true;
};

const withOutbox = ({ spec }: Fields, more: Fields, rest: Fields = {}): Fields => ({
  ...fieldsIn({ spec }, "spec"),
  ...rest,
  outbox: { ...fieldsIn({ spec }, "spec", "outbox"), ...more },
});

const queue = "sqs:https://sqs.eu-west-1.amazonaws.com/000000000000/listed";
const uidOf = (seen: Fields): unknown => fieldsIn(seen, "spec")["uid"];
const streamOf = (seen: Fields): unknown => fieldsIn(seen, "spec", "outbox")["stream"];

const forgeries: readonly Forgery[] = [
  {
    name: "to the operator's listener, without a memory",
    spec: ({ own }, _, entries) => withOutbox(own, { entries, to: "operator" }, { memory: {} }),
  },
  { name: "to the operator's listener", spec: ({ own }, _, entries) => withOutbox(own, { entries, to: "operator" }) },
  { name: "to a queue", spec: ({ own }, _, entries) => withOutbox(own, { entries, to: queue }) },
  {
    name: "to a listener of the attacker",
    spec: ({ own }, { listener }, entries) => withOutbox(own, { entries, to: `${listener.url}/own` }),
  },
  { name: "to Events", spec: ({ own }, _, entries) => withOutbox(own, { entries, to: "events" }) },
  {
    name: "under the stream of a neighbour",
    spec: ({ own, other }, _, entries) => withOutbox(own, { entries, stream: streamOf(other), to: "operator" }),
  },
  {
    name: "under the stream of a neighbour, to a listener of the attacker",
    spec: ({ own, other }, { listener }, entries) =>
      withOutbox(own, { entries, stream: streamOf(other), to: `${listener.url}/own` }),
  },
  {
    name: "about the UID of a neighbour's application",
    spec: ({ own, other }, _, entries) =>
      withOutbox(
        own,
        { entries: entries.map((one) => ({ ...one, uid: uidOf(other) })), to: "operator" },
        { uid: uidOf(other) },
      ),
  },
  {
    name: "a neighbour's whole record, with other states",
    spec: ({ other }, _, entries) => withOutbox(other, { entries }),
  },
  { name: "with a proof of zeros", spec: ({ own }, _, entries) => withOutbox(own, { entries, proof: "0".repeat(64) }) },
  {
    name: "without a proof and without an origin",
    spec: ({ own }, _, entries) =>
      withOutbox(own, { entries, stream: "0123456789abcdef", proof: undefined, origin: undefined }),
  },
  {
    name: "of an object that has left",
    spec: ({ own }, _, entries) => withOutbox(own, { entries, leftAt: Date.now() }),
  },
  {
    name: "of another cluster",
    spec: ({ own }, _, entries) => withOutbox(own, { entries }, { cluster: "00000000-0000-0000-0000-000000000000" }),
  },
  {
    name: "with a number far ahead",
    spec: ({ own }, _, entries) =>
      withOutbox(own, { entries: entries.map((one) => ({ ...one, sequence: 4_000_000 })) }),
  },
  {
    name: "of a Job",
    kind: "Job",
    spec: ({ own }, _, entries) => withOutbox(own, { entries, to: "operator" }, { memory: {} }),
  },
  {
    name: "of a schedule",
    kind: "ScheduledSparkApplication",
    spec: ({ own }, _, entries) => withOutbox(own, { entries, to: "operator" }, { memory: {} }),
  },
  { name: "of an application that exists", lives: true, spec: ({ own }, _, entries) => withOutbox(own, { entries }) },
  {
    name: "of an application that exists, under the stream of a neighbour",
    lives: true,
    spec: ({ own, other }, _, entries) => withOutbox(own, { entries, stream: streamOf(other) }),
  },
];

const recordOf = async (
  { call }: Stand,
  namespace: string,
  name: string,
  kind = "SparkApplication",
): Promise<Fields> => {
  const { status, body } = await call("GET", `${pathOf("Checkpoint", namespace)}/${kind.toLowerCase()}.${name}`);
  return status === 200 ? fieldsIn({ body }, "body") : {};
};

/** Creates an application, and returns its record once it has updates. */
const recorded = async (stand: Stand, namespace: string, name: string): Promise<Fields> => {
  const object = application(name, {});
  const made = await stand.call("POST", pathOf("SparkApplication", namespace), {
    ...object,
    metadata: { ...object.metadata, namespace },
  });
  must(made.status === 201, `not taken: ${JSON.stringify(made.body)}`);
  const has = async (): Promise<boolean> => streamOf(await recordOf(stand, namespace, name)) !== undefined;
  must(await waitFor(has, 20_000), `${name} has no record with updates`);
  return await recordOf(stand, namespace, name);
};

const forged = (template: Fields, kind: string, name: string, spec: Fields): Fields => {
  const annotations = fieldsIn(template, "metadata", "annotations");
  const { "rekindle.dev/seal": _, ...kept } = annotations;
  return {
    ...{ apiVersion: template["apiVersion"], kind: "Checkpoint" },
    metadata: {
      name: `${kind.toLowerCase()}.${name}`,
      labels: { ...fieldsIn(template, "metadata", "labels"), "rekindle.dev/kind": kind },
      annotations: { ...kept, "rekindle.dev/name": name, "rekindle.dev/updates": `0123456789abcdef/${Date.now()}` },
    },
    spec,
  };
};

/** Writes one forged record, over that of an application if it lives, and asks for a step of its key. */
const written = async (
  stand: Stand,
  { kind = "SparkApplication", lives, spec }: Forgery,
  seen: Seen,
  marker: string,
): Promise<void> => {
  const name = lives === true ? fresh("lives") : fresh("ghost");
  const own = lives === true ? await recorded(stand, attackers, name) : seen.own;
  const entry = { sequence: 1, uid: uidOf(own), state: marker, attempt: 1, terminal: true, at: Date.now() - 70_000 };
  const object = forged(own, kind, name, spec({ ...seen, own }, stand, [entry]));
  const path = pathOf("Checkpoint");
  const now = await recordOf(stand, attackers, name);
  const version = fieldsIn(now, "metadata")["resourceVersion"];
  const { status, body } = await (lives === true
    ? stand.tenant.call("PUT", `${path}/sparkapplication.${name}`, {
        ...object,
        metadata: { ...fieldsIn(object, "metadata"), resourceVersion: version },
      })
    : stand.tenant.call("POST", path, object));
  must(status === 200 || status === 201 || status === 409, `the record is not taken: ${JSON.stringify(body)}`);
  await signed(stand, { path: `/reconcile/${kind}/${attackers}/${name}` });
};

const markerOf = (at: number): string => `FORGED-${at}-`;

/** The host looks at all records every 30 s. */
const resyncMs = 34_000;

/** Writes all forged records at once, and waits for a resync. */
const writeAll = async (stand: Stand): Promise<Seen> => {
  const own = await recorded(stand, attackers, fresh("own"));
  const other = await recorded(stand, "default", fresh("victim"));
  const seen = { own, other };
  await Promise.all(forgeries.map((one, at) => written(stand, one, seen, markerOf(at))));
  await sleep(resyncMs);
  return seen;
};

const checked = async (stand: Stand, at: number, { other }: Seen): Promise<undefined> => {
  const marker = markerOf(at);
  const heard = stand.listener.heard().filter(({ body }) => body.includes(marker));
  must(heard.length === 0, `it was sent to ${heard[0]?.path}: ${heard[0]?.body.slice(0, 300)}`);
  const told = JSON.stringify((await stand.call("GET", pathOf("Event"))).body);
  must(!told.includes(marker), "an Event tells it");
  const stream = String(streamOf(other));
  const strangers = stand.listener
    .heard()
    .filter(({ body }) => body.includes(stream) && body.includes(`/${attackers}/`));
  must(strangers.length === 0, `an update of ${attackers} has the id of a neighbour's`);
  return undefined;
};

/** The cases share the records, which the first of them writes. */
const forging = (): readonly Attack[] => {
  let all: Promise<Seen> | undefined;
  return forgeries.map(
    ({ name }, at): Attack => ({
      ...{ class: "records", name: `a record ${name}`, stage: "cluster" },
      run: async (stand) => {
        all ??= writeAll(stand);
        return await checked(stand, at, await all);
      },
    }),
  );
};

export const records: readonly Attack[] = [
  {
    ...{
      class: "records",
      name: "the end of an application that was deleted is told",
      stage: "simulated",
      short: true,
    },
    run: async (stand) => {
      const name = fresh("leaves");
      await recorded(stand, attackers, name);
      await stand.call("DELETE", `${pathOf("SparkApplication")}/${name}`);
      // This cluster has no kubelet, which would end the driver.
      await stand.call("DELETE", `${pathOf("Pod")}/${name}-driver`, { gracePeriodSeconds: 0 });
      const isTold = async (): Promise<boolean> =>
        stand.listener.heard().some(({ body }) => body.includes(`/${attackers}/${name}`) && body.includes('"DELETED"'));
      must(await waitFor(isTold, 40_000), "the operator's listener does not hear of it");
      return undefined;
    },
  },
  {
    ...{ class: "records", name: "a copy of a real record with another state", stage: "cluster", short: true },
    run: async (stand) => {
      const own = await recorded(stand, attackers, fresh("real"));
      const marker = "FORGED-short-";
      const [, plain] = forgeries;
      if (plain === undefined) throw new Error("there is no such record");
      await written(stand, plain, { own, other: own }, marker);
      await sleep(3_000);
      must(!stand.listener.heard().some(({ body }) => body.includes(marker)), "the operator's listener hears it");
      return undefined;
    },
  },
  ...forging(),
  ...onDispatcher(forging()),
];
