/**
 * Trouble of one application, or of all: reported once and where people look, without hurried retries, and cleared when
 * it ends.
 */
import assert from "node:assert/strict";
import { before, describe } from "node:test";
import type { HttpRequest } from "../../../shared/core/http.ts";
import { crds } from "../../support/crds.ts";
import { rekindle } from "./command.ts";
import { application, errorOf, stateOf, statusOf } from "./objects.ts";
import { itOnStand, onStand, type Stand } from "./stand.ts";
import { answer, type Fault } from "./way.ts";

type Hit = (asked: HttpRequest) => boolean;

const isWatch = ({ path }: HttpRequest): boolean => path.includes("watch=1");
const isList = ({ method, path }: HttpRequest): boolean => method === "GET" && /[?&]limit=/.test(path);

const on =
  (method: string, end: string): Hit =>
  (asked) =>
    asked.method === method && (asked.path.split("?")[0] ?? "").endsWith(end);

const forbidden = (verb: string, resource: string) =>
  answer(403, "Forbidden", `${resource} is forbidden: User "rekindle" cannot ${verb} resource "${resource}"`);

const where =
  (hit: Hit, met: ReturnType<Fault>): Fault =>
  (asked) =>
    hit(asked) ? met : undefined;

/** Returns the host's log lines above level debug. */
const read = ({ lines }: Stand): readonly string[] =>
  lines
    .filter(({ level }) => level !== "debug")
    .map(({ message, fields }) => `${message} ${fields["error"] ?? fields["message"] ?? ""}`);

const events = (stand: Stand): readonly string[] => stand.all("Event").map((event) => String(event["message"]));

const state = (stand: Stand, name = "app"): string => stateOf(stand.get("SparkApplication", name));

const completes = (stand: Stand, name = "app"): Promise<void> =>
  stand.until("it is COMPLETED", () => state(stand, name) === "COMPLETED", 600_000);

/** Returns the Checkpoints that a resync skips. */
const resting = (stand: Stand): readonly string[] =>
  stand
    .all("Checkpoint")
    .filter(({ metadata }) => metadata.annotations?.["rekindle.dev/rests"] === "true")
    .map(({ metadata }) => metadata.name);

/** Asserts that trouble is logged without stack traces, without errors, and with at most 30 warnings an hour. */
const assertReadable = (stand: Stand): void => {
  const lines = read(stand);
  assert.deepEqual(
    lines.filter((line) => /\n|\bat .*:\d+|Error:/.test(line)),
    [],
  );
  assert.ok(!stand.lines.some(({ level }) => level === "error"), "nothing of it is our fault");
  const warned = stand.lines
    .filter(({ level }) => level === "warn")
    .map(({ message, fields }) => ({ message, fields }));
  const perHour = warned.length / 2;
  assert.ok(perHour <= 30, `${perHour} warnings an hour: ${JSON.stringify(warned.slice(0, 3))}`);
};

type Case = {
  /** True if the application runs before the fault and the host begin. */
  readonly hasBegun?: true;
  readonly name: string;
  readonly fault: Fault;
  readonly says: RegExp;
};

const it = itOnStand();

