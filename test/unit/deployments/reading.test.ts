/**
 * Reads of the api function and their sources: records in a DynamoDB table, too, under the rights that it ships with.
 */
import assert from "node:assert/strict";
import { describe, mock, test } from "node:test";
import { request } from "../../../shared/adapters/kubernetes/requests.ts";
import type { Transport } from "../../../shared/core/http.ts";
import { apiVersionOf, keyKindOf } from "../../../shared/core/object.ts";
import { apiApp } from "../../../shared/deployments/api/app.ts";
import { openApi } from "../../../shared/deployments/api/function.ts";
import { openNamespaceScope } from "../../../shared/deployments/common/namespaces.ts";
import { familiesFor, openGauges, upstreamNaming } from "../../../shared/deployments/host/metrics.ts";
import { openActions } from "../../../shared/deployments/page/actions.ts";
import { openDetails } from "../../../shared/deployments/page/detail.ts";
import { openFunctionPage } from "../../../shared/deployments/page/host.ts";
import { openReviews } from "../../../shared/deployments/page/kube-token.ts";
import { openLogs } from "../../../shared/deployments/page/logs.ts";
import { openWaiting } from "../../../shared/deployments/page/queue-order.ts";
import { openReader } from "../../../shared/deployments/read-api/reader.ts";
import { openReconcile } from "../../../shared/deployments/reconcile/function.ts";
import { shownKinds } from "../../../shared/inspection/kinds/all.ts";
import { functionGrants, functionRules } from "../../../shared/installation/function-rights.ts";
import { featureRulesOf } from "../../../shared/installation/roles.ts";
import { type Feature, families } from "../../../shared/kube/resources.ts";
import { resources } from "../../../shared/registry/names.ts";
import { reviewOf } from "../../../shared/simulator/api/authorization.ts";
import { openSimulator, type Simulator } from "../../../shared/simulator/open.ts";
import { tokenFor } from "../../../shared/simulator/verbs/request.ts";
import { rightsIn, rightText } from "../../real/e2e/rights.ts";
import { crds } from "../../support/crds.ts";
import { openTable } from "../adapters/dynamodb/table.ts";
import { taken } from "../adapters/sqs/fake.ts";
import {
  apacheApplication,
  application,
  connect,
  cronJob,
  jobFlow,
  queue,
  schedule,
  sparkCluster,
  volcanoJob,
} from "../host/objects.ts";
import { applications, onCluster, record, withQueue } from "./surroundings.ts";

const pi = { kind: "SparkApplication", namespace: "default", name: "pi" };
const withoutCheckpoints = crds.filter(({ metadata }) => metadata.name !== "checkpoints.rekindle.dev");
const done = { batchItemFailures: [] };

/** Runs a test with functions whose records are in a table; one step of `pi` is taken. */
const onTable = (act: (env: Readonly<Record<string, string>>, table: string) => Promise<void>): Promise<void> =>
  onCluster(
    ["pi"],
    async (cluster) => {
      const { table } = await openTable();
      await withQueue(taken, async (queues) => {
        const env = { ...queues, ...cluster, REKINDLE_CHECKPOINTS: `dynamodb://${table}` };
        assert.deepEqual(await (await openReconcile(env))({ Records: [record("pi")] }), done);
        await act(env, table);
      });
    },
    withoutCheckpoints,
  );

