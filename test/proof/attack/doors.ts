/**
 * The HTTP endpoint against strangers: the host takes no unsigned, replayed, forged or oversized request, and strangers
 * use up no other caller's rate limit.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { listenerKey } from "../../../shared/core/signature.ts";
import { proofWith } from "../../support/proof.ts";
import { type Attack, must } from "./attack.ts";
import { besideSuspended, type Obj } from "./objects.ts";
import { fresh, type Stand, waitFor } from "./stand.ts";

export type Knock = {
  readonly method?: string;
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

type How = {
  readonly key?: string;
  /** Age of the timestamp, s. */
  readonly age?: number;
  /** Signed headers; absent: the headers of a CloudEvent. */
  readonly signs?: Readonly<Record<string, string>>;
  /** The request parts that the signature covers in place of the sent ones. */
  readonly instead?: Partial<Knock>;
};

const ofEvents = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("ce-")));

export const proofOf = (stand: Stand, knock: Knock, how: How = {}): Readonly<Record<string, string>> => {
  const { method = "POST", path, body = "", headers = {} } = { ...knock, ...how.instead };
  const signed = { method, path, body, headers: how.signs ?? ofEvents(headers) };
  return proofWith(how.key ?? stand.secrets.trigger, signed, how.age);
};

export const asked = async ({ host }: Stand, { method = "POST", path, body, headers = {} }: Knock): Promise<number> => {
  const answer = await fetch(`${host.url}${path}`, {
    ...{ method, headers, signal: AbortSignal.timeout(15_000) },
    ...(body === undefined ? {} : { body }),
  });
  await answer.arrayBuffer();
  return answer.status;
};

export const signed = (stand: Stand, knock: Knock, how?: How): Promise<number> =>
  asked(stand, { ...knock, headers: { ...knock.headers, ...proofOf(stand, knock, how) } });

export const step = "/reconcile/SparkApplication/mallory/nobody";
const events = { "content-type": "application/cloudevents+json" };
const event = { specversion: "1.0", id: "e", source: "/x", type: "t", subject: "SparkApplication/mallory/nobody" };
const binary = (subject: string): Readonly<Record<string, string>> => ({
  ...{ "ce-specversion": "1.0", "ce-id": fresh("e"), "ce-source": "/x", "ce-type": "t" },
  "ce-subject": subject,
});
const json = (value: unknown): string => JSON.stringify(value);

/** The statuses of a refused stranger: a bad signature, or the rate limit of strangers. */
export const stranger: readonly number[] = [401, 429];

type Row = {
  readonly name: string;
  readonly sends: (stand: Stand) => Promise<number>;
  readonly answers: readonly number[];
  readonly short?: true;
};

/** Requests that have the same answers, by what they are. */
const answering = (answers: Row["answers"], requests: Readonly<Record<string, Row["sends"]>>): readonly Row[] =>
  Object.entries(requests).map(([name, sends]) => ({ name, sends, answers }));

export const other = "another key of more than sixteen";