describe("trouble of one application costs it no retry, is reported on it, and ends with its cause:", () => {
  const quota =
    'pods "app-driver" is forbidden: exceeded quota: small, requested: pods=1, used: pods=4, limited: pods=4';
  const policy =
    "pods \"app-driver\" is forbidden: ValidatingAdmissionPolicy 'small' with binding 'all' denied request: no";
  const cases: readonly Case[] = [
    {
      name: "a refusal by a policy",
      fault: where(on("POST", "/pods"), answer(422, "Invalid", policy)),
      says: /ValidatingAdmissionPolicy 'small' with binding 'all' denied request: no/,
    },
    {
      name: "a quota",
      fault: where(on("POST", "/pods"), answer(403, "Forbidden", quota)),
      says: /exceeded quota: small/,
    },
    {
      name: "a webhook's no",
      fault: where(on("POST", "/pods"), answer(400, "BadRequest", 'admission webhook "a.b.c" denied the request: no')),
      says: /admission webhook "a\.b\.c" denied the request: no/,
    },
    {
      name: "a webhook that is away",
      fault: where(on("POST", "/pods"), answer(500, "InternalError", 'failed calling webhook "a.b.c": timeout')),
      says: /failed calling webhook "a\.b\.c"/,
    },
    {
      name: "no right to create pods",
      fault: where(on("POST", "/pods"), forbidden("create", "pods")),
      says: /cannot create resource "pods"/,
    },
    {
      name: "no right to create services",
      fault: where(on("POST", "/services"), forbidden("create", "services")),
      says: /cannot create resource "services"/,
    },
  ];
  /** Requests of an hour in which nothing happens. */
  let calm = 0;
  before(
    onStand(async (stand) => {
      await stand.host();
      await stand.pass(1);
      const idle = stand.asked.length;
      await stand.pass(1);
      calm = stand.asked.length - idle;
    }),
  );
  for (const { name, fault, says } of cases) {
    it(name, async (stand) => {
      await stand.host();
      stand.fault(fault);
      await stand.create(application("app"));
      await stand.pass(1);
      const hour = stand.asked.length;
      await stand.pass(1);
      const more = stand.asked.length - hour - calm;
      assert.ok(more < 300, `${more} requests in the second hour, beyond the ${calm} of an hour without it`);
      assert.equal(stand.all("Pod").length, 0);
      assert.match(events(stand).join("\n"), says);
      assert.match(read(stand).join("\n"), says);
      assert.match(await rekindle(stand, "status", "default/app"), says);
      assertReadable(stand);
      stand.fault(undefined);
      await completes(stand);
      const object = stand.get("SparkApplication", "app");
      assert.deepEqual([statusOf(object, "executionAttempts"), statusOf(object, "submissionAttempts")], [1, 1]);
      await stand.turn(30_000);
      const lines = (await rekindle(stand, "status", "default/app")).split("\n");
      assert.deepEqual(
        lines.filter((line) => says.test(line)).map((line) => line.split(" ")[0]),
        ["waited"],
      );
    });
  }
});

describe("a second trouble", () => {
  it("replaces the first, even under the same reason", async (stand) => {
    await stand.host();
    const pods = on("POST", "/pods");
    stand.fault(where(pods, answer(403, "Forbidden", "exceeded quota: small, used: pods=4")));
    await stand.create(application("app"));
    await stand.pass(0.1);
    const told = events(stand).length;
    stand.fault(where(pods, answer(403, "Forbidden", "exceeded quota: small, used: pods=5")));
    await stand.pass(0.5);
    assert.equal(events(stand).length, told, "other figures are no news");
    stand.fault(where(pods, answer(403, "Forbidden", 'admission webhook "guard.example" denied the request')));
    await stand.pass(0.2);
    assert.equal(events(stand).length, told + 1);
    assert.match(await rekindle(stand, "status", "default/app"), /guard.example/);
  });
});

