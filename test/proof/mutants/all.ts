/** The mutants of all rooms. */

import { apacheMutants } from "./apache.ts";
import { bellMutants } from "./bell.ts";
import { commandLineMutants } from "./command-line.ts";
import { deniedPodMutants } from "./denied-pods.ts";
import { dispatcherMutants } from "./dispatcher.ts";
import { elasticMutants } from "./elastic.ts";
import { evictionMutants } from "./evictions.ts";
import { foreignControllerMutants } from "./foreign-controllers.ts";
import { gangMutants } from "./gangs.ts";
import { keptLogMutants } from "./kept-logs.ts";
import { kueueMutants } from "./kueue.ts";
import { loginMutants } from "./logins.ts";
import { makerMutants } from "./makers.ts";
import { mutants as engineMutants, type Mutant } from "./mutants.ts";
import { nativeMutants } from "./natives.ts";
import { natsMutants } from "./nats.ts";
import { nodeMutants } from "./nodes.ts";
import { pageMutants } from "./page.ts";
import { verdictMutants } from "./page-verdicts.ts";
import { portMutants } from "./ports.ts";
import { readingMutants } from "./readings.ts";
import { recordingMutants } from "./recordings.ts";
import { recoveryMutants } from "./recoveries.ts";
import { shareMutants } from "./shares.ts";
import { signInMutants } from "./sign-in.ts";
import { specChangeMutants } from "./spec-changes.ts";
import { tenantMutants } from "./tenants.ts";
import { updateMutants } from "./updates.ts";
import { upstreamMutants } from "./upstream.ts";
import { volcanoMutants } from "./volcano.ts";
import { watchedPodMutants } from "./watched-pods.ts";
import { windowMutants } from "./windows.ts";

export const mutants: readonly Mutant[] = [
  ...engineMutants,
  ...upstreamMutants,
  ...apacheMutants,
  ...updateMutants,
  ...volcanoMutants,
  ...deniedPodMutants,
  ...evictionMutants,
  ...gangMutants,
  ...nativeMutants,
  ...kueueMutants,
  ...elasticMutants,
  ...nodeMutants,
  ...keptLogMutants,
  ...tenantMutants,
  ...portMutants,
  ...shareMutants,
  ...makerMutants,
  ...recoveryMutants,
  ...readingMutants,
  ...recordingMutants,
  ...foreignControllerMutants,
  ...dispatcherMutants,
  ...natsMutants,
  ...specChangeMutants,
  ...pageMutants,
  ...verdictMutants,
  ...commandLineMutants,
  ...watchedPodMutants,
  ...windowMutants,
  ...bellMutants,
  ...signInMutants,
  ...loginMutants,
];
