/** kubectl's protobuf as JSON: the bodies are a real kubectl's (1.36). */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { jsonOfProtobuf } from "../../../../shared/simulator/schema/protobuf.ts";
import { isFields } from "../../../../shared/simulator/storage/json.ts";

/** Commands, their bodies, and the fields besides apiVersion, kind, metadata and status. */
const sent: readonly (readonly [command: string, body: string, says: object])[] = [
  [
    "create secret generic s --from-literal=a=b",
    "azhzAAoMCgJ2MRIGU2VjcmV0Eh8KEwoBcxIAGgJucyIAKgAyADgAQgASBgoBYRIBYhoAGgAiAA==",
    { data: { a: "Yg==" } },
  ],
  [
    "create deployment d --image=i --replicas=0 --port=80",
    "azhzAAoVCgdhcHBzL3YxEgpEZXBsb3ltZW50EqkBCh0KAWQSABoCbnMiACoAMgA4AEIAWggKA2FwcBIBZBJ6CAASCgoICgNhcHASAWQaYgoaCgASABoAIgAqADIAOABCAFoICgNhcHASAWQSRBImCgFpEgFpKgAyCgoAEAAYUCIAKgBCAGoAcgCAAQCIAQCQAQCiAQAaADIAQgBKAFIAWABgAGgAggEAigEAmgEAwgEAIgIKACgAOAAaDAgAEAAYACAAKAA4ABoAIgA=",
    {
      spec: {
        replicas: 0,
        selector: { matchLabels: { app: "d" } },
        template: {
          metadata: { labels: { app: "d" } },
          spec: { containers: [{ name: "i", image: "i", ports: [{ containerPort: 80 }], resources: {} }] },
        },
        strategy: {},
      },
    },
  ],
  [
    "create pdb p --selector=a=b --min-available=50%",
    "azhzAAogCglwb2xpY3kvdjESE1BvZERpc3J1cHRpb25CdWRnZXQSOAoTCgFwEgAaAm5zIgAqADIAOABCABIVCgkIARAAGgM1MCUSCAoGCgFhEgFiGgoIABgAIAAoADAAGgAiAA==",
    { spec: { minAvailable: "50%", selector: { matchLabels: { a: "b" } } } },
  ],
  [
    "create pdb p --selector=a=b --min-available=2",
    "azhzAAogCglwb2xpY3kvdjESE1BvZERpc3J1cHRpb25CdWRnZXQSNQoTCgFwEgAaAm5zIgAqADIAOABCABISCgYIABACGgASCAoGCgFhEgFiGgoIABgAIAAoADAAGgAiAA==",
    { spec: { minAvailable: 2, selector: { matchLabels: { a: "b" } } } },
  ],
  [
    "create quota q --hard=cpu=1500m",
    "azhzAAoTCgJ2MRINUmVzb3VyY2VRdW90YRIpChMKAXESABoCbnMiACoAMgA4AEIAEhAKDgoDY3B1EgcKBTE1MDBtGgAaACIA",
    { spec: { hard: { cpu: "1500m" } } },
  ],
  [
    "auth can-i delete pods/log",
    "azhzAAoyChdhdXRob3JpemF0aW9uLms4cy5pby92MRIXU2VsZlN1YmplY3RBY2Nlc3NSZXZpZXcSPQoQCgASABoAIgAqADIAOABCABIfCh0KAm5zEgZkZWxldGUaACIAKgRwb2RzMgA6A2xvZxoICAASABoAIAAaACIA",
    { spec: { resourceAttributes: { namespace: "ns", verb: "delete", resource: "pods", name: "log" } } },
  ],
  [
    "create token t --duration=20m",
    "azhzAAooChhhdXRoZW50aWNhdGlvbi5rOHMuaW8vdjESDFRva2VuUmVxdWVzdBIdChAKABIAGgAiACoAMgA4AEIAEgMgsAkaBAoAEgAaACIA",
    { spec: { expirationSeconds: 1200 } },
  ],
  [
    "create ingress i --rule=a.b/x=svc:80",
    "azhzAAofChRuZXR3b3JraW5nLms4cy5pby92MRIHSW5ncmVzcxJCChMKAWkSABoCbnMiACoAMgA4AEIAEicaJQoDYS5iEh4KHAoaCgIveBINIgsKA3N2YxIECgAQUBoFRXhhY3QaAgoAGgAiAA==",
    {
      spec: {
        rules: [
          {
            host: "a.b",
            http: {
              paths: [{ path: "/x", backend: { service: { name: "svc", port: { number: 80 } } }, pathType: "Exact" }],
            },
          },
        ],
      },
    },
  ],
  [
    "create service clusterip svc --tcp=80:http",
    "azhzAAoNCgJ2MRIHU2VydmljZRJuCiEKA3N2YxIAGgJucyIAKgAyADgAQgBaCgoDYXBwEgNzdmMSRQoeCgc4MC1odHRwEgNUQ1AYUCIKCAEQABoEaHR0cCgAEgoKA2FwcBIDc3ZjGgAiCUNsdXN0ZXJJUDoAQgBSAFoAYABoABoCCgAaACIA",
    {
      spec: {
        ports: [{ name: "80-http", protocol: "TCP", port: 80, targetPort: "http" }],
        selector: { app: "svc" },
        type: "ClusterIP",
      },
    },
  ],
  [
    "create cronjob c --image=i --schedule=@daily -- sleep 1",
    "azhzAAoTCghiYXRjaC92MRIHQ3JvbkpvYhKcAQoTCgFjEgAaAm5zIgAqADIAOABCABKCAQoGQGRhaWx5GgAqdgoRCgFjEgAaACIAKgAyADgAQgASYTJfChAKABIAGgAiACoAMgA4AEIAEksSJAoBYxIBaRoFc2xlZXAaATEqAEIAagByAIABAIgBAJABAKIBABoJT25GYWlsdXJlMgBCAEoAUgBYAGAAaACCAQCKAQCaAQDCAQAaABoAIgA=",
    {
      spec: {
        schedule: "@daily",
        jobTemplate: {
          metadata: { name: "c" },
          spec: {
            template: {
              metadata: {},
              spec: {
                containers: [{ name: "c", image: "i", command: ["sleep", "1"], resources: {} }],
                restartPolicy: "OnFailure",
              },
            },
          },
        },
      },
    },
  ],
];

const first = Buffer.from(sent[0]?.[1] ?? "", "base64");

describe("a body in protobuf", () => {
  for (const [command, body, says] of sent)
    test(`of kubectl ${command}`, () => {
      const all: unknown = JSON.parse(jsonOfProtobuf(Buffer.from(body, "base64")) ?? "null");
      assert.ok(isFields(all) && isFields(all["metadata"]));
      const { apiVersion, kind, metadata, status, ...rest } = all;
      assert.deepEqual(rest, says);
    });

  test("has a kind and a name", () => {
    assert.equal(
      jsonOfProtobuf(first),
      '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","namespace":"ns"},"data":{"a":"Yg=="}}',
    );
  });

  test("is refused without its prefix, and with an unknown kind", () => {
    assert.equal(jsonOfProtobuf(Buffer.from("{}")), undefined);
    assert.equal(
      jsonOfProtobuf(Buffer.from(first.toString("latin1").replace("Secret", "Secrey"), "latin1")),
      undefined,
    );
  });

  test("is refused if it was cut off within a field", () => {
    for (const length of [6, 12, 30, 40]) assert.equal(jsonOfProtobuf(first.subarray(0, length)), undefined);
  });
});
