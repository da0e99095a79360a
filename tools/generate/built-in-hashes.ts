import { builtInResources } from '../../src/sandbox/kinds/kinds.ts';
import { buildDocument } from '../../src/sandbox/openapi/build.ts';
import { serializeDocument } from '../../src/sandbox/openapi-documents/index.ts';
import { Registry } from '../../src/sandbox/resources/registry.ts';

/** The file from which the sandbox takes the hashes of the OpenAPI documents of Kubernetes' own kinds. */
export const builtInHashesFile = new URL('../../src/sandbox/openapi/built-in-hashes.ts', import.meta.url);

/** The text of `builtInHashesFile`. */
export function builtInHashesText(): string {
  const registry = new Registry();
  for (const [storage, resources] of Map.groupBy(builtInResources(), (resource) => resource.storage)) {
    registry.set(storage, resources);
  }
  const lines = [...registry.groups()]
    .flatMap(([group, versions]) => versions.map((version) => ({ group, version })))
    .map(({ group, version }) => {
      const { hash } = serializeDocument(buildDocument(registry.of(group, version)));
      return `  ['${group}/${version}', '${hash}'],`;
    });
  return `// Generated from the models of @kubernetes/client-node by \`npm run generate\`. Do not edit.

/** The hash of the OpenAPI v3 document of each group and version that only has kinds of Kubernetes. */
export const builtInHashes: ReadonlyMap<string, string> = new Map([
${lines.toSorted().join('\n')}
]);
`;
}
