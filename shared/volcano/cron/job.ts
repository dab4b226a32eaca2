/** The Job that one time of a CronJob creates, with upstream's name, annotation and owner. */
import { zoneOf } from "../../core/cron/zone.ts";
import { apiVersionOf, type Obj, type Stored } from "../../core/object.ts";
import type { Effect } from "../../core/plan.ts";
import { inheritedListener } from "../../core/sink.ts";
import { cronJobs, jobs, keys } from "../schema/resource.ts";
import type { Asked } from "./read.ts";

const minuteMs = 60_000;

/** Returns the name of a time's job. The name derives from the time, so that one time creates one job. */
export const jobName = (name: string, tick: number): string => `${name}-${Math.floor(tick / minuteMs)}`;

/** Returns the time that a job was named after, epoch ms; undefined for a name of another form. */
export const tickOf = (cron: string, { metadata: { name } }: Obj): number | undefined => {
  const minutes = name.startsWith(`${cron}-`) ? name.slice(cron.length + 1) : "";
  return /^\d{1,10}$/.test(minutes) ? Number(minutes) * minuteMs : undefined;
};

const two = (number: number): string => `${number}`.padStart(2, "0");

/** Writes an instant in RFC 3339 on the clock of a zone: with its offset from UTC, or Z without one. */
export const zonedText = (at: number, timeZone: string): string => {
  const wall = zoneOf(timeZone)?.(at);
  if (wall === undefined) return new Date(at).toISOString();
  const shown = Date.UTC(wall.year, wall.month - 1, wall.day, wall.hour, wall.minute);
  const minutes = Math.round((shown - Math.floor(at / minuteMs) * minuteMs) / minuteMs);
  const text = new Date(shown + (at % minuteMs)).toISOString().slice(0, 19);
  if (minutes === 0) return `${text}Z`;
  const far = Math.abs(minutes);
  return `${text}${minutes < 0 ? "-" : "+"}${two(Math.floor(far / 60))}:${two(far % 60)}`;
};

const jobOf = ({ metadata }: Stored, { template, timeZone }: Asked, tick: number): Obj => ({
  apiVersion: apiVersionOf(jobs),
  kind: jobs.kind,
  metadata: {
    name: jobName(metadata.name, tick),
    ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
    labels: template.labels,
    annotations: {
      ...inheritedListener(metadata.annotations),
      ...template.annotations,
      [keys.scheduledAt]: zonedText(tick, timeZone),
    },
    ownerReferences: [
      {
        apiVersion: apiVersionOf(cronJobs),
        kind: cronJobs.kind,
        name: metadata.name,
        uid: metadata.uid,
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  },
  spec: template.spec,
});

/** Creates the job of a time; if it exists already, it is this very one. */
export const creation = (object: Stored, asked: Asked, tick: number): Effect => ({
  do: "create",
  object: jobOf(object, asked, tick),
  resource: jobs,
  owner: object.metadata.uid,
});