const forged: readonly Row[] = [
  { name: "unsigned", sends: (stand) => asked(stand, { path: step }), answers: stranger, short: true },
  {
    name: "signed with another key",
    sends: (stand) => signed(stand, { path: step }, { key: other }),
    answers: stranger,
    short: true,
  },
  {
    name: "signed for other headers of an event",
    sends: (stand) =>
      signed(stand, { path: "/events", headers: binary("Job/default/x") }, { signs: binary("Job/mallory/y") }),
    answers: stranger,
    short: true,
  },
  ...answering(stranger, {
    "signed five minutes ago": (stand) => signed(stand, { path: step }, { age: 300 }),
    "signed a minute ahead": (stand) => signed(stand, { path: step }, { age: -60 }),
    "signed for another path": (stand) => signed(stand, { path: step }, { instead: { path: `${step}2` } }),
    "signed for another query": (stand) => signed(stand, { path: `${step}?a=1` }, { instead: { path: step } }),
    "signed for another body": (stand) => signed(stand, { path: step, body: "a" }, { instead: { body: "b" } }),
    "signed for another method": (stand) => signed(stand, { path: step }, { instead: { method: "GET" } }),
    "an event whose headers nobody signed": (stand) =>
      signed(stand, { path: "/events", headers: binary("Job/default/x") }, { signs: {} }),
    "a notice of a node in headers over a captured body": (stand) =>
      signed(
        stand,
        {
          path: "/events",
          body: json(event),
          headers: { ...events, ...binary("node-1"), "ce-type": "dev.rekindle.node.leaving" },
        },
        { signs: {} },
      ),
    "a signature without a timestamp": async (stand) =>
      asked(stand, {
        path: step,
        headers: { "x-rekindle-signature": proofOf(stand, { path: step })["x-rekindle-signature"] ?? "" },
      }),
    "a timestamp that is no number": (stand) =>
      asked(stand, { path: step, headers: { ...proofOf(stand, { path: step }), "x-rekindle-timestamp": "1e9" } }),
    "a signature of 8 kB": (stand) =>
      asked(stand, { path: step, headers: { "x-rekindle-timestamp": "1", "x-rekindle-signature": "a".repeat(8_000) } }),
    "a token of nobody": (stand) =>
      asked(stand, { path: step, headers: { authorization: `Bearer ${"a.".repeat(2_000)}a` } }),
    "a token that says it needs no signature": (stand) =>
      asked(stand, { path: step, headers: { authorization: "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.x" } }),
    "a caller that a header vouches for": (stand) =>
      asked(stand, {
        path: step,
        headers: { "x-amzn-iam-arn": "arn:aws:iam::1:role/admin", "x-forwarded-user": "admin" },
      }),
    "reading without proof": (stand) => asked(stand, { method: "GET", path: "/applications" }),
    "reading one of the neighbour's without proof": (stand) =>
      asked(stand, { method: "GET", path: "/applications/SparkApplication/default/x" }),
    "an acknowledgement signed with the triggers' key": (stand) =>
      signed(stand, { path: "/acknowledge/SparkApplication/default/x", body: "0123456789abcdef/1" }),
    "an unsigned acknowledgement": (stand) =>
      asked(stand, { path: "/acknowledge/SparkApplication/default/x", body: "0123456789abcdef/1" }),
  }),
];

