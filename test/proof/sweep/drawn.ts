/** Texts of objects without values that differ from run to run: names drawn by the server, times, ids of executors. */

/** UID → its replacement, made from the first object that had it. */
export type Identities = ReadonlyMap<string, string>;

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;
const epoch = /\b1[789]\d{11}\b/g;
const anyUuid = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const hash = /(?<![0-9a-f])(?=\d*[a-f])[0-9a-f]{16,64}(?![0-9a-f])/g;
/** A run is named after its time, in nanoseconds. */
export const ofRun = /-\d{19}\b/;
const address = /\b10\.244\.\d+\.\d+\b/g;
const projected = /kube-api-access-[a-z0-9]{5}/g;
const container = /containerd:\/\/[0-9a-f]{64}/g;
const keptAs = /"kept":"[0-9a-f]+"/g;
const drawnKey = /"ZHJhd24[A-Za-z0-9+/=]*"/g;

/** Derived from the time at which a stream of updates began. */
const streamId = /(?<=(?:"stream":"|updates":"))[0-9a-f]{16}/g;

/** A sign that a text must hold to be searched, the pattern, and the replacement. */
const drawnByServer: readonly (readonly [sign: string, pattern: RegExp, name: string])[] = [
  ["10.244.", address, "<ip>"],
  ["containerd://", container, "<container>"],
  ["kube-api-access-", projected, "kube-api-access"],
  ['"kept":"', keptAs, '"kept":"<digest>"'],
  ['"stream":"', streamId, "<stream>"],
  ['"ZHJhd24', drawnKey, '"<key>"'],
];

/** The text without drawn identities and times; `parts` are names made of parts of a UID, with their replacements. */
export const plain = (text: string, identities: Identities, parts: readonly (readonly [string, string])[]): string => {
  const named = (uid: string): string => identities.get(uid) ?? uid;
  // A PodGroup is named after the UID of its job.
  let result = text.replace(uuid, (uid) => named(uid).replace(uuid, named));
  for (const [part, name] of parts) if (result.includes(part)) result = result.replaceAll(part, name);
  result = result.replace(time, "<time>").replace(epoch, "1");
  for (const [sign, pattern, name] of drawnByServer) if (result.includes(sign)) result = result.replace(pattern, name);
  return result;
};

/** Replaces values that are derived from the UID of a run. */
export const derived = (text: string): string => text.replace(anyUuid, "<id>").replace(hash, "<id>");

/** Replaces the id of an executor in its own pod. */
export const unnumbered = (text: string, name: string): string => {
  const [, id] = /-exec-(1\d{3})$/.exec(name) ?? [];
  return id === undefined ? text : text.replaceAll(`"${id}"`, '"own"');
};

const tells = /Executor 1|Executor own|"id":1|"id":"own"|"operator":"NotIn"|"over":"1|"live":"1/;

/** Replaces ids of executors elsewhere: in events, by name; in a checkpoint, by id and by span. */
export const nameless = (text: string): string =>
  tells.test(text)
    ? text
        .replace(/\bExecutor 1\d{3}\b/g, "Executor own")
        .replace(/"id":1\d{3}\b/g, '"id":"own"')
        .replace(/("id":"own","node":)"[^"]*"/g, '$1"<node>"')
        .replace(/(\bExecutor own \((?:pod \S+, )?node )[^)]*/g, "$1<node>")
        .replace(/("key":"metadata\.name","operator":"NotIn","values":)\["[^"]*"\]/g, '$1["<node>"]')
        .replace(/"(over|live)":"1\d{3}[-,\d]*"/g, '"$1":"own"')
    : text;

/** Replaces an executor that neither exists nor is part of a status: it has no place in their order. */
export const gone = (text: string): string =>
  text.includes("-exec-1") ? text.replace(/(-exec-)1\d{3}\b/g, "$1own-gone") : text;
