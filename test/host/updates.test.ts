/** A whole host that tells a real listener on this machine of its applications, and one that tells a dead one. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { describe, it } from "node:test";
import { application, stateOf } from "./objects.ts";
import { onStand, type Stand } from "./stand.ts";

const annotated = (name: string, to: string) => application(name, { annotations: { "rekindle.dev/updates-to": to } });

const listening = { to: "", hosts: [], allowPrivate: true };

type Told = { readonly subject: string; readonly data: { readonly state: string; readonly uid: string } };

/** A listener that answers, or never does. */
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

/** Sockets live by the real clock: it is given a moment after each of the turned one's. */
const untilReal = async (stand: Stand, what: string, isSo: () => boolean): Promise<void> => {
  for (let left = 600; !isSo(); left -= 1) {
    if (left <= 0) throw new Error(`still not: ${what}`);
    await stand.turn(100);
    for (let moment = 0; moment < 20; moment++) await new Promise<void>((resolve) => setImmediate(resolve));
  }
};

const records = (stand: Stand): readonly string[] => stand.all("Checkpoint").map(({ metadata }) => metadata.name);

describe("a host with a listener", () => {
  it(
    "tells it every state, to the end and beyond, and keeps nothing when all is acknowledged",
    onStand(async (stand) => {
      const { told, url, close } = await listener(true);
      try {
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
      } finally {
        close();
      }
    }),
  );

  it(
    "that a schedule names tells it of the schedule and of its runs",
    onStand(async (stand) => {
      const { told, url, close } = await listener(true);
      try {
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
      } finally {
        close();
      }
    }),
  );

  it(
    "whose listeners never answer runs its applications all the same",
    onStand(async (stand) => {
      const { told, url, close } = await listener(false);
      try {
        await stand.host({ listening, concurrency: 2 });
        const names = Array.from({ length: 20 }, (_, at) => `dead-${at}`);
        for (const name of names) await stand.create(annotated(name, url));
        await stand.create(application("good"));
        await stand.until("all are COMPLETED", () =>
          [...names, "good"].every((name) => stateOf(stand.get("SparkApplication", name)) === "COMPLETED"),
        );
        await untilReal(stand, "somebody was tried to be told", () => told.length > 0);
        assert.equal(stand.lines.filter(({ level }) => level === "error").length, 0);
      } finally {
        close();
      }
    }),
  );

  it(
    "that is Kubernetes itself makes an Event of each state, once",
    onStand(async (stand) => {
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
    }),
  );
});
