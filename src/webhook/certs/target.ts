export type TargetKind =
  | 'MutatingWebhookConfiguration'
  | 'ValidatingWebhookConfiguration'
  | 'CustomResourceDefinition'
  | 'ExtensionConfig';

export interface TargetReading {
  /** `Kind/name`. */
  id: string;
  state: 'present' | 'missing' | 'failed';
  problem?: string;
  /** The caBundle of each entry for our service, as PEM, as far as it can be decoded; untrusted. */
  bundles: string[];
  /** Skipped entries, with the reason. */
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

/** The certificates of a bundle in canonical order, and the text after the last one. */
function sorted(bundle: string): string {
  const certificates = bundle.split(end);
  const rest = certificates.pop();
  return [...certificates.sort(), rest].join(end);
}

/**
 * Whether every entry of a target has exactly the bundle. The order of certificates does not matter: clients trust each
 * of them alike, and a CA that becomes active only moves to the front.
 */
export function isInSync(target: TargetReading, bundle: string): boolean {
  const wanted = sorted(bundle);
  return target.state === 'present' && target.bundles.every((one) => sorted(one) === wanted);
}
