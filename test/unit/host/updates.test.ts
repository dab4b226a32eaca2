/** A whole host that sends updates to a real listener on this machine, and one whose listener never answers. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { describe } from "node:test";
import { admitting, schedulers } from "./left.ts";
import { application, connect, cronJob, home, jobFlow, queue, stateOf, volcanoJob } from "./objects.ts";
import { itOnStand, type Stand } from "./stand.ts";

const annotated = (name: string, to: string) => application(name, { annotations: { "rekindle.dev/updates-to": to } });

const listening = { to: "", hosts: [], allowPrivate: true };

type Told = { readonly subject: string; readonly data: { readonly state: string; readonly uid: string } };

/** Opens a listener that answers, or never does. */
const listener = async (answers: boolean) => {
  const told: Told[] = [];
  const server = createServer((request, answer) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      told.push(JSON.parse(body));
      if (answers) answer.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { told, url: `http://127.0.0.1:${port}/hook`, close };
};

/** A test on a stand with a listener, which is closed also when the test fails. */
const hearing =
  (answers: boolean, act: (stand: Stand, told: readonly Told[], url: string) => Promise<void>) =>
  async (stand: Stand): Promise<void> => {
    const { told, url, close } = await listener(answers);
    try {
      await act(stand, told, url);
    } finally {
      close();
    }
  };

/** Advances mocked time until the condition holds, with turns of the real event loop in between, which sockets need. */
const untilReal = async (stand: Stand, what: string, isSo: () => boolean): Promise<void> => {
  for (let left = 600; !isSo(); left -= 1) {
    if (left <= 0) throw new Error(`still not: ${what}`);
    await stand.turn(100);
    for (let moment = 0; moment < 20; moment++) await new Promise<void>((resolve) => setImmediate(resolve));
  }
};

const records = (stand: Stand): readonly string[] => stand.all("Checkpoint").map(({ metadata }) => metadata.name);

const it = itOnStand();

describe("a host with a listener", () => {
  it(
    "sends it every state, up to the deletion, and keeps nothing when all are acknowledged",
    hearing(true, async (stand, told, url) => {
      await stand.host({ listening });
      await stand.create(annotated("pi", url));
      await untilReal(stand, "COMPLETED is told", () => told.some(({ data }) => data.state === "COMPLETED"));
      assert.deepEqual(
        told.map(({ subject, data }) => `${subject} ${data.state}`),
        ["SUBMITTED", "RUNNING", "COMPLETED"].map((state) => `SparkApplication/default/pi ${state}`),
      );
      await stand.remove("SparkApplication", "pi");
      await untilReal(stand, "no record is left", () => records(stand).length === 0);
      assert.equal(told.length, 3);
    }),
  );

  it(
    "of a schedule sends it updates of the schedule and of its runs",
    hearing(true, async (stand, told, url) => {
      await stand.host({ listening });
      const { spec } = annotated("pi", url);
      await stand.create({
        apiVersion: "sparkoperator.k8s.io/v1beta2",
        kind: "ScheduledSparkApplication",
        metadata: { name: "often", namespace: "default", annotations: { "rekindle.dev/updates-to": url } },
        spec: { schedule: "@every 5s", concurrencyPolicy: "Forbid", template: spec },
      });
      await untilReal(stand, "a run is told", () => told.some(({ data }) => data.state === "COMPLETED"));
      const [first, second] = told.map(({ subject, data }) => `${subject} ${data.state}`);
      assert.equal(first, "ScheduledSparkApplication/default/often Scheduled");
      assert.match(second ?? "", /^SparkApplication\/default\/often-\d+ SUBMITTED$/);
    }),
  );

  it(
    "of a Connect server sends it an update when the server is ready, and one when it is deleted",
    hearing(true, async (stand, told, url) => {
      const states = (): readonly string[] => told.map(({ data }) => data.state);
      await stand.host({ listening });
      await stand.create({
        ...connect("sc"),
        metadata: { name: "sc", namespace: "default", annotations: { "rekindle.dev/updates-to": url } },
      });
      await untilReal(stand, "it is ready", () => states().includes("Ready"));
      await stand.remove("SparkConnect", "sc");
      await untilReal(stand, "that it went is told", () => states().at(-1) === "DELETED");
      assert.deepEqual(new Set(told.map(({ subject }) => subject)), new Set(["SparkConnect/default/sc"]));
    }),
  );

  it(
    "runs its applications although listeners never answer",
    hearing(false, async (stand, told, url) => {
      await stand.host({ listening, concurrency: 2 });
      const names = Array.from({ length: 20 }, (_, at) => `dead-${at}`);
      for (const name of names) await stand.create(annotated(name, url));
      await stand.create(application("good"));
      await stand.until("all are COMPLETED", () =>
        [...names, "good"].every((name) => stateOf(stand.get("SparkApplication", name)) === "COMPLETED"),
      );
      await untilReal(stand, "somebody was tried to be told", () => told.length > 0);
      assert.equal(stand.lines.filter(({ level }) => level === "error").length, 0);
    }),
  );

  it("that is Kubernetes itself creates one Event for each state", async (stand) => {
    await stand.host({ listening: { ...listening, to: "events" } });
    await stand.create(application("pi"));
    const events = () => stand.all("Event").filter(({ reason }) => reason === "StatusUpdate");
    await untilReal(stand, "all is told", () => events().length >= 3);
    await stand.pass(0.3);
    assert.deepEqual(
      events()
        .map(({ message }) => String(message))
        .sort(),
      ["COMPLETED, attempt 1", "RUNNING, attempt 1", "SUBMITTED, attempt 1"],
    );
  });
});

describe("a host with a listener to Volcano's kinds", () => {
  const it = itOnStand(schedulers);

  const opened = async (stand: Stand, to = ""): Promise<void> => {
    await stand.create(home);
    admitting(stand);
    for (const name of ["default", "root"]) await stand.create({ ...queue, metadata: { name } });
    await stand.host({ gang: "scheduler", listening: { ...listening, to } });
  };
  const heardBy = (told: readonly Told[], subject: string): readonly string[] =>
    told.filter((one) => one.subject === subject).map(({ data }) => data.state);
  const named = (object: ReturnType<typeof volcanoJob>, to: string) => ({
    ...object,
    metadata: { ...object.metadata, annotations: { "rekindle.dev/updates-to": to } },
  });

  it(
    "sends it every phase of a Job, and the deletion of a job before its end",
    hearing(true, async (stand, told, url) => {
      await opened(stand);
      await stand.create(named(volcanoJob("pair", { runMs: 5_000 }), url));
      await stand.create(named(volcanoJob("other", {}), url));
      await untilReal(stand, "Completed is told", () => heardBy(told, "Job/default/pair").includes("Completed"));
      await stand.remove("Job", "other");
      await untilReal(stand, "its end is told", () => heardBy(told, "Job/default/other").includes("DELETED"));
      await stand.remove("Job", "pair");
      await untilReal(stand, "no record of them is left", () =>
        records(stand).every((name) => !/^(updates\.)?job\./.test(name)),
      );
      assert.deepEqual(heardBy(told, "Job/default/pair"), ["Pending", "Running", "Completed"]);
      assert.deepEqual(heardBy(told, "Job/default/other"), ["Pending", "Running", "DELETED"]);
    }),
  );

  it(
    "of a JobFlow or a CronJob sends it updates of that and of its jobs",
    hearing(true, async (stand, told, url) => {
      await opened(stand);
      for (const object of jobFlow("f", ["a"], { runMs: 2_000 }))
        await stand.create(object.kind === "JobFlow" ? named(object, url) : object);
      await stand.create(named(cronJob("c", { runMs: 2_000 }), url));
      await untilReal(stand, "the flow has succeeded", () => heardBy(told, "JobFlow/default/f").includes("Succeed"));
      await untilReal(stand, "a job is active", () => heardBy(told, "CronJob/default/c").includes("Active"));
      await stand.patch("CronJob", "c", { spec: { suspend: true } });
      await untilReal(stand, "it is suspended", () => heardBy(told, "CronJob/default/c").includes("Suspended"));
      assert.deepEqual(heardBy(told, "JobFlow/default/f"), ["Pending", "Running", "Succeed"]);
      assert.deepEqual(heardBy(told, "CronJob/default/c").slice(0, 2), ["Scheduled", "Active"]);
      assert.ok(heardBy(told, "Job/default/f-a").includes("Completed"));
      assert.ok(told.some(({ subject }) => /^Job\/default\/c-\d+$/.test(subject)));
      assert.deepEqual(heardBy(told, "JobTemplate/default/a"), []);
    }),
  );

  it(
    "of the operator sends it updates of all kinds, including queues and templates",
    hearing(true, async (stand, told, url) => {
      await opened(stand, url);
      for (const object of jobFlow("f", ["a"], { runMs: 2_000 })) await stand.create(object);
      await stand.create({ ...queue, metadata: { name: "deep" } });
      await untilReal(stand, "the flow has succeeded", () => heardBy(told, "JobFlow/default/f").includes("Succeed"));
      await stand.remove("Queue", "deep", "");
      await untilReal(stand, "that it went is told", () => heardBy(told, "Queue/deep").includes("DELETED"));
      assert.deepEqual(heardBy(told, "Queue/deep"), ["Open", "DELETED"]);
      assert.deepEqual(heardBy(told, "JobTemplate/default/a"), ["Unused", "Used"]);
    }),
  );

  it(
    "of a namespace sends it updates of its jobs, and records Events for a queue",
    hearing(true, async (stand, told, url) => {
      await opened(stand, "events");
      await stand.patch("Namespace", "default", { metadata: { annotations: { "rekindle.dev/updates-to": url } } }, "");
      await stand.create(volcanoJob("pair", { runMs: 2_000 }));
      await untilReal(stand, "Completed is told", () => heardBy(told, "Job/default/pair").includes("Completed"));
      const events = stand.all("Event").filter(({ reason }) => reason === "StatusUpdate");
      const about = new Set(events.map((event) => Object(event["involvedObject"]).name));
      assert.deepEqual([...about].sort(), ["default", "root"]);
    }),
  );
});
