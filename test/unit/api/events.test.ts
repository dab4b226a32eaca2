/** External events and the keys that they request, one row per shape; any other event requests nothing. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { alertIntents, eventIntents, type Intent } from "../../../shared/api/events.ts";
import { naming, plurals } from "../../../shared/registry/names.ts";

const now = Date.parse("2026-11-02T08:00:00Z");
const kinds = ["SparkApplication", "Job"];
const reading = { kinds, plurals, naming, now };

const said = (intents: readonly Intent[] | undefined): readonly string[] | undefined =>
  intents?.map((intent) => {
    if (intent.do === "nothing") return `nothing: ${intent.why}`;
    if (intent.do === "step") return `step ${intent.kind}/${intent.namespace}/${intent.name} for ${intent.event}`;
    if (intent.until === undefined) return `${intent.node} stays for ${intent.event}`;
    return `${intent.node} goes at ${new Date(intent.until).toISOString().slice(11, 19)} for ${intent.event}`;
  });

type Row = {
  readonly name: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly asks: readonly string[] | undefined;
};

const cloud = { specversion: "1.0", id: "7", source: "/ci", type: "com.acme.done", time: "2026-11-02T08:00:00Z" };
const structured = { "content-type": "application/cloudevents+json; charset=utf-8" };
const spot = {
  ...{ version: "0", id: "e-1", source: "aws.ec2", account: "123456789012", region: "eu-west-1", resources: [] },
  ...{ "detail-type": "EC2 Spot Instance Interruption Warning", time: "2026-11-02T08:00:00Z" },
  detail: { "instance-id": "i-0123456789abcdef0", "instance-action": "terminate" },
};

const rows: readonly Row[] = [
  {
    name: "a structured event whose subject is an object",
    headers: structured,
    body: { ...cloud, subject: "SparkApplication/default/pi" },
    asks: ["step SparkApplication/default/pi for /ci 7"],
  },
  {
    name: "a structured event in binary mode",
    headers: { "ce-specversion": "1.0", "ce-id": "7", "ce-source": "/ci", "ce-type": "x", "ce-subject": "Job/a/b" },
    body: "not JSON at all",
    asks: ["step Job/a/b for /ci 7"],
  },
  {
    name: "a batch",
    headers: { "content-type": "application/cloudevents-batch+json" },
    body: [{ ...cloud, subject: "Job/a/b" }, cloud],
    asks: ["step Job/a/b for /ci 7", "nothing: its subject names no object that Rekindle runs"],
  },
  {
    name: "an event whose subject is a path, as Knative's source writes it",
    headers: structured,
    body: { ...cloud, subject: "/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications/pi" },
    asks: ["step SparkApplication/default/pi for /ci 7"],
  },
  {
    name: "an event whose subject is the path of another operator's SparkApplication",
    headers: structured,
    body: { ...cloud, subject: "/apis/spark.apache.org/v1/namespaces/default/sparkapplications/pi" },
    asks: ["nothing: kind must be one of SparkApplication, Job"],
  },
  {
    name: "an event whose subject is the path of a Job of Kubernetes",
    headers: structured,
    body: { ...cloud, subject: "/apis/batch/v1/namespaces/default/jobs/pi" },
    asks: ["nothing: kind must be one of SparkApplication, Job"],
  },
  {
    name: "an event about a kind that has no steps",
    headers: structured,
    body: { ...cloud, subject: "Secret/default/pi" },
    asks: ["nothing: kind must be one of SparkApplication, Job"],
  },
  {
    name: "an event with an invalid name",
    headers: structured,
    body: { ...cloud, subject: "Job/default/A_B" },
    asks: ["nothing: not a Kubernetes name"],
  },
  {
    name: "an event about a node that goes at the time in its data",
    headers: structured,
    body: { ...cloud, type: "dev.rekindle.node.leaving", subject: "node-1", data: { until: "2026-11-02T08:10:00Z" } },
    asks: ["node-1 goes at 08:10:00 for /ci 7"],
  },
  {
    name: "an event about a node without data, which goes two minutes after the event",
    headers: {
      "ce-specversion": "1.0",
      "ce-id": "7",
      "ce-source": "/ci",
      "ce-type": "dev.rekindle.node.leaving",
      "ce-subject": "node-1",
    },
    body: "",
    asks: ["node-1 goes at 08:02:00 for /ci 7"],
  },
  {
    name: "an event about a node that stays after all",
    headers: structured,
    body: { ...cloud, type: "dev.rekindle.node.staying", subject: "node-1" },
    asks: ["node-1 stays for /ci 7"],
  },
  {
    name: "an event about something that stays and is no node",
    headers: structured,
    body: { ...cloud, type: "dev.rekindle.node.staying", subject: "Job/a/b" },
    asks: ["nothing: not a node's name"],
  },
  { name: "a Spot interruption", body: spot, asks: ["i-0123456789abcdef0 goes at 08:02:00 for aws.ec2 e-1"] },
  {
    name: "a rebalance recommendation, which names no time",
    body: { ...spot, "detail-type": "EC2 Instance Rebalance Recommendation" },
    asks: ["i-0123456789abcdef0 goes at 09:00:00 for aws.ec2 e-1"],
  },
  {
    name: "a Spot interruption that is long past",
    body: { ...spot, time: "2026-11-02T07:00:00Z" },
    asks: ["nothing: the time of this notice is long past"],
  },
  {
    name: "a Spot interruption of another source",
    body: { ...spot, source: "acme.ec2" },
    asks: ["nothing: nothing is done about EC2 Spot Instance Interruption Warning of acme.ec2"],
  },
  {
    name: "a Spot interruption of an invalid machine",
    body: { ...spot, detail: { "instance-id": "../x" } },
    asks: undefined,
  },
  { name: "an event without an id", headers: structured, body: { ...cloud, id: "" }, asks: undefined },
  { name: "an event of another version", headers: structured, body: { ...cloud, specversion: "0.3" }, asks: undefined },
  {
    name: "a batch of too many events",
    headers: { "content-type": "application/cloudevents-batch+json" },
    body: Array.from({ length: 101 }, () => cloud),
    asks: undefined,
  },
  { name: "JSON that is no event", body: { hello: "world" }, asks: undefined },
  { name: "an empty body", body: "", asks: undefined },
];

describe("the intent of", () => {
  for (const { name, headers = {}, body, asks } of rows)
    test(name, () => {
      const text = typeof body === "string" ? body : JSON.stringify(body);
      assert.deepEqual(said(eventIntents((header) => headers[header], text, reading)), asks);
    });
});

const alert = (labels: Readonly<Record<string, string>>, more: object = {}) => ({
  ...{ status: "firing", labels: { alertname: "X", ...labels }, annotations: {}, startsAt: "2026-11-02T08:00:00Z" },
  ...{ endsAt: "0001-01-01T00:00:00Z", generatorURL: "", fingerprint: "f1", ...more },
});

const alerts: readonly { readonly name: string; readonly alert: object; readonly asks: string }[] = [
  {
    name: "names an object by Rekindle's own labels",
    alert: alert({ rekindle_kind: "Job", rekindle_namespace: "a", rekindle_name: "b", namespace: "monitoring" }),
    asks: "step Job/a/b for alert f1 firing 2026-11-02T08:00:00Z",
  },
  {
    name: "names an application by labels of kube-state-metrics",
    alert: alert({ label_sparkoperator_k8s_io_app_name: "pi", namespace: "kube-state", exported_namespace: "default" }),
    asks: "step SparkApplication/default/pi for alert f1 firing 2026-11-02T08:00:00Z",
  },
  {
    name: "names a Volcano job, even when it is resolved",
    alert: alert({ volcano_job: "j", namespace: "a" }, { status: "resolved" }),
    asks: "step Job/a/j for alert f1 resolved 2026-11-02T08:00:00Z",
  },
  {
    name: "reports a node that goes",
    alert: alert(
      { rekindle_action: "node-leaving", node: "node-1" },
      { annotations: { until: "2026-11-02T08:05:00Z" } },
    ),
    asks: "node-1 goes at 08:05:00 for alert f1 firing 2026-11-02T08:00:00Z",
  },
  {
    name: "is resolved, which takes no notice back",
    alert: alert({ rekindle_action: "node-leaving", node: "node-1" }, { status: "resolved" }),
    asks: "nothing: resolved: only a firing alert is about a node",
  },
  {
    name: "reports a node that stays after all",
    alert: alert({ rekindle_action: "node-staying", node: "node-1" }),
    asks: "node-1 stays for alert f1 firing 2026-11-02T08:00:00Z",
  },
  {
    name: "requests an action that no alert may have",
    alert: alert({ rekindle_action: "delete", volcano_job: "j", namespace: "a" }),
    asks: "nothing: rekindle_action must be one of step, node-leaving, node-staying",
  },
  {
    name: "names no object",
    alert: alert({ namespace: "a" }),
    asks: "nothing: no label names an object that Rekindle runs",
  },
  { name: "names no namespace", alert: alert({ volcano_job: "j" }), asks: "nothing: not a Kubernetes name" },
];

describe("an alert", () => {
  for (const { name, alert: one, asks } of alerts)
    test(name, () => {
      assert.deepEqual(said(alertIntents(JSON.stringify({ version: "4", alerts: [one] }), reading)), [asks]);
    });

  for (const body of ["", "{", "{}", '{"version":"3","alerts":[]}', '{"version":"4","alerts":[{}]}'])
    test(`is not in ${body === "" ? "nothing" : body}`, () => assert.equal(alertIntents(body, reading), undefined));
});
