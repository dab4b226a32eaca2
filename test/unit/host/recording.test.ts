/** Decisions that a host records in its log, and `rekindle replay` of them. */
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { openFixture } from "../../proof/sweep/fixture.ts";
import { recordedName, recordedScenario } from "../../proof/sweep/recorded.ts";
import { runBaseline } from "../../proof/sweep/runner.ts";
import { rekindle } from "./command.ts";
import { application, connect, cronJob, home, jobFlow, queue, schedule, stateOf, volcanoJob } from "./objects.ts";
import { itOnStand, type Stand } from "./stand.ts";

const unpacked = (text: unknown): string => gunzipSync(Buffer.from(String(text), "base64")).toString();

const recordingsOf = ({ lines }: Stand): readonly string[] =>
  lines.flatMap(({ fields: { recording } }) => (recording === undefined ? [] : [unpacked(recording)]));

/** The log as the process prints it. */
const logOf = ({ lines }: Stand): string =>
  lines.map(({ level, message, fields }) => JSON.stringify({ level, message, ...fields })).join("\n");

const replayed = (stand: Stand, log = logOf(stand)): Promise<string> =>
  rekindle({ ...stand, stdin: log }, "replay", "-");

const isDone = (stand: Stand): boolean => stateOf(stand.get("SparkApplication", "pi")) === "COMPLETED";

const it = itOnStand();

it("the recorded decisions about an annotated application decide the same in a replay", async (stand) => {
  await stand.host();
  await stand.create(application("other"));
  await stand.create(application("pi", { annotations: { "rekindle.dev/record-until": "2026-11-02T20:00:00Z" } }));
  await stand.until("it is COMPLETED", () => isDone(stand));
  const recordings = recordingsOf(stand);
  ok(recordings.length >= 5, `${recordings.length} recordings`);
  deepEqual([...new Set(recordings.map((text) => JSON.parse(text).recording.key.name))], ["pi"]);
  const said = await replayed(stand);
  match(said, /^2026-11-02T08:00:\d\dZ {2}SparkApplication default\/pi {2}reads \d+, then: \w+.* {2}same$/m);
  match(said, new RegExp(`^${recordings.length} decided the same$`, "m"));
  match(said, /create pods default\/pi-driver/);
});

it("the recorded decisions about every kind decide the same in a replay", async (stand) => {
  await stand.host({ recordDecisions: "all" });
  const short = { runMs: 5_000 };
  await stand.create(home);
  const flow = jobFlow("flow", ["first", "second"], short);
  const others = [connect("server"), schedule("often", { schedule: "@every 1m" }), volcanoJob("wide", short)];
  for (const object of [queue, application("pi"), ...others, cronJob("nightly", short), ...flow])
    await stand.create(object);
  await stand.until("it is COMPLETED", () => isDone(stand));
  await stand.turn(120_000);
  const kinds = new Set(recordingsOf(stand).map((text) => JSON.parse(text).recording.key.kind));
  for (const kind of [
    "SparkApplication",
    "ScheduledSparkApplication",
    "SparkConnect",
    "Job",
    "CronJob",
    "JobFlow",
    "Queue",
  ])
    ok(kinds.has(kind), `no recording of a ${kind}`);
  match(await replayed(stand), new RegExp(`^${recordingsOf(stand).length} decided the same$`, "m"));
});

it("a decision that this version makes differently is shown with its place, and the command fails", async (stand) => {
  await stand.host({ recordDecisions: "all" });
  await stand.create(application("pi"));
  await stand.until("it is COMPLETED", () => isDone(stand));
  const changed = (text: string): string =>
    gzipSync(unpacked(text).replaceAll('"name":"pi-driver"', '"name":"pi-leader"')).toString("base64");
  const lines = logOf(stand).replaceAll(
    /"recording":"([^"]+)"/g,
    (_, text: string) => `"recording":"${changed(text)}"`,
  );
  const said = await replayed(stand, lines);
  match(
    said,
    /✖ plan\.stages\[\d\]\[\d\]\.object\.metadata\.name\n {4}recorded: "pi-leader"\n {4}replayed: "pi-driver"/,
  );
  match(said, /\d+ decided otherwise, 0 could not be read, \d+ decided the same/);
});

