/**
 * The depths of the queues on SQS, which resync reads in place of alarms that CloudWatch bills: dead messages, and
 * messages that no function receives, are reported by the name of their queue, and fail the run.
 */
import type { Sqs } from "../../adapters/sqs/client.ts";
import { depthOf } from "../../adapters/sqs/depth.ts";
import { errorText } from "../../core/text.ts";
import type { Report } from "../../engine/ports.ts";

const nameOf = (url: string): string => url.slice(url.lastIndexOf("/") + 1);

/**
 * Opens the reading of queues, by their URLs, and of their dead-letter queues. Each call returns the problems in words.
 * Messages count as received by no function if some are visible and none is received at two readings in a row of this
 * process. A queue that cannot be read is a warning.
 */
export const openDepths = (queues: readonly string[], sqs: Sqs, report: Report) => {
  let unreceived: ReadonlySet<string> = new Set();
  const deadIn = async (url: string): Promise<readonly string[]> => {
    const { visible, received } = await depthOf(sqs, url);
    const messages = visible + received;
    return messages === 0 ? [] : [`dead messages in ${nameOf(url)}: ${messages}`];
  };
  const problemsOf = async (url: string, waiting: Set<string>): Promise<readonly string[]> => {
    const { visible, received, dead } = await depthOf(sqs, url);
    const isWaiting = visible > 0 && received === 0;
    if (isWaiting) waiting.add(url);
    const here = `messages in ${nameOf(url)} that no function receives: ${visible}`;
    return [
      ...(isWaiting && unreceived.has(url) ? [here] : []),
      ...(dead === undefined ? [] : await deadIn(dead).catch(warn)),
    ];
  };
  const warn = (cause: unknown): readonly string[] => {
    report("warn", "resync: the depth of a queue is unknown", {
      error: errorText(cause),
    });
    return [];
  };
  return async (): Promise<readonly string[]> => {
    const waiting = new Set<string>();
    const problems = (await Promise.all(queues.map((url) => problemsOf(url, waiting).catch(warn)))).flat();
    unreceived = waiting;
    for (const problem of problems)
      report("error", `resync: ${problem}`, { runbook: "infra/docs/runbooks/resync-fails.md" });
    return problems;
  };
};
