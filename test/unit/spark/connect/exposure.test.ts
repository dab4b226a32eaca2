/** The way by which clients outside of the cluster reach a Connect server. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import { decided, planned, said, serverObjects } from "./fixtures.ts";

const exposure = { connectHostFormat: "{{$appName}}.{{$appNamespace}}.connect.example.com" };
const host = "sc.ns.connect.example.com";

/** Returns the object of this kind that a first step creates, and whether the step can do without it. */
const madeOf = (kind: string, options: object) => {
  const effects = planned({ exposure: { ...exposure, ...options } }).stages.flat();
  const effect = effects.find((one) => one.do === "create" && one.object.kind === kind);
  assert.ok(effect?.do === "create", `no ${kind} is created`);
  return effect;
};

describe("a Connect server under the setting connectHostFormat", () => {
  test("has an Ingress that speaks gRPC, with the deployment's class, certificates and annotations", () => {
    const given = { ingressClassName: "nginx", ingressTls: [{ secretName: "s" }], ingressAnnotations: { a: "b" } };
    const { object, optional } = madeOf("Ingress", given);
    assert.deepEqual([object.metadata.name, optional], ["sc-ingress", true]);
    assert.deepEqual(object.metadata.annotations, { "nginx.ingress.kubernetes.io/backend-protocol": "GRPC", a: "b" });
    assert.equal(object.metadata.ownerReferences?.[0]?.uid, "c-1");
    const backend = { service: { name: "sc-server", port: { number: 15_002 } } };
    assert.deepEqual(object["spec"], {
      rules: [{ host, http: { paths: [{ path: "/", pathType: "Prefix", backend }] } }],
      tls: [{ secretName: "s" }],
      ingressClassName: "nginx",
    });
  });

  test("has a GRPCRoute at the deployment's Gateway", () => {
    const { object, resource } = madeOf("GRPCRoute", { uiGateway: "infra/edge/grpc", ingressAnnotations: { a: "b" } });
    assert.deepEqual([object.metadata.name, resource.group], ["sc-route", "gateway.networking.k8s.io"]);
    assert.equal(object.metadata.annotations, undefined);
    assert.deepEqual(object["spec"], {
      parentRefs: [{ namespace: "infra", name: "edge", sectionName: "grpc" }],
      hostnames: [host],
      rules: [{ backendRefs: [{ name: "sc-server", port: 15_002 }] }],
    });
  });

  test("keeps what is there, and creates what is gone again", () => {
    const { object } = madeOf("Ingress", {});
    const there: Stored = { ...object, metadata: { ...object.metadata, uid: "i-1", resourceVersion: "1" } };
    const plan = planned({ exposure, there: [...serverObjects(), there] });
    assert.deepEqual(said(plan), []);
    assert.deepEqual(said(planned({ exposure, there: serverObjects() })), ["create ingresses sc-ingress"]);
  });

  test("has none, and nothing is read for it, where the setting is empty", () => {
    const { plan, lists } = decided();
    assert.doesNotMatch(said(plan).join(), /ingresses|grpcroutes/);
    assert.deepEqual(lists, ["pods"]);
  });
});
