/**
 * The page against strangers and callers who want more: actions from other sites, without the header, by readers, in other
 * namespaces and on other versions write nothing; answers of an identity provider that nobody asked for, and tokens of
 * Kubernetes by the hundred, cost little.
 */
import { type Attack, must } from "./attack.ts";
import { pageToken } from "./cluster-stage.ts";
import { asked, type Knock } from "./doors.ts";
import { besideSuspended, type Obj } from "./objects.ts";
import { pathOf, type Stand } from "./stand.ts";

type Act = {
  readonly by?: Parameters<typeof pageToken>[0];
  readonly headers?: Readonly<Record<string, string>>;
  readonly without?: string;
  readonly body?: string;
  readonly once?: string;
};

type Seen = { readonly uid: string; readonly version: string };

/** Reads an object past the page. */
const seenOf = async ({ call }: Stand, { kind, metadata: { namespace, name } }: Obj) => {
  const { status, body } = await call("GET", `${pathOf(kind, namespace)}/${name}`);
  const { uid, resourceVersion, annotations = {} } = Object(Object(body)["metadata"]);
  return { status, uid: String(uid), version: String(resourceVersion), annotations: JSON.stringify(annotations) };
};

const actionOn = ({ kind, metadata: { namespace, name } }: Obj, seen: Seen, act: Act): Knock => {
  const headers: Record<string, string> = {
    authorization: `Bearer ${pageToken(act.by ?? "actor")}`,
    ...{ "content-type": "application/json", "x-rekindle-page": "1" },
    "idempotency-key": act.once ?? crypto.randomUUID(),
    ...act.headers,
  };
  if (act.without !== undefined) delete headers[act.without];
  const { uid, version } = seen;
  return {
    path: `/page/action/${kind}/${namespace}/${name}`,
    headers,
    body: act.body ?? JSON.stringify({ action: "delete", uid, version }),
  };
};

type Row = {
  readonly name: string;
  readonly act: (seen: Seen) => Act;
  readonly answers: readonly number[];
  readonly short?: true;
};

const rows: readonly Row[] = [
  {
    name: "from another site",
    act: () => ({ headers: { origin: "https://attacker.example" } }),
    answers: [403],
    short: true,
  },
  {
    name: "that a browser calls cross-site",
    act: () => ({ headers: { "sec-fetch-site": "cross-site" } }),
    answers: [403],
  },
  { name: "from a sibling site", act: () => ({ headers: { "sec-fetch-site": "same-site" } }), answers: [403] },
  { name: "without the page's header", act: () => ({ without: "x-rekindle-page" }), answers: [403], short: true },
  {
    name: "as a form",
    act: () => ({ headers: { "content-type": "application/x-www-form-urlencoded" } }),
    answers: [415],
  },
  { name: "as a text", act: () => ({ headers: { "content-type": "text/plain" } }), answers: [415] },
  { name: "without an Idempotency-Key", act: () => ({ without: "idempotency-key" }), answers: [400] },
  { name: "without a proof", act: () => ({ without: "authorization" }), answers: [401] },
  { name: "of a caller that only reads", act: () => ({ by: "reader" }), answers: [403], short: true },
  { name: "of a caller of another namespace", act: () => ({ by: "neighbour" }), answers: [403], short: true },
  {
    name: "that deletes another object of the same name",
    act: ({ version }) => ({ body: JSON.stringify({ action: "delete", uid: crypto.randomUUID(), version }) }),
    // The object that was seen is gone, which is what the action asks for; the one of this name stays.
    answers: [200, 404, 409],
  },
  {
    name: "that pauses another object of the same name",
    act: ({ version }) => ({ body: JSON.stringify({ action: "pause", uid: crypto.randomUUID(), version }) }),
    answers: [404, 409],
  },
  {
    name: "on a version that was never seen",
    act: ({ uid }) => ({ body: JSON.stringify({ action: "delete", uid, version: "1" }) }),
    answers: [409],
  },
  {
    name: "that is none",
    act: ({ uid, version }) => ({ body: JSON.stringify({ action: "exec", uid, version }) }),
    answers: [400],
  },
  {
    name: "with a field more",
    act: ({ uid, version }) => ({ body: JSON.stringify({ action: "delete", uid, version, force: true }) }),
    answers: [400],
  },
  { name: "with a body of 5 kB", act: () => ({ body: "x".repeat(5_000) }), answers: [413] },
  { name: "with a body of 5 MB", act: () => ({ body: "x".repeat(5_000_000) }), answers: [413], short: true },
  { name: "with lists in lists", act: () => ({ body: `${"[".repeat(2_000)}${"]".repeat(2_000)}` }), answers: [400] },
  {
    name: "with a forged session",
    act: () => ({ without: "authorization", headers: { cookie: `__Host-rekindle=${"A".repeat(200)}` } }),
    answers: [401],
  },
];