describe("the api function", () => {
  test("reads the record from the table and the partition that the environment names", async () => {
    await onTable(async (env, table) => {
      const told = async (alias: string): Promise<string | undefined> =>
        (await openApi({ ...env, REKINDLE_CLUSTER_ALIAS: alias }).reader?.find(pi))?.detail.do;
      const none = `Rekindle keeps no record of it (there is none in the table ${table} of the cluster other): another controller runs it, or no host is running: rekindle host`;
      assert.deepEqual([(await told("default"))?.includes("no record"), await told("other")], [false, none]);
    });
  });

  test("lists the objects of the cluster", async () => {
    await onTable(async (env) => {
      const page = await openApi(env).reader?.list({ limit: 1 }, { n: 0 }, []);
      assert.deepEqual(
        page?.items.map(({ name }) => name),
        ["pi"],
      );
    });
  });

  test("whose table is missing logs that, and returns nothing of it to the caller", async () => {
    const log = mock.method(console, "log", () => {});
    try {
      await onTable(async (env) => {
        const before = log.mock.callCount();
        const { reader } = openApi({ ...env, REKINDLE_CHECKPOINTS: "dynamodb://nowhere" });
        await assert.rejects(async () => reader?.find(pi));
        const [line, ...others] = log.mock.calls.slice(before).map(({ arguments: [text] }) => String(text));
        assert.deepEqual(others, []);
        assert.match(line ?? "", /the requested object could not be read.*DynamoDB GetItem nowhere/);
      });
    } finally {
      log.mock.restore();
    }
  });

  test("that reads nothing needs no cluster, and checks the setting of the record store by its syntax", () => {
    const fifo = { REKINDLE_FIFO_URL: "https://sqs.eu-west-1.amazonaws.com/0/keys.fifo" };
    assert.equal(openApi(fifo).reader, undefined);
    assert.throws(() => openApi({ ...fifo, REKINDLE_CHECKPOINTS: "elsewhere" }), /REKINDLE_CHECKPOINTS/);
  });
});

const paths: Readonly<Record<string, string>> = {
  ServiceAccount: "/api/v1/namespaces/rekindle/serviceaccounts",
  ClusterRole: "/apis/rbac.authorization.k8s.io/v1/clusterroles",
  ClusterRoleBinding: "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
  Role: "/apis/rbac.authorization.k8s.io/v1/namespaces/rekindle/roles",
  RoleBinding: "/apis/rbac.authorization.k8s.io/v1/namespaces/rekindle/rolebindings",
};

/**
 * Installs the shipped service account of the function; returns a transport under its token that collects the used
 * rights.
 */
const shippedWay = async ({ transport, store }: Simulator, name = "api", features: readonly Feature[] = ["logs"]) => {
  await request(transport, "POST", "/api/v1/namespaces", { metadata: { name: "rekindle" } });
  for (const object of functionGrants({ namespace: "rekindle", functions: [name], features, families }))
    await request(transport, "POST", paths[object.kind] ?? "", object);
  const account = store.get("serviceaccounts", `rekindle/rekindle-${name}`);
  assert.ok(account);
  const authorization = `Bearer ${tokenFor(account, Date.UTC(2040, 0, 1) / 1_000)}`;
  const used = new Set<string>();
  const refused: string[] = [];
  const own: Transport = {
    ...transport,
    send: async (asked) => {
      const { verb, resource: plural, sub, group } = reviewOf(asked);
      const resource = sub === "" ? plural : `${plural}/${sub}`;
      const answer = await transport.send({ ...asked, headers: { ...asked.headers, authorization } });
      used.add(rightText(verb, resource, group));
      if (answer.status === 403) refused.push(`${verb} ${resource}`);
      return answer;
    },
  };
  return { own, used, refused };
};

const whole = { namespaces: [], report: () => {}, now: Date.now };
const tokens = JSON.stringify([
  { name: "prometheus", tokens: ["a-token-for-prometheus"], may: ["read"] },
  { name: "team", tokens: ["a-token-for-the-team"], may: ["read"], namespaces: ["team-a"] },
]);

const scraped = async (env: Readonly<Record<string, string>>, token?: string) => {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const answer = await apiApp(openApi(env)).request("/metrics", { headers });
  return { status: answer.status, text: await answer.text() };
};

/** Returns the names of the metrics in a scrape. */
const namesIn = (text: string): readonly string[] => [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = ""]) => name);

