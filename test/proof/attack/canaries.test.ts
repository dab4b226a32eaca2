/**
 * Secrets in every field that users put secrets into: log, events, status, records, metrics, traces and a dry run show
 * none of them.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { trace } from "@opentelemetry/api";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { request } from "../../../shared/adapters/kubernetes/requests.ts";
import { onMachine, until } from "../../unit/host/machine.ts";
import { hidingPlaces } from "./canaries.ts";
import { pathOf } from "./stand.ts";

const home = "default";
const updatesKey = "tweet-key-of-updates-tweet";

const secretOf = (at: number): string => `tweet${at}tweet`;

/** The text found in each place, by the name of the place. */
type Told = Readonly<Record<string, string>>;

const read = async (machine: Parameters<Parameters<typeof onMachine>[0]>[0]): Promise<Told> => {
  const { simulator, folder, host } = machine;
  const { writeFileSync } = await import("node:fs");
  const { join } = await import("node:path");
  writeFileSync(join(folder, "updates"), updatesKey);
  const shadow = host("--dry-run", "--log-level=debug");
  await shadow.door();
  const objects = hidingPlaces.map(({ object }, at) => object(`canary-${at}`, secretOf(at)));
  let made = 0;
  for (const object of objects) {
    const { status } = await simulator.transport.send({
      ...{ method: "POST", path: pathOf(object.kind, home), headers: { "content-type": "application/json" } },
      ...{ body: JSON.stringify({ ...object, metadata: { ...object.metadata, namespace: home } }), timeoutMs: 1_000 },
    });
    made += status === 201 ? 1 : 0;
  }
  assert.ok(made > 40, `${made} objects were taken`);
  await until(
    "a dry run tells of them",
    () => shadow.out.filter((line) => line.includes("canary-")).length >= made / 2,
  );
  const own = host("--log-level=debug", "--gang=none", "--updates-secret-file", join(folder, "updates"));
  const url = await own.door();
  const list = async (kind: string): Promise<string> =>
    JSON.stringify(await request(simulator.transport, "GET", pathOf(kind, home)));
  const records = async (): Promise<number> => (await list("Checkpoint")).split('"kind":"Checkpoint"').length;
  await until("they have records", async () => (await records()) > made / 2);
  let [count, same] = [0, 0];
  await until("nothing new is told", () => {
    same = own.lines.length === count ? same + 1 : 0;
    count = own.lines.length;
    return same > 60;
  });
  const kinds = [...new Set(objects.map(({ kind }) => kind))];
  const statuses = await Promise.all(kinds.map(list));
  return {
    log: JSON.stringify([own.lines, own.out, own.err, shadow.lines, shadow.err]),
    "dry run": shadow.out.join("\n"),
    events: await list("Event"),
    status: statuses
      .map((text) => JSON.stringify(JSON.parse(text).items.map((one: object) => Reflect.get(one, "status"))))
      .join(),
    records: await list("Checkpoint"),
    figures: await (await fetch(`${url}/metrics`)).text(),
    traces: JSON.stringify(
      exporter.getFinishedSpans().map(({ name, attributes, events, status }) => ({ name, attributes, events, status })),
    ),
  };
};

const exporter = new InMemorySpanExporter();
let told: Told = {};

before(async () => {
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
  await onMachine(async (machine) => {
    told = await read(machine);
  })();
});
after(() => trace.disable());

describe("secrets that users write into their objects", () => {
  test("the places that are looked at tell something", () => {
    for (const [place, text] of Object.entries(told)) assert.ok(text.length > 100, `${place}: ${text}`);
  });
  for (const [at, { name }] of hidingPlaces.entries())
    test(`${name}: nowhere else`, () => {
      const seen = Object.entries(told).filter(([, text]) => text.includes(secretOf(at)));
      const around = seen.map(
        ([place, text]) => `${place}: ${text.slice(Math.max(0, text.indexOf(secretOf(at)) - 200)).slice(0, 400)}`,
      );
      assert.deepEqual(around, []);
    });
  test("the key of updates: nowhere", () => {
    assert.deepEqual(
      Object.keys(told).filter((place) => told[place]?.includes(updatesKey)),
      [],
    );
  });
});
