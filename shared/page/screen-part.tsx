/** The screen of an application, which is a file of its own: it is loaded when the browser is idle, or when it is shown. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

type View = () => preact.JSX.Element;

const part = signal<{ readonly View: View } | "failed" | undefined>(undefined);

const load = (): void => {
  if (typeof part.value === "object") return;
  import("./application.tsx").then(
    ({ Application }) => {
      part.value = { View: Application };
    },
    () => {
      part.value = "failed";
    },
  );
};

/** Loads the screen before it is needed. */
export const preload = (): void => {
  requestIdleCallback(load, { timeout: 2_000 });
};

export const ApplicationScreen = () => {
  useEffect(load, []);
  const loaded = part.value;
  if (loaded === undefined) return <main class="application" />;
  if (loaded !== "failed") return <loaded.View />;
  return (
    <main class="application">
      <p class="empty">
        This screen cannot be loaded: the server is away, or has another version now.{" "}
        <button type="button" onClick={() => location.reload()}>
          Load the page again
        </button>
      </p>
    </main>
  );
};
