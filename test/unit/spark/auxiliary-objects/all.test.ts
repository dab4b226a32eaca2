/** Auxiliary objects of a run: services, ingresses, a PodDisruptionBudget, PodGroups, each as upstream creates it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import {
  postStartObjectsOf,
  preDriverObjectsOf,
  prepared,
  rareIn,
} from "../../../../shared/spark/auxiliary-objects/all.ts";
import { uiInfo, uiServiceName } from "../../../../shared/spark/auxiliary-objects/ingress.ts";
import type { AuxiliaryObject, Subject } from "../../../../shared/spark/auxiliary-objects/object.ts";
import { defaultOptions, type Options } from "../../../../shared/spark/auxiliary-objects/options.ts";
import { parseSpec } from "../../../../shared/spark/schema/rules.ts";
import { spec as base } from "../application/fixtures.ts";
import { plannedOf } from "./planned.ts";

const subjectOf = (more: object, options: Partial<Options> = {}, name = "spark-pi"): Subject => {
  const read = parseSpec({ metadata: { name, namespace: "default" }, spec: { ...base, ...more } });
  assert.ok(read.ok, read.ok ? "" : read.message);
  const ids = { attempt: 1, submissionId: "submission-1", applicationId: "spark-1", driverPodName: `${name}-driver` };
  const subject = { name, namespace: "default", uid: "app-1", ...ids, options: { ...defaultOptions, ...options } };
  return { ...subject, spec: prepared({ ...subject, spec: read.spec }) };
};

const companionsOf = (subject: Subject): readonly AuxiliaryObject[] => [
  ...postStartObjectsOf(subject),
  ...preDriverObjectsOf(subject, plannedOf(subject)),
];

const idOf = ({ object: { apiVersion, kind, metadata } }: AuxiliaryObject): string =>
  `${apiVersion} ${kind} ${metadata.name}`;

const port = { servicePort: 9999, servicePortName: "api", ingressURLFormat: "{{$appName}}.x.org/api" };

const withIngress = { ingressUrlFormat: "{{$appName}}.x.org" };

const batch = { batchScheduler: true, kubeSchedulerNames: ["gangs"] };

describe("auxiliary objects", () => {
  const cases: readonly { name: string; spec?: object; options?: Partial<Options>; want: readonly string[] }[] = [
    { name: "are a service of the web UI by default", want: ["v1 Service spark-pi-ui-svc"] },
    { name: "are none if the deployment disables the UI", options: { uiService: false }, want: [] },
    {
      name: "include an ingress of the UI if the deployment has a URL format",
      options: withIngress,
      want: ["v1 Service spark-pi-ui-svc", "networking.k8s.io/v1 Ingress spark-pi-ui-ingress"],
    },
    {
      name: "include a service and an ingress of every further port",
      spec: { driverIngressOptions: [port] },
      options: { uiService: false },
      want: ["v1 Service spark-pi-driver-9999", "networking.k8s.io/v1 Ingress spark-pi-ing-9999"],
    },
    {
      name: "include a PodDisruptionBudget if deployment and application enable it",
      spec: { driverPodDisruptionBudget: true },
      options: { uiService: false, driverPdb: true },
      want: ["policy/v1 PodDisruptionBudget spark-pi-driver"],
    },
    {
      name: "include no PodDisruptionBudget if only the deployment enables it",
      options: { uiService: false, driverPdb: true },
      want: [],
    },
    {
      name: "include no PodDisruptionBudget if only the application enables it",
      spec: { driverPodDisruptionBudget: true },
      options: { uiService: false },
      want: [],
    },
    {
      name: "include a PodGroup of Volcano",
      spec: { batchScheduler: "volcano" },
      options: { ...batch, uiService: false },
      want: ["scheduling.volcano.sh/v1beta1 PodGroup spark-spark-pi-pg"],
    },
    {
      name: "include a PodGroup of the coscheduling plugin",
      spec: { batchScheduler: "gangs" },
      options: { ...batch, uiService: false },
      want: ["scheduling.x-k8s.io/v1alpha1 PodGroup spark-pi-pg"],
    },
    {
      name: "include a PodGroup of the deployment's default scheduler",
      options: { ...batch, uiService: false, defaultBatchScheduler: "volcano" },
      want: ["scheduling.volcano.sh/v1beta1 PodGroup spark-spark-pi-pg"],
    },
    {
      name: "include nothing for YuniKorn, which reads the pods",
      spec: { batchScheduler: "yunikorn" },
      options: { ...batch, uiService: false },
      want: [],
    },
    {
      name: "include nothing for an unknown scheduler",
      spec: { batchScheduler: "mine" },
      options: { ...batch, uiService: false },
      want: [],
    },
    {
      name: "include no PodGroup if batch schedulers are disabled",
      spec: { batchScheduler: "volcano" },
      options: { uiService: false },
      want: [],
    },
    {
      name: "include no PodGroup if the user names one",
      spec: {
        batchScheduler: "volcano",
        driver: { cores: 1, annotations: { "scheduling.k8s.io/group-name": "theirs" } },
      },
      options: { ...batch, uiService: false },
      want: [],
    },
  ];
  for (const { name, spec = {}, options = {}, want } of cases) {
    test(name, () => assert.deepEqual(companionsOf(subjectOf(spec, options)).map(idOf), want));
  }

  test("are owned by the application and found by its UID, whatever labels the user gives them", () => {
    const labels = { "rekindle.dev/app-uid": "other", "rekindle.dev/attempt": "9", team: "data" };
    const [service] = companionsOf(subjectOf({ sparkUIOptions: { serviceLabels: labels } }));
    assert.deepEqual(service?.object.metadata.labels, {
      "sparkoperator.k8s.io/app-name": "spark-pi",
      "sparkoperator.k8s.io/submission-id": "submission-1",
      team: "data",
      "rekindle.dev/app-uid": "app-1",
      "rekindle.dev/attempt": "1",
    });
    const owner = { apiVersion: "sparkoperator.k8s.io/v1beta2", kind: "SparkApplication", name: "spark-pi" };
    assert.deepEqual(service?.object.metadata.ownerReferences, [
      { ...owner, uid: "app-1", controller: true, blockOwnerDeletion: true },
    ]);
  });

  test("are optional, except those that schedule the run", () => {
    const all = companionsOf(
      subjectOf(
        { driverIngressOptions: [port], driverPodDisruptionBudget: true, batchScheduler: "volcano" },
        { ...batch, ...withIngress, driverPdb: true },
      ),
    );
    const needed = all.filter(({ optional }) => !optional).map(idOf);
    assert.deepEqual(needed, ["scheduling.volcano.sh/v1beta1 PodGroup spark-spark-pi-pg"]);
    assert.deepEqual(rareIn(all), ["ingress", "driverPdb", "volcano"]);
  });
});

describe("the web UI's service", () => {
  const ui = { servicePort: 80, servicePortName: "ui", serviceType: "NodePort" };
  const cases: readonly { name: string; spec: object; want: object; type?: string }[] = [
    { name: "Spark's own port", spec: {}, want: { name: "spark-driver-ui-port", port: 4040, targetPort: 4040 } },
    {
      name: "the port of its conf",
      spec: { sparkConf: { "spark.ui.port": "4041" } },
      want: { name: "spark-driver-ui-port", port: 4041, targetPort: 4041 },
    },
    {
      name: "the port of its options",
      spec: { sparkUIOptions: ui, sparkConf: { "spark.ui.port": "4041" } },
      want: { name: "ui", port: 80, targetPort: 4041 },
      type: "NodePort",
    },
    {
      name: "options without a port",
      spec: { sparkUIOptions: {}, sparkConf: { "spark.ui.port": "4041" } },
      want: { name: "spark-driver-ui-port", port: 4040, targetPort: 4041 },
    },
    {
      name: "a conf with an invalid port",
      spec: { sparkConf: { "spark.ui.port": "no" } },
      want: { name: "spark-driver-ui-port", port: 4040, targetPort: 4040 },
    },
  ];
  for (const { name, spec, want, type = "ClusterIP" } of cases) {
    test(name, () => {
      const [service] = postStartObjectsOf(subjectOf(spec));
      const selector = { "sparkoperator.k8s.io/app-name": "spark-pi", "spark-role": "driver" };
      assert.deepEqual(service?.object["spec"], { ports: [want], selector, type });
    });
  }

  test("has a name of valid length, and another name for another application", () => {
    const long = "a".repeat(60);
    assert.equal(uiServiceName(long).length, 63);
    assert.match(uiServiceName(long), /^a{47}-[0-9a-f]{8}-ui-svc$/);
    assert.notEqual(uiServiceName(long), uiServiceName(`${long}b`));
    assert.equal(uiServiceName("a".repeat(56)), `${"a".repeat(56)}-ui-svc`);
  });
});

describe("an ingress", () => {
  const rewrite = { "nginx.ingress.kubernetes.io/rewrite-target": "/$2" };
  const cases: readonly { format: string; want: readonly [string, string, object | undefined, object] }[] = [
    { format: "{{$appName}}.x.org", want: ["spark-pi.x.org", "", undefined, {}] },
    { format: "https://{{ $appName }}.{{$appNamespace}}.x.org/", want: ["spark-pi.default.x.org", "/", undefined, {}] },
    {
      format: "x.org/{{$appNamespace}}/{{$appName}}",
      want: [
        "x.org",
        "/default/spark-pi(/|$)(.*)",
        rewrite,
        { "spark.ui.proxyBase": "/default/spark-pi", "spark.ui.proxyRedirectUri": "/" },
      ],
    },
    {
      format: "http://x.org:8080/{{$appId}}",
      want: [
        "x.org",
        "/spark-1(/|$)(.*)",
        rewrite,
        { "spark.ui.proxyBase": "/spark-1", "spark.ui.proxyRedirectUri": "/" },
      ],
    },
  ];
  for (const { format, want } of cases) {
    test(`at ${format}`, () => {
      const subject = subjectOf({}, { ingressUrlFormat: format, ingressClassName: "nginx" });
      const [, ingress] = companionsOf(subject);
      const [host, path, annotations, confs] = want;
      const service = { name: "spark-pi-ui-svc", port: { number: 4040 } };
      const paths = [{ backend: { service }, path, pathType: "ImplementationSpecific" }];
      assert.deepEqual(ingress?.object["spec"], { rules: [{ host, http: { paths } }], ingressClassName: "nginx" });
      assert.deepEqual(ingress?.object.metadata.annotations, annotations);
      assert.deepEqual(subject.spec.sparkConf ?? {}, confs);
    });
  }

  for (const [gateway, parent] of [
    ["infra/edge", { namespace: "infra", name: "edge" }],
    ["infra/edge/https", { namespace: "infra", name: "edge", sectionName: "https" }],
  ] as const)
    test(`at the Gateway ${gateway} is an HTTPRoute, for the UI and for each further port`, () => {
      const entry = { servicePort: 8080, servicePortName: "rest", ingressURLFormat: "https://x.org/{{$appName}}" };
      const options = { ...withIngress, uiGateway: gateway, ingressTls: [{ secretName: "s" }] };
      const [, ui, , port] = companionsOf(subjectOf({ driverIngressOptions: [entry] }, options));
      assert.deepEqual(
        [ui, port].map((one) => [one?.object.kind, one?.object.apiVersion, one?.object.metadata.name]),
        [
          ["HTTPRoute", "gateway.networking.k8s.io/v1", "spark-pi-ui-route"],
          ["HTTPRoute", "gateway.networking.k8s.io/v1", "spark-pi-route-8080"],
        ],
      );
      assert.deepEqual(ui?.object["spec"], {
        parentRefs: [parent],
        hostnames: ["spark-pi.x.org"],
        rules: [
          {
            matches: [{ path: { type: "PathPrefix", value: "/" } }],
            backendRefs: [{ name: "spark-pi-ui-svc", port: 4040 }],
          },
        ],
      });
      const path = { type: "ReplacePrefixMatch", replacePrefixMatch: "/" };
      assert.deepEqual(Object(port?.object["spec"]).rules, [
        {
          matches: [{ path: { type: "PathPrefix", value: "/spark-pi" } }],
          filters: [{ type: "URLRewrite", urlRewrite: { path } }],
          backendRefs: [{ name: "spark-pi-driver-8080", port: 8080 }],
        },
      ]);
    });

  test("has the annotations and TLS of the application, or else of the deployment", () => {
    const options = { ...withIngress, ingressAnnotations: { a: "deployment" }, ingressTls: [{ secretName: "theirs" }] };
    const own = { ingressAnnotations: { a: "own" }, ingressTLS: [{ secretName: "own" }] };
    const told = (spec: object) => {
      const object = companionsOf(subjectOf(spec, options))[1]?.object;
      return [object?.metadata.annotations, Object(object?.["spec"]).tls];
    };
    assert.deepEqual(told({}), [options.ingressAnnotations, options.ingressTls]);
    assert.deepEqual(told({ sparkUIOptions: own }), [own.ingressAnnotations, own.ingressTLS]);
  });
});

describe("the status of the UI", () => {
  const service = (clusterIP: string | undefined): Stored => ({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "spark-pi-ui-svc", uid: "svc-1", resourceVersion: "1" },
    spec: { clusterIP },
  });
  const bare = { webUIServiceName: "spark-pi-ui-svc", webUIPort: 4040 };
  const cases: readonly { name: string; ip: string | undefined; options?: Partial<Options>; want: object }[] = [
    { name: "its address", ip: "10.96.0.9", want: { ...bare, webUIAddress: "10.96.0.9:4040" } },
    { name: "no address before the cluster IP exists", ip: undefined, want: bare },
    { name: "no address for a headless service", ip: "None", want: bare },
    {
      name: "its ingress",
      ip: "10.96.0.9",
      options: withIngress,
      want: {
        ...bare,
        webUIAddress: "10.96.0.9:4040",
        webUIIngressName: "spark-pi-ui-ingress",
        webUIIngressAddress: "http://spark-pi.x.org",
      },
    },
  ];
  for (const { name, ip, options = {}, want } of cases) {
    test(name, () => assert.deepEqual(uiInfo(subjectOf({}, options), service(ip)), want));
  }
});
