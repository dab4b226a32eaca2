/** The parts that start driver and initial executors as one group: a function loads them only where groups start by plans. */
import type { KindSettings } from "../../registry/settings.ts";
import { startApacheWhole } from "../../spark/apache/gang.ts";
import { startWhole } from "../../spark/application/gang/admission.ts";

export const gangs: Pick<KindSettings, "gang" | "apacheGang"> = { gang: startWhole, apacheGang: startApacheWhole };
