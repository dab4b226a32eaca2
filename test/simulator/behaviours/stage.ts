/** The simulator as scenarios want it, with everything on that a real API server has on. */
import { openSimulator, type Simulator } from "../../../shared/simulator/open.ts";

/** Switched on in the real API server, too. */
export const plugins = ["OwnerReferencesPermissionEnforcement"] as const;

export const openStage = (): Simulator => openSimulator({ nodes: [], rbac: true, guardsOwners: true });
