/** The sizes of the client of the page. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { buildPage } from "../../../infra/page.ts";

test("the page's first load is at most 30 kB of script and 5 kB of style, compressed, and reaches no other host", async () => {
  const { script, style, parts } = await buildPage();
  const sizeOf = (text: string): number => gzipSync(text, { level: 9 }).length;
  const first = [script, ...parts.flatMap(({ text, isLater }) => (isLater ? [] : [text]))];
  const [scriptSize, styleSize] = [first.reduce((sum, text) => sum + sizeOf(text), 0), sizeOf(style)];
  const all = parts.reduce((sum, { text, isLater }) => sum + (isLater ? sizeOf(text) : 0), scriptSize + styleSize);
  assert.ok(scriptSize > 1_000 && scriptSize <= 30_000, `script ${scriptSize} bytes`);
  assert.ok(styleSize > 500 && styleSize <= 5_000, `style ${styleSize} bytes`);
  assert.ok(all > scriptSize + styleSize && all <= 60_000, `all ${all} bytes`);
  assert.ok(!/url\(|@import|https?:/.test(style));
});
