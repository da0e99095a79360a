import { apiVersionOf, kind, openApiSchemaOf, versions } from '../api/index.ts';
import { createConverter, type VersionMap } from './engine.ts';

/** Annotation in which ExtensionConfigs keep what the version they are in cannot say. */
export const conversionDataAnnotation = 'runtime.cluster.x-k8s.io/conversion-data';

/** What the schemas of ExtensionConfig's versions do not say about the way from one to the other. */
export const extensionConfigVersions: VersionMap = {
  kind,
  versions: versions.map((version) => ({ apiVersion: apiVersionOf(version), schema: openApiSchemaOf(version) })),
  changes: [
    {
      older: apiVersionOf('v1alpha1'),
      newer: apiVersionOf('v1beta2'),
      // The name `status.conditions` is in both versions, and means the conditions of that version's own contract.
      moves: {
        'status.conditions': 'status.deprecated.v1beta1.conditions',
        'status.v1beta2.conditions': 'status.conditions',
      },
      tighter: {
        'status.handlers[].timeoutSeconds': 'keep',
        // What is missing cannot be made up: the API server's validation says so to whoever wrote the object.
        spec: 'pass',
        'spec.clientConfig': 'pass',
      },
    },
  ],
  bagAnnotation: conversionDataAnnotation,
};

/** Converts ExtensionConfigs between v1alpha1 and v1beta2. */
export const extensionConfigConverter = createConverter(extensionConfigVersions);
