import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { CustomResourceDefinition } from '../../src/extensionconfig/index.ts';

const manifest = new URL('../../manifests/crd/runtime.cluster.x-k8s.io_extensionconfigs.yaml', import.meta.url);

/** The file from which the program reads the definition. */
export const definitionFile = new URL('../../src/extensionconfig/api/crd.generated.json', import.meta.url);

/** ExtensionConfig's CustomResourceDefinition as in the manifest. */
export const definition = parse(readFileSync(manifest, 'utf8')) as CustomResourceDefinition;

/** The text of `definitionFile`. */
export const definitionText = `${JSON.stringify(definition, null, 2)}\n`;
