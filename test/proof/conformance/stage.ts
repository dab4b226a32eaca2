/** The simulator as scenarios want it, with everything on that a real API server has on. */

import { openSimulator, type Simulator } from "../../../shared/simulator/open.ts";
import type { Admit } from "../../../shared/simulator/webhooks.ts";
import { answerTo } from "./hooks.ts";

/** Switched on in the real API server, too. */
export const plugins = ["OwnerReferencesPermissionEnforcement"] as const;

const asked: Admit = ({ url, timeoutSeconds }, review) => {
  const { pathname, host } = new URL(url);
  const answer = answerTo(pathname, review);
  if (answer !== undefined) return answer;
  throw new Error(`Post "${url}?timeout=${timeoutSeconds}s": dial tcp ${host}: connect: connection refused`);
};

export const openStage = (): Simulator => openSimulator({ nodes: [], rbac: true, guardsOwners: true, admit: asked });
