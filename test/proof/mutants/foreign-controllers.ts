/** Mutants of functions that look for controllers without a lease: the sweep must fail on each. */
import type { Mutant } from "./mutants.ts";

export const foreignControllerMutants: readonly Mutant[] = [
  {
    name: "deployment-unseen",
    promise: "functions write nothing beside a controller whose Deployment exists",
    file: "shared/kube/upstream-controllers.ts",
    find: '.filter((one) => isMeantToRun(one) && partOf(upstream, one)?.part === "controller")',
    replace: '.filter((one) => isMeantToRun(one) && partOf(upstream, one)?.part === "webhook")',
    scenarios: ["beside-deployment"],
    fault: "message-lost",
  },
  {
    name: "writer-unseen",
    promise: "functions write nothing beside a controller that writes statuses",
    file: "shared/kube/upstream-controllers.ts",
    find: 'const counts = at(share, "subresource") === "status" && !harmless.test(manager) && now - time <= freshMs;',
    replace:
      'const counts = at(share, "subresource") === "nothing" && !harmless.test(manager) && now - time <= freshMs;',
    scenarios: ["job-beside-writes"],
    fault: "message-lost",
  },
  {
    name: "sightings-never-refreshed",
    promise: "signs of other controllers are saved when they change",
    file: "shared/forward/controller-detection.ts",
    find: "if (kept !== undefined && gistOf(kept) === gistOf(seen) && seen.at - kept.at < renewedMs) return;",
    replace: "if (kept !== undefined && gistOf(kept) !== gistOf(seen) && seen.at - kept.at < renewedMs) return;",
    scenarios: ["beside-pod-begins"],
    fault: "message-lost",
  },
];