const isWritten = (after: { readonly status: number; readonly annotations: string }): boolean =>
  after.status !== 200 || after.annotations.includes("rekindle.dev/paused");

const refused = ({ name, act, answers, ...rest }: Row): Attack => ({
  ...rest,
  ...{ class: "door", name: `an action ${name}`, stage: "cluster" },
  run: (stand) =>
    besideSuspended(stand, async (object) => {
      const before = await seenOf(stand, object);
      const status = await asked(stand, actionOn(object, before, act(before)));
      must(answers.includes(status), `answered ${status}, expected ${answers.join(" or ")}`);
      must(!isWritten(await seenOf(stand, object)), "the action was carried out");
    }),
});

/** One key with two different bodies: the second one is not carried out. */
const keyReused: Attack = {
  ...{ class: "door", name: "an Idempotency-Key used again with another body", stage: "cluster" },
  run: (stand) =>
    besideSuspended(stand, async (object) => {
      const once = crypto.randomUUID();
      const send = async (action: string): Promise<number> => {
        const { uid, version } = await seenOf(stand, object);
        return await asked(
          stand,
          actionOn(object, { uid, version }, { once, body: JSON.stringify({ action, uid, version }) }),
        );
      };
      const first = await send("pause");
      must(first === 200 || first === 409, `the first one was answered ${first}`);
      await send("delete");
      must((await seenOf(stand, object)).status === 200, "the second body was carried out");
    }),
};

/** Sends many requests at once. Returns how many were answered with each status; a closed connection counts as 429. */
const crowd = async (stand: Stand, count: number, knock: (nth: number) => Knock) => {
  const all = Array.from({ length: count }, (_, nth) => asked(stand, knock(nth)).catch(() => 429));
  return Map.groupBy(await Promise.all(all), (status) => status);
};

type Flood = {
  readonly name: string;
  readonly count: number;
  readonly knock: (nth: number) => Knock;
  readonly answers: readonly number[];
  readonly short?: true;
};

const state = "a".repeat(43);

const floods: readonly Flood[] = [
  {
    name: "500 sign-ins with tokens of nobody, which the API server would review",
    count: 500,
    knock: (nth) => ({ path: "/page/session", headers: { authorization: `Bearer nobody-${nth}.of.kubernetes` } }),
    answers: [401, 429, 503],
    short: true,
  },
  {
    name: "100 sign-ins with tokens of 12 kB",
    count: 100,
    knock: (nth) => ({ path: "/page/session", headers: { authorization: `Bearer ${nth}${"x".repeat(12_000)}` } }),
    answers: [401, 429, 431],
  },
  {
    name: "500 answers of an identity provider that nobody asked for",
    count: 500,
    knock: (nth) => ({ method: "GET", path: `/page/callback?code=c${nth}&state=${state}` }),
    answers: [400, 429],
    short: true,
  },
  {
    name: "500 answers with a forged sign-in",
    count: 500,
    knock: (nth) => ({
      method: "GET",
      path: `/page/callback?code=c${nth}&state=${state}`,
      headers: { cookie: `__Host-rekindle-sign-in=${"B".repeat(300)}` },
    }),
    answers: [400, 429],
  },
  {
    name: "500 sign-ins that begin and never end",
    count: 500,
    knock: () => ({ method: "GET", path: "/page/sign-in" }),
    // The provider of the stage does not answer.
    answers: [502, 429],
  },
  {
    name: "300 actions of a reader at once",
    count: 300,
    knock: () => ({
      path: "/page/action/SparkApplication/default/x",
      headers: {
        authorization: `Bearer ${pageToken("reader")}`,
        ...{ "content-type": "application/json", "x-rekindle-page": "1", "idempotency-key": "a-flood-of-actions" },
      },
      body: JSON.stringify({ action: "delete", uid: "u", version: "1" }),
    }),
    answers: [403, 429],
  },
];

const flooded = ({ name, count, knock, answers, ...rest }: Flood): Attack => ({
  ...rest,
  ...{ class: "door", name, stage: "cluster" },
  run: async (stand) => {
    const statuses = await crowd(stand, count, knock);
    const strange = [...statuses.keys()].filter((status) => !answers.includes(status));
    must(strange.length === 0, `some were answered ${strange.join(", ")}`);
    // A caller with a proof is served beside it: its place is not that of strangers.
    const path = "/page/rows";
    const headers = { authorization: `Bearer ${pageToken("actor")}` };
    const status = await asked(stand, { method: "GET", path, headers });
    must(status === 200 || status === 429, `a caller that may read was answered ${status}`);
    return undefined;
  },
});

export const pageDoors: readonly Attack[] = [...rows.map(refused), keyReused, ...floods.map(flooded)];
