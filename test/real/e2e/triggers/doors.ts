/**
 * Authentication of HTTP triggers, and the messages that they put on the queue: two instances of the built function,
 * which share only that queue.
 */
import { type Case, must } from "../scene.ts";
import { type Fixture, secrets } from "./fixture.ts";
import { bearer, endless, type Knock, post, proof, signed, slow } from "./knocks.ts";

const path = "/reconcile/SparkApplication/default/pi";
const json = (value: unknown): string => JSON.stringify(value);

type Row = {
  readonly what: string;
  /** Sends the requests; resolves with their statuses in order. */
  readonly sends: (fixture: Fixture) => Promise<readonly number[]>;
  readonly statuses: readonly number[];
  /** The messages that the requests put on the queue: `KIND/NAMESPACE/NAME`. */
  readonly brings: readonly string[];
};

const statusesOf = async (answers: readonly Promise<Response>[]): Promise<readonly number[]> =>
  (await Promise.all(answers)).map(({ status }) => status);

const pi = "SparkApplication/default/pi";
const event = { specversion: "1.0", id: "e-1", source: "/ci", type: "done", subject: "Job/default/j" };
const structured = { "content-type": "application/cloudevents+json" };
const binary = {
  "ce-specversion": "1.0",
  "ce-id": "e-1",
  "ce-source": "/ci",
  "ce-type": "done",
  "ce-subject": "Job/default/j",
};
const alerts = json({
  version: "4",
  alerts: [
    { status: "firing", labels: { volcano_job: "k", namespace: "team" }, startsAt: "t", fingerprint: "f1" },
    { status: "firing", labels: { volcano_job: "k", namespace: "default" }, startsAt: "t", fingerprint: "f2" },
  ],
});
const large = "x".repeat(65_537);

/** Sends one request twice to the first instance and once to the second. */
const thrice = async ({ doors: [first, second] }: Fixture, knock: Knock): Promise<readonly number[]> => {
  const again = { ...knock, headers: { ...knock.headers, ...proof(knock) } };
  return [(await post(first, again)).status, (await post(first, again)).status, (await post(second, again)).status];
};

const rows: readonly Row[] = [
  {
    what: "a signed request, repeated at both instances, is one event",
    sends: (fixture) => thrice(fixture, { path }),
    statuses: [202, 202, 202],
    brings: [pi],
  },
  {
    what: "both keys hold while they are changed",
    sends: ({ doors: [at] }) =>
      statusesOf([signed(at, { path, body: "a" }), signed(at, { path, body: "b" }, { key: secrets.old })]),
    statuses: [202, 202],
    brings: [pi, pi],
  },
  {
    what: "forged, stale, premature and unsigned ones are refused",
    sends: ({ doors: [at] }) =>
      statusesOf([
        signed(at, { path }, { key: "a key of somebody else's" }),
        signed(at, { path }, { age: 300 }),
        signed(at, { path }, { age: -60 }),
        post(at, { path }),
        post(at, { path, headers: proof({ path: `${path}-2` }) }),
        post(at, { path, body: "{}", headers: proof({ path }) }),
      ]),
    statuses: [401, 401, 401, 401, 401, 401],
    brings: [],
  },
  {
    what: "oversized ones are refused, told or not, before they are read",
    sends: async ({ doors: [at] }) => [
      (await signed(at, { path, body: large })).status,
      // The answer is lost if the connection is reset under what is still on its way.
      (await endless(at, { path: "/alerts", headers: bearer(secrets.team) })) || 413,
      (await endless(at, { path })) || 401,
    ],
    statuses: [413, 413, 401],
    brings: [],
  },
  {
    what: "an event in both modes is one",
    sends: ({ doors: [first, second] }) =>
      statusesOf([
        signed(first, { path: "/events", body: json(event), headers: structured }),
        signed(second, { path: "/events", headers: binary }),
      ]),
    statuses: [202, 202],
    brings: ["Job/default/j"],
  },
  {
    what: "an event whose headers nobody signed, or others were signed, is a stranger's",
    sends: ({ doors: [first, second] }) =>
      statusesOf([
        signed(first, { path: "/events", headers: binary }, { signs: {} }),
        signed(second, { path: "/events", headers: binary }, { signs: { ...binary, "ce-subject": "Job/default/k" } }),
      ]),
    statuses: [401, 401],
    brings: [],
  },
  {
    what: "a team's alerts reach its namespace, and no notice of a node is taken from it",
    sends: ({ doors: [at] }) =>
      statusesOf([
        post(at, { path: "/alerts", body: alerts, headers: bearer(secrets.team) }),
        post(at, { path, headers: bearer(secrets.team) }),
        post(at, {
          path: "/events",
          body: json({ ...event, type: "dev.rekindle.node.leaving", subject: "node-1" }),
          headers: { ...structured, ...bearer(secrets.team) },
        }),
      ]),
    statuses: [202, 403, 403],
    brings: ["Job/team/k"],
  },
  {
    what: "an identity provider's token is good for its audience",
    sends: async ({ doors: [at], tokenFor }) => [
      (await post(at, { path, headers: bearer(await tokenFor("rekindle")) })).status,
      (await post(at, { path, headers: bearer(await tokenFor("somebody")) })).status,
    ],
    statuses: [202, 401],
    brings: [pi],
  },
  {
    what: "who asks too often waits",
    sends: async ({ doors: [at] }) => {
      const statuses: number[] = [];
      for (const name of ["1", "2", "3", "4"])
        statuses.push(
          (await post(at, { path: `/reconcile/Job/default/${name}`, headers: bearer(secrets.slow) })).status,
        );
      return statuses;
    },
    statuses: [202, 202, 202, 429],
    brings: ["Job/default/1", "Job/default/2", "Job/default/3"],
  },
];

