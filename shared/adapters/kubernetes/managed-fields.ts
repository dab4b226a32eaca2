/**
 * Leaves the managed fields of objects out of answers and watches, before their text is parsed. They are half of an
 * object's text and, because each of their keys is new to the parser, more than half of its time. Of custom resources
 * the managers and their times stay: those of a PodGroup tell whether Volcano's scheduler has written it. Nothing reads
 * the others.
 */
import type { HttpStream, Transport } from "../../core/http.ts";

/** Paths whose answers are no objects: logs, and what a pod or a service itself answers. */
const isOfPod = /\/(?:log|proxy)(?:[/?]|$)/;

/** Begins within no string of JSON, because a quote in a string is escaped. */
const mark = ',"managedFields":';

/**
 * A list of objects without lists in them, strings skipped. Each part begins with another character, so the time is
 * linear.
 */
const list = /\[[^"[\]]*(?:"[^"\\]*(?:\\.[^"\\]*)*"[^"[\]]*)*\]/y;

/** In a custom resource, whose keys are in order, what begins an entry's fields, and what follows them. */
const fields = '"fieldsV1":{';
const after = /\},"(?:manager|operation)":"/;

const withoutFields = (part: string): string => part.slice(Math.max(0, part.search(after)));

/** Returns the list of a custom resource without the fields themselves; of any other object undefined. */
const managersIn = (text: string): string | undefined => {
  if (!text.startsWith('[{"apiVersion":')) return undefined;
  const [first = "", ...parts] = text.split(fields);
  return [first, ...parts.map(withoutFields)].join(fields);
};

/** Returns the JSON text of objects without their managed fields. A text of another form stays as it is. */
export const withoutManagedFields = (text: string): string => {
  let kept = "";
  let from = 0;
  for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + mark.length)) {
    list.lastIndex = at + mark.length;
    if (!list.test(text)) continue;
    const managers = managersIn(text.slice(at + mark.length, list.lastIndex));
    kept += managers === undefined ? text.slice(from, at) : `${text.slice(from, at + mark.length)}${managers}`;
    from = list.lastIndex;
    at = from - mark.length;
  }
  return from === 0 ? text : kept + text.slice(from);
};

async function* lean(lines: HttpStream["lines"]): AsyncGenerator<string> {
  for await (const line of lines) yield withoutManagedFields(line);
}

/** Returns a transport whose objects have no managed fields. */
export const leanObjects = (transport: Transport): Transport => ({
  send: async (request) => {
    const answer = await transport.send(request);
    return isOfPod.test(request.path) ? answer : { ...answer, body: withoutManagedFields(answer.body) };
  },
  stream: async (request) => {
    const stream = await transport.stream(request);
    return isOfPod.test(request.path) ? stream : { ...stream, lines: lean(stream.lines) };
  },
});
