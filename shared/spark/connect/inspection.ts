/** The kind SparkConnect as the command line and the page show it: a server that is ready, or not. */
import * as z from "zod";
import type { Obj } from "../../core/object.ts";
import { instantOf } from "../../core/time.ts";
import { type Advice, adviceOf, type KindInspection, quiet } from "../../kube/object-state.ts";
import { executorCount, statedExecutors } from "../executors/count.ts";
import { connectLabel, serverName } from "../schema/resource.ts";
import { sparkConnectStates } from "./states.ts";

const connectShape = z.object({
  state: z.string().optional(),
  startTime: z.string().nullish(),
  lastUpdateTime: z.string().nullish(),
  server: z
    .object({ podName: z.string().optional(), podIp: z.string().optional(), serviceName: z.string().optional() })
    .optional(),
  executors: z.record(z.string(), z.number()).optional().catch(undefined),
  conditions: z.array(z.object({ status: z.string(), message: z.string().optional() })).optional(),
});

const connectStatusOf = (object: Obj): z.infer<typeof connectShape> => {
  const parsed = connectShape.safeParse(object.status ?? {});
  return parsed.success ? parsed.data : {};
};

/** The outlook of a state. The log of a server tells more than a message that says no more than the state. */
const connectOutlookOf = (object: Obj, state: string, message = ""): Advice => {
  const known = adviceOf(sparkConnectStates, state, "state");
  if (state !== "NotReady" || !message.startsWith("Server pod is not ready")) return known;
  if (connectStatusOf(object).server?.podIp === undefined)
    return { ...known, waitsFor: "its server to start", todo: quiet };
  const { namespace = "default", name } = object.metadata;
  return { ...known, todo: `see what the server's log says: rekindle log sparkconnect/${namespace}/${name}` };
};

export const sparkConnectInspection: KindInspection = {
  podLabels: (name) => ({ [connectLabel]: name }),
  stateOf: (object) => {
    const { state = "", startTime, lastUpdateTime, conditions = [] } = connectStatusOf(object);
    // Upstream's text ends with a colon where the pod's status has no message.
    const message = conditions.find(({ status }) => status !== "True")?.message?.replace(/:\s*$/, "");
    return {
      state: state === "" ? "NEW" : state,
      attempts: undefined,
      message,
      since: instantOf(lastUpdateTime) ?? instantOf(startTime) ?? instantOf(object.metadata.creationTimestamp),
      ended: undefined,
      what: connectOutlookOf(object, state, message),
    };
  },
  mainPod: (object, pods) => {
    const names = pods.map(({ metadata }) => metadata.name);
    return names.find((name) => name === (connectStatusOf(object).server?.podName ?? serverName(object.metadata.name)));
  },
  wide: (object) => {
    const { server } = connectStatusOf(object);
    return { SERVER: server?.podName ?? "", SERVICE: server?.serviceName ?? "" };
  },
  executors: (object, pods) => (connectStatusOf(object).state === "Ready" ? executorCount(object, pods) : undefined),
  podCount: (object) => [connectStatusOf(object).executors?.["running"] ?? 0, statedExecutors(object.spec)],
  suspends: false,
};
