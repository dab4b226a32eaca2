/** The host of the kinds that this repository registers. */

import { kindsOf } from "./kinds.ts";
import { type Host, type HostSettings, openHost } from "./single-process.ts";

export type { Host, HostSettings } from "./single-process.ts";

export const startHost = (settings: HostSettings): Promise<Host> => openHost(settings, kindsOf(settings));
