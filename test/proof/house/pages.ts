/** Markdown pages for tests: their links and headings. */
import { dirname, join } from "node:path/posix";
import { read, tracked } from "./sources.ts";

export const pages: readonly string[] = tracked.filter((path) => path.endsWith(".md"));

type Link = { readonly page: string; readonly line: number; readonly to: string };

const fence = /^ {0,3}```/;

type Line = { readonly line: number; readonly text: string };

/** Returns the lines of a page outside its code blocks. */
const proseOf = (page: string): readonly Line[] => {
  const prose: Line[] = [];
  let isCode = false;
  for (const [at, text] of read(page).split("\n").entries()) {
    if (fence.test(text)) isCode = !isCode;
    else if (!isCode) prose.push({ line: at + 1, text });
  }
  return prose;
};

/** Drops code spans, which contain no links. */
const withoutCode = (text: string): string => text.replaceAll(/`[^`]*`/g, "");

export const linksOf = (page: string): readonly Link[] =>
  proseOf(page).flatMap(({ line, text }) =>
    [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, to = ""]) => ({ page, line, to })),
  );

/** Returns the anchor of a heading as code forges make it: lower case, marks dropped, spaces as hyphens. */
const anchorOf = (heading: string): string =>
  heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-");

export const anchorsOf = (page: string): readonly string[] =>
  proseOf(page).flatMap(({ text }) => {
    const [, heading] = /^#{1,6} (.+)$/.exec(text) ?? [];
    return heading === undefined ? [] : [anchorOf(heading)];
  });

/** Returns the reason why a link is broken; undefined for a good link and for one out of the repository. */
export const brokenBy = ({ page, to }: Link): string | undefined => {
  if (/^(https?:|mailto:)/.test(to)) return undefined;
  const [path = "", anchor] = to.split("#");
  const target = path === "" ? page : join(dirname(page), path).replace(/\/$/, "");
  if (!tracked.some((one) => one === target || one.startsWith(`${target}/`))) return `${target} is not there`;
  if (anchor === undefined) return undefined;
  if (!target.endsWith(".md")) return `${target} has no headings`;
  return anchorsOf(target).includes(anchor) ? undefined : `${target} has no heading #${anchor}`;
};
