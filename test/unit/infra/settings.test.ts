/**
 * Settings and the places where deployments set them: each setting has a place or a reason in each kind of deployment,
 * and a value from that place reaches the parsed settings of each part that reads it.
 */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import * as z from "zod";
import { parametersOf } from "../../../infra/aws/parameters.ts";
import { functionSettingValues, settingValues } from "../../../infra/chart.ts";
import type { Target } from "../../../shared/deployments/settings/absence.ts";
import { readConfiguration } from "../../../shared/deployments/settings/host.ts";
import { settingsFor } from "../../../shared/deployments/settings/read.ts";
import { reasonOf, reference } from "../../../shared/deployments/settings/reference.ts";
import {
  type FunctionReader,
  fileName,
  flagName,
  functionReaders,
  isReadBy,
  isReadIn,
  isSwitch,
  rowOf,
  type SettingName,
  settingNames,
  variableName,
} from "../../../shared/deployments/settings/table.ts";
import { stackOf } from "../../real/cloud/stack.ts";
import { template } from "../../support/aws-template.ts";
import { overlaid } from "../../support/kustomized.ts";
import { samples } from "../../support/setting-samples.ts";

type Variables = Readonly<Record<string, string>>;

const root = new URL("../../../infra/", import.meta.url);
const folder = mkdtempSync(join(tmpdir(), "rekindle-places-"));
after(() => rmSync(folder, { recursive: true }));

const valueIn = (settings: object, name: SettingName): unknown => new Map(Object.entries(settings)).get(name);

const onHost = async (name: SettingName, args: readonly string[], env: Variables): Promise<unknown> => {
  const asked = await readConfiguration(args, env);
  assert.equal(asked.do, "run", JSON.stringify(asked));
  return asked.do === "run" ? valueIn(asked.configuration, name) : undefined;
};

/** The variables that a function needs beside the setting under test. */
const needed: Variables = {
  REKINDLE_CLUSTER_RECORD: "in-cluster",
  REKINDLE_FIFO_URL: "https://queue.example/keys.fifo",
  REKINDLE_DELAY_URL: "https://queue.example/timers",
  REKINDLE_UPDATES_URL: "https://queue.example/updates.fifo",
  REKINDLE_ADMISSION_PATH: "needed-by-the-bell",
  REKINDLE_CALL_URLS: "reconcile=http://reconcile.example/,deliver=http://deliver.example/",
};

const inFunction = (reader: FunctionReader, name: SettingName, env: Variables): unknown =>
  valueIn(settingsFor(reader, env), name);

const readersOf = (name: SettingName): readonly FunctionReader[] =>
  functionReaders.filter((reader) => isReadBy(reader, name));

/** Returns the value that the setting's variable gives; every other place must give the same. */
const asVariable = (reader: FunctionReader, name: SettingName, text: string): unknown =>
  inFunction(reader, name, { ...needed, [variableName(name)]: text });

const hostNames = settingNames.filter((name) => isReadIn("host", name));
const functionNames = settingNames.filter((name) => isReadIn("functions", name));

const hasPlace = (target: Target) => (name: SettingName) => reasonOf(name, target) === undefined;

describe("a host's setting", () => {
  for (const name of hostNames)
    test(`${fileName(name)} is the same as a flag, a variable, in a file and in a document`, async () => {
      const isSecret = rowOf(name).secret === true;
      const sample = isSecret ? "/etc/secret" : samples[name];
      const suffix = isSecret ? { variable: "_FILE", file: "File" } : { variable: "", file: "" };
      const document = JSON.stringify({ [`${fileName(name)}${suffix.file}`]: sample });
      const path = join(folder, `${name}.yaml`);
      writeFileSync(path, document);
      const found = [
        await onHost(name, [`--${flagName(name)}=${sample}`], {}),
        await onHost(name, [], { [`${variableName(name)}${suffix.variable}`]: sample }),
        await onHost(name, ["--config", path], {}),
        await onHost(name, [], { REKINDLE_SETTINGS: document }),
      ];
      for (const one of found) assert.deepEqual(one, found[0]);
      assert.notEqual(found[0], undefined);
      assert.notDeepEqual(found[0], await onHost(name, [], {}));
    });

  test("that is a switch needs no value as a flag", async () => {
    for (const name of hostNames.filter(isSwitch))
      assert.equal(await onHost(name, [`--${flagName(name)}`], {}), true, name);
  });
});

