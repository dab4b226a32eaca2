/** Mutants of the forwarder in windows and of the resync function's look at the queues; the tests named must fail on each. */
import type { Mutant } from "./mutants.ts";

const windows = "shared/forward/windows.ts";
const depths = "shared/deployments/resync/depths.ts";
const testsOfWindows = ["test/unit/forward/windows.test.ts"];
const testsOfDepths = ["test/unit/deployments/resync/depths.test.ts"];

export const windowMutants: readonly Mutant[] = [
  {
    name: "window-ends-although-something-happened",
    promise: "C4: a window in which a key was sent lasts its whole time",
    file: windows,
    find: "sends === 0 && forwarder.answered()",
    replace: "sends >= 0 && forwarder.answered()",
    tests: testsOfWindows,
  },
  {
    name: "window-trusts-a-silent-server",
    promise: "C4: a window lasts its whole time unless every watch was answered within the look",
    file: windows,
    find: "sends === 0 && forwarder.answered()",
    replace: "sends === 0",
    tests: testsOfWindows,
  },
  {
    name: "resync-fails-for-messages-on-their-way",
    promise: "messages that were seen once without a receiver are no problem yet",
    file: depths,
    find: "isWaiting && unreceived.has(url)",
    replace: "isWaiting",
    tests: testsOfDepths,
  },
  {
    name: "resync-misses-dead-messages-that-somebody-reads",
    promise: "a dead message counts also while somebody looks at it",
    file: depths,
    find: "visible + received",
    replace: "visible",
    tests: testsOfDepths,
  },
];
