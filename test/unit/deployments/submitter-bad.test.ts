/**
 * The submitter's answers to invalid bodies and to a platform in trouble: the contract's codes, and nothing created.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { answer, args, body, objects, refusal, stand, url } from "./handing.ts";

const without = (...names: readonly string[]): string[] =>
  args.filter((arg, at) => !names.includes(arg) && !names.includes(args[at - 1] ?? ""));

const bad: readonly (readonly [name: string, sent: unknown, status: number, code: string, says: RegExp])[] = [
  ["no JSON", "{", 400, "BAD_REQUEST", /^body: /],
  ["a list", [], 400, "BAD_REQUEST", /^body: /],
  ["no id", { ...body, submission_id: undefined }, 400, "BAD_REQUEST", /^submission_id: is missing$/],
  [
    "an id that is no label",
    { ...body, submission_id: "a b" },
    400,
    "BAD_REQUEST",
    /^submission_id: must fit into a label$/,
  ],
  ["no arguments", { ...body, spark_submit_args: undefined }, 400, "BAD_REQUEST", /^spark_submit_args: is missing/],
  ["empty arguments", { ...body, spark_submit_args: [] }, 400, "BAD_REQUEST", /^spark_submit_args: is empty$/],
  [
    "arguments that are no texts",
    { ...body, spark_submit_args: [1] },
    400,
    "BAD_REQUEST",
    /^spark_submit_args\.0: texts are needed$/,
  ],
  [
    "an unknown option",
    { ...body, spark_submit_args: ["--nope", "1", ...args] },
    400,
    "INVALID_SPARK_SUBMIT_ARGS",
    /^--nope is not an option/,
  ],
  [
    "an option without its value",
    { ...body, spark_submit_args: ["--master"] },
    400,
    "INVALID_SPARK_SUBMIT_ARGS",
    /^--master needs a value$/,
  ],
  [
    "client mode",
    { ...body, spark_submit_args: without("--deploy-mode") },
    400,
    "INVALID_SPARK_SUBMIT_ARGS",
    /^--deploy-mode client: /,
  ],
  [
    "another master",
    { ...body, spark_submit_args: ["--master", "yarn", ...without("--master")] },
    400,
    "INVALID_SPARK_SUBMIT_ARGS",
    /^--master "yarn": k8s:/,
  ],
  [
    "a conf without a value",
    { ...body, spark_submit_args: ["--conf", "spark.x", ...args] },
    400,
    "INVALID_SPARK_SUBMIT_ARGS",
    /^--conf "spark\.x": key=value is needed$/,
  ],
  [
    "no program",
    { ...body, spark_submit_args: args.slice(0, -2) },
    400,
    "INVALID_SPARK_SUBMIT_ARGS",
    /^the program is missing/,
  ],
  [
    "no class",
    { ...body, spark_submit_args: without("--class") },
    400,
    "INVALID_SPARK_SUBMIT_ARGS",
    /does not say which class to run/,
  ],
  [
    "a value that Spark refuses",
    { ...body, spark_submit_args: ["--driver-memory", "much", ...args] },
    400,
    "INVALID_SPARK_SUBMIT_ARGS",
    /spark\.driver\.memory: "much" is not a size/,
  ],
  [
    "a file of the operator's disk",
    { ...body, spark_submit_args: ["--jars", "/tmp/x.jar", ...args] },
    400,
    "INVALID_SPARK_SUBMIT_ARGS",
    /x\.jar is a file of the submitting machine/,
  ],
  [
    "a template that is a text",
    { ...body, driver_pod_template: "pod" },
    422,
    "INVALID_POD_TEMPLATE",
    /^driver_pod_template: an object is needed$/,
  ],
  [
    "a template that is no pod",
    { ...body, executor_pod_template: { spec: { containers: "none" } } },
    422,
    "INVALID_POD_TEMPLATE",
    /^executor_pod_template: /,
  ],
];

describe("an invalid submission", () => {
  for (const [name, sent, status, code, says] of bad) {
    it(`with ${name} is answered ${status} ${code}, and creates nothing`, async () => {
      const { simulator, post } = stand();
      const said = await post(sent);
      assert.deepEqual([said.status, said.error_code], [status, code]);
      assert.match(said.message, says);
      assert.deepEqual(objects(simulator), []);
      assert.equal((await post(body)).status, 201, "the next one is not harmed");
    });
  }

  it("is refused by method, by type and by size", async () => {
    const { app, post } = stand();
    for (const method of ["GET", "PUT", "DELETE"]) {
      const response = await app.request(url, { method });
      assert.deepEqual([response.status, answer.parse(await response.json()).error_code], [405, "METHOD_NOT_ALLOWED"]);
    }
    const plain = await post(body, { "content-type": "text/plain" });
    assert.deepEqual([plain.status, plain.error_code], [415, "UNSUPPORTED_MEDIA_TYPE"]);
    const large = await post({ ...body, more: "x".repeat(4_000_000) });
    assert.deepEqual([large.status, large.error_code], [400, "BAD_REQUEST"]);
  });

  const platform: readonly (readonly [status: number, reason: string, answered: number, code: string])[] = [
    [422, "Invalid", 422, "INVALID_POD_TEMPLATE"],
    [429, "TooManyRequests", 503, "SUBMITTER_OVERLOADED"],
    [503, "ServiceUnavailable", 503, "SUBMITTER_OVERLOADED"],
    [403, "Forbidden", 500, "INTERNAL_SERVER_ERROR"],
    [500, "InternalError", 500, "INTERNAL_SERVER_ERROR"],
  ];
  for (const [status, reason, answered, code] of platform) {
    it(`is answered ${answered} ${code} if the API server answers ${status}`, async () => {
      const { post } = stand(({ method }) => (method === "POST" ? refusal(status, reason) : undefined));
      const said = await post(body);
      assert.deepEqual([said.status, said.error_code], [answered, code]);
    });
  }

  it("is no submission beyond the bound of simultaneous ones, which is answered 503", async () => {
    const { post } = stand(undefined, 1);
    const many = await Promise.all([post(body), post(body), post(body)]);
    assert.deepEqual(many.map(({ status }) => status).sort(), [201, 503, 503]);
  });
});