describe("a function's setting", () => {
  for (const name of functionNames)
    test(`${fileName(name)} is the same as a variable and in a document, in every function that reads it`, () => {
      const { [variableName(name)]: _, ...others } = needed;
      const document = { ...others, REKINDLE_SETTINGS: JSON.stringify({ [fileName(name)]: samples[name] }) };
      const found = readersOf(name).flatMap((reader) => [
        asVariable(reader, name, samples[name]),
        inFunction(reader, name, document),
      ]);
      for (const one of found) assert.deepEqual(one, found[0]);
      assert.notEqual(found[0], undefined);
      for (const reader of readersOf(name))
        assert.notDeepEqual(found[0], inFunction(reader, name, needed), `${name} of ${reader}`);
    });

  test("that a host reads, too, is parsed as the host parses it", async () => {
    for (const name of hostNames.filter((one) => functionNames.includes(one))) {
      const expected = await onHost(name, [], { [variableName(name)]: samples[name] });
      for (const reader of readersOf(name)) assert.deepEqual(asVariable(reader, name, samples[name]), expected, name);
    }
  });
});

const container = z.object({
  name: z.string(),
  args: z.array(z.string()).default([]),
  env: z.array(z.object({ name: z.string(), value: z.string() })).default([]),
  envFrom: z
    .array(
      z.object({
        configMapRef: z.object({ name: z.string() }).optional(),
        secretRef: z.object({ name: z.string() }).optional(),
      }),
    )
    .default([]),
});

type Container = z.infer<typeof container>;

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/** Returns all containers in an object, at any depth. */
const containersIn = (value: unknown): readonly Container[] => {
  if (!isRecord(value)) return [];
  const { containers, ...others } = value;
  const own = Array.isArray(containers) ? containers.map((one) => container.parse(one)) : [];
  return [...own, ...Object.values(others).flatMap(containersIn)];
};

type Overlay = { readonly containers: readonly Container[]; readonly maps: ReadonlyMap<string, Variables> };

const overlayOf = (name: string): Overlay => {
  const objects = overlaid(name);
  const map = z.object({
    kind: z.literal("ConfigMap"),
    metadata: z.object({ name: z.string() }),
    data: z.record(z.string(), z.string()),
  });
  const maps = objects.flatMap((object) => {
    const { data } = map.safeParse(object);
    return data === undefined ? [] : [[data.metadata.name, data.data] as const];
  });
  return { containers: objects.flatMap(containersIn), maps: new Map(maps) };
};

/** Returns a container's environment as a kubelet makes it, with entries of its ConfigMap or its Secret changed. */
const environmentOf = (
  overlay: Overlay,
  { env, envFrom }: Container,
  change: Variables,
  secret: Variables,
): Variables => ({
  ...Object.assign(
    {},
    ...envFrom.map(({ configMapRef, secretRef }) => ({
      ...(configMapRef === undefined ? {} : { ...overlay.maps.get(configMapRef.name), ...change }),
      ...(secretRef === undefined ? {} : secret),
    })),
  ),
  ...Object.fromEntries(env.map(({ name, value }) => [name, value])),
});

const changed = (name: SettingName): readonly [change: Variables, secret: Variables] => {
  const entry = { [variableName(name)]: samples[name] };
  return rowOf(name).secret === true ? [{}, entry] : [entry, {}];
};

const isOf = (overlay: Overlay, mapName: string, name: SettingName): boolean =>
  rowOf(name).secret === true
    ? overlay.containers.every(
        ({ env, envFrom }) =>
          envFrom.some(({ secretRef }) => secretRef?.name === mapName) &&
          env.every((one) => one.name !== variableName(name)),
      )
    : Object.hasOwn(overlay.maps.get(mapName) ?? {}, variableName(name));

