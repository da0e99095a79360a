/** The two Secrets: the CA with its key (only the Job reads it), and what the pods serve. */
export type SecretRole = 'ca' | 'serving';

/** Contents of a Secret. Values are text; they are untrusted, and never logged. */
export interface SecretContents {
  data: Record<string, string>;
  annotations: Record<string, string>;
}

/** A Secret as it was read, with what a later write needs to detect another write in between. */
export interface StoredSecret extends SecretContents {
  version: string;
  /** The store's own form of it; a write preserves what it does not know. */
  raw?: unknown;
}

/** Where the two Secrets live. */
export interface CertificateStore {
  /** The name of a Secret in messages. */
  describe(role: SecretRole): string;
  read(role: SecretRole): Promise<StoredSecret | undefined>;
  /**
   * Replaces the data and annotations of a Secret, or creates it when `from` is undefined.
   *
   * @throws {Conflict} when it has changed since `from` was read.
   */
  write(role: SecretRole, contents: SecretContents, from: StoredSecret | undefined): Promise<void>;
}

/** Another client wrote first: read again and decide again. */
export class Conflict extends Error {}