describe("metrics of the api function", () => {
  const door = { REKINDLE_FIFO_URL: "https://sqs.eu-west-1.amazonaws.com/0/keys.fifo" };

  test("are gauges of the objects, under names that the host has, too", async () => {
    await onCluster(["pi", "other"], async (cluster, _, { transport }) => {
      const path = `${applications}/pi/status`;
      const found = await request(transport, "GET", `${applications}/pi`);
      await request(transport, "PUT", path, {
        ...found,
        status: { driverInfo: {}, applicationState: { state: "RUNNING" } },
      });
      const env = { ...door, ...cluster, REKINDLE_TRIGGER_SECRET: tokens };
      const { status, text } = await scraped(env, "a-token-for-prometheus");
      assert.equal(status, 200);
      assert.match(text, /^spark_application_running_count 1$/m);
      const host = familiesFor(upstreamNaming).map(({ figure }) => figure.name);
      assert.deepEqual(
        namesIn(text).filter((name) => !host.includes(name)),
        [],
      );
      assert.ok(namesIn(text).includes("rekindle_updates_waiting"));
      assert.ok(!namesIn(text).includes("rekindle_steps_total"));
    });
  });

  test("are served to callers that may read every namespace, and to no other", async () => {
    await onCluster([], async (cluster) => {
      const env = { ...door, ...cluster, REKINDLE_TRIGGER_SECRET: tokens };
      assert.equal((await scraped(env)).status, 401);
      assert.equal((await scraped(env, "a-token-for-the-team")).status, 403);
      assert.equal((await scraped({ ...door, ...cluster })).status, 404);
      const { status, text } = await scraped({ ...door, REKINDLE_TRIGGER_SECRET: tokens }, "a-token-for-prometheus");
      assert.deepEqual([status, /REKINDLE_CLUSTER_RECORD/.test(text)], [404, true]);
    });
  });
});

test("a read returns nothing of kinds that are not installed", async () => {
  const reader = openReader(openSimulator({ crds: [] }));
  assert.deepEqual(await reader.list({ limit: 10 }, { n: 0 }, []), { items: [] });
  assert.equal(await reader.find(pi), undefined);
});

/** Reads what the page shows: the lists, and one object of each kind with its events. */
const lookAtPage = async (transport: Transport): Promise<void> => {
  const signIn = { secret: async () => "", hasCallers: true, provider: undefined, kube: undefined };
  const page = openFunctionPage({
    settings: {
      ...{ cluster: "default", prices: undefined, queueCommandNamespaces: ["default"] },
      checkpoints: { in: "kubernetes" },
    },
    ...{ transport, signIn, report: () => {} },
  });
  await page.fresh?.();
  const details = openDetails({ transport, table: page.table }, page.board);
  for (const kind of shownKinds) await details({ ...pi, kind });
  const log = await openLogs({ transport, table: page.table })(pi, { pod: "" });
  assert.equal(log?.pod, "pi-driver");
};

/** Creates an application in a queue of Kueue, and its driver. */
const withDriver = async ({ transport, store }: Simulator): Promise<void> => {
  const made = application("pi");
  const labels = { "kueue.x-k8s.io/queue-name": "team-a" };
  await request(transport, "POST", applications, { ...made, metadata: { ...made.metadata, labels } });
  const owner = store.get("sparkapplications.sparkoperator.k8s.io", "default/pi");
  assert.ok(owner);
  const { apiVersion, kind, metadata } = owner;
  await request(transport, "POST", "/api/v1/namespaces/default/pods", {
    ...{ apiVersion: "v1", kind: "Pod" },
    metadata: {
      name: "pi-driver",
      labels: { "sparkoperator.k8s.io/app-name": "pi", "spark-role": "driver" },
      ownerReferences: [{ apiVersion, kind, name: "pi", uid: metadata.uid, controller: true }],
    },
    spec: { containers: [{ name: "spark-kubernetes-driver", image: "spark" }] },
  });
};

/** Reads the groups that wait in a queue, one of them of a priority class. */
const lookAtQueue = async ({ transport }: Simulator, own: Transport): Promise<void> => {
  await request(transport, "POST", "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups", {
    ...{ apiVersion: "scheduling.volcano.sh/v1beta1", kind: "PodGroup", metadata: { name: "waits" } },
    spec: { minMember: 1, priorityClassName: "system-node-critical" },
  });
  assert.equal((await openWaiting(own)("default", []))?.of, 1);
};

/** Reviews a token of an account, and what it may do. */
const signIn = async ({ store }: Simulator, own: Transport, name: string): Promise<void> => {
  const account = store.get("serviceaccounts", `rekindle/${name}`);
  assert.ok(account);
  const review = openReviews({ transport: own, families, namespaces: async () => [], now: Date.now });
  await review(tokenFor(account, Date.UTC(2040, 0, 1) / 1_000));
};

