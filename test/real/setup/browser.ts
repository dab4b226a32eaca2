/** The browser that opens the page: Debian's Chromium. The driver, playwright-core, downloads none. */
import type { Part, Programs } from "./part.ts";
import { missingOf } from "./programs.ts";

const packages: Programs = { chromium: "chromium" };

export const browser: Part = {
  name: "browser",
  why: "Chromium, for npm run e2e -- --page",
  sizeHint: "by apt, 120 MB; 30 s",
  needs: [],
  programs: packages,
  isReady: async () => missingOf(packages).length === 0,
  install: async () => {},
};
