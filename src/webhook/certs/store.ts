import { FailureError } from '../../base/index.ts';

/** The two Secrets: the CA with its key (read only by the Job), and the serving Secret of the pods. */
export type SecretRole = 'ca' | 'serving';

/** Contents of a Secret. Values are text; they are untrusted, and never logged. */
export interface SecretContents {
  data: Record<string, string>;
  annotations: Record<string, string>;
}

export interface StoredSecret extends SecretContents {
  /** What the store read: a write keeps its unknown fields, and fails if it has changed since. */
  raw: unknown;
}

export interface CertificateStore {
  describe(role: SecretRole): string;
  read(role: SecretRole): Promise<StoredSecret | undefined>;
  /** Writes a Secret, or creates it without `from`. @throws {Conflict} when it has changed since `from` was read. */
  write(role: SecretRole, contents: SecretContents, from: StoredSecret | undefined): Promise<void>;
}

/** Another client has written in the meantime: read again and decide again. */
export class Conflict extends FailureError {}

export const targetKinds = [
  'MutatingWebhookConfiguration',
  'ValidatingWebhookConfiguration',
  'CustomResourceDefinition',
  'ExtensionConfig',
] as const;
export type TargetKind = (typeof targetKinds)[number];

export interface TargetReading {
  /** `Kind/name`. */
  id: string;
  state: 'present' | 'missing' | 'failed';
  problem?: string;
  /** The caBundle of each entry for our service, as PEM, as far as it can be decoded; untrusted. */
  bundles: string[];
  skipped: string[];
  /** The Secret with its bundle, NAMESPACE/NAME, as its annotation names it; untrusted. */
  source?: string;
  /** Private to the implementation that has read it. */
  raw?: unknown;
}

export interface TargetAccess {
  /** Reads all targets. One that cannot be read is returned with state `failed`, not thrown as an error. */
  read(): Promise<TargetReading[]>;
  /** Writes a bundle into a target; returns why the API server refuses it. @throws {Conflict} when it has changed. */
  inject(target: TargetReading, bundle: string): Promise<string | undefined>;
}

/** No targets, for certificates in a folder. */
export const noTargets: TargetAccess = { read: async () => [], inject: async () => undefined };

/** A target that is missing or cannot be read. `*` stands for all of a kind, which cannot be listed. */
export function unread(id: `${TargetKind}/${string}`, state: 'missing' | 'failed', problem: string): TargetReading {
  return { id, state, problem, bundles: [], skipped: [] };
}

const end = '-----END CERTIFICATE-----\n';

function sorted(bundle: string): string {
  const certificates = bundle.split(end);
  const rest = certificates.pop();
  return [...certificates.sort(), rest].join(end);
}

/** Whether every entry of a target has exactly the bundle, in any order: a CA that becomes active only moves to the front. */
export function isInSync(target: TargetReading, bundle: string): boolean {
  const wanted = sorted(bundle);
  return target.state === 'present' && target.bundles.every((one) => sorted(one) === wanted);
}
