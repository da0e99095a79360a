import { readRegularFileSync } from '../../base/index.ts';

/** The namespace of the pod in which the program runs; outside of a pod, that of the manifests. */
export function ownNamespace(): string {
  try {
    const file = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';
    const text = readRegularFileSync(file, 1024).toString('utf8').trim();
    if (text !== '') {
      return text;
    }
  } catch {
    // No pod.
  }
  return 'extensionconfig-webhook-system';
}
