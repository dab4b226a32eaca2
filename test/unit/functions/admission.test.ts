/** The admission webhook: upstream's defaults and refusals; objects that it cannot read are not harmed. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { admissionApp } from "../../../shared/deployments/admission/app.ts";

const spec = {
  type: "Scala",
  sparkVersion: "4.1.1",
  mainApplicationFile: "local:///a.jar",
  driver: {},
  executor: {},
};

const application = (more: object = {}, metadata: object = {}) => ({
  apiVersion: "sparkoperator.k8s.io/v1beta2",
  kind: "SparkApplication",
  metadata: { name: "pi", namespace: "default", ...metadata },
  spec: { ...spec, ...more },
});

const ours = { group: "sparkoperator.k8s.io", version: "v1beta2", kind: "SparkApplication" };

const reviewOf = (object: unknown, more: object = {}) => ({
  apiVersion: "admission.k8s.io/v1",
  kind: "AdmissionReview",
  request: { uid: "r-1", kind: ours, namespace: "default", operation: "CREATE", object, ...more },
});

type Answer = {
  readonly apiVersion: string;
  readonly response: {
    uid: string;
    allowed: boolean;
    patch?: string;
    patchType?: string;
    status?: { message: string };
  };
};

const app = admissionApp();

const post = async (path: string, review: unknown): Promise<Answer> => {
  const answer = await app.request(path, { method: "POST", body: JSON.stringify(review) });
  assert.equal(answer.status, 200);
  return JSON.parse(await answer.text());
};

const patchIn = ({ response }: Answer): unknown =>
  response.patch === undefined ? [] : JSON.parse(Buffer.from(response.patch, "base64").toString());

const add = (path: string, value: unknown) => ({ op: "add", path, value });

const podDefaults = [
  add("/spec/driver/cores", 1),
  add("/spec/driver/memory", "1g"),
  add("/spec/executor/cores", 1),
  add("/spec/executor/memory", "1g"),
  add("/spec/executor/instances", 1),
];

describe("defaulting by admission", () => {
  const cases = [
    {
      name: "writes the defaults of upstream's webhook",
      object: application(),
      patch: [...podDefaults, add("/spec/mode", "cluster"), add("/spec/restartPolicy", { type: "Never" })],
    },
    {
      name: "keeps written fields, and unknown fields",
      object: application({ mode: "client", restartPolicy: { type: "Never" }, surprise: { a: 1 } }),
      patch: podDefaults,
    },
    {
      name: "writes intervals for a restart policy that retries",
      object: application({ mode: "cluster", restartPolicy: { type: "Always" } }),
      patch: [
        ...podDefaults,
        add("/spec/restartPolicy/onFailureRetryInterval", 5),
        add("/spec/restartPolicy/onSubmissionFailureRetryInterval", 5),
      ],
    },
    {
      name: "omits a default that a conf sets",
      object: application({
        mode: "cluster",
        restartPolicy: { type: "Never" },
        sparkConf: { "spark.driver.cores": "2", "spark.executor.instances": "3" },
      }),
      patch: podDefaults.filter(({ path }) => !/driver\/cores|instances/.test(path)),
    },
    {
      name: "leaves a running application alone",
      object: { ...application(), status: { applicationState: { state: "RUNNING" } } },
      patch: [],
    },
    { name: "leaves a spec that cannot be read to the validation", object: application({ driver: "none" }), patch: [] },
  ];
  for (const { name, object, patch } of cases) {
    test(name, async () => {
      const answer = await post("/mutate", reviewOf(object));
      assert.equal(answer.response.allowed, true);
      assert.deepEqual(
        new Set(JSON.parse(JSON.stringify(patchIn(answer))).map((each: unknown) => JSON.stringify(each))),
        new Set(patch.map((each) => JSON.stringify(each))),
      );
      assert.equal(answer.response.patchType, patch.length === 0 ? undefined : "JSONPatch");
    });
  }

  test("changes nothing in a spec with all fields", async () => {
    const restartPolicy = { type: "Never" };
    const pod = { cores: 1, memory: "1g" };
    const full = application({ mode: "cluster", restartPolicy, driver: pod, executor: { ...pod, instances: 1 } });
    assert.deepEqual(patchIn(await post("/mutate", reviewOf(full))), []);
  });
});

describe("validation by admission", () => {
  const refused = [
    { name: "a name that no service can have", object: application({}, { name: "9pi" }), says: "metadata.name" },
    { name: "a missing field", object: { ...application(), spec: { ...spec, type: undefined } }, says: "spec.type" },
    { name: "an object without a spec", object: { ...application(), spec: undefined }, says: "spec" },
    {
      name: "a conf of the deny list",
      object: application({ sparkConf: { "spark.master": "local" } }),
      says: '"spark.master"',
    },
    {
      name: "another namespace in the conf",
      object: application({ sparkConf: { "spark.kubernetes.namespace": "kube-system" } }),
      says: "spark.kubernetes.namespace",
    },
    {
      name: "node selectors at both levels",
      object: application({ nodeSelector: { a: "b" }, driver: { nodeSelector: { a: "c" } } }),
      says: "node selector",
    },
    {
      name: "a template for an old Spark",
      object: application({ sparkVersion: "2.4.8", executor: { template: {} } }),
      says: "spec.sparkVersion",
    },
    {
      name: "an amount that Spark cannot read",
      object: application({ driver: { memory: "1Gi!" } }),
      says: "spec.driver.memory",
    },
  ];
  for (const { name, object, says } of refused) {
    test(`refuses ${name}, and names the repair`, async () => {
      const { response } = await post("/validate", reviewOf(object));
      assert.deepEqual([response.uid, response.allowed], ["r-1", false]);
      assert.ok(response.status?.message.includes(says), response.status?.message);
    });
  }

  const bad = application({ sparkConf: { "spark.master": "local" } });
  const passed = [
    { name: "a valid application", review: reviewOf(application()) },
    { name: "a generated name", review: reviewOf(application({}, { name: undefined, generateName: "pi-" })) },
    { name: "an update of a bad object's labels", review: reviewOf(bad, { operation: "UPDATE", oldObject: bad }) },
    { name: "the removal of a bad object", review: reviewOf(null, { operation: "DELETE", oldObject: bad }) },
    { name: "an object of another group", review: reviewOf(bad, { kind: { ...ours, group: "example.com" } }) },
    { name: "an unknown kind of the group", review: reviewOf(bad, { kind: { ...ours, kind: "Else" } }) },
  ];
  for (const { name, review } of passed) {
    test(`allows ${name}`, async () => {
      assert.equal((await post("/validate", review)).response.allowed, true);
    });
  }

  test("refuses an update that makes the spec invalid", async () => {
    const review = reviewOf(bad, { operation: "UPDATE", oldObject: application() });
    assert.equal((await post("/validate", review)).response.allowed, false);
  });
});

describe("the admission server", () => {
  const bodies = [
    "",
    "{",
    "null",
    "[]",
    "{}",
    JSON.stringify({ ...reviewOf(application()), apiVersion: "admission.k8s.io/v1beta1" }),
    JSON.stringify({ ...reviewOf(application()), request: undefined }),
    JSON.stringify(reviewOf("text")),
  ];
  for (const body of bodies) {
    test(`answers 400 to ${body.slice(0, 50)}`, async () => {
      for (const path of ["/mutate", "/validate"])
        assert.equal((await app.request(path, { method: "POST", body })).status, 400);
    });
  }

  test("answers 413 to a review with more objects than the parser takes in a moment", async () => {
    const body = `[${Array.from({ length: 100_001 }, () => "{}").join(",")}]`;
    const answer = await admissionApp().request("/validate", { method: "POST", body });
    assert.equal(answer.status, 413);
    assert.match(await answer.text(), /more than 100000 arrays and objects: make the object smaller/);
  });

  test("answers 413 to a body that is larger than any object", async () => {
    const answer = await app.request("/validate", { method: "POST", body: "x".repeat(9 * 1024 * 1024) });
    assert.equal(answer.status, 413);
  });

  const largeEnv = Array.from({ length: 10_000 }, (_, at) => ({ name: `V${at}`, value: "x".repeat(60) }));
  const heavy: readonly (readonly [string, object])[] = [
    ["a megabyte of variables", { driver: { env: largeEnv } }],
    ["a million wrong arguments", { arguments: Array.from({ length: 1_000_000 }, () => 1) }],
    ["the largest number of invalid arguments that it reads", { arguments: Array.from({ length: 49_000 }, () => 1) }],
    ["a megabyte of one name", { driver: { podName: "A".repeat(1_000_000) } }],
    ["a megabyte of one size", { driver: { memory: "1".repeat(1_000_000) } }],
    ["a megabyte of a ratio", { memoryOverheadFactor: "1".repeat(1_000_000) }],
  ];
  for (const [what, changes] of heavy)
    test(`answers for ${what}`, async () => {
      const review = JSON.stringify(reviewOf(application(changes)));
      for (const path of ["/validate", "/mutate"])
        assert.equal((await app.request(path, { method: "POST", body: review })).status, 200);
    });

  test("serves a Lambda function URL, too", async () => {
    const { handler } = await import("../../../functions/admission.ts");
    const event = {
      version: "2.0",
      rawPath: "/validate",
      rawQueryString: "",
      headers: { host: "door", "content-type": "application/json" },
      requestContext: { http: { method: "POST", path: "/validate" } },
      body: Buffer.from(JSON.stringify(reviewOf(application()))).toString("base64"),
      isBase64Encoded: true,
    };
    const answer = await handler(Object.assign(JSON.parse(JSON.stringify(event))));
    assert.equal(answer.statusCode, 200);
    assert.equal(JSON.parse(answer.body ?? "").response.allowed, true);
  });
});
