/** A simulated cluster with one object of some kinds, and its page with callers of several abilities. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { Hono } from "hono";
import { callers, identifier } from "../../../../shared/api/callers.ts";
import { openGate } from "../../../../shared/deployments/common/authentication.ts";
import { callersOnly, openSecretSessions } from "../../../../shared/deployments/page/access.ts";
import { openActions, type Trigger } from "../../../../shared/deployments/page/actions.ts";
import { openBoard } from "../../../../shared/deployments/page/board.ts";
import { openDetails } from "../../../../shared/deployments/page/detail.ts";
import { servePage } from "../../../../shared/deployments/page/routes.ts";
import type { Report } from "../../../../shared/engine/ports.ts";
import { actionHeader } from "../../../../shared/page/wire.ts";
import { openSimulator, type Simulator } from "../../../../shared/simulator/open.ts";
import { crds } from "../../../support/crds.ts";
import { application, cronJob, queue, volcanoJob } from "../../host/objects.ts";

export const token = (of: string): string => `a-token-of-sixteen-and-more-of-${of}`;
const setting = JSON.stringify([
  { name: "operator", tokens: [token("operator")], may: ["read", "act", "trigger"] },
  { name: "team-a", tokens: [token("team-a")], may: ["read", "act"], namespaces: ["team-a"] },
  { name: "reader", tokens: [token("reader")], may: ["read"] },
]);

export const paths: Readonly<Record<string, string>> = {
  SparkApplication: "/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications",
  Job: "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs",
  CronJob: "/apis/batch.volcano.sh/v1alpha1/namespaces/default/cronjobs",
  Queue: "/apis/scheduling.volcano.sh/v1beta1/queues",
};

export const ask = (simulator: Simulator, method: "GET" | "POST" | "PATCH", path: string, body?: object) => {
  const headers = {
    "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json",
  };
  const text = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = simulator.handle({ method, path, headers, ...text });
  return { status: answer.status, object: JSON.parse(answer.body) };
};

const objects = [
  application("etl"),
  volcanoJob("gang", { runMs: 1_000 }),
  cronJob("often", { runMs: 1_000 }),
  { ...queue, metadata: { name: "batch" } },
];

type Line = Readonly<Record<string, unknown>>;

export const open = (options: { readonly trigger?: Trigger; readonly commandNamespace?: string } = {}) => {
  const simulator = openSimulator({ start: Date.parse("2026-11-02T08:00:00Z"), crds });
  for (const object of objects) {
    const { status, object: created } = ask(simulator, "POST", paths[object.kind] ?? "", object);
    assert.equal(status, 201, JSON.stringify(created));
  }
  const { transport } = simulator;
  const lines: Line[] = [];
  const report: Report = (_, message, fields) => void lines.push({ message, ...fields });
  const { trigger, commandNamespace = "default" } = options;
  const actions = openActions({
    ...{ transport, report, commandNamespace, trigger, advice: "; see --features actions" },
    now: () => Date.parse("2026-11-02T08:00:00Z"),
  });
  const board = openBoard(Date.now);
  const details = openDetails({ transport }, board);
  const app = new Hono();
  const identify = identifier(callers.parse(JSON.parse(setting)), { now: Date.now, subjectOf: async () => undefined });
  servePage(
    app,
    {
      ...{ board, details, actions, cluster: "test", ready: () => true, isStreamed: true },
      logs: async () => undefined,
      files: async () => ({ script: "1", style: "a{}", parts: [] }),
    },
    callersOnly(
      openGate(identify),
      openSecretSessions(async () => setting),
      { hasCallers: true },
    ),
  );
  const seen = (kind: string, name: string) => {
    const { uid, resourceVersion: version } = ask(simulator, "GET", `${paths[kind]}/${name}`).object.metadata;
    return { uid, version };
  };
  const get = (kind: string, name: string) => ask(simulator, "GET", `${paths[kind]}/${name}`);
  return { simulator, app, lines, seen, get, transport };
};

type Sent = {
  readonly caller?: string;
  readonly once?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

export const send = async (
  { app }: Pick<ReturnType<typeof open>, "app">,
  path: string,
  body: object,
  { caller = "operator", once = randomUUID(), headers = {} }: Sent = {},
) => {
  const answer = await app.request(`/page/action/${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token(caller)}`,
      ...{ "content-type": "application/json", "idempotency-key": once, [actionHeader]: "1" },
      ...headers,
    },
    body: JSON.stringify(body),
  });
  const { text, error, version }: { text?: string; error?: string; version?: string } = JSON.parse(await answer.text());
  return { status: answer.status, text: text ?? error ?? "", version };
};

export const etl = "SparkApplication/default/etl";
export const gang = "Job/default/gang";
