import { readRegularFileSync } from '../files/index.ts';

/** The namespace of the pod that this runs in; undefined outside of one. */
export function podNamespace(): string | undefined {
  try {
    const file = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';
    return readRegularFileSync(file, 1024).toString('utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}
