/** The sizes of the client of the page. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { buildPage } from "../../../infra/page.ts";

test("the page's first load is at most 30 kB of script and 5 kB of style, compressed, and reaches no other host", async () => {
  const { script, style } = await buildPage();
  const [scriptSize, styleSize] = [script, style].map((text) => gzipSync(text, { level: 9 }).length);
  assert.ok((scriptSize ?? 0) > 1_000 && (scriptSize ?? 0) <= 30_000, `script ${scriptSize} bytes`);
  assert.ok((styleSize ?? 0) > 500 && (styleSize ?? 0) <= 5_000, `style ${styleSize} bytes`);
  assert.ok(!/url\(|@import|https?:/.test(style));
});