test("the api function's reads use each of its rights, and need no other", async () => {
  const simulator = openSimulator({ crds });
  await withDriver(simulator);
  const { own, used, refused } = await shippedWay(simulator);
  const reader = openReader({ transport: own });
  for (const kind of shownKinds) {
    await reader.list({ kind, limit: 10 }, { n: 0 }, []);
    await reader.find({ ...pi, kind });
  }
  await lookAtPage(own);
  await openGauges({
    ...{ naming: upstreamNaming, transport: own, families, now: () => 0 },
    namespaceScope: openNamespaceScope({ ...whole, transport: own }),
  })();
  await lookAtQueue(simulator, own);
  await signIn(simulator, own, "rekindle-api");
  const granted = rightsIn(functionRules["api"] ?? []).filter((right) => !rightsOfActions.includes(right));
  assert.deepEqual([refused, [...used].sort()], [[], granted.sort()]);
});

const rightsOfActions = featureRulesOf("actions", families).flatMap(({ apiGroups: [group = ""], resources, verbs }) =>
  resources.flatMap((resource) => verbs.map((verb) => rightText(verb, resource, group))),
);

for (const name of ["api", "dispatch"])
  test(`the actions of the page use each right of their feature, and need no other: ${name}`, async () => {
    const simulator = openSimulator({ crds });
    const { own, used, refused } = await shippedWay(simulator, name, ["actions"]);
    const objects = [
      ...[
        application("pi"),
        schedule("often", { schedule: "@every 1h" }),
        connect("server"),
        apacheApplication("apache"),
        sparkCluster("cluster"),
        volcanoJob("gang", { runMs: 1_000 }),
      ],
      ...[cronJob("minutely", { runMs: 1_000 }), ...jobFlow("flow", ["one"], { runMs: 1_000 }), queue],
    ].filter(({ kind }) => kind !== "JobTemplate");
    const parts = { report: () => {}, commandNamespace: "default", now: Date.now, advice: "" };
    const actions = openActions({ ...parts, transport: own });
    const viewer = { name: "ops", namespaces: [], id: "ops", grants: [{ ability: "act" as const, namespaces: [] }] };
    for (const object of objects) {
      const { apiVersion, kind, metadata } = object;
      const plural = `${kind.toLowerCase()}s`;
      const at = `/apis/${apiVersion}${kind === "Queue" ? "" : "/namespaces/default"}/${plural}`;
      await request(simulator.transport, "POST", at, object);
      const seen = async () => {
        const found = simulator.store.get(
          `${plural}.${apiVersion.split("/")[0]}`,
          kind === "Queue" ? metadata.name : `default/${metadata.name}`,
        );
        assert.ok(found);
        return { uid: found.metadata.uid, version: found.metadata.resourceVersion };
      };
      const resource = resources.find((one) => one.kind === kind && apiVersionOf(one) === apiVersion);
      assert.ok(resource, kind);
      const named = { kind: keyKindOf(resource), namespace: "default", name: metadata.name };
      const answers =
        kind === "Queue"
          ? [await actions.operate(viewer, metadata.name, { action: "close", ...(await seen()), once: "close-it" })]
          : [
              await actions.act(viewer, named, { action: "pause", ...(await seen()), once: `pause ${named.kind}` }),
              await actions.act(viewer, named, { action: "delete", ...(await seen()), once: `delete ${named.kind}` }),
            ];
      for (const { status, body } of answers) assert.equal(status, 200, `${kind}: ${JSON.stringify(body)}`);
    }
    assert.deepEqual(refused, []);
    assert.deepEqual(
      rightsOfActions.filter((right) => !used.has(right)),
      [],
    );
  });

test("the page of a dispatcher needs only the rights of the dispatcher's account", async () => {
  const simulator = openSimulator({ crds });
  await withDriver(simulator);
  const { own, used, refused } = await shippedWay(simulator, "dispatch");
  await lookAtPage(own);
  await lookAtQueue(simulator, own);
  await signIn(simulator, own, "rekindle-dispatch");
  assert.deepEqual(refused, []);
  const needed = [
    ...["get sparkapplications.sparkoperator.k8s.io", "get pods/log", "get priorityclasses.scheduling.k8s.io"],
    "list workloads.kueue.x-k8s.io",
    ...["create tokenreviews.authentication.k8s.io", "create subjectaccessreviews.authorization.k8s.io"],
  ];
  assert.deepEqual(
    needed.filter((right) => !used.has(right)),
    [],
  );
});
