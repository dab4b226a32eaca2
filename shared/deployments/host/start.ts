/** The host of the kinds that this repository registers. */
import { kindsOf } from "./kinds.ts";
import { type Host, type HostSettings, openHost } from "./wiring.ts";

export type { Host, HostSettings } from "./wiring.ts";

export const startHost = (settings: HostSettings): Promise<Host> => openHost(settings, kindsOf(settings));