describe("the overlay of the host", () => {
  const overlay = overlayOf("host");
  const [host] = overlay.containers;

  test("holds each setting, or there is a reason", () => {
    const held = hostNames.filter((name) => isOf(overlay, "rekindle-settings", name));
    assert.deepEqual(held, hostNames.filter(hasPlace("hostOverlay")));
  });

  test("changes nothing until somebody does", async () => {
    assert.ok(host !== undefined);
    const env = environmentOf(overlay, host, {}, {});
    const asked = await readConfiguration(host.args.slice(1), env);
    const { REKINDLE_LISTEN, REKINDLE_STATE_DIRECTORY } = env;
    const bare = await readConfiguration([], { REKINDLE_LISTEN, REKINDLE_STATE_DIRECTORY });
    assert.deepEqual(asked, bare);
  });

  for (const name of hostNames.filter(hasPlace("hostOverlay")))
    test(`hands ${fileName(name)} to the host`, async () => {
      assert.ok(host !== undefined);
      const env = environmentOf(overlay, host, ...changed(name));
      const expected = await onHost(name, [], { [variableName(name)]: samples[name] });
      assert.deepEqual(await onHost(name, host.args.slice(1), env), expected);
    });
});

describe("the overlays of functions", () => {
  const overlays = [
    overlayOf("knative-admission"),
    overlayOf("lambda"),
    overlayOf("dispatch"),
    overlayOf("dispatch-admission"),
  ];

  test("hold each setting, or there is a reason", () => {
    for (const overlay of overlays) {
      const held = functionNames.filter((name) => isOf(overlay, "rekindle-functions", name));
      assert.deepEqual(held, functionNames.filter(hasPlace("functionsOverlay")));
    }
  });

  test("run every function in the cluster, the forwarder beside Lambda, and a dispatcher with what it calls", () => {
    const names = overlays.map(({ containers }) => containers.map((one) => one.name).toSorted());
    const called = ["deliver", "dispatch", "reconcile"];
    const polling = functionReaders.filter((name) => name !== "dispatch").toSorted();
    assert.deepEqual(names, [polling, ["forward"], called, called]);
  });

  for (const overlay of overlays)
    for (const one of overlay.containers)
      test(`hand each setting to ${one.name} of ${overlay.containers.length}`, () => {
        const reader = functionReaders.find((name) => name === one.name);
        assert.ok(reader !== undefined);
        for (const name of functionNames.filter(hasPlace("functionsOverlay")).filter((n) => isReadBy(reader, n))) {
          // The Secret beside the ConfigMap holds the path of the bell, and the proof of calls, without which functions need queues.
          const kept = { REKINDLE_CALL_SECRET: samples.callSecret, REKINDLE_ADMISSION_PATH: samples.admissionPath };
          const env = { ...kept, ...environmentOf(overlay, one, ...changed(name)) };
          assert.deepEqual(inFunction(reader, name, env), asVariable(reader, name, samples[name]), name);
        }
      });
});

/** Values of parameters, and the value of the variable that means the same. */
const parameters: Readonly<Partial<Record<SettingName, readonly [given: Variables, variable: string]>>> = {
  checkpoints: [{ Checkpoints: "kubernetes" }, "kubernetes"],
  windowMs: [{ ForwardWindow: "25" }, "25s"],
};

/** Parameters that Lambda's functions need beside the one under test. */
const whole: Variables = {
  ...{ Alias: "e2e", ClusterRecord: samples.clusterRecord, Submissions: "ENABLED", Rings: "ENABLED" },
  ...{ AdmissionPath: "fedcba9876543210", SubmitterRecord: samples.clusterRecord },
};

const lambdasWith = (given: Variables) => {
  const { values, problems } = parametersOf(template, { ...whole, ...given });
  assert.deepEqual(problems, []);
  return stackOf(template, values, (queue) => `https://queue.example/${queue}`).functions;
};

