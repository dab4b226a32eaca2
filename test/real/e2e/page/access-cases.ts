/** The cases of access: who may read what, and what a hostile application or site cannot do. */
import { must } from "../scene.ts";
import { evaluated, objections, openTab, type Tab } from "./browser.ts";
import { tokens } from "./fixture.ts";
import { type Case, type Fixture, onHost, open, screens } from "./tabs.ts";

/** Answers with the status; unlike fetch, this sends a foreign Host and Origin. */
export const statusOf = async (
  url: string,
  headers: Readonly<Record<string, string>>,
  method = "GET",
): Promise<number> => {
  const { request } = await import("node:http");
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    asked.on("error", reject);
    asked.end();
  });
};

export const hostileText: Case = {
  name: "9 markup, terminal codes and marks of direction in an application are shown, and do nothing",
  run: (fixture) =>
    onHost(fixture, async (tab) => {
      await open(tab, fixture.host.url, "SparkApplication/team-b/hostile");
      const spec = tab.page.getByRole("region", { name: "Spec" });
      await spec.getByText("onerror").waitFor();
      const text = (await spec.textContent()) ?? "";
      must(text.includes("<img src=x onerror="), "the spec does not show the markup");
      must(/red.*ltr/.test(text) && !/[\u001b\u202e]/.test(text), "the spec has codes that steer a terminal or a text");
      must((await tab.page.locator("main img").count()) === 0, "an element was made of a text");
      must((await tab.page.title()) !== "owned", "a script of an application ran");
      await tab.shoot("hostile");
      return [];
    }),
};

export const doors: Case = {
  name: "10 the policy refuses markup and scripts, the cookie is sealed, foreign origins and callers that may not read are refused",
  run: (fixture) =>
    onHost(fixture, async (tab) => {
      const { url } = fixture.host;
      const { headers } = await fetch(url);
      must(
        /default-src 'none'.*require-trusted-types-for 'script'/.test(headers.get("content-security-policy") ?? ""),
        "policy",
      );
      must(headers.get("x-content-type-options") === "nosniff", "nosniff");
      const [cookie] = await tab.context.cookies();
      must(
        cookie?.name === "__Host-rekindle" && cookie.httpOnly && cookie.secure && cookie.sameSite === "Lax",
        `cookie: ${JSON.stringify({ ...cookie, value: "" })}`,
      );
      const markup = await evaluated<string>(
        tab,
        `(() => { try { document.body.innerHTML += "<b>x</b>"; return "taken"; } catch ({ name }) { return name; } })()`,
      );
      must(markup === "TypeError", `innerHTML: ${markup}`);
      must((await evaluated<string>(tab, "document.cookie")) === "", "a script reads the cookie");
      tab.faults();
      const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
      const session = `${url}/session`;
      const foreign = { ...bearer(tokens.operator), origin: "https://attacker.example" };
      must((await statusOf(session, foreign, "POST")) === 403, "a foreign origin signs in");
      must((await statusOf(session, bearer(tokens.stranger), "POST")) === 403, "a caller without `read` signs in");
      must((await statusOf(session, bearer("none-of-the-known-tokens"), "POST")) === 401, "an unknown token signs in");
      must((await statusOf(`${url}/rows`, {})) === 401, "rows without a session");
      return [];
    }),
};

