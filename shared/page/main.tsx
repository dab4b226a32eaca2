/** The page in the browser: its head and foot, the screen of the present place, sign-in, and the keys. */
import { effect, signal } from "@preact/signals";
import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { ActionDialog, isActionAsked } from "./actions.tsx";
import { Applications, listedText, listKey } from "./applications.tsx";
import { follow, pollMs, signIn, signOut, ways } from "./connection.ts";
import { kindText } from "./kinds.ts";
import { Overview } from "./overview.tsx";
import { isTable, showLog } from "./panels.ts";
import { Key, Link } from "./parts.tsx";
import { withStateToggled } from "./query.ts";
import { ApplicationScreen, preload } from "./screen-part.tsx";
import { HealthScreen, Queues, Recovery, Schedules } from "./screens.tsx";
import { broken, go, health, heardAt, link, now, place, queues, refine, refused, type Screen } from "./store.ts";
import { briefly, visible } from "./text.ts";

const titles: readonly (readonly [Screen, string])[] = [
  ["overview", "Overview"],
  ["applications", "Applications"],
  ["queues", "Queues"],
  ["schedules", "Schedules"],
  ["recovery", "Recovery"],
  ["health", "Health"],
];

const isHelpOpen = signal(false);

const Live = () => {
  const behind = (now.value - heardAt.value) / 1_000;
  const words = {
    starting: "Reading …",
    live: "Live",
    polling: `Live, every ${briefly(pollMs.value / 1_000)}`,
    behind: `${briefly(Math.max(1, behind))} behind`,
    "signed out": "Signed out",
  } as const;
  return (
    <span class={`live ${link.value.replace(" ", "-")}`} role="status">
      <i /> {words[link.value]}
    </span>
  );
};

const Flame = () => (
  <svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true" class="flame">
    <path d="M12.5 2c.6 3.6 5.5 6 5.5 11.4A6 6 0 0 1 12 20a6 6 0 0 1-6-6.4C6 11 7.4 9.400 8.600 8.200c0 2 .8 3.200 2 3.800.9-3.400-.4-6.600 1.900-10z" />
    <path
      class="core"
      d="M12.300 12.500c.4 1.700 2.200 2.400 2.200 4.400a2.600 2.600 0 0 1-5.200 0c0-1.300.8-2 1.300-2.700.2.700.6 1.100 1 1.200.3-1-.1-1.900.7-2.900z"
    />
  </svg>
);

const Head = () => {
  const { screen } = place.value;
  const cluster = health.value?.cluster ?? "";
  return (
    <header class="top">
      <Link to={{ screen: "overview" }} class="brand">
        <Flame /> Rekindle
      </Link>
      {cluster === "" ? undefined : <span class="cluster">{cluster}</span>}
      <nav aria-label="Screens">
        {titles
          .filter(([one]) => one !== "queues" || queues.value.length > 0)
          .map(([one, title]) => (
            <Link
              key={one}
              to={{ screen: one }}
              current={one === screen || (one === "applications" && screen === "application")}
            >
              {title}
              {one === "recovery" && broken.value.length > 0 ? (
                <b class="failed-text"> {broken.value.length}</b>
              ) : undefined}
            </Link>
          ))}
      </nav>
      <span class="right">
        <Live />
        <button
          type="button"
          class="plain"
          onClick={() => {
            isHelpOpen.value = true;
          }}
        >
          <Key>?</Key> keys
        </button>
        <span class="who">{health.value?.caller ?? ""}</span>
        {health.value?.canLeave === true && link.value !== "signed out" ? (
          <button type="button" class="plain" onClick={() => void signOut()}>
            Sign out
          </button>
        ) : undefined}
      </span>
    </header>
  );
};

const keysFor = (screen: Screen): readonly (readonly [readonly string[], string])[] => [
  ...(screen === "applications"
    ? ([
        [["j", "k"], "move"],
        [["↵"], "open"],
        [["/"], "filter"],
        [["f"], "failed"],
        [["w"], "waiting"],
        [["r"], "running"],
      ] as const)
    : []),
  ...(screen === "application"
    ? ([
        [["Esc"], "back"],
        [["t"], "as table"],
        [["l"], "log"],
      ] as const)
    : []),
  [["g"], "then"],
  [["o", "a", "q", "s", "r", "h"], "screens"],
];

const Foot = () => (
  <footer class="foot">
    {keysFor(place.value.screen).map(([keys, says]) => (
      <span key={says}>
        {keys.map((key) => (
          <Key key={key}>{key}</Key>
        ))}{" "}
        {says}
      </span>
    ))}
    <span class="aside">
      {place.value.screen === "applications" ? listedText() : (health.value?.may.length ?? 0) > 0 ? "" : "read only"}
    </span>
  </footer>
);

const helpRows: readonly (readonly [string, string])[] = [
  ["j k ↑ ↓", "next and previous application"],
  ["PgUp PgDn Home End", "further"],
  ["Enter", "open the application"],
  ["Esc", "back to the list, or out of the filter"],
  ["/", "filter"],
  ["f w r", "only failed, waiting, running ones"],
  ["t", "timeline as a table"],
  ["l", "log"],
  ["g o, g a, g q, g s, g r, g h", "Overview, Applications, Queues, Schedules, Recovery, Health"],
];

