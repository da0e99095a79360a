import type { JsonObject } from '../../../../src/kubernetes/index.ts';
import { hooksGroup } from '../../../../src/runtimehooks/index.ts';

interface ExampleParts {
  apiVersion?: string;
  name?: string;
  annotations?: JsonObject;
  metadata?: JsonObject;
  clientConfig?: JsonObject;
  spec?: JsonObject;
  handler?: JsonObject;
  handlers?: JsonObject[];
}

const inject: JsonObject = { 'runtime.cluster.x-k8s.io/inject-ca-from-secret': 'capi-extensions/my-extension-cert' };

export const exampleService: JsonObject = { namespace: 'capi-extensions', name: 'my-extension', port: 443 };

/** A `requestHook` for one of Cluster API's hooks. */
export const exampleHook = (hook: string) => ({ apiVersion: `${hooksGroup}/v1alpha1`, hook });

/** A valid handler for an example's status, with `parts` changed. */
export function exampleHandler(parts: JsonObject = {}): JsonObject {
  return {
    name: 'before-upgrade.my-extension',
    requestHook: exampleHook('BeforeClusterUpgrade'),
    timeoutSeconds: 5,
    failurePolicy: 'Fail',
    ...parts,
  };
}

/** A valid ExtensionConfig, except for the parts that an example is about. */
export function example(parts: ExampleParts = {}): JsonObject {
  const annotations = parts.annotations ?? inject;
  const handlers = parts.handlers ?? (parts.handler === undefined ? undefined : [exampleHandler(parts.handler)]);
  return {
    apiVersion: parts.apiVersion ?? 'runtime.cluster.x-k8s.io/v1beta2',
    kind: 'ExtensionConfig',
    metadata: {
      name: parts.name ?? 'my-extension',
      ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
      ...parts.metadata,
    },
    spec: { clientConfig: parts.clientConfig ?? { service: exampleService }, namespaceSelector: {}, ...parts.spec },
    ...(handlers === undefined ? {} : { status: { handlers } }),
  };
}