export const ofOneTeam: Case = {
  name: "11 a caller of one namespace sees no name and no count of another",
  run: (fixture) =>
    onHost(
      fixture,
      async (tab) => {
        const heard: Promise<string>[] = [];
        tab.page.on("response", (response) => {
          if (/\/page\/(rows|changes|health|app|costs)/.test(response.url()))
            heard.push(response.text().catch(() => ""));
        });
        for (const screen of screens) {
          await tab.page.goto(`${fixture.host.url}?screen=${screen}`);
          await tab.page.getByText("Live", { exact: true }).waitFor();
          const text = (await tab.page.locator("body").textContent()) ?? "";
          must(!/team-b|hostile/.test(text), `${screen} names another namespace`);
        }
        await tab.page.goto(`${fixture.host.url}?screen=application&application=SparkApplication/team-b/hostile`);
        await tab.page.getByText("or is not yours to read").waitFor();
        // The browser reports the answer 404 to the read of another namespace's application.
        const faults = tab.faults().filter((note) => !note.includes("404"));
        must(faults.length === 0, faults.join("; "));
        const texts = await Promise.all(heard);
        must(
          texts.some((text) => text.includes("watched")) && !texts.some((text) => /team-b|hostile/.test(text)),
          "an answer",
        );
        return [`${texts.length} answers`];
      },
      { token: tokens.team },
    ),
};

/** Signs a user in by the forms of the provider. */
const throughProvider = async ({ page }: Tab, user: string): Promise<void> => {
  await page.getByRole("link", { name: /^Sign in with 127\.0\.0\.1:/ }).click();
  await page.getByPlaceholder("Enter any login").fill(user);
  await page.getByPlaceholder("and password").fill("any");
  await page.getByRole("button", { name: "Sign-in" }).click();
  await page.getByRole("button", { name: "Continue" }).click();
};

/** Runs `act` in a tab in which nobody is signed in. */
const asStranger = async <T>({ browser, host, pictures }: Fixture, act: (tab: Tab) => Promise<T>): Promise<T> => {
  const tab = await openTab(browser, host.url, pictures);
  try {
    await tab.page.goto(`${host.url}?screen=applications`);
    return await act(tab);
  } finally {
    await tab.close();
  }
};

export const byProvider: Case = {
  name: "10 a user signs in by an identity provider, sees and changes what the groups grant, and signs out",
  run: (fixture) =>
    asStranger(fixture, async (tab) => {
      const { page } = tab;
      const before = fixture.cluster.requests.length;
      await page.getByRole("link", { name: /^Sign in with/ }).waitFor();
      const found = await objections(tab);
      must(found.length === 0, found.join("; "));
      await tab.shoot("sign-in");
      await throughProvider(tab, "alice");
      await page.getByText("Live", { exact: true }).waitFor();
      must(page.url() === `${fixture.host.url}?screen=applications`, `the user came back to ${page.url()}`);
      must((await page.locator(".who").textContent()) === "oidc:alice@example.com", "the head names somebody else");
      const text = (await page.locator("body").textContent()) ?? "";
      must(text.includes("watched") && !/team-b|hostile/.test(text), "the list is not that of the user's namespace");
      const [cookie] = (await tab.context.cookies()).filter(({ name }) => name === "__Host-rekindle");
      must(cookie?.httpOnly === true && cookie.secure && !cookie.value.includes("."), "the session's cookie");
      const asked = fixture.cluster.requests.slice(before).filter((one) => /reviews/.test(one));
      must(asked.length === 0, `the sign-in asked the API server: ${asked.join(", ")}`);
      await open(tab, fixture.host.url, "SparkApplication/team-a/watched");
      await page.getByRole("button", { name: "Pause" }).waitFor();
      await tab.shoot("signed-in");
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.waitForURL(/\/session\/end/);
      await page.goto(fixture.host.url);
      await page.getByRole("link", { name: /^Sign in with/ }).waitFor();
      return [];
    }),
};

export const withoutGroup: Case = {
  name: "10 a user without a group that may read is refused in words, and gets no session",
  run: (fixture) =>
    asStranger(fixture, async (tab) => {
      await throughProvider(tab, "nobody");
      await tab.page.getByText("None of your groups may read this page").waitFor();
      const found = await objections(tab);
      must(found.length === 0, found.join("; "));
      await tab.shoot("sign-in-failed");
      const names = (await tab.context.cookies(fixture.host.url)).map(({ name }) => name);
      must(!names.includes("__Host-rekindle"), "there is a session");
      return [];
    }),
};
