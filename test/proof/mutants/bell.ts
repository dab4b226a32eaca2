/** Mutants of the bell, of the waits for its changes, and of the resync that finds what it has missed; the tests named must fail on each. */
import type { Mutant } from "./mutants.ts";

const rings = "shared/forward/bell.ts";
const door = "shared/deployments/bell/app.ts";
const visibility = "shared/engine/reconcile/visibility.ts";
const ofRings = ["test/unit/forward/bell.test.ts"];
const ofDoor = ["test/unit/deployments/bell/app.test.ts"];
const ofVisibility = ["test/unit/engine/reconcile/visibility.test.ts"];

export const bellMutants: readonly Mutant[] = [
  {
    name: "bell-forwards-names-of-any-length",
    promise: "the bell sends no message that its reader would drop",
    file: door,
    find: "  return message === undefined ? [] : [{ ...ring, message }];",
    replace: "  return message === undefined ? [ring] : [{ ...ring, message }];",
    tests: ofDoor,
  },
  {
    name: "bell-remembers-refused-messages",
    promise: "a message that the queue has refused is sent again with the next ring",
    file: rings,
    find: "    sending.catch(() => known.delete(id));",
    replace: "    sending.catch(() => known.has(id));",
    tests: ofRings,
  },
  {
    name: "bell-believes-request-name",
    promise: "an object of a deleted collection rings, although its review has no name",
    file: rings,
    find: "  if (change === undefined) return [];\n  const subjects",
    replace: "  if (change === undefined || request.name === undefined) return [];\n  const subjects",
    tests: ofRings,
  },
  {
    name: "bell-without-after",
    promise: "a message of a ring names the version that its change replaces",
    file: rings,
    find: "{ change, replaced: replacedIn(request, change) }",
    replace: "{ change, replaced: {} }",
    tests: ofRings,
  },
  {
    name: "bell-takes-deletions-for-the-end",
    promise: "a deletion with a grace period is the beginning of an end",
    file: rings,
    find: "lingers(request, before) ? ending(before, now) : undefined",
    replace: "undefined",
    tests: ofRings,
  },
  {
    name: "bell-rings-as-a-watch",
    promise: "no hint of a watch says that a change is visible which is not",
    file: rings,
    find: "{ message: { cluster, kind, namespace, name, reason, ...replaced } }",
    replace: "{ message: { ...message, ...replaced } }",
    tests: ofRings,
  },
  {
    name: "bell-rings-once-for-a-write-and-its-repetition",
    promise: "a refused write and the same write later are two messages",
    file: rings,
    find: "Math.floor(now / lengthMs)",
    replace: "0",
    tests: ofRings,
  },
  {
    name: "bell-without-trail",
    promise: "a message 2 s later stands for the rings whose message the queue has dropped",
    file: rings,
    find: "  if (isWhole === true) return [first];",
    replace: "  if (isWhole !== false) return [first];",
    tests: ofRings,
  },
  {
    name: "bell-misses-the-last-finalizer",
    promise: "an object that its last finalizer leaves rings",
    file: rings,
    find: "return isEnding(after) && hasFinalizers(before) && !hasFinalizers(after)",
    replace: "return isEnding(after) && hasFinalizers(after) && !hasFinalizers(after)",
    tests: ofRings,
  },
  {
    name: "bell-refuses",
    promise: "the bell allows every request",
    file: door,
    find: "answerTo(request, pass)",
    replace: 'answerTo(request, request.operation === "DELETE" ? { allowed: false, message: "no" } : pass)',
    tests: ofDoor,
  },
  {
    name: "bell-logs",
    promise: "the bell logs nothing of an object's content",
    file: door,
    find: "const error = cause instanceof Error ? cause.name : typeof cause;",
    replace: "const error = String(cause);",
    tests: ofDoor,
  },
  {
    name: "bell-answers-everywhere",
    promise: "the bell answers at its secret paths alone",
    file: door,
    find: 'if (!isSecretPath(c.req.param("path"), await parts.paths())) return c.notFound();',
    replace: "await parts.paths();",
    tests: ofDoor,
  },
  {
    name: "bell-hides-lost-rings",
    promise: "the API server counts a ring that the queue has not taken",
    file: door,
    find: "if (!(await isSent(understood(request, parts), ringer, parts)))",
    replace: "if (!(await isSent(understood(request, parts), ringer, parts)) && text.length === 0)",
    tests: ofDoor,
  },
  {
    name: "changes-taken-for-visible",
    promise: "a step does not begin before the change is visible that its message is about",
    file: visibility,
    find: "return look.uid !== uid || look.resourceVersion !== resourceVersion;",
    replace: "return look.uid !== uid || look.resourceVersion !== undefined;",
    tests: ofVisibility,
  },
  {
    name: "invisible-changes-wait-for-ever",
    promise: "the step of a change that never becomes visible begins after three tries",
    file: visibility,
    find: "let early: readonly Message[] = messages.filter(({ looks = 0 }) => looks < delaysMs.length);",
    replace: "let early: readonly Message[] = messages;",
    tests: ofVisibility,
  },
  {
    name: "marks-unseen-at-rest",
    promise: "a resync finds an object at rest whose labels or annotations have changed",
    file: "shared/forward/resync.ts",
    find: "if (hint.marks !== undefined && hint.marks !== object.marks)",
    replace: "if (hint.marks !== undefined && hint.marks === undefined)",
    tests: ["test/unit/forward/resync.test.ts"],
  },
  {
    name: "eviction-taken-before-it-begins",
    promise: "an eviction is looked at again while its pod is not being deleted",
    file: "shared/forward/eviction.ts",
    find: "if (!isEnding(pod)) return await again(context, message, resourceVersion);",
    replace: 'if (!isEnding(pod)) return { did: "nothing", why: resourceVersion };',
    tests: ["test/unit/forward/eviction.test.ts"],
  },
];
