/** Where the viewer is: the screen and the filter, both in the address, so that a link shows the same. */
import { signal } from "@preact/signals";

export const screens = ["overview", "applications", "queues", "schedules", "recovery", "health"] as const;
export type Screen = (typeof screens)[number] | "application";

export type Place = {
  readonly screen: Screen;
  readonly query: string;
  /** KIND/NAMESPACE/NAME of the application that is shown. */
  readonly application: string;
};

export const usualQuery = "since:24h";

const isScreen = (text: string | null): text is Screen => screens.some((one) => one === text) || text === "application";

const placeIn = (search: string): Place => {
  const given = new URLSearchParams(search);
  const screen = given.get("screen");
  const application = given.get("application") ?? "";
  const shown = application === "" ? "applications" : "application";
  return { screen: isScreen(screen) ? screen : shown, query: given.get("q") ?? usualQuery, application };
};

export const place = signal<Place>(placeIn(location.search));

const searchOf = ({ screen, query, application }: Place): string => {
  const given = new URLSearchParams();
  if (screen !== "applications") given.set("screen", screen);
  if (query !== usualQuery) given.set("q", query);
  if (screen === "application") given.set("application", application);
  const text = given.toString();
  return text === "" ? location.pathname : `${location.pathname}?${text}`;
};

/** The address of a place, for links. */
export const addressOf = (to: Partial<Place>): string => searchOf({ ...place.value, ...to });

export const go = (to: Partial<Place>): void => {
  const next = { ...place.value, ...to };
  history.pushState(undefined, "", searchOf(next));
  place.value = next;
};

/** Changes the filter without a new entry in the browser's history. */
export const refine = (query: string): void => {
  const next = { ...place.value, query };
  history.replaceState(undefined, "", searchOf(next));
  place.value = next;
};

addEventListener("popstate", () => {
  place.value = placeIn(location.search);
});