const nested = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`;

const acknowledged = "/acknowledge/Job/default/x";
const update = `${"a".repeat(16)}/1`;
const victim = "https://victim.example/";

/** Sends an acknowledgement in the name of a listener, signed with a key. */
const acknowledges = (stand: Stand, key: string, listener: string): Promise<number> =>
  signed(stand, { path: acknowledged, body: update, headers: { "x-rekindle-listener": listener } }, { key });

const fromListeners: readonly Row[] = [
  {
    name: "an acknowledgement under another listener's key",
    sends: (stand) => acknowledges(stand, listenerKey(stand.secrets.updates, "https://mallory.example/"), victim),
    answers: stranger,
    short: true,
  },
  ...answering(stranger, {
    "an acknowledgement under the secret that listeners once held": (stand) =>
      acknowledges(stand, stand.secrets.updates, victim),
    "an acknowledgement by nobody": (stand) => acknowledges(stand, listenerKey(stand.secrets.updates, ""), ""),
    "an acknowledgement by the operator's listener, called by its name": (stand) =>
      acknowledges(stand, listenerKey(stand.secrets.updates, "operator"), "operator"),
  }),
];

const oversized: readonly Row[] = [
  {
    name: "a body beyond its bound",
    sends: (stand) => signed(stand, { path: step, body: "x".repeat(65_537) }),
    answers: [413],
    short: true,
  },
  ...answering([413], {
    "alerts beyond their bound": (stand) => signed(stand, { path: "/alerts", body: "x".repeat(262_145) }),
  }),
  ...answering([413, 429], {
    "an acknowledgement beyond its bound": (stand) =>
      asked(stand, { path: "/acknowledge/Job/default/x", body: "x".repeat(65_537) }),
  }),
  ...answering([400], {
    "lists in lists, 100,000 deep": (stand) => signed(stand, { path: "/alerts", body: nested(100_000) }),
    "objects in objects, 30,000 deep": (stand) =>
      signed(stand, { path: "/events", headers: events, body: `${'{"a":'.repeat(30_000)}1${"}".repeat(30_000)}` }),
    "501 alerts": (stand) =>
      signed(stand, {
        path: "/alerts",
        body: json({ version: "4", alerts: Array(501).fill({ status: "firing", labels: {}, startsAt: "t" }) }),
      }),
    "101 events": (stand) =>
      signed(stand, {
        path: "/events",
        headers: { "content-type": "application/cloudevents-batch+json" },
        body: json(Array(101).fill(event)),
      }),
    "200 kB of slashes as a subject": (stand) =>
      signed(stand, { path: "/events", headers: events, body: json({ ...event, subject: "/".repeat(200_000) }) }),
    "a query of a thousand parameters": (stand) =>
      signed(stand, { method: "GET", path: `/applications?${"a=1&".repeat(1_000)}b=1` }),
    "a selector of a thousand terms": (stand) =>
      signed(stand, { method: "GET", path: `/applications?selector=${"a=b,".repeat(250)}a` }),
    "a cursor of nonsense": (stand) =>
      signed(stand, { method: "GET", path: `/applications?continue=${"A".repeat(6_000)}` }),
  }),
  ...answering([404, 414, 431, 400], {
    "a path of 8 kB": (stand) => signed(stand, { path: `/reconcile/Job/${"a/".repeat(4_000)}` }),
  }),
  ...answering([431], {
    "a header of 60 kB": (stand) => asked(stand, { path: step, headers: { "x-a": "a".repeat(60_000) } }),
  }),
];

const strange: readonly Row[] = [
  ...answering([404], {
    "a kind that is none of ours": (stand) => signed(stand, { path: "/reconcile/Secret/default/x" }),
  }),
  ...answering([400, 401, 404, 429], {
    "a name that climbs out of its path": (stand) =>
      signed(stand, { path: "/reconcile/Job/default/..%2f..%2fsecrets" }),
  }),
  ...answering([400, 401, 429], {
    "a name with a line break": (stand) => signed(stand, { path: "/reconcile/Job/default/a%0ab" }),
  }),
  ...answering([404, 405, 400], {
    "a method that is none": (stand) => asked(stand, { method: "PURGE", path: step }),
  }),
  ...answering([400], {
    "a body that is no text": (stand) => signed(stand, { path: "/alerts", body: "\u0000\ufffd" }),
    "__proto__ as an event": (stand) =>
      signed(stand, { path: "/events", headers: events, body: '{"__proto__":{"specversion":"1.0"},"constructor":{}}' }),
  }),
];

const answered = ({ name, sends, answers, ...rest }: Row): Attack => ({
  ...rest,
  ...{ class: "door", name, stage: "cluster" },
  run: async (stand) => {
    const status = await sends(stand);
    must(answers.includes(status), `answered ${status}, expected ${answers.join(" or ")}`);
    return undefined;
  },
});

/**
 * A listener with a valid key of its own acknowledges an update that only another listener received: the neighbour's,
 * who is told in time whatever listeners the attacker has.
 */
const forOthers: Attack = {
  ...{ class: "door", name: "an acknowledgement of what another listener was sent", stage: "cluster" },
  run: async (stand) => {
    const [own, others] = [`${stand.listener.url}/mine`, `${stand.listener.url}/silent/${fresh("victim")}`];
    const { updates } = stand.secrets;
    const act = async ({ kind, metadata: { name, namespace } }: Obj): Promise<void> => {
      const heard = () => stand.listener.heard().find(({ path }) => others.endsWith(path));
      must(await waitFor(async () => heard() !== undefined, 10_000), "the listener was told nothing");
      const path = `/acknowledge/${kind}/${namespace}/${name}`;
      const body = String(Object(JSON.parse(heard()?.body ?? "{}"))["id"]);
      const acknowledge = (by: string): Promise<number> =>
        signed(stand, { path, body, headers: { "x-rekindle-listener": by } }, { key: listenerKey(updates, by) });
      const waits = async (): Promise<boolean> =>
        (await stand.rekindle("status", `${kind}/${namespace}/${name}`)).includes("not acknowledged");
      must((await acknowledge(own)) === 202, "a listener with a key of its own was taken for a stranger");
      await sleep(1_000);
      must(await waits(), "another listener acknowledged it");
      must((await acknowledge(others)) === 202, "the listener was taken for a stranger");
      must(await waitFor(async () => !(await waits()), 10_000), "its own listener could not acknowledge it");
    };
    return await besideSuspended(stand, act, {
      namespace: "default",
      annotations: { "rekindle.dev/updates-to": others },
    });
  },
};

export const doors: readonly Attack[] = [
  ...[...forged, ...fromListeners, ...oversized, ...strange].map(answered),
  forOthers,
];