const shown = (bodies: readonly string[]): readonly string[] =>
  bodies
    .map((body) => JSON.parse(body))
    .map(({ kind, namespace, name }) => `${kind}/${namespace}/${name}`)
    .sort();

const tried = async (fixture: Fixture, { what, sends, statuses, brings }: Row): Promise<string> => {
  const answered = await sends(fixture);
  must(json(answered) === json(statuses), `${what}: answered ${answered.join(", ")}, expected ${statuses.join(", ")}`);
  const taken = shown(await fixture.taken());
  must(
    json(taken) === json(brings),
    `${what}: ${taken.join(", ") || "nothing"} on the queue, expected ${brings.join(", ")}`,
  );
  return `${what}: ${answered.join(", ")}`;
};

/**
 * Checks that slow senders are refused and delay no other request. A request without proof is answered before its body
 * arrives; a request with a proof is read until the server's request timeout.
 */
const patient = async ({ doors: [at], taken }: Fixture): Promise<string> => {
  const crowdOf = (knock: Knock) => Promise.all(Array.from({ length: 10 }, () => slow(at, knock)));
  const unproven = crowdOf({ path });
  const proven = crowdOf({ path, headers: proof({ path, body: "x".repeat(1_000) }) });
  const began = performance.now();
  must((await signed(at, { path, body: "meanwhile" })).status === 202, "a good request among slow ones was not taken");
  const meanwhileMs = performance.now() - began;
  const [strangers, known] = await Promise.all([unproven, proven]);
  const longestOf = (ends: typeof strangers): number => Math.max(...ends.map(({ ms }) => ms));
  const answers = (ends: typeof strangers): string => ends.map(({ status }) => status).join(", ");
  const [refusedMs, readMs] = [longestOf(strangers), longestOf(known)];
  must(
    strangers.every(({ status }) => status === "401"),
    `slow senders without proof: answered ${answers(strangers)}, expected 401`,
  );
  must(
    known.every(({ status }) => status === "408" || status === "closed"),
    `slow senders with a proof: answered ${answers(known)}, expected 408 or a closed connection`,
  );
  // By order instead of a limit, because a busy machine delays all of them.
  const firstReadMs = Math.min(...known.map(({ ms }) => ms));
  must(meanwhileMs < firstReadMs, `a good request among slow ones took ${Math.round(meanwhileMs)} ms`);
  must(refusedMs < firstReadMs, `a slow sender without proof was kept for ${Math.round(refusedMs)} ms`);
  must(readMs < 15_000, `a slow sender with a proof was read for ${Math.round(readMs)} ms`);
  must((await taken()).length === 1, "a slow sender brought something to the queue");
  return `10 slow senders without proof refused after ${(refusedMs / 1_000).toFixed(1)} s at most, 10 with one after ${(readMs / 1_000).toFixed(1)} s; a good request among them in ${Math.round(meanwhileMs)} ms`;
};

export const doors = (fixture: Promise<Fixture>): Case => ({
  name: "signed, forged, replayed, oversized and slow requests at two instances of the built api function",
  run: async () => {
    const opened = await fixture;
    const lines: string[] = [];
    for (const row of rows) lines.push(await tried(opened, row));
    return [...lines, await patient(opened)];
  },
});
