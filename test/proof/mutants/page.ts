/** Mutants of the page: what viewers may see, what they cost, and how soon they hear; the tests named must fail on each. */
import type { Mutant } from "./mutants.ts";

const folder = "shared/deployments/page";
const testsOf = (name: string): readonly string[] => [`test/unit/deployments/page/${name}.test.ts`];

export const pageMutants: readonly Mutant[] = [
  {
    name: "page-loss-waits-for-the-record",
    promise: "a killed executor is marked by its own pod, before a step has saved the loss",
    file: `${folder}/lanes.ts`,
    find: "const own = ownLoss(pod);",
    replace: "const own: string | undefined = undefined;",
    tests: testsOf("lanes"),
  },
  {
    name: "page-end-with-the-driver-is-a-loss",
    promise: "an executor that ended with its driver is not marked as lost",
    file: `${folder}/lanes.ts`,
    find: "lane.end === undefined || endedWithDriver(lane, drivers)",
    replace: "lane.end === undefined",
    tests: testsOf("lanes"),
  },
  {
    name: "page-answer-of-before",
    promise: "after a change nobody is answered with what was read before it",
    file: `${folder}/detail.ts`,
    find: "return age < calmMs ? beginLater(key, named, calmMs - age) : begin(key, named);",
    replace: "return age < calmMs ? known : begin(key, named);",
    tests: testsOf("detail"),
  },
  {
    name: "page-lists-for-each-viewer",
    promise: "a function lists at most once in five seconds, however many look",
    file: `${folder}/host.ts`,
    find: "if (now() >= dueAt) reading ??= read();",
    replace: "reading ??= read();",
    tests: testsOf("polled"),
  },
  {
    name: "page-rows-of-other-namespaces",
    promise: "a caller of some namespaces gets the rows of those alone",
    file: `${folder}/board.ts`,
    find: "({ row, revision }) => isNews(revision) && within(namespaces, row.namespace),",
    replace: "({ revision }) => isNews(revision),",
    tests: testsOf("routes"),
  },
  {
    name: "page-first-rows-of-other-namespaces",
    promise: "a caller of some namespaces gets the beginning of the list of those alone",
    file: `${folder}/board.ts`,
    find: ".filter(({ namespace }) => within(namespaces, namespace));",
    replace: ";",
    tests: testsOf("routes"),
  },
  {
    name: "page-rows-for-each-viewer",
    promise: "the rows are made and compressed once per change, however many look",
    file: `${folder}/routes.ts`,
    find: "return known?.revision === board.revision() ? known : make(key, value);",
    replace: "return known?.revision === -1 ? known : make(key, value);",
    tests: testsOf("routes"),
  },
  {
    name: "page-application-of-other-namespaces",
    promise: "a caller of some namespaces opens the applications of those alone",
    file: `${folder}/routes.ts`,
    find: "return isTheirs && isNamespace(namespace)",
    replace: "return (isTheirs || true) && isNamespace(namespace)",
    tests: testsOf("routes"),
  },
  {
    name: "page-log-read-for-each-viewer",
    promise: "a log is read at most once in two seconds, however many look",
    file: `${folder}/detail.ts`,
    find: "if (known !== undefined && now() - known.at < freshMs) return known.log;",
    replace: "if (known === undefined && now() < 0) return Promise.resolve(undefined);",
    tests: testsOf("logs"),
  },
  {
    name: "page-log-of-another-application",
    promise: "a viewer of one application reads the logs of its pods alone",
    file: `${folder}/detail.ts`,
    find: "podsMeant(target, life, { pod: name })[0];",
    replace: "({ ...life.object, metadata: { ...life.object.metadata, name } });",
    tests: testsOf("logs"),
  },
  {
    name: "page-sign-in-from-another-site",
    promise: "no other site opens a session",
    file: `${folder}/access.ts`,
    find: "return origin === undefined || (URL.canParse(origin)",
    replace: 'return true || (URL.canParse(origin ?? "")',
    tests: testsOf("routes"),
  },
  {
    name: "page-tag-of-the-process",
    promise: "a reader that shows the same rows gets no body, whichever process answers",
    file: `${folder}/routes.ts`,
    find: "batch.print}",
    replace: "batch.id}",
    tests: testsOf("routes"),
  },
];