it("a damaged line is reported by its number, and a log without a recording gets the hint how to record", async (stand) => {
  match(await replayed(stand, '{"a":1}\n{"recording":"H4sI"}'), /line 2: its recording is cut off or damaged/);
  match(await replayed(stand, "nothing"), /- has no recorded decision; rekindle record begins a recording/);
});

it("rekindle record annotates the object, and --stop ends it; an ended recording records nothing", async (stand) => {
  await stand.host();
  await stand.create(application("pi"));
  const until = () => stand.get("SparkApplication", "pi")?.metadata.annotations?.["rekindle.dev/record-until"];
  match(await rekindle(stand, "record", "default/pi", "--for", "25h"), /--for is 24h at most/);
  equal(until(), undefined);
  match(await rekindle(stand, "record", "default/pi"), /are recorded until 2026-11-02T09:00:00/);
  match(String(until()), /^2026-11-02T09:00:00/);
  await rekindle(stand, "record", "default/pi", "--stop");
  equal(until(), undefined);
  await stand.patch("SparkApplication", "pi", {
    metadata: { annotations: { "rekindle.dev/record-until": "2026-11-02T08:00:00Z" } },
  });
  await stand.turn(1_000);
  const before = recordingsOf(stand).length;
  await stand.until("it is COMPLETED", () => isDone(stand));
  equal(recordingsOf(stand).length, before);
});

it("a secret in the environment of a driver is masked", async (stand) => {
  await stand.host({ recordDecisions: "all" });
  const { spec, ...rest } = application("pi");
  const env = [{ name: "API_TOKEN", value: "canary-4711" }];
  await stand.create({ ...rest, spec: { ...Object(spec), driver: { ...Object(Object(spec).driver), env } } });
  await stand.until("it is COMPLETED", () => isDone(stand));
  ok(recordingsOf(stand).some((text) => text.includes("API_TOKEN")));
  ok(!recordingsOf(stand).join().includes("canary-4711"));
});

it("an annotated application is not recorded with the mode none", async (stand) => {
  await stand.host({ recordDecisions: "none" });
  await stand.create(application("pi", { annotations: { "rekindle.dev/record-until": "2026-11-02T20:00:00Z" } }));
  await stand.until("it is COMPLETED", () => isDone(stand));
  deepEqual(recordingsOf(stand), []);
});

it("recorded decisions are exported as a case of the sweep, which runs as the application did", async (stand) => {
  await stand.host();
  const spec = { restartPolicy: { type: "OnFailure", onFailureRetries: 1, onFailureRetryInterval: 5 } };
  await stand.create(application("pi", { spec, annotations: { "rekindle.dev/record-until": "2026-11-02T20:00:00Z" } }));
  const runs = () => stateOf(stand.get("SparkApplication", "pi")) === "RUNNING";
  await stand.until("it is RUNNING", runs);
  stand.simulator.killPod("default", "pi-driver", { code: 3, reason: "Error" });
  await stand.until("it is COMPLETED", () => isDone(stand));
  const file = join(mkdtempSync(join(tmpdir(), "rekindle-case-")), "case.json");
  const said = await rekindle({ ...stand, stdin: logOf(stand) }, "replay", "-", "--export", file);
  match(said, /a case for npm run sweep -- --case \S+case.json, from \d+ decisions about default\/pi/);
  const { drivers, ends, annotations } = JSON.parse(readFileSync(file, "utf8"));
  deepEqual([drivers.length, drivers[0].exitCode, drivers[1].exitCode], [2, 3, undefined]);
  deepEqual([ends, annotations], ["COMPLETED", {}]);
  const scenario = recordedScenario(recordedName(file));
  ok(scenario !== undefined);
  const { violations, phase } = await runBaseline(openFixture(scenario));
  deepEqual([violations, phase], [[], "COMPLETED"]);
});
