import { readRegularFileSync } from '../files/index.ts';

/** The namespace of the pod in which the program runs; undefined outside of a pod. */
export function podNamespace(): string | undefined {
  try {
    const file = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';
    return readRegularFileSync(file, 1024).toString('utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}
