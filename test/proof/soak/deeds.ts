/**
 * Carries out the deeds of a life against the simulator. A request about an object that is gone gets its 404, which
 * this file ignores.
 */

import { cluster, type Stage } from "../sweep/execution.ts";
import { manifest, pods } from "../sweep/fixture.ts";
import { sweptOf } from "../sweep/kinds.ts";
import { namespace } from "../sweep/scenario.ts";
import type { Applied, Deed, Role } from "./life.ts";

const kind = sweptOf({});
const [collection] = manifest(kind, "", {});

const asked = (stage: Stage, method: string, path: string, body?: object): void => {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const { actor } = stage;
  stage.actor = "user";
  stage.theatre.simulator.handle({
    method,
    path,
    headers: { "content-type": type },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  stage.actor = actor;
};

const apply = (stage: Stage, { name, spec, annotations }: Applied): void => {
  const [path, body] = manifest(kind, name, spec, annotations);
  asked(stage, "POST", path, body);
};

/** Returns the name of the n-th pod of an application and a role, modulo the number of such pods. */
const podOf = ({ theatre }: Stage, name: string, role: Role, nth: number): string | undefined => {
  const found = theatre.simulator.store
    .list("pods")
    .filter(
      ({ metadata: { labels = {} } }) =>
        labels["spark-role"] === role && labels["sparkoperator.k8s.io/app-name"] === name,
    );
  return found[nth % Math.max(1, found.length)]?.metadata.name;
};

const trigger = (stage: Stage, name: string, times: number): void => {
  const message = { cluster, kind: kind.kind, namespace, name, reason: "trigger" };
  for (let nth = 0; nth < times; nth++) stage.post.send(message, `call ${nth} ${stage.now()}`);
};

const toNode = ({ theatre: { simulator } }: Stage, what: "freeze" | "thaw" | "lose" | "join", node: string): void => {
  const { nodes } = simulator;
  const there = simulator.store.get("nodes", node) !== undefined;
  if (what === "join" && !there) nodes.add({ name: node });
  if (what === "freeze") nodes.freeze(node);
  if (what === "thaw") nodes.thaw(node);
  if (what === "lose" && there) nodes.remove(node);
};

const unhear = (stage: Stage, ms: number): void => {
  stage.watchingIs = "off";
  stage.later(ms, () => stage.relist());
};

type ToPod = Extract<Deed, { do: "kill" | "evict" | "remove" }>;

const toPod = (stage: Stage, deed: ToPod): void => {
  const { simulator } = stage.theatre;
  const pod = podOf(stage, deed.name, deed.role, deed.nth);
  if (pod === undefined) return;
  if (deed.do === "kill") simulator.killPod(namespace, pod, { code: deed.code });
  else if (deed.do === "evict") simulator.evictPod(namespace, pod);
  else asked(stage, "DELETE", `${pods}/${pod}`);
};

const seen = (now: number): object => ({ metadata: { annotations: { "example.com/seen": String(now) } } });

export const happen = (stage: Stage, deed: Deed): void => {
  stage.log(`it happens: ${JSON.stringify(deed).slice(0, 200)}`);
  switch (deed.do) {
    case "apply":
      apply(stage, deed.app);
      break;
    case "patch":
      asked(stage, "PATCH", `${collection}/${deed.name}`, { spec: deed.spec });
      break;
    case "annotate":
      asked(stage, "PATCH", `${collection}/${deed.name}`, seen(stage.now()));
      break;
    case "delete":
      asked(stage, "DELETE", `${collection}/${deed.name}`);
      break;
    case "trigger":
      trigger(stage, deed.name, deed.times);
      break;
    case "restart":
      if (!stage.down) stage.crash();
      break;
    case "unhear":
      unhear(stage, deed.ms);
      break;
    case "kill":
    case "evict":
    case "remove":
      toPod(stage, deed);
      break;
    default:
      toNode(stage, deed.do, deed.node);
  }
};
