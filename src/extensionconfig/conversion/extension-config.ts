import type { JsonObject } from '../../kubernetes/index.ts';
import { openApiSchemaOf } from '../api/crd.ts';
import { apiVersionOf, kind, versions } from '../api/names.ts';
import { createConverter, type KindConverter, type VersionMap } from './engine.ts';

/** Annotation with the conversion data of an ExtensionConfig: what its current version cannot represent. */
export const conversionDataAnnotation = 'runtime.cluster.x-k8s.io/conversion-data';

/** How the versions of ExtensionConfig are converted, beyond what their schemas show. */
const extensionConfigVersions: VersionMap = {
  kind,
  versions: versions.map((version) => ({ apiVersion: apiVersionOf(version), schema: openApiSchemaOf(version) })),
  changes: [
    {
      older: apiVersionOf('v1alpha1'),
      newer: apiVersionOf('v1beta2'),
      // Both versions have `status.conditions`, which in each holds the conditions of that version's own contract.
      moves: {
        'status.conditions': 'status.deprecated.v1beta1.conditions',
        'status.v1beta2.conditions': 'status.conditions',
      },
      tighter: {
        'status.handlers[].timeoutSeconds': 'keep',
        // A missing value cannot be made up, so the API server's validation reports it to the client.
        spec: 'pass',
        'spec.clientConfig': 'pass',
      },
    },
  ],
  conversionDataAnnotation: conversionDataAnnotation,
};

let compiled: KindConverter | undefined;

function converter(): KindConverter {
  compiled ??= createConverter(extensionConfigVersions);
  return compiled;
}

const apiVersions = extensionConfigVersions.versions.map(({ apiVersion }) => apiVersion);

/** Whether an object has the version that it is to be converted to. */
function isOfVersion(object: JsonObject, apiVersion: string): boolean {
  return object.kind === kind && object.apiVersion === apiVersion && apiVersions.includes(apiVersion);
}

/** Converts ExtensionConfigs between v1alpha1 and v1beta2. Compiled at the first conversion. */
export const extensionConfigConverter: KindConverter = {
  kind,
  apiVersions,
  conversionDataBytes: (object) => converter().conversionDataBytes(object),
  convert: (object, apiVersion) => (isOfVersion(object, apiVersion) ? object : converter().convert(object, apiVersion)),
};
