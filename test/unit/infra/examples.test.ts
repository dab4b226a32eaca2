/** Every example of `infra/examples` renders, and runs beside a host of the simulator. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { parseAllDocuments } from "yaml";
import type { Obj } from "../../../shared/core/object.ts";
import { check, render } from "../../../shared/deployments/cli/render.ts";
import { make, openTerminal } from "../cli/terminal.ts";
import { stateOf, statusOf } from "../host/objects.ts";
import { itOnStand } from "../host/stand.ts";

const folder = join(import.meta.dirname, "..", "..", "..", "infra", "examples");
const files = readdirSync(folder).filter((file) => file.endsWith(".yaml"));
const textOf = (file: string): string => readFileSync(join(folder, file), "utf8");
const objectsOf = (file: string): readonly Obj[] => parseAllDocuments(textOf(file)).map((one): Obj => one.toJS());

/** The notes that a reader of an example has to expect. */
const notes: Readonly<Record<string, readonly string[]>> = {
  "pyspark-s3.yaml": ["spec.deps.packages are resolved by the driver, not before it starts"],
};

const account = (name: string): Obj => ({
  apiVersion: "v1",
  kind: "ServiceAccount",
  metadata: { name, namespace: "default" },
});

const isRendered = ({ kind }: Obj): boolean => /^(Scheduled)?Spark/.test(kind);

const it = itOnStand();

describe("the examples", () => {
  test("have one for Python alone, with dependencies and S3 under an account of its own, and with dynamic allocation", () => {
    const found = files.filter((file) => file.startsWith("pyspark-")).flatMap(objectsOf);
    assert.deepEqual(
      found.map(({ metadata }) => metadata.name),
      ["pyspark-dynamic", "pyspark-pi", "pyspark-s3"],
    );
    assert.ok(found.every((one) => JSON.stringify(one).includes('"type":"Python"')));
  });

  for (const file of files)
    test(`${file} is accepted, and would be submitted without a surprise`, async () => {
      for (const object of objectsOf(file)) {
        assert.deepEqual(check(object), { refused: undefined, notes: notes[file] ?? [] });
        if (!isRendered(object)) continue;
        const made = await render(object, { attempt: 1, uid: "u", settings: [] });
        assert.ok("objects" in made);
        assert.deepEqual(made.notes, notes[file] ?? []);
      }
      const { simulator } = openTerminal();
      await make(simulator, ...objectsOf(file));
    });

  const demo = { commands: true } as const;

  itOnStand(demo)(
    "spark-pi.yaml runs for ten minutes in the demo, where sleep 10m is among its arguments",
    async (stand) => {
      await make(stand.simulator, account("spark"));
      await stand.host();
      for (const object of objectsOf("spark-pi.yaml"))
        await stand.create({ ...object, spec: { ...Object(object["spec"]), arguments: ["sleep", "10m"] } });
      const state = () => stand.all("SparkApplication").map(stateOf)[0];
      await stand.until("it runs", () => state() === "RUNNING", 60_000);
      await stand.turn(560_000);
      assert.equal(state(), "RUNNING");
      await stand.until("it completes", () => state() === "COMPLETED", 100_000);
    },
  );

  itOnStand(demo)("spark-connect.yaml is ready in the demo, and stays so", async (stand) => {
    await make(stand.simulator, account("spark"));
    await stand.host();
    for (const object of objectsOf("spark-connect.yaml")) await stand.create(object);
    const state = () => statusOf(stand.all("SparkConnect")[0], "state");
    await stand.until("it is ready", () => state() === "Ready", 60_000);
    await stand.turn(300_000);
    assert.equal(state(), "Ready");
    assert.equal(stand.all("Pod").length, 1);
  });

  for (const file of files.filter((name) => objectsOf(name).some(({ kind }) => kind === "SparkApplication")))
    it(`${file} runs to its end beside a host`, async (stand) => {
      await make(stand.simulator, account("spark"), account("etl"));
      await stand.host();
      for (const object of objectsOf(file)) await stand.create(object);
      const states = () => stand.all("SparkApplication").map(stateOf);
      await stand.until("it completes", () => states().every((state) => state === "COMPLETED"), 200_000);
      assert.ok(states().length > 0);
    });
});
