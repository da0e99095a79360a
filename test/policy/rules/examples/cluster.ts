import type { JsonObject } from '../../../../src/kubernetes/index.ts';
import { exampleCaBundle, exampleServingCertificate } from './certificates.ts';

/** A ClusterClass with an external patch that names a handler. */
export function exampleClass(handler = 'before-upgrade.my-extension', name = 'quick-start'): JsonObject {
  return {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'ClusterClass',
    metadata: { namespace: 'clusters', name },
    spec: { patches: [{ name: 'external', external: { generatePatchesExtension: handler } }] },
  };
}

export function exampleCluster(annotations: JsonObject = {}, name = 'prod-1'): JsonObject {
  return {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Cluster',
    metadata: { namespace: 'clusters', name, annotations },
    spec: { topology: { classRef: { name: 'quick-start' }, version: 'v1.34.0' } },
  };
}

export const exampleNamespace: JsonObject = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'clusters', labels: { team: 'a' } },
};

export const exampleServiceObject: JsonObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'capi-extensions', name: 'my-extension' },
  spec: { ports: [{ port: 443, targetPort: 9443 }] },
};

/** A Secret with a CA, and with a serving certificate that this CA did not sign. */
export function exampleSecret(
  parts: JsonObject = { 'ca.crt': exampleCaBundle },
  name = 'my-extension-cert',
): JsonObject {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'capi-extensions', name }, data: parts };
}

/** The data of a Secret whose CA did not sign the certificate in the same Secret. */
export const exampleForeignSecret: JsonObject = { 'ca.crt': exampleCaBundle, 'tls.crt': exampleServingCertificate };
