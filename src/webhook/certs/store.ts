import { FailureError } from '../../base/index.ts';

/** The two Secrets: the CA with its key (read only by the Job), and the serving Secret of the pods. */
export type SecretRole = 'ca' | 'serving';

/** Contents of a Secret. Values are text; they are untrusted, and never logged. */
export interface SecretContents {
  data: Record<string, string>;
  annotations: Record<string, string>;
}

/** A Secret as read, with what a later write needs to detect other writes in between. */
export interface StoredSecret extends SecretContents {
  version: string;
  /** The store's internal representation, from which a write preserves unknown fields. */
  raw?: unknown;
}

export interface CertificateStore {
  describe(role: SecretRole): string;
  read(role: SecretRole): Promise<StoredSecret | undefined>;
  /** Writes a Secret, or creates it without `from`. @throws {Conflict} when it has changed since `from` was read. */
  write(role: SecretRole, contents: SecretContents, from: StoredSecret | undefined): Promise<void>;
}

/** Another client has written in the meantime: read again and decide again. */
export class Conflict extends FailureError {}
