/** Contents of the bundles, from esbuild's metafile; nothing is written. */
import assert from "node:assert/strict";
import { isBuiltin } from "node:module";
import { describe, test } from "node:test";
import { functionNames, loadedBy } from "../../../infra/bundle.ts";
import { kinds } from "../../../shared/registry/kinds.ts";
import { builtFor } from "../../support/build.ts";

const meta = await builtFor();

const packageOf = (input: string): string | undefined => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1];

/** Returns the rooms and packages of the inputs. */
const partsOf = (inputs: readonly string[]): ReadonlySet<string> =>
  new Set(inputs.map((input) => packageOf(input) ?? input.split("/").slice(0, 2).join("/")));

const found = (parts: ReadonlySet<string>, unwanted: readonly string[]): readonly string[] =>
  unwanted.filter((part) => parts.has(part));

const never = [
  "shared/simulator",
  "shared/dashboard",
  "shared/cli",
  "shared/inspection",
  "shared/installation",
  "hono",
  "@kubernetes/client-node",
  "pino",
  "yaml",
];

describe("the bundle", () => {
  for (const name of ["reconcile", "deliver", "wake", "resync", "forward"]) {
    test(`of ${name} holds no simulator, page, hono or client-node, not even in a lazy chunk`, () => {
      assert.deepEqual(found(partsOf(loadedBy(meta, name).ever.inputs), never), []);
    });
  }

  test("of admission connects to no queue, and to a cluster only when quotas are asked for", () => {
    const { atOnce, ever } = loadedBy(meta, "admission");
    const parts = (inputs: readonly string[], wanted: RegExp) => inputs.filter((input) => wanted.test(input));
    assert.deepEqual(parts(atOnce.inputs, /adapters\/(sqs|kubernetes)|aws-sdk/), []);
    assert.deepEqual(parts(ever.inputs, /adapters\/(sqs|dynamodb)|client-(sqs|dynamodb)/), []);
  });

  for (const name of ["admission", "dispatch"])
    test(`of ${name} loads what makes certificates only when it registers admission itself`, () => {
      const { atOnce, ever } = loadedBy(meta, name);
      assert.ok(!partsOf(atOnce.inputs).has("@peculiar/x509"));
      assert.ok(partsOf(ever.inputs).has("@peculiar/x509"));
    });

  test("of api loads what reads only when somebody reads: triggers come without it", () => {
    const { atOnce, ever } = loadedBy(meta, "api");
    const readers = ["shared/inspection", "shared/adapters/kubernetes"];
    const files = (inputs: readonly string[]) =>
      readers.filter((room) => inputs.some((input) => input.startsWith(`${room}/`)));
    assert.deepEqual([files(atOnce.inputs), files(ever.inputs)], [[], readers]);
  });

  test("of the host and of api hold the page's client, not the module that reads it from the sources' folder", () => {
    for (const name of ["host", "api"]) {
      const sizes = loadedBy(meta, name).ever.files.map(
        (file) => meta.outputs[file]?.inputs["shared/deployments/page/files.ts"]?.bytesInOutput ?? 0,
      );
      assert.ok(Math.max(...sizes) > 30_000, `${name}: ${Math.max(...sizes)} bytes`);
    }
  });

  test("of admission loads the rules of a family with its first request", () => {
    const { atOnce, ever } = loadedBy(meta, "admission");
    const rules = (inputs: readonly string[]) => inputs.filter((input) => /(spark|volcano)\/admission\//.test(input));
    assert.deepEqual(rules(atOnce.inputs), []);
    assert.notDeepEqual(rules(ever.inputs), []);
  });

  test("of the host loads what makes certificates only when admission is on", () => {
    const { atOnce, ever } = loadedBy(meta, "host");
    assert.ok(!partsOf(atOnce.inputs).has("@peculiar/x509"));
    assert.ok(partsOf(ever.inputs).has("@peculiar/x509"));
  });

  test("of the command line reads a kubeconfig without the library of SOCKS proxies", () => {
    const parts = Object.values(meta.outputs).map(({ inputs }) => partsOf(Object.keys(inputs)));
    const readers = parts.filter((one) => one.has("@kubernetes/client-node"));
    assert.ok(readers.length > 0);
    assert.deepEqual(found(new Set(readers.flatMap((one) => [...one])), ["socks", "hpagent", "ip-address"]), []);
    assert.ok(parts.some((one) => one.has("socks")));
  });

  test("of the command line loads a command only when it is asked for", () => {
    const { atOnce, ever } = loadedBy(meta, "cli");
    assert.deepEqual(found(partsOf(atOnce.inputs), ["zod", "yaml", "shared/adapters", "shared/spark", "pino"]), []);
    assert.ok(atOnce.inputs.every((input) => !input.startsWith("shared/cli/commands/")));
    assert.ok(ever.inputs.includes("shared/cli/commands/status.ts"));
    assert.ok(atOnce.bytes < 100_000, `${atOnce.bytes} bytes`);
  });

  test("of every function holds nothing of what makes JSON schemas", () => {
    const makers = functionNames().flatMap((name) =>
      loadedBy(meta, name).ever.files.flatMap((file) =>
        Object.entries(meta.outputs[file]?.inputs ?? {}).filter(([input]) => /zod.*json-schema/.test(input)),
      ),
    );
    assert.deepEqual(
      makers.filter(([, { bytesInOutput }]) => bytesInOutput > 200),
      [],
    );
  });

  test("of every function takes Node's own modules without their namespaces, which cost a cold start 50 ms", () => {
    const imported = Object.values(meta.outputs).flatMap(({ imports }) =>
      imports.filter(({ external, path }) => external === true && isBuiltin(path)).map(({ path }) => path),
    );
    assert.deepEqual(imported, []);
  });

  test("of every function is built, and has a handler", () => {
    const names = ["admission", "api", "deliver", "forward", "reconcile", "resync", "wake"];
    const without = names.filter((name) => !meta.outputs[`dist/${name}.mjs`]?.exports.includes("handler"));
    assert.deepEqual(without, []);
  });

  test("of reconcile delivers no update, and of deliver does", () => {
    const sinks = (name: string) =>
      loadedBy(meta, name).ever.inputs.filter((input) => /shared\/adapters\/sinks/.test(input));
    assert.deepEqual(sinks("reconcile"), []);
    assert.ok(sinks("deliver").length > 0);
  });

  test("of deliver holds the decisions of no kind, for it only sends on what their steps have saved", () => {
    const decisions = loadedBy(meta, "deliver").ever.inputs.filter((input) => /shared\/(spark|volcano)\//.test(input));
    assert.ok(decisions.length > 0);
    assert.deepEqual(
      decisions.filter((input) => !/\/(resource|kind|words|gang\/settings)\.ts$/.test(input)),
      [],
    );
  });

  test("of reconcile loads no client of AWS before its first request to a queue, and finds it then", () => {
    const { atOnce, ever } = loadedBy(meta, "reconcile");
    assert.deepEqual(found(partsOf(atOnce.inputs), ["@aws-sdk/client-sqs", "@smithy/core"]), []);
    const exported = ever.files.flatMap((file) => meta.outputs[file]?.exports ?? []);
    assert.ok(exported.includes("SQSClient"));
  });

  test("of functions that look at no records holds no DynamoDB client, and of the others only for whoever has a table", () => {
    const holders = (at: "atOnce" | "ever") =>
      functionNames().filter((name) => partsOf(loadedBy(meta, name)[at].inputs).has("@aws-sdk/client-dynamodb"));
    assert.deepEqual(holders("atOnce"), []);
    assert.deepEqual(holders("ever"), ["api", "cli", "deliver", "dispatch", "forward", "host", "reconcile", "resync"]);
  });

  test("of the host holds of the Kubernetes client its reader of kubeconfigs, nothing that sends requests", () => {
    const { inputs } = loadedBy(meta, "host").ever;
    assert.ok(inputs.some((input) => input.endsWith("client-node/dist/config.js")));
    assert.deepEqual(
      inputs.filter((input) => /node_modules\/undici\/|client-node\/dist\/gen\/(models|apis|http)\//.test(input)),
      [],
    );
  });

  test("of no function holds the SDK of an object store, which is an optional peer", () => {
    const holders = functionNames().filter(
      (name) =>
        found(partsOf(loadedBy(meta, name).ever.inputs), ["@aws-sdk/client-s3", "@google-cloud/storage"]).length > 0,
    );
    assert.deepEqual(holders, []);
  });

  for (const name of ["admission", "api", "forward", "reconcile", "resync", "wake"]) {
    test(`of ${name} loads at most 400 kB before the first event`, () => {
      const { bytes } = loadedBy(meta, name).atOnce;
      assert.ok(bytes > 50_000 && bytes <= 400_000, `${bytes} bytes`);
    });
  }

  for (const name of functionNames().filter((name) => !["cli", "dispatch", "host"].includes(name))) {
    test(`of ${name} loads few files before the first event, for a cold start links and compiles each`, () => {
      const { files } = loadedBy(meta, name).atOnce;
      assert.ok(files.length > 1 && files.length <= 8, files.join(", "));
    });
  }

  test("of reconcile loads at most 240 kB before the first event, and each kind with the first message for it", () => {
    const { atOnce, ever } = loadedBy(meta, "reconcile");
    const deciding = (inputs: readonly string[]) =>
      inputs.filter((input) => /^shared\/(spark|volcano)\/.*\/decide\.ts$/.test(input));
    assert.deepEqual([deciding(atOnce.inputs), deciding(ever.inputs).length], [[], kinds.length]);
    assert.ok(atOnce.bytes <= 240_000, `${atOnce.bytes} bytes`);
  });

  for (const name of functionNames()) {
    test(`of ${name} loads neither simulator nor client-node nor the SQS client at once`, () => {
      const parts = partsOf(loadedBy(meta, name).atOnce.inputs);
      assert.deepEqual(found(parts, ["shared/simulator", "@kubernetes/client-node", "@aws-sdk/client-sqs"]), []);
    });
  }
});
