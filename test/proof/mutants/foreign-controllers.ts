/** Mutants of the search for other controllers: the sweep, or tests of a host, must fail on each. */
import type { Mutant } from "./mutants.ts";

const detection = "shared/forward/controller-detection.ts";
const workloads = "shared/forward/controller-workloads.ts";
const counts =
  "const counts = (one: Workload): boolean => namespaces.includes(one.namespace) || names.has(accountText(one.account));";

export const foreignControllerMutants: readonly Mutant[] = [
  {
    name: "deployment-unseen",
    promise: "functions write nothing beside a controller whose Deployment exists",
    file: "shared/kube/controller-workloads.ts",
    find: '.filter((one) => partOf(upstream, one)?.part === "controller")',
    replace: '.filter((one) => partOf(upstream, one)?.part === "webhook")',
    scenarios: ["beside-deployment"],
    fault: "message-lost",
  },
  {
    name: "rights-unread",
    promise: "a controller counts in any namespace if its account may write the kind in all of them",
    file: "shared/kube/cluster-rights.ts",
    find: "return accounts.filter((account) => subjectsOf(account).some((subject) => granted.has(subject)));",
    replace: "return accounts.filter((account) => subjectsOf(account).every((subject) => granted.has(subject)));",
    scenarios: ["beside-deployment"],
    fault: "message-lost",
  },
  {
    name: "sightings-never-refreshed",
    promise: "signs of other controllers are saved when they change",
    file: detection,
    find: "if (kept !== undefined && gistOf(kept) === gistOf(seen) && seen.at - kept.at < renewedMs) return;",
    replace: "if (kept !== undefined && gistOf(kept) !== gistOf(seen) && seen.at - kept.at < renewedMs) return;",
    scenarios: ["beside-pod-begins"],
    fault: "message-lost",
  },
  {
    name: "any-namespace",
    promise: "a lease counts only in a namespace of administrators",
    file: "shared/kube/upstream-controllers.ts",
    find: '.filter(({ metadata: { namespace = "" } }) => seen.namespaces.includes(namespace))',
    replace: '.filter(({ metadata: { namespace = "" } }) => namespace !== "" || seen.namespaces.includes(namespace))',
    scenarios: ["beside-forged"],
    fault: "message-lost",
  },
  {
    name: "any-account",
    promise: "a Deployment in a tenant's namespace counts only if its account may write the kind in all namespaces",
    file: workloads,
    find: counts,
    replace:
      'const counts = (one: Workload): boolean => one.kind === "Deployment" || namespaces.includes(one.namespace) || names.has(accountText(one.account));',
    scenarios: ["beside-forged"],
    fault: "message-lost",
  },
  {
    name: "label-of-a-tenant",
    promise: "a pod with a controller's labels in a tenant's namespace counts for nothing",
    file: workloads,
    find: counts,
    replace:
      'const counts = (one: Workload): boolean => one.kind === "Pod" || namespaces.includes(one.namespace) || names.has(accountText(one.account));',
    scenarios: ["beside-forged"],
    fault: "message-lost",
  },
  {
    name: "deleted-writer",
    promise: "the namespace of a controller that was deleted counts no longer, and a host does not flap",
    file: "shared/deployments/common/standby.ts",
    find: "places.set(upstream, found.places);",
    replace: "places.set(upstream, [...(places.get(upstream) ?? []), ...found.places]);",
    tests: ["unit/host/aside.test.ts"],
  },
  {
    name: "standby-acknowledged",
    promise: "a key that meets a standby comes again when the standby ends, without a resync",
    file: "shared/engine/reconcile/standby.ts",
    find: "return standby === undefined ? undefined : await requeueInStandby(world, message, standby);",
    replace: 'return standby === undefined ? undefined : { did: "nothing", why: standby.why };',
    scenarios: ["beside-deployment"],
    fault: "message-lost",
  },
  {
    name: "scheduler-of-any-namespace",
    promise: "a lease of Volcano's scheduler in a tenant's namespace leaves nobody's groups waiting",
    file: "shared/volcano/gang/scheduler.ts",
    find: 'namespaces.includes(lease.metadata.namespace ?? "") ? lease : undefined;',
    replace: "namespaces.length > 0 ? lease : undefined;",
    tests: ["unit/volcano/gang/scheduler.test.ts", "unit/host/gang.test.ts"],
  },
  {
    name: "scheduler-of-any-account",
    promise:
      "a pod with the image of Volcano's scheduler counts only where its account may bind pods in all namespaces",
    file: "shared/volcano/gang/scheduler.ts",
    find: "return found.find((pod) => able.has(accountText(accountOf(pod))));",
    replace: "return found.find((pod) => able.size === 0 || able.has(accountText(accountOf(pod))));",
    tests: ["unit/volcano/gang/scheduler.test.ts", "unit/host/gang.test.ts"],
  },
  {
    name: "event-of-any-group",
    promise: "an event about another group's object of the same plural requests no step",
    file: "shared/api/events.ts",
    find: '["", plurals[',
    replace:
      '["", new Proxy(plurals, { get: (all, id) => Object.entries(all).find(([one]) => one.split("/")[1] === String(id).split("/")[1])?.[1] })[',
    tests: ["unit/api/events.test.ts"],
  },
  {
    name: "quota-of-any-group",
    promise: "a SparkApplication of another group is not judged by the quota",
    file: "shared/spark/admission/review.ts",
    find: "isSameKind(request.kind, sparkApplications) &&",
    replace: "request.kind.kind === sparkApplications.kind &&",
    tests: ["unit/spark/admission/review.test.ts"],
  },
  {
    name: "queue-leads-to-any-job",
    promise: "the page leads from a waiting group to a job of Volcano only",
    file: "shared/deployments/page/queue-order.ts",
    find: 'ownerOfKind(group, jobs)?.name ?? ""',
    replace: 'group.metadata.ownerReferences?.find(({ kind }) => kind === jobs.kind)?.name ?? ""',
    tests: ["unit/deployments/page/queue-order.test.ts"],
  },
];
