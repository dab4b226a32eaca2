/**
 * The functions' environment: each function needs only the variables that it uses, and every mistake is one line
 * without the value.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { once } from "../../../../shared/deployments/common/once.ts";
import { settingsFor, settingsForCli } from "../../../../shared/deployments/settings/read.ts";

const record = JSON.stringify({ server: "https://10.0.0.1:6443", ca: "CA", token: "secret-token" });
const full = {
  REKINDLE_CLUSTER_RECORD: record,
  REKINDLE_FIFO_URL: "https://sqs.eu-west-1.amazonaws.com/1/keys.fifo",
  REKINDLE_DELAY_URL: "https://sqs.eu-west-1.amazonaws.com/1/later",
};

type Reader = Parameters<typeof settingsFor>[0];

const folder = mkdtempSync(join(tmpdir(), "rekindle-settings-"));
after(() => rmSync(folder, { recursive: true }));

const fileWith = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

describe("a function's settings", () => {
  test("are read with their defaults", () => {
    const { clusterRecord, cluster, namespaces, selector, fifoUrl, home, windowMs, listen } = settingsFor("forward", {
      REKINDLE_CLUSTER_RECORD: record,
      REKINDLE_FIFO_URL: full.REKINDLE_FIFO_URL,
    });
    assert.deepEqual(
      { clusterRecord, cluster, namespaces, selector, fifoUrl, home, windowMs, listen },
      {
        clusterRecord: { server: "https://10.0.0.1:6443", ca: "CA", auth: { token: "secret-token" } },
        ...{ cluster: "default", namespaces: [], selector: "", home: "rekindle", windowMs: 50_000, listen: undefined },
        fifoUrl: full.REKINDLE_FIFO_URL,
      },
    );
  });

  test("are those that the function reads, and no other is required", () => {
    assert.deepEqual(settingsFor("wake", { REKINDLE_FIFO_URL: full.REKINDLE_FIFO_URL }), {
      ...{ fifoUrl: full.REKINDLE_FIFO_URL, delayUrl: undefined, updatesUrl: undefined },
      ...{ listen: undefined, logLevel: "info" },
    });
  });

  test("may include the settings of other functions, so that all functions have the same environment", () => {
    const env = { ...full, REKINDLE_FENCE: "8s", REKINDLE_SPARK_VERSION: "4.0.0" };
    assert.equal(settingsFor("wake", env).fifoUrl, full.REKINDLE_FIFO_URL);
    assert.throws(() => settingsFor("reconcile", { ...env, REKINDLE_FENCE: "soon" }), /REKINDLE_FENCE/);
  });

  test("accept a cluster record that is stored elsewhere", () => {
    const kept = (env: Readonly<Record<string, string>>) => settingsFor("submitter", env).clusterRecord;
    const arn = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:rekindle/prod-AbCdEf";
    assert.deepEqual(kept({ REKINDLE_CLUSTER_RECORD: arn }), { arn });
    assert.deepEqual(kept({ REKINDLE_CLUSTER_RECORD: "in-cluster" }), { own: "in-cluster" });
    assert.deepEqual(kept({ REKINDLE_CLUSTER_RECORD_FILE: "/etc/record" }), { file: "/etc/record" });
  });

  test("accept a certificate in place of a token", () => {
    const { clusterRecord } = settingsFor("submitter", {
      REKINDLE_CLUSTER_RECORD: '{"server":"https://a","cert":"C","key":"K"}',
    });
    assert.deepEqual(clusterRecord, { server: "https://a", auth: { cert: "C", key: "K" } });
  });

  const written: readonly { variable: string; text: string; name: string; value: unknown }[] = [
    { variable: "REKINDLE_NAMESPACES", text: "a,b-1", name: "namespaces", value: ["a", "b-1"] },
    { variable: "REKINDLE_SELECTOR", text: "team in (a,b),!c", name: "selector", value: "team in (a,b),!c" },
    { variable: "REKINDLE_WINDOW", text: "25", name: "windowMs", value: 25_000 },
    { variable: "REKINDLE_WINDOW", text: "900s", name: "windowMs", value: 900_000 },
    { variable: "REKINDLE_CLUSTER_ALIAS", text: "west", name: "cluster", value: "west" },
    { variable: "REKINDLE_CLUSTER", text: "west", name: "cluster", value: "west" },
  ];
  for (const { variable, text, name, value } of written) {
    test(`accept ${variable}=${text}`, () => {
      const settings = settingsFor("forward", { ...full, [variable]: text });
      assert.deepEqual(Object.entries(settings).find(([one]) => one === name)?.[1], value);
    });
  }

  const wrong: readonly { variable: string; text: string | undefined; reader: Reader; says: RegExp }[] = [
    { variable: "REKINDLE_CLUSTER_RECORD", text: undefined, reader: "submitter", says: /is missing/ },
    { variable: "REKINDLE_CLUSTER_RECORD", text: "{secret", reader: "forward", says: /write JSON with server/ },
    { variable: "REKINDLE_CLUSTER_RECORD", text: '{"token":"secret"}', reader: "forward", says: /JSON with server/ },
    { variable: "REKINDLE_FIFO_URL", text: undefined, reader: "wake", says: /is missing/ },
    { variable: "REKINDLE_FIFO_URL", text: "keys.fifo", reader: "wake", says: /write the URL of a queue/ },
    { variable: "REKINDLE_FIFO_URL", text: full.REKINDLE_DELAY_URL, reader: "wake", says: /is not a FIFO queue/ },
    { variable: "REKINDLE_DELAY_URL", text: full.REKINDLE_FIFO_URL, reader: "wake", says: /URL of a standard queue/ },
    { variable: "REKINDLE_UPDATES_URL", text: undefined, reader: "deliver", says: /is missing/ },
    { variable: "REKINDLE_NAMESPACES", text: "A,b", reader: "forward", says: /names of namespaces/ },
    { variable: "REKINDLE_SELECTOR", text: "a in b", reader: "forward", says: /label selector/ },
    { variable: "REKINDLE_WINDOW", text: "soon", reader: "forward", says: /seconds such as 50s/ },
    { variable: "REKINDLE_WINDOW", text: "0", reader: "forward", says: /seconds such as 50s/ },
    { variable: "REKINDLE_TRIGGER_SECRET", text: "secret", reader: "api", says: /at least 16 characters/ },
    { variable: "REKINDLE_LISTEN", text: "8080", reader: "api", says: /an address and a port/ },
    { variable: "REKINDLE_FENSE", text: "8s", reader: "wake", says: /unknown; did you mean REKINDLE_FENCE\?/ },
    { variable: "REKINDLE_WHATEVER", text: "8s", reader: "wake", says: /\(unknown\)/ },
    { variable: "REKINDLE_DRY_RUN", text: "true", reader: "wake", says: /a host, and functions have none like it/ },
    { variable: "REKINDLE_KUBECONFIG", text: "/a", reader: "api", says: /takes REKINDLE_CLUSTER_RECORD instead/ },
  ];
  for (const { variable, text, reader, says } of wrong) {
    test(`refuse ${variable}=${text} in one line`, () => {
      assert.throws(
        () => settingsFor(reader, { ...full, [variable]: text }),
        (error: Error) => {
          assert.match(error.message, says);
          assert.ok(error.message.startsWith(`set the function's environment: ${variable} (`), error.message);
          const rest = error.message
            .replace(variable, "")
            .replace("ARN of a secret", "")
            .replace("Secrets Manager", "");
          assert.ok(!error.message.includes("\n") && !/secret/.test(rest), error.message);
          return true;
        },
      );
    });
  }

  test("report every mistake at once", () => {
    assert.throws(
      () => settingsFor("forward", { REKINDLE_SELECTOR: "a in b", REKINDLE_SELECTR: "a" }),
      /REKINDLE_CLUSTER_RECORD .*REKINDLE_SELECTOR .*REKINDLE_FIFO_URL .*REKINDLE_SELECTR /,
    );
  });

  test("under an old and a new name are one setting, and two values are refused", () => {
    const env = { ...full, REKINDLE_CLUSTER: "a", REKINDLE_CLUSTER_ALIAS: "b" };
    const expected = /REKINDLE_CLUSTER_ALIAS \(sets the same setting as REKINDLE_CLUSTER: unset one of them\)/;
    assert.throws(() => settingsFor("forward", env), expected);
    assert.equal(settingsFor("forward", { ...env, REKINDLE_CLUSTER_ALIAS: "a" }).cluster, "a");
  });

  test("ignore variables that Kubernetes makes for a Service", () => {
    const env = { ...full, REKINDLE_SERVICE_HOST: "10.0.0.1", REKINDLE_PORT: "tcp://10.0.0.1:80" };
    assert.doesNotThrow(() => settingsFor("wake", env));
  });

  test("without a default are unset by an empty variable", () => {
    assert.equal(settingsFor("wake", { ...full, REKINDLE_UPDATES_URL: "" }).updatesUrl, undefined);
  });
});

describe("a document of settings", () => {
  const fenceOf = (more: Readonly<Record<string, string>>): number =>
    settingsFor("reconcile", { ...full, ...more }).fenceMs;

  test("is read from a variable and from a file; single variables come first, the file last", () => {
    const file = fileWith("settings.json", '{"fence":"6s","timeout":"3s"}');
    assert.equal(fenceOf({ REKINDLE_SETTINGS: '{"fence":"7s"}' }), 7_000);
    assert.equal(fenceOf({ REKINDLE_CONFIG: file }), 6_000);
    assert.equal(fenceOf({ REKINDLE_CONFIG: file, REKINDLE_SETTINGS: '{"fence":"7s"}' }), 7_000);
    assert.equal(fenceOf({ REKINDLE_CONFIG: file, REKINDLE_FENCE: "8s" }), 8_000);
  });

  const refused: readonly (readonly [document: string, says: RegExp])[] = [
    ['{"fense":"7s"}', /REKINDLE_SETTINGS: fense \(unknown; did you mean fence\?\)/],
    ['{"dryRun":true}', /REKINDLE_SETTINGS: dryRun \(is a setting of a host/],
    ['{"fence":"soon"}', /REKINDLE_SETTINGS: fence \(write a duration/],
    ["fence: 7s", /REKINDLE_SETTINGS \(functions read settings as JSON/],
    ["[1]", /REKINDLE_SETTINGS \(must hold settings/],
  ];
  for (const [document, says] of refused)
    test(`${document} is refused`, () => assert.throws(() => fenceOf({ REKINDLE_SETTINGS: document }), says));

  test("may not contradict a variable", () => {
    const env = { REKINDLE_SETTINGS: '{"fence":"7s"}', REKINDLE_FENCE: "8s" };
    assert.throws(() => fenceOf(env), /REKINDLE_FENCE \(sets the same setting as REKINDLE_SETTINGS: fence/);
  });

  test("that is a file must exist", () => {
    assert.throws(
      () => fenceOf({ REKINDLE_CONFIG: join(folder, "none.json") }),
      /none\.json \(cannot be read \(ENOENT/,
    );
  });
});

describe("a secret", () => {
  const read = (env: Readonly<Record<string, string>>) => settingsFor("api", { ...full, ...env }).triggerSecret;

  test("is a text, a file, or an ARN", () => {
    const arn = "arn:aws:ssm:eu-west-1:123456789012:parameter/rekindle/trigger";
    assert.deepEqual(read({ REKINDLE_TRIGGER_SECRET: "sixteen letters!" }), { text: "sixteen letters!" });
    assert.deepEqual(read({ REKINDLE_TRIGGER_SECRET: arn }), { arn });
    assert.deepEqual(read({ REKINDLE_TRIGGER_SECRET_FILE: "/etc/secret" }), { file: "/etc/secret" });
    assert.deepEqual(read({ REKINDLE_SETTINGS: '{"triggerSecretFile":"/etc/secret"}' }), { file: "/etc/secret" });
  });

  test("is not two of these", () => {
    const both = { REKINDLE_TRIGGER_SECRET: "sixteen letters!", REKINDLE_TRIGGER_SECRET_FILE: "/etc/secret" };
    assert.throws(() => read(both), /REKINDLE_TRIGGER_SECRET_FILE \(sets the same setting as REKINDLE_TRIGGER_SECRET/);
  });
});

describe("the settings of the command line", () => {
  test("have the place of records by the variables of hosts and functions, and ignore others", () => {
    const table = { in: "dynamodb", table: "records", region: undefined, keepMs: undefined } as const;
    const env = { REKINDLE_CHECKPOINTS: "dynamodb://records", REKINDLE_CLUSTER_ALIAS: "west", REKINDLE_OTHER: "x" };
    assert.deepEqual(settingsForCli(env), {
      cluster: "west",
      checkpoints: table,
      controllerNamespaces: ["spark-operator", "kubeflow", "volcano-system", "kube-system", "rekindle"],
      sparkDefaults: {},
      prices: undefined,
    });
    assert.throws(
      () => settingsForCli({ REKINDLE_CHECKPOINTS: "here" }),
      /^Error: REKINDLE_CHECKPOINTS: write kubernetes/,
    );
  });
});

describe("a function's queues", () => {
  test("must be in the region of the function", () => {
    const env = { REKINDLE_FIFO_URL: full.REKINDLE_FIFO_URL, AWS_REGION: "us-east-1" };
    const expected =
      /^Error: set the function's environment: REKINDLE_FIFO_URL \(its queue is in eu-west-1, AWS_REGION is us-east-1: correct one of them\)$/;
    assert.throws(() => settingsFor("wake", env), expected);
    assert.doesNotThrow(() => settingsFor("wake", { ...full, AWS_REGION: "eu-west-1" }));
  });
});

describe("a function's parts", () => {
  test("are built once, even for simultaneous events", async () => {
    let built = 0;
    const wiring = once(async () => {
      built += 1;
      return built;
    });
    assert.deepEqual(await Promise.all([wiring(), wiring()]), [1, 1]);
    assert.equal(await wiring(), 1);
  });

  test("that could not be built are built again at the next event", async () => {
    let tries = 0;
    const wiring = once(async () => {
      tries += 1;
      if (tries === 1) throw new Error("not yet");
      return tries;
    });
    await assert.rejects(wiring(), /not yet/);
    assert.equal(await wiring(), 2);
  });
});
