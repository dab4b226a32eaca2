/**
 * Routes at a Gateway, with the definitions of the Gateway API: an application's web UI and a further port of its driver have
 * HTTPRoutes, and a Connect server has a GRPCRoute, all created by the host under its shipped account.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { fieldsOf, recordsIn } from "../../../../shared/core/json.ts";
import { sparkPi } from "../../../support/pi.ts";
import { patienceMs } from "../../cluster/api.ts";
import { routeDefinitions } from "../../setup/gateway.ts";
import { type Case, kubectl, must, running, type Scene } from "../scene.ts";
import { awaitState } from "../witness.ts";

const spark = "/apis/sparkoperator.k8s.io";
const routes = "/apis/gateway.networking.k8s.io/v1/namespaces/default";
const name = "routed";

const hostArgs = [
  ...["--ui-gateway", "edge/public/https", "--ingress-url-format", "https://{{$appName}}.ui.example.com"],
  ...["--connect-host-format", "{{$appName}}.connect.example.com"],
];

const application = sparkPi(name, {
  arguments: ["100"],
  driverIngressOptions: [
    { servicePort: 8080, servicePortName: "rest", ingressURLFormat: "https://rest.example.com/{{$appName}}" },
  ],
});

const connect = {
  ...{ apiVersion: "sparkoperator.k8s.io/v1alpha1", kind: "SparkConnect", metadata: { name, namespace: "default" } },
  spec: {
    ...{ sparkVersion: "4.1.1", image: "docker.io/apache/spark:4.1.1", executor: { instances: 1 } },
    server: { cores: 1, memory: "512m", template: { spec: { serviceAccount: "spark" } } },
  },
};

/** The routes, the host that each serves, and the service and port that it leads to. */
const expected = [
  ["httproutes", `${name}-ui-route`, `${name}.ui.example.com`, `${name}-ui-svc`, 4_040],
  ["httproutes", `${name}-route-8080`, "rest.example.com", `${name}-driver-8080`, 8_080],
  ["grpcroutes", `${name}-route`, `${name}.connect.example.com`, `${name}-server`, 15_002],
] as const;

const parent = { group: "gateway.networking.k8s.io", kind: "Gateway", namespace: "edge", name: "public" };

const created = async ({ cluster }: Scene, path: string, body: object): Promise<void> => {
  const { status, body: answer } = await cluster.api.call("POST", path, body);
  must(status === 201, `${path}: ${JSON.stringify(answer)}`);
};

/** Waits for a route; it is at the Gateway, and leads to a port of a service that exists. */
const leads = async ({ cluster: { api } }: Scene, one: (typeof expected)[number]): Promise<string> => {
  const [plural, called, host, service, port] = one;
  const { body } = await api.until(`${routes}/${plural}/${called}`, ({ status }) => status === 200, patienceMs);
  const { parentRefs, hostnames, rules } = fieldsOf(fieldsOf(body)["spec"]);
  const at = { ...parent, sectionName: "https" };
  must(isDeepStrictEqual(parentRefs, [at]), `${called} is at ${JSON.stringify(parentRefs)}`);
  must(isDeepStrictEqual(hostnames, [host]), `${called} serves ${JSON.stringify(hostnames)}`);
  const [backend] = recordsIn(recordsIn(rules)[0]?.["backendRefs"]);
  must(backend?.["name"] === service && backend["port"] === port, `${called} leads to ${JSON.stringify(backend)}`);
  // The step that creates the route creates the service beside it, and the server may answer that one later.
  await api.until(
    `/api/v1/namespaces/default/services/${service}`,
    (found) => recordsIn(fieldsOf(fieldsOf(found.body)["spec"])["ports"]).some((each) => each["port"] === port),
    patienceMs,
  );
  return `${called}: ${host} → ${service}:${port}`;
};

/** Waits until no route is left of what was deleted. */
const untilGone = async ({ cluster: { api } }: Scene): Promise<void> => {
  const until = performance.now() + 120_000;
  for (const [plural, called] of expected)
    while ((await api.call("GET", `${routes}/${plural}/${called}`)).status !== 404) {
      must(performance.now() < until, `${called} is left`);
      await sleep(500);
    }
};

const lifeOf = async (scene: Scene): Promise<readonly string[]> => {
  const { cluster } = scene;
  await created(scene, `${spark}/v1alpha1/namespaces/default/sparkconnects`, connect);
  await created(scene, `${spark}/v1beta2/namespaces/default/sparkapplications`, application);
  const lines: string[] = [];
  for (const one of expected) lines.push(await leads(scene, one));
  await kubectl(cluster, ["delete", "sparkconnect", name, "--wait"]);
  await awaitState(cluster.api, name, ["COMPLETED"], patienceMs);
  const shown = await kubectl(cluster, ["get", "sparkapplication", name, "-o", "jsonpath={.status.driverInfo}"]);
  must(shown.includes(`"webUIIngressName":"${name}-ui-route"`), `its status shows ${shown}`);
  await kubectl(cluster, ["delete", "sparkapplication", name, "--wait"]);
  await untilGone(scene);
  return lines;
};

export const routed: Case = {
  name: "at a Gateway: HTTPRoutes of a web UI and of a port, and a GRPCRoute of a Connect server, which go with them",
  run: async (scene) => {
    const { cluster } = scene;
    for (const file of routeDefinitions()) await kubectl(cluster, ["apply", "--server-side", "-f", file]);
    await kubectl(cluster, ["wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"]);
    return await running(scene, () => lifeOf(scene), hostArgs);
  },
};
