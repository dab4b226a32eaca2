/**
 * Carries out the deeds of a life against the simulator. A request about an object that is gone gets its 404, which
 * this file ignores.
 */

import { cluster, type Execution } from "../sweep/execution.ts";
import { manifest, pods } from "../sweep/fixture.ts";
import { sweptOf } from "../sweep/kinds.ts";
import { namespace } from "../sweep/scenario.ts";
import type { Applied, Deed, Role } from "./life.ts";

const kind = sweptOf({});
const [collection] = manifest(kind, "", {});

const asked = (execution: Execution, method: string, path: string, body?: object): void => {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const { actor } = execution;
  execution.actor = "user";
  execution.fixture.simulator.handle({
    method,
    path,
    headers: { "content-type": type },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  execution.actor = actor;
};

const apply = (execution: Execution, { name, spec, annotations }: Applied): void => {
  const [path, body] = manifest(kind, name, spec, annotations);
  asked(execution, "POST", path, body);
};

/** Returns the name of the n-th pod of an application and a role, modulo the number of such pods. */
const podOf = ({ fixture }: Execution, name: string, role: Role, nth: number): string | undefined => {
  const found = fixture.simulator.store
    .list("pods")
    .filter(
      ({ metadata: { labels = {} } }) =>
        labels["spark-role"] === role && labels["sparkoperator.k8s.io/app-name"] === name,
    );
  return found[nth % Math.max(1, found.length)]?.metadata.name;
};

const trigger = (execution: Execution, name: string, times: number): void => {
  const message = { cluster, kind: kind.kind, namespace, name, reason: "trigger" };
  for (let nth = 0; nth < times; nth++) execution.post.send(message, `call ${nth} ${execution.now()}`);
};

const toNode = (
  { fixture: { simulator } }: Execution,
  what: "freeze" | "thaw" | "lose" | "join",
  node: string,
): void => {
  const { nodes } = simulator;
  const there = simulator.store.get("nodes", node) !== undefined;
  if (what === "join" && !there) nodes.add({ name: node });
  if (what === "freeze") nodes.freeze(node);
  if (what === "thaw") nodes.thaw(node);
  if (what === "lose" && there) nodes.remove(node);
};

const unhear = (execution: Execution, ms: number): void => {
  execution.watchingIs = "off";
  execution.later(ms, () => execution.relist());
};

type ToPod = Extract<Deed, { do: "kill" | "evict" | "remove" }>;

const toPod = (execution: Execution, deed: ToPod): void => {
  const { simulator } = execution.fixture;
  const pod = podOf(execution, deed.name, deed.role, deed.nth);
  if (pod === undefined) return;
  if (deed.do === "kill") simulator.killPod(namespace, pod, { code: deed.code });
  else if (deed.do === "evict") simulator.evictPod(namespace, pod);
  else asked(execution, "DELETE", `${pods}/${pod}`);
};

const seen = (now: number): object => ({ metadata: { annotations: { "example.com/seen": String(now) } } });

export const happen = (execution: Execution, deed: Deed): void => {
  execution.log(`it happens: ${JSON.stringify(deed).slice(0, 200)}`);
  switch (deed.do) {
    case "apply":
      apply(execution, deed.app);
      break;
    case "patch":
      asked(execution, "PATCH", `${collection}/${deed.name}`, { spec: deed.spec });
      break;
    case "annotate":
      asked(execution, "PATCH", `${collection}/${deed.name}`, seen(execution.now()));
      break;
    case "delete":
      asked(execution, "DELETE", `${collection}/${deed.name}`);
      break;
    case "trigger":
      trigger(execution, deed.name, deed.times);
      break;
    case "restart":
      if (!execution.down) execution.crash();
      break;
    case "unhear":
      unhear(execution, deed.ms);
      break;
    case "kill":
    case "evict":
    case "remove":
      toPod(execution, deed);
      break;
    default:
      toNode(execution, deed.do, deed.node);
  }
};
