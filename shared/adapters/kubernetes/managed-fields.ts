/**
 * Leaves the managed fields of pods out of answers and watches, before their text is parsed. They are half of a pod's text
 * and, because each of their keys is new to the parser, more than half of its time; nothing reads them.
 */
import type { HttpStream, Transport } from "../../core/http.ts";

/** Paths whose answers are pods: not logs, and not answers of a pod itself. */
const isOfPods = /^\/api\/v1\/(?:namespaces\/[^/?]+\/)?pods(?:\/[^/?]+(?:\/status)?)?(?:\?|$)/;

/** Begins within no string of JSON, because a quote in a string is escaped. */
const mark = ',"managedFields":';

/**
 * A list of objects without lists in them, strings skipped. Each part begins with another character, so the time is
 * linear.
 */
const list = /\[[^"[\]]*(?:"[^"\\]*(?:\\.[^"\\]*)*"[^"[\]]*)*\]/y;

/** Returns the JSON text of pods without their managed fields. A text of another form stays as it is. */
export const withoutManagedFields = (text: string): string => {
  let kept = "";
  let from = 0;
  for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + mark.length)) {
    list.lastIndex = at + mark.length;
    if (!list.test(text)) continue;
    kept += text.slice(from, at);
    from = list.lastIndex;
    at = from - mark.length;
  }
  return from === 0 ? text : kept + text.slice(from);
};

async function* lean(lines: HttpStream["lines"]): AsyncGenerator<string> {
  for await (const line of lines) yield withoutManagedFields(line);
}

/** Returns a transport whose pods have no managed fields. */
export const leanPods = (transport: Transport): Transport => ({
  send: async (request) => {
    const answer = await transport.send(request);
    return isOfPods.test(request.path) ? { ...answer, body: withoutManagedFields(answer.body) } : answer;
  },
  stream: async (request) => {
    const stream = await transport.stream(request);
    return isOfPods.test(request.path) ? { ...stream, lines: lean(stream.lines) } : stream;
  },
});
