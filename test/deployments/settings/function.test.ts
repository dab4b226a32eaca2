/** The functions' environment: each is asked for what it uses, and every mistake is named in one line without its value. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { once } from "../../../shared/deployments/common/once.ts";
import { functionSettings, functionVariables } from "../../../shared/deployments/settings/function.ts";
import { hostOnly } from "../../../shared/deployments/settings/names.ts";
import { keyNames, variableName } from "../../../shared/deployments/settings/table.ts";

const record = JSON.stringify({ server: "https://10.0.0.1:6443", ca: "CA", token: "secret-token" });
const full = {
  REKINDLE_CLUSTER_RECORD: record,
  REKINDLE_FIFO_URL: "https://sqs.eu-west-1.amazonaws.com/1/keys.fifo",
  REKINDLE_DELAY_URL: "https://sqs.eu-west-1.amazonaws.com/1/later",
};

type Name = Parameters<typeof functionSettings>[1];

describe("a function's settings", () => {
  test("are read with their defaults", () => {
    const names = [
      "endpoint",
      "cluster",
      "namespaces",
      "selector",
      "fifo",
      "delay",
      "home",
      "windowMs",
      "secret",
    ] as const;
    assert.deepEqual(functionSettings(full, ...names), {
      endpoint: { server: "https://10.0.0.1:6443", ca: "CA", auth: { token: "secret-token" } },
      ...{ cluster: "default", namespaces: [], selector: "", home: "rekindle", windowMs: 50_000, secret: undefined },
      ...{ fifo: full.REKINDLE_FIFO_URL, delay: full.REKINDLE_DELAY_URL },
    });
  });

  test("are those that were asked for, and no other is needed", () => {
    assert.deepEqual(functionSettings({ REKINDLE_FIFO_URL: full.REKINDLE_FIFO_URL }, "fifo"), {
      fifo: full.REKINDLE_FIFO_URL,
    });
    assert.deepEqual(functionSettings({}), {});
  });

  test("with the ARN of a record that is kept elsewhere", () => {
    const stored = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:rekindle/prod-AbCdEf";
    assert.deepEqual(functionSettings({ REKINDLE_CLUSTER_RECORD: stored }, "endpoint"), { endpoint: { stored } });
  });

  test("with a certificate instead of a token", () => {
    const { endpoint } = functionSettings(
      { REKINDLE_CLUSTER_RECORD: '{"server":"https://a","cert":"C","key":"K"}' },
      "endpoint",
    );
    assert.deepEqual(endpoint, { server: "https://a", auth: { cert: "C", key: "K" } });
  });

  const written: readonly { variable: string; text: string; name: Name; value: unknown }[] = [
    { variable: "REKINDLE_NAMESPACES", text: "a,b-1", name: "namespaces", value: ["a", "b-1"] },
    { variable: "REKINDLE_SELECTOR", text: "team in (a,b),!c", name: "selector", value: "team in (a,b),!c" },
    { variable: "REKINDLE_WINDOW", text: "25", name: "windowMs", value: 25_000 },
    { variable: "REKINDLE_WINDOW", text: "900s", name: "windowMs", value: 900_000 },
    { variable: "REKINDLE_CLUSTER_ALIAS", text: "west", name: "cluster", value: "west" },
  ];
  for (const { variable, text, name, value } of written) {
    test(`reads ${variable}=${text}`, () => {
      assert.deepEqual(Object.values(functionSettings({ [variable]: text }, name)), [value]);
    });
  }

  const wrong: readonly { variable: string; text: string | undefined; name: Name; says: RegExp }[] = [
    { variable: "REKINDLE_CLUSTER_RECORD", text: undefined, name: "endpoint", says: /is missing: JSON with server/ },
    { variable: "REKINDLE_CLUSTER_RECORD", text: "{secret", name: "endpoint", says: /JSON with server/ },
    { variable: "REKINDLE_CLUSTER_RECORD", text: '{"token":"secret"}', name: "endpoint", says: /JSON with server/ },
    { variable: "REKINDLE_FIFO_URL", text: undefined, name: "fifo", says: /queue's URL is needed/ },
    { variable: "REKINDLE_FIFO_URL", text: "keys.fifo", name: "fifo", says: /queue's URL is needed/ },
    { variable: "REKINDLE_FIFO_URL", text: full.REKINDLE_DELAY_URL, name: "fifo", says: /is not a FIFO queue/ },
    { variable: "REKINDLE_DELAY_URL", text: full.REKINDLE_FIFO_URL, name: "delay", says: /a standard queue is needed/ },
    { variable: "REKINDLE_NAMESPACES", text: "A,b", name: "namespaces", says: /names separated by commas/ },
    { variable: "REKINDLE_SELECTOR", text: "a in b", name: "selector", says: /label selector/ },
    { variable: "REKINDLE_WINDOW", text: "soon", name: "windowMs", says: /seconds are needed/ },
    { variable: "REKINDLE_WINDOW", text: "0", name: "windowMs", says: /seconds are needed/ },
    { variable: "REKINDLE_TRIGGER_SECRET", text: "secret", name: "secret", says: /at least 16 characters/ },
    { variable: "REKINDLE_LISTEN", text: "8080", name: "listen", says: /an address and a port/ },
  ];
  for (const { variable, text, name, says } of wrong) {
    test(`refuses ${variable}=${text} in one line`, () => {
      assert.throws(
        () => functionSettings({ [variable]: text }, name),
        (error: Error) => {
          assert.match(error.message, says);
          assert.ok(error.message.startsWith(`set the function's environment: ${variable} (`), error.message);
          assert.ok(
            !error.message.includes("\n") && !/secret/.test(error.message.replace(variable, "")),
            error.message,
          );
          return true;
        },
      );
    });
  }

  test("names everything that is wrong at once", () => {
    assert.throws(
      () => functionSettings({ REKINDLE_SELECTOR: "a in b" }, "endpoint", "fifo", "selector"),
      /REKINDLE_CLUSTER_RECORD .*REKINDLE_FIFO_URL .*REKINDLE_SELECTOR/,
    );
  });
});

describe("a function's queues", () => {
  test("are of the region that it asks in", () => {
    const env = { ...full, AWS_REGION: "us-east-1" };
    const expected =
      /^Error: set the function's environment: REKINDLE_FIFO_URL \(its queue is in eu-west-1, AWS_REGION is us-east-1: correct one of them\)$/;
    assert.throws(() => functionSettings(env, "fifo"), expected);
    assert.doesNotThrow(() => functionSettings({ ...env, AWS_REGION: "eu-west-1" }, "fifo", "delay"));
  });
});

describe("a function's wiring", () => {
  test("is built once, also for events that come together", async () => {
    let built = 0;
    const wiring = once(async () => {
      built += 1;
      return built;
    });
    assert.deepEqual(await Promise.all([wiring(), wiring()]), [1, 1]);
    assert.equal(await wiring(), 1);
  });

  test("that could not be built is tried again with the next event", async () => {
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

describe("a host's setting given to a function", () => {
  test("is refused with the name that a function has for it, or with the word that it has none", () => {
    const host = { ...full, REKINDLE_CLUSTER: "a", REKINDLE_RESYNC: "1m", REKINDLE_DRY_RUN: "true" };
    assert.throws(() => functionSettings(host, "fifo"), {
      message:
        "set the function's environment: REKINDLE_CLUSTER (is a setting of a host; a function takes REKINDLE_CLUSTER_ALIAS instead), REKINDLE_RESYNC (is a setting of a host, and functions have none like it; unset it), REKINDLE_DRY_RUN (is a setting of a host, and functions have none like it; unset it)",
    });
  });

  test("is known by name: the list of names is the settings of a host that no function has", () => {
    const ofHost = keyNames.map(variableName).filter((name) => !functionVariables.includes(name));
    assert.deepEqual([...hostOnly].toSorted(), ofHost.toSorted());
  });
});