describe("trouble of all applications is in the log, and every application continues afterwards:", () => {
  const cases: readonly Case[] = [
    ...["list", "watch"].map((verb): Case => {
      const hit = verb === "list" ? isList : isWatch;
      const applications: Hit = (asked) => hit(asked) && asked.path.includes("sparkapplications");
      const fault = where(applications, forbidden(verb, "sparkapplications"));
      return {
        name: `no right to ${verb} applications`,
        fault,
        says: /cannot (list|watch) resource "sparkapplications"/,
      };
    }),
    {
      name: "no right to get an application that an earlier host has begun",
      hasBegun: true,
      fault: where(on("GET", "/sparkapplications/app"), forbidden("get", "sparkapplications")),
      says: /cannot get resource "sparkapplications"/,
    },
    {
      name: "no right to see pods",
      fault: where(({ method, path }) => method === "GET" && path.includes("/pods"), forbidden("list", "pods")),
      says: /cannot list resource "pods"/,
    },
    {
      name: "no right to keep checkpoints",
      fault: where(
        ({ method, path }) => method !== "GET" && path.includes("/checkpoints"),
        forbidden("create", "checkpoints"),
      ),
      says: /cannot create resource "checkpoints"/,
    },
    {
      name: "no right to write a status",
      fault: where(on("PATCH", "/status"), forbidden("patch", "sparkapplications/status")),
      says: /cannot patch resource "sparkapplications\/status"/,
    },
    {
      name: "a server that is away",
      fault: () => new Error("connect ECONNREFUSED 192.0.2.1:6443"),
      says: /ECONNREFUSED/,
    },
    {
      name: "a server in trouble",
      fault: () => answer(503, "ServiceUnavailable", "etcd has no leader"),
      says: /etcd has no leader/,
    },
    {
      name: "a server that knows us no more",
      fault: () => answer(401, "Unauthorized", "Unauthorized"),
      says: /Unauthorized/,
    },
  ];
  /** A host that has ended has begun the application. */
  const begin = async (stand: Stand): Promise<void> => {
    const earlier = await stand.host();
    await stand.create(application("app"));
    await stand.until("it runs", () => state(stand) === "RUNNING");
    await earlier.drain(1_000);
  };
  for (const { name, fault, says, hasBegun = false } of cases) {
    it(name, async (stand) => {
      if (hasBegun) await begin(stand);
      stand.fault(hasBegun ? fault : undefined);
      const host = await stand.host();
      stand.cut();
      stand.fault(fault);
      if (!hasBegun) await stand.create(application("app"));
      await stand.pass(2);
      assert.match(read(stand).join("\n"), says);
      assertReadable(stand);
      assert.ok(state(stand) === "COMPLETED" || resting(stand).length === 0, "a resync would not pass by");
      stand.fault(undefined);
      await completes(stand);
      assert.ok(host.ready());
      assert.equal(statusOf(stand.get("SparkApplication", "app"), "executionAttempts"), 1);
    });
  }
});

describe("a missing CRD", () => {
  const isMissing = (crd: unknown): boolean => JSON.stringify(crd).includes('"plural":"checkpoints"');
  itOnStand({ crds: crds.filter((crd) => !isMissing(crd)) })(
    "of checkpoints: the host reports it, is not ready, and continues half a minute after the installation",
    async (stand) => {
      const host = await stand.host();
      await stand.pass(2);
      assert.match(read(stand).join("\n"), /list checkpoints: .*is its CRD installed/);
      assert.deepEqual([host.ready(), stand.writes()], [false, []]);
      assertReadable(stand);
      for (const crd of crds.filter(isMissing)) await stand.create(crd);
      await stand.until("it is ready", () => host.ready(), 31_000);
      await stand.create(application("app"));
      await completes(stand);
    },
  );
});

describe("a checkpoint that cannot be used", () => {
  const spoiled = { spec: { memory: { state: { phase: "NONSENSE" } } } };
  const mended = [
    { name: "deleted", mend: (stand: Stand) => stand.remove("Checkpoint", "sparkapplication.app") },
    {
      name: "mended",
      mend: (stand: Stand) =>
        stand.patch("Checkpoint", "sparkapplication.app", { spec: { memory: { state: { phase: "RUNNING" } } } }),
    },
  ];
  for (const { name, mend } of mended) {
    itOnStand({ scripts: { app: [{ jobMs: 60_000 }] } })(
      `stops its application only, is reported with the repair, and ${name} lets it continue with the same driver`,
      async (stand) => {
        await stand.host();
        await stand.create(application("app"));
        await stand.create(application("other"));
        await stand.until("RUNNING", () => state(stand) === "RUNNING");
        await stand.turn(3_000);
        const driver = stand.get("Pod", "app-driver")?.metadata.uid;
        await stand.patch("Checkpoint", "sparkapplication.app", spoiled);
        await completes(stand, "other");
        await stand.pass(0.25);
        assert.equal(state(stand), "RUNNING");
        assert.match(
          read(stand).join("\n"),
          /checkpoint cannot be used.*state\.phase.*rekindle recover sparkapplication\/default\/app --no-strict/,
        );
        const status = await rekindle(stand, "status", "default/app");
        assert.match(status, /state\.phase/);
        assert.match(status, /kubectl delete checkpoints\.rekindle\.dev -n default sparkapplication\.app/);
        await mend(stand);
        await completes(stand);
        const object = stand.get("SparkApplication", "app");
        assert.deepEqual([statusOf(object, "executionAttempts"), errorOf(object)], [1, ""]);
        assert.equal(stand.get("Pod", "app-driver")?.metadata.uid, driver);
      },
    );
  }
});
