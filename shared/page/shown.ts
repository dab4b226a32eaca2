/** The application that is shown: its detail, its pods, and the log in view; each is read again when it has changed. */
import { effect, signal } from "@preact/signals";
import { place } from "./place.ts";
import { link } from "./store.ts";
import { type Detail, keyOf, type Lanes, type Log } from "./wire.ts";

/** One application; `missing`: there is none of this name. */
export const detail = signal<Detail | "missing" | { readonly error: string } | undefined>(undefined);

export const isDetail = (value: typeof detail.value, key: string): value is Detail =>
  typeof value === "object" && !("error" in value) && keyOf(value) === key;

/** The detail that came last, with the newer of both timelines: answers may overtake each other. */
const newer = ({ lanes, lanesAt }: Lanes, found: Detail): Detail =>
  lanesAt > found.lanesAt ? { ...found, lanes, lanesAt } : found;

const pathOf = (application: string): string => application.split("/").map(encodeURIComponent).join("/");

let lanesReading = false;
let lanesAgain = false;

/** Reads the pods of the shown application alone: they are known before everything else is. */
export const readLanes = async (): Promise<void> => {
  lanesAgain = lanesReading;
  if (lanesReading) return;
  lanesReading = true;
  const { application } = place.value;
  const answer = await fetch(`/page/lanes/${pathOf(application)}`).catch(() => undefined);
  const found: Lanes | undefined = answer?.ok === true ? await answer.json().catch(() => undefined) : undefined;
  const shown = detail.value;
  if (found !== undefined && found.lanes.length > 0 && isDetail(shown, application) && found.lanesAt > shown.lanesAt)
    detail.value = { ...shown, ...found };
  lanesReading = false;
  if (lanesAgain) void readLanes();
};

let reading = 0;

const readDetail = async (): Promise<void> => {
  const { screen, application } = place.value;
  if (screen !== "application") return;
  const turn = ++reading;
  const answer = await fetch(`/page/app/${pathOf(application)}`).catch(() => undefined);
  if (turn !== reading || answer === undefined) return;
  if (answer.status === 404) detail.value = "missing";
  else if (answer.ok) {
    const found: Detail = await answer.json();
    const shown = detail.value;
    if (turn === reading) detail.value = isDetail(shown, application) ? newer(shown, found) : found;
  } else if (!isDetail(detail.value, application)) detail.value = { error: `the server answered ${answer.status}` };
};

let soon: number | undefined;

/** Reads the shown application again; several changes within a moment are one read. */
export const refresh = (ms: number): void => {
  if (soon !== undefined) return;
  soon = window.setTimeout(() => {
    soon = undefined;
    void readDetail();
  }, ms);
};

effect(() => {
  const { screen, application } = place.value;
  if (screen !== "application") return;
  if (!isDetail(detail.peek(), application)) detail.value = undefined;
  void readDetail();
});

/** The end of a log; undefined until it has come. */
export const log = signal<Log | undefined>(undefined);
/** The pod whose log is shown; "": the main one. */
export const logPod = signal("");
/** True while a log is in view: nothing reads it otherwise. */
export const isLogShown = signal(false);

const readLog = async (): Promise<void> => {
  const { application } = place.value;
  const pod = logPod.value;
  const answer = await fetch(`/page/log/${pathOf(application)}?pod=${encodeURIComponent(pod)}`).catch(() => undefined);
  if (place.value.application !== application || logPod.value !== pod) return;
  if (answer?.ok === true) log.value = await answer.json();
  else log.value = { pod, text: "", error: `the server answered ${answer?.status ?? "nothing"}` };
};

effect(() => {
  place.value.application;
  logPod.value = "";
});

effect(() => {
  const { screen, application } = place.value;
  logPod.value;
  log.value = undefined;
  if (isLogShown.value && screen === "application" && application !== "") void readLog();
});

const logMs = 3_000;

setInterval(() => {
  const isSeen = isLogShown.value && place.value.screen === "application" && document.visibilityState === "visible";
  if (isSeen && link.value !== "signed out") void readLog();
}, logMs);

/** A live page is read again every 5 s while it is visible: waits grow longer without a change of the cluster. */
setInterval(() => {
  if (document.visibilityState === "visible" && link.value === "live") refresh(0);
}, 5_000);
