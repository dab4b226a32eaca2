/** Splitting of a command line as Spark's own code does it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { rulesFor } from "../../../../shared/spark/configuration/versions.ts";
import { javaOptions, splitCommand } from "../../../../shared/spark/executor-pod/container.ts";

describe("splitCommand", () => {
  const rows: readonly (readonly [text: string, words: readonly string[]])[] = [
    ["", []],
    ["  -Da=1   -Db=2 ", ["-Da=1", "-Db=2"]],
    ["-Da='x y'", ["-Da=x y"]],
    ['-Da="x y"z', ["-Da=x yz"]],
    ['"a\\"b"', ['a"b']],
    ["'a\\b'", ["a\\b"]],
    ["a\\b", ["a\\b"]],
    ["''", [""]],
    ["'open ended", ["open ended"]],
    ['"it\'s"', ["it's"]],
  ];
  for (const [text, words] of rows) {
    test(JSON.stringify(text), () => assert.deepEqual(splitCommand(text), words));
  }
});

describe("javaOptions", () => {
  const options = (confs: Readonly<Record<string, string>>, version = "4.1.1"): readonly string[] => {
    const conf = new Map(Object.entries(confs));
    return javaOptions({ conf, written: conf, rules: rulesFor(version), applicationId: "app", executorId: "7" });
  };

  test("start with the default options, and end with the user's options, with ids filled in", () => {
    const all = options({
      "spark.executor.defaultJavaOptions": "-Dfirst",
      "spark.executor.extraJavaOptions": "-Dlast={{APP_ID}}-{{EXECUTOR_ID}}",
    });
    assert.equal(all[0], "-Dfirst");
    assert.equal(all[1], "-Djava.net.preferIPv6Addresses=false");
    assert.equal(all.at(-1), "-Dlast=app-7");
  });

  const rows: readonly (readonly [key: string, given: boolean, version?: string])[] = [
    ["spark.driver.port", true],
    ["spark.rpc.askTimeout", true],
    ["spark.network.timeout", true],
    ["spark.authenticate", true],
    ["spark.authenticate.secret", false],
    ["spark.port.maxRetries", true],
    ["spark.ssl.enabled", true],
    ["spark.ssl.enabled", false, "3.5.8"],
    ["spark.ssl.keyPassword", false],
    ["spark.executor.memory", false],
  ];
  for (const [key, given, version] of rows) {
    test(`have ${given ? "" : "not "}the conf ${key} (${version ?? "4.1.1"})`, () => {
      assert.equal(options({ [key]: "1" }, version).includes(`-D${key}=1`), given);
    });
  }
});
