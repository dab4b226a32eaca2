/** The simulator for scenarios, with the same features enabled as the real API server. */

import { openSimulator, type Simulator } from "../../../shared/simulator/open.ts";
import type { Admit } from "../../../shared/simulator/verbs/webhooks.ts";
import { answerTo } from "./hooks.ts";

/** Admission plugins that the real API server enables, too. */
export const plugins = ["OwnerReferencesPermissionEnforcement"] as const;

const asked: Admit = ({ url, timeoutSeconds }, review) => {
  const { pathname, host } = new URL(url);
  const answer = answerTo(pathname, review);
  if (answer !== undefined) return answer;
  throw new Error(`Post "${url}?timeout=${timeoutSeconds}s": dial tcp ${host}: connect: connection refused`);
};

export const openServer = (): Simulator => openSimulator({ nodes: [], rbac: true, guardsOwners: true, admit: asked });
