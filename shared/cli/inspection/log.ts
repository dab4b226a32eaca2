/** The log of a pod: its path at the API server, and the end of it, which both `rekindle log` and the page read. */
import type { ApiError } from "../../core/http.ts";
import type { Stored } from "../../core/object.ts";
import { objectPath, withQuery } from "../../kube/paths.ts";
import { podStatus, waitingReason } from "../../kube/pods.ts";
import { pods as podResource } from "../../kube/resources.ts";
import { errorOf } from "../../kube/responses.ts";
import type { Source } from "../io/tools.ts";
import { Refused } from "../io/tools.ts";

/** The name of Spark's container, where the pod has it: sidecars have logs, too. */
export const mainContainer = (pod: Stored): string | undefined =>
  podStatus(pod)
    .containerStatuses?.map(({ name }) => name)
    .find((name) => name.startsWith("spark-kubernetes-"));

/** The path of a pod's log. */
export const logPath = (
  namespace: string,
  { metadata: { name } }: Stored,
  query: Readonly<Record<string, string | undefined>>,
): string => withQuery(objectPath({ resource: podResource, namespace, name }, "log"), query);

/** A log is read in so many of its last lines, fewer while these are too long. */
const tails = [400, 40, 4, 1] as const;
/** The most bytes of one answer. */
const mostRead = 1_048_576;

/** The last `most` characters of a text, from the beginning of a line where one begins there. */
const lastOf = (text: string, most: number): string => {
  if (text.length <= most) return text;
  const end = text.slice(-most);
  const line = end.indexOf("\n");
  return line < 0 || line === end.length - 1 ? end : end.slice(line + 1);
};

/** Throws `Refused` with the reason where the container has not started. */
const refusalOf = (cause: ApiError, pod: Stored): Error => {
  const why = waitingReason(podStatus(pod));
  const { name } = pod.metadata;
  return cause.status === 400 && why !== undefined ? new Refused(`${name} has not started: ${why}`, { cause }) : cause;
};

/** Reads the end of a pod's log, at most `most` characters: of a line that is longer than an answer its beginning. */
export const logEnd = async (
  { transport }: Pick<Source, "transport">,
  namespace: string,
  pod: Stored,
  most: number,
): Promise<string> => {
  let text = "";
  for (const tail of tails) {
    const query = { container: mainContainer(pod), tailLines: String(tail), limitBytes: String(mostRead) };
    const path = logPath(namespace, pod, query);
    const answer = await transport.send({ method: "GET", path, headers: { accept: "*/*" }, timeoutMs: 10_000 });
    if (answer.status !== 200) throw refusalOf(errorOf(`log of ${pod.metadata.name}`, answer), pod);
    text = answer.body;
    if (Buffer.byteLength(text) < mostRead) break;
  }
  return lastOf(text, most);
};
