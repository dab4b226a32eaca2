/** Admission under a secret path: other paths answer as if there were nothing. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { openAdmissionApp } from "../../../../shared/deployments/admission/function.ts";
import { application } from "../../host/objects.ts";

const secret = "a-path_that-nobody-knows";
const body = JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request: { uid: "u" } });
const statusOf = async (env: Record<string, string>, path: string): Promise<number> =>
  (await (await openAdmissionApp(env)).request(path, { method: "POST", body })).status;

const rows: readonly (readonly [env: Record<string, string>, path: string, found: boolean])[] = [
  [{ REKINDLE_ADMISSION_PATH: secret }, `/${secret}/mutate`, true],
  [{ REKINDLE_ADMISSION_PATH: secret }, `/${secret}/validate`, true],
  [{ REKINDLE_ADMISSION_PATH: secret }, "/mutate", false],
  [{ REKINDLE_ADMISSION_PATH: secret }, `/${secret.slice(1)}/mutate`, false],
  [{ REKINDLE_ADMISSION_PATH: secret }, `/x/${secret}/mutate`, false],
  [{ REKINDLE_ADMISSION_PATH: `${secret}-2,${secret}` }, `/${secret}/mutate`, true],
  [{ REKINDLE_ADMISSION_PATH: `${secret}-2,${secret}` }, `/${secret}-2/mutate`, true],
  [{ REKINDLE_ADMISSION_PATH: `${secret}-2,${secret}` }, `/${secret}-3/mutate`, false],
  [{}, "/mutate", true],
];

describe("admission", () => {
  for (const [env, path, found] of rows) {
    test(`${found ? "answers" : "does not answer"} at ${path} with ${Object.keys(env).length} settings`, async () => {
      assert.equal((await statusOf(env, path)) !== 404, found);
    });
  }

  test("behind a URL judges with the confs of the deployment", async () => {
    const object = { ...application("pi"), metadata: { name: "pi", namespace: "default" } };
    const kind = { group: "sparkoperator.k8s.io", version: "v1beta2", kind: "SparkApplication" };
    const request = { uid: "u", operation: "CREATE", namespace: "default", kind, object };
    const review = JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request });
    const app = await openAdmissionApp({ REKINDLE_SPARK_DEFAULTS: JSON.stringify({ "spark.jars": "/tmp/a.jar" }) });
    const asked = async () => await (await app.request("/validate", { method: "POST", body: review })).text();
    let answer = await asked();
    // A busy machine judges nothing.
    for (let left = 50; answer.includes("the machine was busy") && left > 0; left--) answer = await asked();
    assert.match(answer, /its submission will fail: \/tmp\/a\.jar/);
  });

  test("refuses a short path, which could be guessed", async () => {
    await assert.rejects(openAdmissionApp({ REKINDLE_ADMISSION_PATH: "short" }), /REKINDLE_ADMISSION_PATH/);
  });
});
