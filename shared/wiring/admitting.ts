/** The admission webhook's HTTP door: two paths, pure answers, nothing to connect to and nothing to configure. */
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { type AdmissionRequest, answerTo, readReview, type Verdict } from "../kube/admission.ts";
import { defaulted, validated } from "../spark/admission.ts";

/** The API server's own limit of an object, twice: as it was and as it is. */
const largest = 8 * 1024 * 1024;

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

export const admissionApp = (): Hono => {
  const app = new Hono();
  const review = (path: string, judge: (request: AdmissionRequest) => Verdict): void => {
    app.post(path, async (c) => {
      const request = readReview(parsed(await c.req.text()));
      if (request === undefined) return c.json({ error: "an AdmissionReview of admission.k8s.io/v1 is needed" }, 400);
      return c.json(answerTo(request, judge(request)));
    });
  };
  app.use(bodyLimit({ maxSize: largest, onError: (c) => c.json({ error: "body too large" }, 413) }));
  app.get("/healthz", (c) => c.text("ok"));
  review("/mutate", defaulted);
  review("/validate", validated);
  app.notFound((c) => c.json({ error: "not found" }, 404));
  app.onError((_, c) => c.json({ error: "internal" }, 500));
  return app;
};