const Help = () => {
  const dialog = useRef<HTMLDialogElement>(null);
  const isOpen = isHelpOpen.value;
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);
  return (
    <dialog
      ref={dialog}
      aria-label="Keys"
      onClose={() => {
        isHelpOpen.value = false;
      }}
    >
      <h2>Keys</h2>
      <dl>
        {helpRows.map(([keys, says]) => (
          <div key={keys}>
            <dt>{keys}</dt>
            <dd>{says}</dd>
          </div>
        ))}
      </dl>
      <p class="muted">No key changes anything.</p>
      <button
        type="button"
        onClick={() => {
          isHelpOpen.value = false;
        }}
      >
        Close
      </button>
    </dialog>
  );
};

const SignIn = () => (
  <main class="signin">
    <form
      class="panel"
      onSubmit={(event) => {
        event.preventDefault();
        const given = new FormData(event.currentTarget).get("token");
        if (typeof given === "string") void signIn(given.trim());
      }}
    >
      <h1>Sign in</h1>
      {ways.value.provider === "" ? undefined : (
        <a href={`/page/sign-in?to=${encodeURIComponent(location.search)}`}>Sign in with {ways.value.provider}</a>
      )}
      {ways.value.token !== "" ? (
        <>
          <label for="token">{ways.value.token}</label>
          <input id="token" name="token" type="password" autocomplete="off" required />
          <button type="submit">Sign in</button>
        </>
      ) : undefined}
      {refused.value === "" ? undefined : (
        <p class="failed-text" role="alert">
          {refused.value}
        </p>
      )}
      <p class="muted">A session lasts eight hours; tokens are not kept.</p>
    </form>
  </main>
);

const views: Readonly<Record<Screen, () => preact.JSX.Element>> = {
  overview: Overview,
  applications: Applications,
  application: ApplicationScreen,
  queues: Queues,
  schedules: Schedules,
  recovery: Recovery,
  health: HealthScreen,
};

const Page = () => {
  const View = views[place.value.screen];
  return (
    <>
      <Head />
      {link.value === "signed out" ? <SignIn /> : <View />}
      <Foot />
      <Help />
      <ActionDialog />
    </>
  );
};

const screenKeys: Readonly<Record<string, Screen>> = {
  o: "overview",
  a: "applications",
  q: "queues",
  s: "schedules",
  r: "recovery",
  h: "health",
};
let isGoing = false;

const anywhere: Readonly<Record<string, () => void>> = {
  "?": () => {
    isHelpOpen.value = true;
  },
  "/": () => {
    if (place.value.screen !== "applications") go({ screen: "applications" });
    requestAnimationFrame(() => {
      const field = document.getElementById("filter");
      if (field instanceof HTMLInputElement) field.select();
    });
  },
  g: () => {
    isGoing = true;
  },
};

const onList: Readonly<Record<string, () => void>> = {
  f: () => refine(withStateToggled(place.value.query, "failed")),
  w: () => refine(withStateToggled(place.value.query, "waiting")),
  r: () => refine(withStateToggled(place.value.query, "running")),
};

const onApplication: Readonly<Record<string, () => void>> = {
  t: () => {
    isTable.value = !isTable.value;
  },
  l: showLog,
  Escape: () => go({ screen: "applications" }),
};

/** Acts on a key outside of text fields. Returns true for a key of the page. */
const act = (key: string): boolean => {
  const { screen } = place.value;
  if (isGoing) {
    isGoing = false;
    const to = screenKeys[key];
    if (to !== undefined) go({ screen: to });
    return to !== undefined;
  }
  const own = screen === "application" ? onApplication[key] : screen === "applications" ? onList[key] : undefined;
  const found = own ?? anywhere[key];
  found?.();
  return found !== undefined || (screen === "applications" && listKey(key));
};

const isControl = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest("a, button, dialog, summary, [role=tab], .scroll, pre") !== null;

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { target, key } = event;
  if (target instanceof HTMLInputElement) {
    if (key === "Escape" || (key === "Enter" && target.id === "filter")) {
      target.blur();
      document.getElementById("grid")?.focus({ preventScroll: true });
    }
    return;
  }
  const isTheirs =
    isControl(target) &&
    (key === "Enter" ||
      key === " " ||
      key.startsWith("Arrow") ||
      key.startsWith("Page") ||
      key === "Home" ||
      key === "End");
  if (isTheirs || isHelpOpen.value || isActionAsked()) return;
  if (act(key)) event.preventDefault();
});

/** Each screen, and each application, has a title of its own, so that tabs can be told apart. */
effect(() => {
  const { screen, application } = place.value;
  const [kind = "", namespace = "", name = ""] = application.split("/");
  const [, title = ""] = titles.find(([one]) => one === screen) ?? [];
  const shown = screen === "application" ? `${namespace}/${name}, ${kindText(kind)}` : title;
  document.title = `${visible(shown)} · Rekindle`;
});

const root = document.getElementById("page");
if (root !== null) render(<Page />, root);
preload();

const [, secret] = /^#k=([\w-]+)$/.exec(location.hash) ?? [];
if (secret === undefined) void follow();
else {
  history.replaceState(undefined, "", `${location.pathname}${location.search}`);
  void signIn(secret);
}
