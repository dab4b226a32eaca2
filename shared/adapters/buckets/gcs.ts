/** Buckets of Google Cloud Storage. */
import { type Bucket, type BucketPlace, digestLabel, digestsOf } from "./bucket.ts";
import { refusalOf, statusOf } from "./refusal.ts";
import { importByName, type Load, loadSdk } from "./sdk.ts";

type Metadata = { readonly md5Hash?: string; readonly metadata?: Readonly<Record<string, string>> };
type File = {
  readonly getMetadata: () => Promise<readonly [Metadata, ...(readonly unknown[])]>;
  readonly save: (content: Buffer, options: Readonly<Record<string, unknown>>) => Promise<void>;
};
/** The part of the SDK that is used, declared here so that the project compiles without the optional package. */
type Sdk = {
  readonly Storage: new (
    options: Readonly<Record<string, unknown>>,
  ) => { readonly bucket: (name: string) => { readonly file: (key: string) => File } };
};

const name = "@google-cloud/storage";

/** A custom endpoint is called without credentials, as emulators are. */
const configOf = ({ endpoint }: BucketPlace) => ({
  retryOptions: { maxRetries: 2, totalTimeout: 60 },
  ...(endpoint === undefined ? {} : { apiEndpoint: endpoint, projectId: "none" }),
});

export const openGcs = async (place: BucketPlace, load: Load = importByName): Promise<Bucket> => {
  // The package is untyped here: its absence must not keep the project from compiling.
  const sdk = (await loadSdk(name, "gs", load)) as Sdk;
  const bucket = new sdk.Storage(configOf(place)).bucket(place.bucket);
  const urlOf = (key: string): string => `gs://${place.bucket}/${key}`;
  return {
    find: async (key) => {
      try {
        const [{ md5Hash: md5, metadata }] = await bucket.file(key).getMetadata();
        const sha256 = metadata?.[digestLabel];
        return { ...(md5 === undefined ? {} : { md5 }), ...(sha256 === undefined ? {} : { sha256 }) };
      } catch (cause) {
        if (statusOf(cause) === 404) return undefined;
        throw refusalOf("gs", urlOf(key), cause);
      }
    },
    put: async (key, content) => {
      const { sha256, md5 } = digestsOf(content);
      const metadata = { md5Hash: md5, metadata: { [digestLabel]: sha256 } };
      const access = place.isPublic ? { predefinedAcl: "publicRead" } : {};
      try {
        await bucket.file(key).save(Buffer.from(content), { resumable: false, validation: "md5", metadata, ...access });
      } catch (cause) {
        throw refusalOf("gs", urlOf(key), cause);
      }
    },
    close: () => {},
  };
};
