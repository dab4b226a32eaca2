/**
 * No SparkApplication creates a Secret: values that Spark's client reads from its own disk or confs are refused, with a
 * remedy.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { specSchema } from "../../../../shared/spark/schema/application.ts";
import { submit } from "../../../../shared/spark/submission/submit.ts";

const asked = (sparkConf: Readonly<Record<string, string>>) =>
  submit({
    app: { name: "pi", namespace: "jobs", uid: "u-1" },
    spec: specSchema.parse({
      type: "Scala",
      sparkVersion: "4.1.1",
      image: "spark:4.1.1",
      mainClass: "org.example.Pi",
      mainApplicationFile: "local:///opt/pi.jar",
      driver: {},
      executor: {},
      sparkConf,
    }),
    attempt: 1,
    submittedAt: 1_700_000_000_000,
    apiServer: "https://kubernetes.default.svc",
  });

const authenticate = "spark.kubernetes.authenticate";

describe("credentials", () => {
  const refused: readonly (readonly [key: string, value: string, message: RegExp])[] = [
    [`${authenticate}.driver.oauthToken`, "t0ken", /credentials are not taken from sparkConf/],
    [`${authenticate}.executor.oauthToken`, "t0ken", /credentials are not taken from sparkConf/],
    [`${authenticate}.oauthToken`, "t0ken", /credentials are not taken from sparkConf/],
    [`${authenticate}.driver.oauthTokenFile`, "/t", /credentials are not taken from sparkConf/],
    [`${authenticate}.driver.caCertFile`, "/ca.crt", /\/ca\.crt does not exist on the submitting machine: put it into/],
    [`${authenticate}.driver.clientKeyFile`, "/k", /\/k does not exist on the submitting machine/],
    [`${authenticate}.driver.clientCertFile`, "/c", /\/c does not exist on the submitting machine/],
    ["spark.kubernetes.kerberos.krb5.path", "/krb5.conf", /does not exist on the submitting machine/],
  ];
  for (const [key, value, message] of refused) {
    test(`with ${key} are refused, and the message has no value of a secret`, () => {
      const result = asked({ [key]: value });
      assert.ok("refused" in result);
      assert.match(result.refused, message);
      assert.doesNotMatch(result.refused, /t0ken/);
    });
  }

  test("with a keytab on the submitter's disk are refused, with one in the image they are not", () => {
    const principal = { "spark.kerberos.principal": "p" };
    const local = asked({ ...principal, "spark.kerberos.keytab": "/kt" });
    assert.ok("refused" in local);
    assert.match(local.refused, /\/kt does not exist/);
    assert.ok(!("refused" in asked({ ...principal, "spark.kerberos.keytab": "local:///kt" })));
  });

  test("that exist in the cluster are mounted, and no Secret is created", () => {
    const result = asked({
      [`${authenticate}.driver.mounted.oauthTokenFile`]: "/var/run/token",
      "spark.kubernetes.kerberos.tokenSecret.name": "tokens",
      "spark.kubernetes.kerberos.tokenSecret.itemKey": "hadoop",
      "spark.kubernetes.driver.secrets.key": "/etc/key",
    });
    assert.ok(!("refused" in result), "refused" in result ? result.refused : "");
    assert.deepEqual([...new Set(result.before.map(({ kind }) => kind))].sort(), ["ConfigMap", "Service"]);
  });
});
