/** Evaluates the template as CloudFormation and Lambda do: finds its defects before a deployment. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as z from "zod";
import { parametersOf } from "../../../infra/aws/parameters.ts";
import { readTemplate } from "../../../infra/aws/template.ts";
import openApi from "../../../shared/api/openapi.json" with { type: "json" };
import { template, templateText as text } from "../../support/aws-template.ts";
import { routeOf } from "./door.ts";
import { grants } from "./guard.ts";
import { stackOf } from "./stack.ts";

const record = "arn:aws:secretsmanager:eu-west-1:000000000000:secret:rekindle/e2e-AbCdEf";

const stackWith = (more: Readonly<Record<string, string>>, changed = template) => {
  const { values, problems } = parametersOf(changed, { Alias: "e2e", ClusterRecord: record, ...more });
  assert.deepEqual(problems, []);
  return stackOf(changed, values, (name) => `https://queue/${name}`);
};

const namesIn = (stack: ReturnType<typeof stackWith>): readonly string[] => stack.functions.map(({ id }) => id);

const sourcesOf = (stack: ReturnType<typeof stackWith>, name: string) =>
  stack.functions.find(({ id }) => id === name)?.sources ?? [];

describe("the template, deployed", () => {
  test("tells functions where queues and records are", () => {
    const { functions } = stackWith({ KeepDays: "7" });
    const { environment } = functions.find(({ id }) => id === "reconcile") ?? {};
    assert.equal(environment?.["REKINDLE_FIFO_URL"], "https://queue/rekindle-e2e-keys.fifo");
    assert.equal(environment["REKINDLE_CLUSTER"], "e2e");
    assert.equal(environment["REKINDLE_CHECKPOINTS"], "dynamodb://rekindle-e2e?keepDays=7");
  });

  test("has a table and admission only where somebody asks for them", () => {
    const [without, all] = [stackWith({ Checkpoints: "kubernetes" }), stackWith({ AdmissionPath: "0123456789abcdef" })];
    assert.deepEqual([without.table, namesIn(without).includes("admission")], [undefined, false]);
    assert.deepEqual([all.table?.TableName, namesIn(all).includes("admission")], ["rekindle-e2e", true]);
    const granted = without.functions.flatMap(({ statements }) => statements).flatMap(({ Action }) => Action);
    assert.equal(
      granted.some((action) => action.startsWith("dynamodb:")),
      false,
    );
  });

  test("takes batches of ten with partial answers, and gives up after ten receives", () => {
    const stack = stackWith({ Concurrency: "7" });
    assert.deepEqual(sourcesOf(stack, "reconcile"), [
      {
        ...{ from: "queue", arn: "arn:aws:sqs:eu-west-1:000000000000:rekindle-e2e-keys.fifo", batchSize: 10 },
        ...{ enabled: true, partial: true, concurrency: 7 },
      },
    ]);
    const { RedrivePolicy, VisibilityTimeout } = stack.queues.get("Keys") ?? {};
    assert.deepEqual([RedrivePolicy?.maxReceiveCount, VisibilityTimeout], [10, 90]);
  });

  test("hands the forwarder its look where one is set, and refuses what is no duration", () => {
    const inputs = ["500ms", ""].map((ForwardLook) =>
      sourcesOf(stackWith({ ForwardLook }), "forward").map((source) => ("input" in source ? source.input : "none")),
    );
    assert.deepEqual(inputs, [['{"look":"500ms"}'], [undefined]]);
    assert.throws(() => stackWith({ ForwardLook: "soon" }), /ForwardLook/);
  });

  test("begins nothing where it is not to work", () => {
    const { functions } = stackWith({ Working: "DISABLED" });
    const sources = functions.flatMap((one) => one.sources).filter(({ from }) => from !== "route");
    assert.ok(sources.length > 4);
    assert.deepEqual(
      sources.filter((source) => "enabled" in source && source.enabled),
      [],
    );
  });

  test("has a route to api for everything that its document describes, and for the document", () => {
    const lambda = {
      definition: Object(undefined),
      invoke: Object(undefined),
      cool: async () => {},
      stop: async () => {},
    };
    const routes = sourcesOf(stackWith({}), "api").flatMap((one) => (one.from === "route" ? [{ ...one, lambda }] : []));
    const asked = Object.entries({ ...openApi.paths, "/openapi.json": { get: {} } }).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => [method.toUpperCase(), path.replaceAll(/\{\w+\}/g, "a")] as const),
    );
    assert.ok(asked.length > 9);
    assert.deepEqual(
      asked.filter(([method, path]) => routeOf(routes, method, path) === undefined),
      [],
    );
  });

  test("lets api read the cluster by a record of its own, where there is one", () => {
    const reader = "arn:aws:secretsmanager:eu-west-1:000000000000:secret:rekindle/reader-AbCdEf";
    const recordIn = (more: Readonly<Record<string, string>>) => {
      const { environment, statements = [] } = stackWith(more).functions.find(({ id }) => id === "api") ?? {};
      const granted = statements.filter(({ Action }) => Action.includes("secretsmanager:GetSecretValue"));
      return [environment?.["REKINDLE_CLUSTER_RECORD"], granted.flatMap(({ Resource }) => Resource)];
    };
    assert.deepEqual(recordIn({}), [record, [record]]);
    assert.deepEqual(recordIn({ ReaderRecord: reader }), [reader, [reader]]);
  });

  test("lets every function with the record read it, whether it is a secret or a parameter", () => {
    const parameter = "arn:aws:ssm:eu-west-1:000000000000:parameter/rekindle/e2e";
    const readers = stackWith({ ClusterRecord: parameter }).functions.filter(
      ({ environment }) => environment["REKINDLE_CLUSTER_RECORD"] === parameter,
    );
    assert.deepEqual(
      readers.map(({ id, statements }) => [
        id,
        statements.some(
          ({ Action, Resource }) => Action.includes("ssm:GetParameter") && [Resource].flat().includes(parameter),
        ),
      ]),
      ["reconcile", "deliver", "forward", "resync", "api"].map((id) => [id, true]),
    );
  });

  test("with StatusUpdates: DISABLED polls no queue for them, and no function writes to it", () => {
    const { functions } = stackWith({ StatusUpdates: "DISABLED" });
    const told = functions.filter(({ environment }) => environment["REKINDLE_UPDATES_URL"] !== undefined);
    assert.deepEqual(
      told.map(({ id }) => id),
      ["deliver"],
    );
    const polls = (given: Readonly<Record<string, string>>) =>
      stackWith(given)
        .functions.filter(({ sources }) => JSON.stringify(sources).includes('"enabled":true'))
        .map(({ id }) => id);
    assert.ok(polls({}).includes("deliver"));
    assert.ok(!polls({ StatusUpdates: "DISABLED" }).includes("deliver"));
  });

  test("hands submissions a record of their own, and lets them read no other", () => {
    const own = "arn:aws:secretsmanager:eu-west-1:000000000000:secret:rekindle/submitter-AbCdEf";
    const stack = stackWith({ Submissions: "ENABLED", SubmitterRecord: own });
    const { environment, statements = [] } = stack.functions.find(({ id }) => id === "submitter") ?? {};
    const granted = statements.filter(({ Action }) => Action.includes("secretsmanager:GetSecretValue"));
    assert.deepEqual(
      [environment?.["REKINDLE_CLUSTER_RECORD"], granted.flatMap(({ Resource }) => Resource)],
      [own, [own]],
    );
    const { Rules } = z.looseObject({ Rules: z.record(z.string(), z.unknown()) }).parse(template);
    assert.deepEqual(Rules["SubmissionsAndRecord"], {
      RuleCondition: { "Fn::Equals": [{ Ref: "Submissions" }, "ENABLED"] },
      Assertions: [
        {
          Assert: { "Fn::Not": [{ "Fn::Equals": [{ Ref: "SubmitterRecord" }, ""] }] },
          AssertDescription:
            "Submissions need SubmitterRecord, a record whose account has only the rights of submissions",
        },
      ],
    });
  });

  const throttles = z.object({
    DefaultRouteSettings: z.unknown(),
    RouteSettings: z.record(
      z.string(),
      z.object({ ThrottlingRateLimit: z.unknown(), ThrottlingBurstLimit: z.unknown() }),
    ),
  });
  const routesOf = (resource: string) => {
    const shape = z.looseObject({
      Events: z.record(z.string(), z.looseObject({ Properties: z.record(z.string(), z.unknown()) })),
    });
    return Object.values(shape.parse(template.Resources[resource]?.Properties).Events).map(
      ({ Properties: { ApiId, Method, Path } }) => ({
        door: z.object({ Ref: z.string() }).parse(ApiId).Ref,
        key: `${Method} ${Path}`,
      }),
    );
  };

  test("throttles strangers, triggers of each kind and acknowledgements apart from each other and from what is read", () => {
    const { RouteSettings } = throttles.parse(template.Resources["Door"]?.Properties);
    const routes = routesOf("Api").map(({ key }) => key);
    const apart = Object.keys(RouteSettings);
    assert.deepEqual(
      apart.filter((key) => !routes.includes(key)),
      [],
      "CloudFormation refuses the settings of no route",
    );
    const together = routes.filter((key) => !apart.includes(key));
    const reading = ["/applications", "/applications/{proxy+}", "/jobs", "/metrics", "/page", "/page/{proxy+}"];
    assert.deepEqual(
      together.sort(),
      reading.map((path) => `GET ${path}`),
    );
  });

  test("asks admission at a door of its own, so that strangers at the other one switch nothing off", () => {
    assert.deepEqual([...new Set(routesOf("Api").map(({ door }) => door))], ["Door"]);
    assert.deepEqual([...new Set(routesOf("Admission").map(({ door }) => door))], ["AdmissionDoor"]);
  });

  const mistakes: readonly (readonly [from: string, to: string, expected: RegExp])[] = [
    ["REKINDLE_FIFO_URL: !Ref Keys", "REKINDLE_FIFO_URL: !Ref Kyes", /no resource or parameter Kyes/],
    ["Type: AWS::Logs::LogGroup", "Type: AWS::SNS::Topic", /nobody here knows ReconcileLog, AWS::SNS::Topic/],
    ["Handler: wake.handler", "Handler: wake.main", /Handler/],
    ["BatchSize: 10", "BatchSizes: 10", /BatchSizes/],
    ["ReportBatchItemFailures", "ReportBatchFailures", /ReportBatchItemFailures/],
    ["Schedule: !Ref ResyncEvery", "Schedule: every five minutes", /is no rate/],
    ["VisibilityTimeout: 90", "VisibilitySeconds: 90", /VisibilitySeconds/],
  ];
  for (const [from, to, expected] of mistakes) {
    test(`with ${to} is none`, () => {
      assert.ok(text.includes(from));
      assert.throws(() => stackWith({}, readTemplate(text.replaceAll(from, to))), expected);
    });
  }
});

describe("a role's statements", () => {
  const keys = "arn:aws:sqs:eu-west-1:000000000000:keys.fifo";
  const statements = [{ Effect: "Allow" as const, Action: ["sqs:Send*"], Resource: [keys] }];
  const rows: readonly (readonly [string, string, boolean])[] = [
    ["sqs:SendMessage", keys, true],
    ["sqs:ReceiveMessage", keys, false],
    ["sqs:SendMessage", `${keys}x`, false],
    ["sqs:SendMessage", keys.replace(".fifo", "xfifo"), false],
  ];
  for (const [action, resource, expected] of rows) {
    test(`${expected ? "grant" : "do not grant"} ${action} on ${resource}`, () => {
      assert.equal(grants(statements, action, resource), expected);
    });
  }
});

describe("a route", () => {
  const lambda = {
    definition: Object(undefined),
    invoke: Object(undefined),
    cool: async () => {},
    stop: async () => {},
  };
  const route = (method: string, path: string) => ({ from: "route" as const, method, path, lambda });
  const routes = [route("POST", "/{secret}/{proxy+}"), route("POST", "/reconcile/{proxy+}"), route("GET", "/healthz")];
  const rows: readonly (readonly [string, string, string | undefined])[] = [
    ["POST", "/reconcile/Job/ns/a", "/reconcile/{proxy+}"],
    ["POST", "/something/validate", "/{secret}/{proxy+}"],
    ["GET", "/healthz", "/healthz"],
    ["GET", "/reconcile/Job/ns/a", undefined],
    ["POST", "/alone", undefined],
  ];
  for (const [method, path, expected] of rows) {
    test(`of ${method} ${path} is ${expected}`, () => {
      assert.equal(routeOf(routes, method, path)?.path, expected);
    });
  }
});
