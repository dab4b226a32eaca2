/** A bucket of S3 or of Google Cloud Storage for uploaded files: the port, and the URLs of its objects. */
import { createHash } from "node:crypto";

export type BucketPlace = {
  readonly scheme: "s3" | "gs";
  readonly bucket: string;
  /** Absent: the service's own endpoint. */
  readonly endpoint?: string | undefined;
  /** Absent: the region that every AWS client finds in its environment. Google Cloud Storage needs none. */
  readonly region?: string | undefined;
  /** Objects may be read without credentials. */
  readonly isPublic: boolean;
  /** S3 only: the bucket's name is in the path and not in the host name. */
  readonly pathStyle: boolean;
};

/** Digests of a content: SHA-256 in hexadecimal, MD5 in base64, as both services check it. */
export type Digests = { readonly sha256: string; readonly md5: string };

export type Bucket = {
  /** Returns the digests of the object that the service knows; undefined if there is no such object. */
  readonly find: (key: string) => Promise<Partial<Digests> | undefined>;
  readonly put: (key: string, content: Uint8Array) => Promise<void>;
  readonly close: () => void;
};

/** The metadata key for the SHA-256 of an upload. */
export const digestLabel = "rekindle-sha256";

export const digestsOf = (content: Uint8Array): Digests => ({
  sha256: createHash("sha256").update(content).digest("hex"),
  md5: createHash("md5").update(content).digest("base64"),
});

const webUrl = ({ scheme, bucket, endpoint, region }: BucketPlace, key: string): string => {
  if (endpoint !== undefined) return `${endpoint.replace(/\/+$/, "")}/${bucket}/${key}`;
  if (scheme === "gs") return `https://storage.googleapis.com/${bucket}/${key}`;
  return `https://${bucket}.s3${region === undefined ? "" : `.${region}`}.amazonaws.com/${key}`;
};

/**
 * Returns the URL from which Spark reads an object: through Hadoop's connector, or over HTTP if the object is public.
 */
export const objectUrl = (place: BucketPlace, key: string): string =>
  place.isPublic ? webUrl(place, key) : `${place.scheme === "s3" ? "s3a" : "gs"}://${place.bucket}/${key}`;