describe("the AWS template", () => {
  const inTemplate = functionNames.filter(hasPlace("sam"));
  const made: Readonly<Record<string, string>> = {
    fifoUrl: "https://queue.example/rekindle-e2e-keys.fifo",
    delayUrl: "https://queue.example/rekindle-e2e-timers",
    updatesUrl: "https://queue.example/rekindle-e2e-updates.fifo",
  };

  test("has a parameter for each setting that names one", () => {
    const declared = z.record(z.string(), z.unknown()).parse(template["Parameters"]);
    const named = settingNames.flatMap((name) => reference[name].parameter ?? []);
    assert.deepEqual(
      named.filter((name) => !Object.hasOwn(declared, name)),
      [],
    );
  });

  /** Returns the template's parameters for a setting, and the variable that means the same. */
  const askedFor = (name: SettingName): readonly [given: Variables, variable: string] => {
    const { parameter } = reference[name];
    const queue = made[name];
    if (queue !== undefined) return [{}, queue];
    if (parameter === undefined)
      return [{ Settings: JSON.stringify({ [fileName(name)]: samples[name] }) }, samples[name]];
    return parameters[name] ?? [{ [parameter]: samples[name] }, samples[name]];
  };

  test("makes each queue that is said to be made", () => {
    const said = settingNames.filter((name) => reference[name].made === true);
    assert.deepEqual(said, Object.keys(made));
  });

  for (const name of inTemplate)
    test(`hands ${fileName(name)} to each function that reads it`, () => {
      const [given, variable] = askedFor(name);
      let reading = 0;
      for (const { id, environment } of lambdasWith(given)) {
        const reader = readersOf(name).find((one) => one === id);
        // Lambda itself polls this queue, so the function does not get its URL.
        if (reader === undefined || (reader === "wake" && name === "delayUrl")) continue;
        assert.deepEqual(inFunction(reader, name, environment), asVariable(reader, name, variable), id);
        reading += 1;
      }
      assert.ok(reading > 0);
    });
});

describe("the chart", () => {
  const schema = z.object({
    properties: z.looseObject({
      settings: z.object({ additionalProperties: z.literal(false), properties: z.record(z.string(), z.unknown()) }),
    }),
  });

  test("has each setting of the host in its schema, a value that means more, a Secret, or a reason", () => {
    const text = readFileSync(new URL("helm/rekindle/values.schema.json", root), "utf8");
    const { properties } = schema.parse(JSON.parse(text)).properties.settings;
    const named = new Set([...settingValues, ...functionSettingValues].map(fileName));
    assert.deepEqual(Object.keys(properties).toSorted(), [...named].toSorted());
    const places = hostNames.filter(
      (name) => settingValues.includes(name) || rowOf(name).secret === true || reference[name].valueOnly === true,
    );
    assert.deepEqual(places.filter(hasPlace("helm")), hostNames.filter(hasPlace("helm")));
  });
});

describe("reasons", () => {
  test("stand only where a setting has no place, and for both modes", () => {
    const wrong = settingNames.filter((name) => {
      const { host, functions } = reference[name].absent ?? {};
      return (
        (host === undefined) !== isReadIn("host", name) || (functions === undefined) !== isReadIn("functions", name)
      );
    });
    assert.deepEqual(wrong, []);
  });

  test("are this many: who gives a setting its place lowers the number, and nobody raises it", () => {
    const reasons = settingNames.flatMap((name) => Object.keys(reference[name].absent ?? {}));
    assert.equal(reasons.length, 52);
  });
});

describe("an unknown name", () => {
  for (const reader of functionReaders)
    test(`is refused by ${reader} with the nearest known one`, () => {
      const unknown = { ...needed, REKINDLE_NAMESPACE: "a" };
      assert.throws(
        () => settingsFor(reader, unknown),
        /REKINDLE_NAMESPACE \(unknown; did you mean REKINDLE_NAMESPACES\?\)/,
      );
    });
});
