import type { JsonObject } from '../../../src/kubernetes/index.ts';

/** A CustomResourceDefinition of a template, with the schemas of the spec by version. */
export const labTemplate = (specs: Record<string, JsonObject>, kind = 'LabMachineTemplate'): JsonObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'labmachinetemplates.infrastructure.example.com' },
  spec: {
    group: 'infrastructure.example.com',
    names: { kind, plural: 'labmachinetemplates' },
    versions: Object.entries(specs).map(([name, spec]) => ({
      name,
      served: true,
      schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
    })),
  },
});
